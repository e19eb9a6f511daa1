"""What is read of files of trials, before it becomes runs."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import NoReturn

from toolkit.errors import ToolkitError
from toolkit.model.records import Metric
from toolkit.model.values import Level
from toolkit.model.words import Outcome

MOST_TRIALS = 100_000
_LONGEST_LEVEL = 400
_LEAST, _MOST = 1e-100, 1e100
_FACTOR = re.compile(r"[A-Za-z_][\w.-]{0,59}", re.ASCII)
_WHOLE = re.compile(r"[+-]?(?:0|[1-9]\d{0,14})", re.ASCII)
_NUMBER = re.compile(r"[+-]?\d{1,15}(?:\.\d{1,15})?", re.ASCII)


@dataclass(frozen=True, slots=True)
class LineOfFile:
    """Where something stands, for messages."""

    file: str
    line: int
    unit: str = "line"
    """What is counted: lines, or the results of a file whose lines nobody counts."""

    def __str__(self) -> str:
        return f"`{self.file}`, {self.unit} {self.line}"


@dataclass(frozen=True, slots=True)
class ForeignTrial:
    """One trial as somebody else wrote it down.

    `levels` are texts in the order of the factors. `repeat` is None where nothing says which one it is.
    """

    levels: tuple[tuple[str, str], ...]
    place: LineOfFile
    repeat: int | None = None
    outcome: Outcome = Outcome.OK
    reason: str | None = None
    began_at: datetime | None = None
    elapsed_seconds: float | None = None
    metrics: tuple[Metric, ...] = ()
    run: str = ""
    target: str = ""
    operation: str = ""


@dataclass(frozen=True, slots=True)
class TrialFiles:
    """What one or several files of a kind hold.

    Attributes:
        kind: as a person calls it.
        trials: in the order of the files.
        command: what was run, with `{factor}` where a level stood; empty where nobody says.
        better: of metrics, where the file says which way is better: `higher` or `lower`.
        environment: what the files tell of where it was measured.
        notes: what the reader of a report must know.
    """

    kind: str
    trials: tuple[ForeignTrial, ...]
    command: tuple[str, ...] = ()
    better: Mapping[str, str] = field(default_factory=dict)
    environment: Mapping[str, str] = field(default_factory=dict)
    notes: tuple[str, ...] = ()


def typed(levels: Iterable[str]) -> dict[str, Level]:
    """Return the levels of a factor: whole numbers where all are, numbers where all are, else text."""
    texts = list(dict.fromkeys(levels))
    if all(_WHOLE.fullmatch(text) for text in texts):
        return {text: int(text) for text in texts}
    if all(_NUMBER.fullmatch(text) for text in texts):
        return {text: float(text) for text in texts}
    return {text: text for text in texts}


def check_factor(name: str, place: LineOfFile) -> str:
    """Return a name of a factor as `RUN/degree=4` can be written with it.

    Raises:
        ToolkitError: TK-0117.
    """
    if not _FACTOR.fullmatch(name):
        refuse(f"{place}: `{name[:80]}` cannot be the name of a factor", "letters, digits, `_`, `.` and `-`")
    return name


def check_level(name: str, text: str, place: LineOfFile) -> str:
    """Return a level, which is there and printable.

    Raises:
        ToolkitError: TK-0117.
    """
    if not text:
        refuse(f"{place}: the factor `{name}` has no level", "each row names a level of each factor")
    if len(text) > _LONGEST_LEVEL or not text.isprintable():
        refuse(f"{place}: a level of `{name}` is too long or has control characters", "shorten it")
    return text


def one_shape(trials: Sequence[ForeignTrial]) -> None:
    """Refuse trials whose factors are not the same, and values whose logarithms, squares or ratios are no numbers.

    Raises:
        ToolkitError: TK-0117.
    """
    first = trials[0]
    for each in trials:
        names, own = ([name for name, _ in one.levels] for one in (first, each))
        if names != own:
            refuse(
                f"{each.place}: its factors are {_listed(own)}, those of {first.place} are {_listed(names)}",
                "import files of other factors one by one",
            )
        for value, unit in (
            (each.elapsed_seconds or 0.0, "seconds"),
            *((of.value, of.unit) for of in each.metrics),
        ):
            if value and not _LEAST < abs(value) < _MOST:
                refuse(f"{each.place}: {value:g} {unit} cannot be analysed", "give the value as it was measured")
    if len(trials) > MOST_TRIALS:
        refuse(f"{len(trials):,} trials are more than {MOST_TRIALS:,}", "import fewer at once")


def _listed(names: Sequence[str]) -> str:
    return ", ".join(f"`{name}`" for name in names) or "none"


def refuse(sentence: str, hint: str | None = None) -> NoReturn:
    """Refuse a file.

    Raises:
        ToolkitError: TK-0117.
    """
    raise ToolkitError(sentence, code="TK-0117", hint=hint)
