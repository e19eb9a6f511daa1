"""An experiment as written, and the plain parts a run derives from it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from toolkit.model.values import Cell, Factor, Level
from toolkit.model.words import Keep, Mode, OperationName

OptionValue = str | int | float | bool | tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Experiment:
    """Operation x factors x repeat on a target, as written.

    `options` holds single values (source, table, columns, query text ...); `factors` what is varied, also when
    it has one level only. Times are seconds. `mode` is already decided.
    """

    target: str
    operation: OperationName
    options: Mapping[str, OptionValue]
    factors: tuple[Factor, ...]
    mode: Mode
    repeat: int = 1
    warmup: int = 0
    name: str | None = None
    label: str | None = None
    seed: int = 0
    snapshot: str = "auto"
    keep: Keep = Keep.NONE
    work_schema: str | None = None
    budget_seconds: float | None = None
    time_limit_seconds: float | None = None
    quiet_wait_seconds: float | None = None
    guards: tuple[str, ...] = ()
    """Limits that are watched meanwhile, as typed: `max_lag=30s` (see `toolkit.design.guards`)."""
    detect_pct: float | None = None
    """Go on until a difference of so many per cent is detected or excluded; `repeat` is then the most."""
    search: bool = False
    """Run only the configurations that a search asks for, sweep by sweep, instead of all."""
    only: tuple[Cell, ...] = ()
    """The configurations that are run, where those are not all combinations of levels."""
    judge: str = ""
    """What configurations are compared by, where the user chose it: `tps:higher`, `throughput`."""
    volume: str = ""
    """What each trial works on, of which throughput is the rate: `1048576 bytes`, `rows` for its own."""
    verifies: str = ""
    """The run whose gain it measures again; whether that held is said when it has run."""
    present: Mapping[str, str] = field(default_factory=dict)
    """Of such: what was set before, as the command line spells levels; empty where the run tells."""

    @property
    def open_ended(self) -> bool:
        """Whether it turns out only while it runs how many of the planned trials it needs."""
        return self.search or self.detect_pct is not None


@dataclass(frozen=True, slots=True)
class Spec:
    """What an operation needs to know: the experiment's options, without how often and in which order."""

    operation: OperationName
    mode: Mode
    options: Mapping[str, OptionValue] = field(default_factory=dict)
    work_schema: str | None = None
    keep: Keep = Keep.NONE
    factors: tuple[Factor, ...] = ()
    """What is varied, for what must be known or refused before the first cell."""

    def text(self, name: str) -> str | None:
        """Return a text option, or None."""
        value = self.options.get(name)
        return None if value is None else str(value)

    def query(self, cell: Cell) -> str | None:
        """Return the query of a cell, where there is one."""
        return queries_of(self.options).get(str(cell.get("query", "")))

    def values(self, name: str) -> tuple[Level | OptionValue, ...]:
        """Return every value that an option has in a cell; none where it was not given."""
        levels = next((factor.levels for factor in self.factors if factor.own and factor.name == name), ())
        return levels or tuple(self.options[each] for each in (name,) if each in self.options)

    def flag(self, name: str) -> bool:
        """Return a boolean option; absent is False."""
        return bool(self.options.get(name, False))

    def names(self, name: str) -> tuple[str, ...]:
        """Return a list option; absent is empty."""
        value = self.options.get(name)
        if value is None:
            return ()
        return value if isinstance(value, tuple) else (str(value),)


def queries_of(options: Mapping[str, OptionValue]) -> dict[str, str]:
    """Return the text of `--query`, under an empty name; of several each, by the level that names it."""
    value = options.get("query")
    if isinstance(value, tuple):
        return {name: text for name, _, text in (each.partition("=") for each in value)}
    return {} if value is None else {"": str(value)}


@dataclass(frozen=True, slots=True)
class PlannedTrial:
    """One execution to come: `number` counts from 1 in the order run, `repeat` 0 is a warm-up."""

    number: int
    cell: Cell
    repeat: int

    @property
    def warmup(self) -> bool:
        return self.repeat == 0


@dataclass(frozen=True, slots=True)
class Naming:
    """Names of our own objects: `DBATK_<key>_<suffix>`, at most 30 bytes.

    `key` is the run id without dashes and century (16 characters), or `RUN` in a printed script.
    `sequence` differs for every attempt of every trial, so that no name is used twice.
    """

    key: str
    sequence: int = 0
    upper: bool = True

    def trial_object(self, letter: str = "") -> str:
        """Name an object of the trial; `letter` tells several apart."""
        return self._cased(f"DBATK_{self.key}_{self.sequence}{letter}")

    def run_object(self, number: int) -> str:
        """Name an object that lives for the whole run (a copy made in setup)."""
        return self._cased(f"DBATK_{self.key}_S{number}")

    def _cased(self, name: str) -> str:
        return name.upper() if self.upper else name.lower()


def mark_of(key: str) -> str:
    """Return the comment that marks an object as made by the run of this key."""
    return f"made by dbatk run {key}, may be dropped"
