"""DuckDB's settings as factors: those of its process are dbatk's own, so they end with the run at the latest."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from decimal import ROUND_FLOOR, Decimal

from toolkit.dialects.settings import CATALOGUE, AskedClient, SystemChange, normal, sizes
from toolkit.dialects.work import Call
from toolkit.errors import ToolkitError
from toolkit.model.facts import Facts, Query, Release
from toolkit.model.settings import Setting, SettingKind, SettingScope
from toolkit.model.words import Effect, Role

_SHARE = re.compile(r"[0-9]+(?:\.[0-9]+)?\s*%", re.ASCII)
"""Of the memory that the engine finds, as its `memory_limit` may be given; how much that is only it knows."""
_NO_LIMIT = frozenset({"-1", "none", "null"})
_MOST_BYTES = Decimal(2**64 - 1)
_SIZE = re.compile(r"([0-9]+(?:\.([0-9]+))?)\s*([A-Za-z]+)", re.ASCII)


class DuckdbSettings:
    """Sizes are texts of which the catalogue shows one digit after the point, cut off: `4GB` is `3.7 GiB`."""

    sizes: Mapping[str, Decimal] = sizes(1000, binary=True)
    client: AskedClient | None = None

    def reads(self, release: Release) -> tuple[Query, ...]:
        del release
        return (Query(CATALOGUE, CATALOGUE),)

    def read(self, setting: Setting) -> Call:
        return Call("setting_value", session=Role.WORKER, file=True, binds={"name": setting.name})

    def same(self, setting: Setting, level: str, read: str) -> bool:
        wanted, shown = self._bytes(level), _SIZE.fullmatch(read)
        if setting.kind is SettingKind.TEXT and shown is not None and _SHARE.fullmatch(level.strip()):
            return shown[3].lower() in self.sizes
        if setting.kind is not SettingKind.TEXT or wanted is None or shown is None:
            return _plain(normal(setting, level, self.sizes)) == _plain(normal(setting, read, self.sizes))
        unit = self.sizes.get(shown[3].lower())
        digits = Decimal(10) ** -len(shown[2] or "")
        return unit is not None and (wanted / unit).quantize(digits, ROUND_FLOOR) == Decimal(shown[1])

    def _bytes(self, text: str) -> Decimal | None:
        if text.strip().lower() in _NO_LIMIT:
            return _MOST_BYTES
        found = _SIZE.fullmatch(text.strip())
        unit = None if found is None else self.sizes.get(found[3].lower())
        return None if found is None or unit is None else Decimal(found[1]) * unit

    def in_session(self, setting: Setting, level: str) -> Call:
        value = normal(setting, level, self.sizes)
        text = str(value).lower() if isinstance(value, bool) else level
        return Call(
            "set_setting", {"name": setting.name, "value": text}, session=Role.WORKER, effect=Effect.CHANGES,
            undo=(Call("reset_setting", {"name": setting.name}, session=Role.WORKER, effect=Effect.CHANGES),),
        )  # fmt: skip

    def in_system(self, setting: Setting, level: str, facts: Facts, key: str) -> SystemChange:
        """Refuse it: another program opens the file with settings of its own."""
        del level, facts, key
        raise ToolkitError(
            f"`{setting.name}` is a setting of dbatk's own process, which no other program sees",
            code="TK-0107",
            hint="give the setting to the program itself",
        )

    def in_script(self, setting: Setting, level: str, levels: Sequence[str], facts: Facts) -> None:
        """No script is written for this engine that would run without dbatk."""

    def changed_server(self, scope: SettingScope, facts: Facts) -> str:
        """Each database that is open has settings of its own."""
        del scope, facts
        return ""


def _plain(value: Decimal | bool | str) -> object:
    return value.lower() if isinstance(value, str) else value


SETTINGS = DuckdbSettings()
