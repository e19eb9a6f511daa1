"""PostgreSQL's settings as factors: of a session by SET, of the server by ALTER SYSTEM and a reload."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from decimal import Decimal

from toolkit.dialects.settings import (
    CATALOGUE,
    SECONDS,
    AskedClient,
    SystemChange,
    normal,
    sizes,
    spelled,
)
from toolkit.dialects.work import Call
from toolkit.errors import ToolkitError
from toolkit.model.facts import Facts, Query, Release
from toolkit.model.settings import Setting, SettingKind, SettingScope
from toolkit.model.words import Effect, Role

_FILES, _GRANTS, _PLACE = "setting_files", "setting_grants", "setting_place"
_SPELLED = {"B": Decimal(1), "kB": Decimal(2) ** 10, "MB": Decimal(2) ** 20, "GB": Decimal(2) ** 30}


class PostgresqlSettings:
    """Sizes are powers of 1024; a number without a unit is in the unit of the catalogue."""

    sizes: Mapping[str, Decimal] = sizes(1024, binary=True)
    client: AskedClient | None = None

    def reads(self, release: Release) -> tuple[Query, ...]:
        grants = (Query(_GRANTS, _GRANTS, optional=True),) if release.number >= (15,) else ()
        seen = (Query(name, name, optional=True) for name in (_FILES, _PLACE))
        return (Query(CATALOGUE, CATALOGUE), *seen, *grants)

    def read(self, setting: Setting) -> Call:
        return Call("setting_value", session=Role.WORKER, file=True, binds={"name": setting.name})

    def same(self, setting: Setting, level: str, read: str) -> bool:
        wanted, now = normal(setting, level, self.sizes), normal(setting, read, self.sizes)
        if isinstance(wanted, Decimal) and isinstance(now, Decimal) and setting.kind is SettingKind.REAL:
            return abs(wanted - now) <= abs(wanted) * Decimal("1e-6")
        return wanted == now

    def in_session(self, setting: Setting, level: str) -> Call:
        return Call(
            "set", {"name": setting.name, "value": self._text(setting, level)}, session=Role.WORKER,
            effect=Effect.CHANGES,
            undo=(Call("reset", {"name": setting.name}, session=Role.WORKER, effect=Effect.CHANGES),),
        )  # fmt: skip

    def in_system(self, setting: Setting, level: str, facts: Facts, key: str) -> SystemChange:
        del key
        self._check_rights(setting, facts)
        written = {str(row["name"]).lower(): str(row["value"]) for row in facts.rows(_FILES)}
        before = written.get(setting.name.lower())
        name = {"name": setting.name}
        back = Call("system_reset", name) if before is None else Call("system_set", {**name, "value": before})
        return SystemChange(
            (
                Call("system_set", {**name, "value": self._text(setting, level)}, effect=Effect.CHANGES),
                Call("reload", effect=Effect.CHANGES),
            ),
            (back, Call("reload")),
            before or self._text(setting, setting.value or ""),
            f"{facts.value(_PLACE, 'data_directory')}/postgresql.auto.conf" if facts.rows(_PLACE) else "",
            before,
        )

    def in_script(self, setting: Setting, level: str, levels: Sequence[str], facts: Facts) -> None:
        """No script is written for this engine that would run without dbatk."""

    def changed_server(self, scope: SettingScope, facts: Facts) -> str:
        """Of two clusters no two began in the same microsecond; a standby has the identifier of its primary."""
        return "" if scope is SettingScope.SESSION else str(facts.value("server", "started_at", "") or "")

    def _check_rights(self, setting: Setting, facts: Facts) -> None:
        if _FILES in facts.refused:
            raise ToolkitError(
                f"`{setting.name}` is set for the whole server, but what stands in postgresql.auto.conf, to be "
                "restored, cannot be seen",
                code="TK-0306",
                hint="GRANT SELECT ON pg_file_settings, GRANT EXECUTE ON FUNCTION pg_show_all_file_settings()",
            )
        allowed = {str(row["name"]) for row in facts.rows(_GRANTS)}
        if _GRANTS in facts.answers and setting.name not in allowed:
            raise ToolkitError(
                f"this user may not set `{setting.name}` for the whole server",
                code="TK-0306",
                hint=f"GRANT ALTER SYSTEM ON PARAMETER {setting.name}, GRANT EXECUTE ON FUNCTION pg_reload_conf()",
            )

    def _text(self, setting: Setting, level: str) -> str:
        """Spell a level as the server takes it: `4G` is `4GB` there."""
        value = normal(setting, level, self.sizes)
        if isinstance(value, bool):
            return "on" if value else "off"
        if not isinstance(value, Decimal):
            return value
        unit = setting.unit.lstrip("0123456789")
        if unit in SECONDS:
            return spelled(value, SECONDS)
        return spelled(value, _SPELLED) if unit else f"{value:f}"


SETTINGS = PostgresqlSettings()
