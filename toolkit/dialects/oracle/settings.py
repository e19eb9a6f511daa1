"""Oracle's parameters as factors: of a session, of the instance in memory, or of its SPFILE and a restart."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from decimal import Decimal

from toolkit.dialects.oracle import spfile
from toolkit.dialects.settings import CATALOGUE, AskedClient, SystemChange, normal, sizes
from toolkit.dialects.work import Call, ContextValue
from toolkit.errors import ToolkitError
from toolkit.model.facts import Facts, Query, Release
from toolkit.model.settings import Setting, SettingScope
from toolkit.model.words import Effect, Role, StepKind

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
        _check_right(setting, facts)
        return SystemChange((self._set(self._values(setting, level)),), (self._set(self._former(setting)),),
                            setting.value or "")  # fmt: skip

    def in_script(self, setting: Setting, level: str, levels: Sequence[str], facts: Facts) -> SystemChange | None:
        """A block compares the value with the former one before, and with the level after it has set it."""
        if SettingScope.SYSTEM not in setting.scopes:
            return None
        _check_right(setting, facts)
        back, former = self._set(self._former(setting)), (setting.value or "").upper()
        named: dict[str, ContextValue] = {"key": setting.name, "former": former}
        ours = tuple(self._printed(setting, each) for each in levels)
        return SystemChange(
            (
                Call("system_set_checked", {**named, "wanted": self._printed(setting, level)}, kind=StepKind.BLOCK,
                     effect=Effect.CHANGES, inside=(self._set(self._values(setting, level)), back)),
            ),
            (
                Call("system_restore_checked", {**named, "ours": ours}, kind=StepKind.BLOCK, effect=Effect.CHANGES,
                     inside=(back,)),
            ),
            setting.value or "",
        )  # fmt: skip

    @staticmethod
    def _set(values: Mapping[str, ContextValue]) -> Call:
        return Call("system_set", values, effect=Effect.CHANGES)

    def _printed(self, setting: Setting, level: str) -> str:
        """Return a level as V$PARAMETER prints it, in capitals: a size in bytes, a boolean as TRUE or FALSE."""
        value = normal(setting, level, self.sizes)
        return str(value if isinstance(value, bool | str) else int(value)).upper()

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


def _check_right(setting: Setting, facts: Facts) -> None:
    """Refuse a parameter of the instance to a user without ALTER SYSTEM.

    Raises:
        ToolkitError: TK-0306; the hint is the grant.
    """
    if not facts.rows(_RIGHTS):
        user = facts.value("server", "user_name", "USER")
        raise ToolkitError(
            f"`{setting.name}` is set for the whole instance, which this user may not",
            code="TK-0306",
            hint=f"GRANT ALTER SYSTEM TO {user}",
        )


SETTINGS = OracleSettings()
