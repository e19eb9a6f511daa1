"""What an option of an operation is: flag, file key, help, validation and label derive from one declaration.

An option with `factor` may take several levels (`--degree 1,2,4`, `degree = [1, 2, 4]`); several levels make a
measurement.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from toolkit.model.words import EngineName

ASSUMED = {
    "oracle": "19-ee with its edition, or with what is known of the database: 19-ee,rac,standby=deferred",
    "postgresql": "17",
    "duckdb": "2.0",
}
"""How `--assume` writes a release of each engine, for help, which loads no engine."""


class OptionKind(StrEnum):
    """Types of option values."""

    NAME = "name"
    NAMES = "names"
    TEXT = "text"
    QUERY = "query"
    PREDICATE = "predicate"
    INTEGER = "integer"
    NUMBER = "number"
    CHOICE = "choice"
    FLAG = "flag"
    DEGREE = "degree"
    SIZE = "size"
    DURATION = "duration"
    TRANSACTIONS = "transactions"
    """Transactions of users: on the command line and in files the path of a TOML file, kept as its whole text."""
    JOBS = "jobs"
    """Jobs of a mix: the path of a TOML file, kept as its whole text; on the command line without a flag."""
    PATHS = "paths"
    PATH = "path"
    """A file or folder of this host."""
    FILES = "files"
    """Files of this host, and patterns that name several; on the command line the words without a flag."""
    ARGUMENTS = "arguments"
    """A program and its arguments; on the command line all that follows `--`."""
    COMMANDS = "commands"
    """Programs with their arguments, each quoted as for a shell, though none reads it; given several times."""
    TEXTS = "texts"
    """Texts, given several times."""
    ASSIGNMENTS = "assignments"
    """What columns are set to, each `column = expression`; given several times."""
    EXPRESSIONS = "expressions"
    """Expressions of columns; given several times."""


class Topic(StrEnum):
    """What an option is about; help shows the topics in this order."""

    COMMON = "Common"
    WHAT = "Options"
    WHERE = "Where"
    FACTORS = "Factors (several values, as in 1,2,4: a measurement compares them)"
    MEASUREMENT = "Measurement"
    SCRIPT = "Files and scripts"
    SAFETY = "Safety"
    OUTPUT = "Output"


@dataclass(frozen=True, slots=True)
class Option:
    """One option: the flag is `--` and the name with dashes; `key` is what files call it.

    A name that is a word of Python's ends in `_` (`with_`), which neither flag nor key has.
    """

    name: str
    kind: OptionKind
    help: str
    engines: frozenset[EngineName] = frozenset()
    """The engines that have it; empty for every engine."""
    factor: bool = False
    choices: tuple[str, ...] = ()
    choices_on: Mapping[EngineName, tuple[str, ...]] = field(default_factory=dict)
    """Those of the choices that an engine has, where engines differ."""
    notes_on: Mapping[EngineName, str] = field(default_factory=dict)
    """What it comes to on an engine; help shows the engine's own, or all where none is named."""
    low: float | None = None
    high: float | None = None
    unit: str | None = None
    elsewhere: str = ""
    """What to do on the engines that do not have it."""
    words: tuple[str, ...] = ()
    """Words allowed beside numbers (`default`, `auto`)."""
    words_on: frozenset[EngineName] = frozenset()
    """The engines on which help and completion offer them; empty for every engine."""
    file_key: str = ""
    """The key in files where it is not the name."""
    topic: Topic = Topic.WHAT
    """Under what help shows it; a factor is shown among the factors."""
    level_begins: str = ""
    """The word every level begins with, where a level itself may hold a comma."""
    merge_buffer: int = 0
    """Where it is memory to sort in: the bytes of it that each sorted run takes while runs are merged."""
    shared: bool = False
    """Whether memory to sort in is given for all processes together."""

    @property
    def flag(self) -> str:
        return "--" + self.name.rstrip("_").replace("_", "-")

    @property
    def key(self) -> str:
        """The key in an experiment file."""
        return self.file_key or self.name.rstrip("_")

    def is_of(self, engine: EngineName) -> bool:
        """Whether an engine has the option."""
        return not self.engines or engine in self.engines

    def notes_of(self, engine: EngineName | None) -> tuple[str, ...]:
        """Return what it comes to on an engine; on each for None."""
        return tuple(text for each, text in self.notes_on.items() if engine in (None, each))

    def choices_of(self, engine: EngineName | None) -> tuple[str, ...]:
        """Return the choices that an engine has; all of them for None."""
        return self.choices if engine is None else self.choices_on.get(engine, self.choices)

    def words_of(self, engine: EngineName | None) -> tuple[str, ...]:
        """Return the words that an engine takes beside numbers; all of them for None."""
        return self.words if engine is None or not self.words_on or engine in self.words_on else ()
