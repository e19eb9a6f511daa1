"""Oracle's parameters as factors: of a session, of the instance in memory, or of its SPFILE and a restart."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from decimal import Decimal

from toolkit.dialects.oracle import spfile
from toolkit.dialects.settings import CATALOGUE, AskedClient, SystemChange, normal, sizes
from toolkit.dialects.work import Call, ContextValue
from toolkit.errors import ToolkitError
from toolkit.model.facts import Facts, Query, Release
from toolkit.model.settings import Setting, SettingScope
from toolkit.model.words import Effect, Role

_RIGHTS = "setting_rights"
_WORD = re.compile(r"[A-Z][A-Z0-9_]*")


class OracleSettings:
    """Sizes are powers of 1024; a number without a unit is in bytes."""

    sizes: Mapping[str, Decimal] = sizes(1024, binary=True)
    client: AskedClient | None = spfile.SpfileClient()

    def reads(self, release: Release) -> tuple[Query, ...]:
        del release
        return tuple(Query(name, name) for name in (CATALOGUE, _RIGHTS, spfile.INSTANCE))

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

    def in_system(self, setting: Setting, level: str, facts: Facts, key: str) -> SystemChange:
        if setting.scopes == {SettingScope.RESTART}:
            written = next(
                (row["written"] for row in facts.rows(spfile.PLACE) if row["name"] == setting.name), None
            )
            former = None if written is None else self._values(setting, str(written))
            return spfile.change(setting, self._values(setting, level), former, facts, key)
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

    def changed_server(self, scope: SettingScope, facts: Facts) -> str:
        """A pluggable database has parameters of its own; its instance, with the SPFILE, is that of all."""
        rows = facts.rows(spfile.INSTANCE)
        return str(rows[0]["place"]) if rows and scope is SettingScope.RESTART else ""

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
