"""Oracle's parameters as factors: ALTER SESSION, or ALTER SYSTEM in memory: the parameter file is left alone."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from decimal import Decimal

from toolkit.dialects.settings import CATALOGUE, SystemChange, normal, sizes
from toolkit.dialects.work import Call, ContextValue
from toolkit.errors import ToolkitError
from toolkit.model.facts import Facts, Query, Release
from toolkit.model.settings import Setting
from toolkit.model.words import Effect, Role

_RIGHTS = "setting_rights"
_WORD = re.compile(r"[A-Z][A-Z0-9_]*")


class OracleSettings:
    """Sizes are powers of 1024; a number without a unit is in bytes."""

    sizes: Mapping[str, Decimal] = sizes(1024, binary=True)
    no_restart: tuple[str, str] | None = (
        "dbatk changes parameters of an instance in memory only, and leaves the server parameter file as it is",
        "set each level by hand (SCOPE=SPFILE), restart, measure, and `dbatk compare` the runs",
    )

    def reads(self, release: Release) -> tuple[Query, ...]:
        del release
        return (Query(CATALOGUE, CATALOGUE), Query(_RIGHTS, _RIGHTS))

    def read(self, setting: Setting) -> Call:
        return Call("setting_value", session=Role.WORKER, file=True, binds={"name": setting.name})

    def same(self, setting: Setting, level: str, read: str) -> bool:
        wanted, now = normal(setting, level, self.sizes), normal(setting, read, self.sizes)
        if isinstance(wanted, str) and isinstance(now, str):
            return wanted.upper() == now.upper()
        return wanted == now

    def in_session(self, setting: Setting, level: str) -> Call:
        set_to = Call("session_set", self._values(setting, level), session=Role.WORKER, effect=Effect.CHANGES)
        back = Call("session_set", self._former(setting), session=Role.WORKER, effect=Effect.CHANGES)
        return replace(set_to, undo=(back,))

    def in_system(self, setting: Setting, level: str, facts: Facts) -> SystemChange:
        if not facts.rows(_RIGHTS):
            user = facts.value("server", "user_name", "USER")
            raise ToolkitError(
                f"`{setting.name}` is set for the whole instance, which this user may not",
                code="TK-0306",
                hint=f"GRANT ALTER SYSTEM TO {user}",
            )
        return SystemChange(
            (Call("system_set", self._values(setting, level), effect=Effect.CHANGES),),
            (Call("system_set", self._former(setting), effect=Effect.CHANGES),),
            setting.value or "",
        )

    def _former(self, setting: Setting) -> dict[str, ContextValue]:
        if not setting.value:
            raise ToolkitError(
                f"`{setting.name}` has no value now, and nothing puts that back",
                code="TK-0102",
                hint="set it to the value that it is to have otherwise",
            )
        return self._values(setting, setting.value)

    def _values(self, setting: Setting, level: str) -> dict[str, ContextValue]:
        value = normal(setting, level, self.sizes)
        values: dict[str, ContextValue] = {
            "name": setting.name.upper(), "text": None, "number": None, "word": None,
        }  # fmt: skip
        if isinstance(value, bool):
            return {**values, "word": "TRUE" if value else "FALSE"}
        if isinstance(value, Decimal):
            return {**values, "number": int(value)}
        upper = value.upper()
        return {**values, "word": upper} if _WORD.fullmatch(upper) else {**values, "text": value}


SETTINGS = OracleSettings()
