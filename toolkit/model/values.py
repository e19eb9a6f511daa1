"""Names, levels, cells: the small values everything else is made of."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from toolkit.model.words import SupportState

Scalar = str | int | float | bool | None
Level = str | int | float | bool
Row = Mapping[str, Scalar]


@dataclass(frozen=True, slots=True, order=True)
class QualifiedName:
    """A catalogue name, exactly as the catalogue spells it and without quotes."""

    name: str
    schema: str | None = None

    def __str__(self) -> str:
        return f"{self.schema}.{self.name}" if self.schema else self.name


@dataclass(frozen=True, slots=True)
class Support:
    """Whether something can be done, the sentence a DBA would want, and what to do instead where that is known."""

    state: SupportState
    sentence: str = ""
    hint: str = ""

    @property
    def ok(self) -> bool:
        return self.state is SupportState.SUPPORTED


@dataclass(frozen=True, slots=True)
class CommandFactor:
    """How a factor outside the operation is read, applied and undone: by commands or by SQL.

    `{level}` and `{before}` are the only placeholders. Commands are argument lists, never a shell line.
    """

    read: tuple[str, ...] = ()
    apply: tuple[str, ...] = ()
    undo: tuple[str, ...] = ()
    read_sql: str = ""
    apply_sql: str = ""
    undo_sql: str = ""

    @property
    def runs_commands(self) -> bool:
        return bool(self.read or self.apply or self.undo)


@dataclass(frozen=True, slots=True)
class Factor:
    """One thing varied and the levels it takes."""

    name: str
    levels: tuple[Level, ...]
    unit: str | None = None
    command: CommandFactor | None = None
    setting: bool = False
    """Whether it is a setting of the database, which the engine's own catalogue knows."""

    @property
    def own(self) -> bool:
        """Whether it is one of the operation itself."""
        return self.command is None and not self.setting


@dataclass(frozen=True)
class Cell(Mapping[str, Level]):
    """One level for every factor, in the factors' order; hashable."""

    levels: tuple[tuple[str, Level], ...]

    def __getitem__(self, factor: str) -> Level:
        for name, level in self.levels:
            if name == factor:
                return level
        raise KeyError(factor)

    def __iter__(self) -> Iterator[str]:
        return (name for name, _ in self.levels)

    def __len__(self) -> int:
        return len(self.levels)

    def __hash__(self) -> int:
        return hash(self.levels)

    def __str__(self) -> str:
        """The spelling used in `RUN/degree=4,compression=none`."""
        return ",".join(f"{name}={spell_level(level)}" for name, level in self.levels)


def spell_level(level: Level) -> str:
    """Spell a level the way the command line takes it."""
    if isinstance(level, bool):
        return "yes" if level else "no"
    if isinstance(level, float) and level.is_integer():
        return str(int(level))
    return str(level)
