"""CSV or TOML with one row a trial: columns of metrics, columns that say which trial it is, and factors.

`elapsed_seconds`, `throughput[MB/s]`, any `name[unit,higher]`, or `value` with `unit` are metrics; `repeat`,
`outcome`, `began_at`, `run`, `target` and `operation` are known; every other column is a factor. Lines that begin
with `#` before the header are comments; `# source: ...` among them says where the numbers are from, `# published:`
what was concluded from them there, and `# note:` what a reader must know. TOML has a `[[trial]]` for each row,
whose keys are the columns; `source`, `published`, `note`, and what is the same in all trials, stand above them.
"""

from __future__ import annotations

import csv
import math
import re
import tomllib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from toolkit.model.records import IMPORTED, Metric
from toolkit.model.words import Outcome
from toolkit.readers.trials.model import (
    ForeignTrial,
    LineOfFile,
    TrialFiles,
    check_factor,
    check_level,
    one_shape,
    refuse,
)

KIND, TOML_KIND = "CSV of trials", "TOML of trials"
ELAPSED, THROUGHPUT, VALUE, UNIT = "elapsed_seconds", "throughput", "value", "unit"
KNOWN = ("repeat", "outcome", "began_at", "run", "target", "operation")
SECONDS = {
    "ms": 1e-3, "s": 1.0, "sec": 1.0, "second": 1.0, "seconds": 1.0, "min": 60.0, "minute": 60.0, "minutes": 60.0,
    "h": 3600.0, "hour": 3600.0, "hours": 3600.0,
}  # fmt: skip
"""Seconds of each unit of time."""
_METRIC = re.compile(
    r"(?P<name>[a-z][a-z0-9_.]{0,59})\[(?P<unit>[^\[\],]{1,40})(?:,\s*(?P<better>higher|lower))?\]", re.ASCII
)
_SAID = re.compile(r"#\s*(?P<what>source|published|note):\s*(?P<text>.+)", re.IGNORECASE)
_MOST_REPEATS = 1_000_000
_TOO_LONG = "a number in it has too many digits"


@dataclass(frozen=True, slots=True)
class _Column:
    """What a column holds: a metric with its unit, something known, or (neither) the levels of a factor."""

    name: str
    unit: str | None = None
    better: str = ""

    @property
    def is_metric(self) -> bool:
        return self.unit is not None

    @property
    def is_factor(self) -> bool:
        return not self.is_metric and self.name not in (*KNOWN, UNIT)


def is_table(text: str) -> bool:
    """Whether a text is CSV whose header has a column of a metric."""
    header = next((line for line in text.splitlines() if line.strip() and not line.startswith("#")), "")
    cells = [cell.strip().strip('"') for cell in re.split(r"[,;\t](?![^\[]*\])", header)]
    return len(cells) > 1 and any(
        cell in (ELAPSED, THROUGHPUT, VALUE) or _METRIC.fullmatch(cell) for cell in cells
    )


def read_tables(files: Sequence[tuple[str, str]]) -> TrialFiles:
    """Read tables of trials, by the names of their files.

    Raises:
        ToolkitError: TK-0117.
    """
    return _whole([_Lines(name, content) for name, content in files], KIND)


def is_toml(text: str) -> bool:
    """Whether a text is TOML with trials."""
    return re.search(r"^[ \t]*\[\[[ \t]*trial[ \t]*\]\]", text, re.MULTILINE) is not None


def read_toml(files: Sequence[tuple[str, str]]) -> TrialFiles:
    """Read files of TOML with a `[[trial]]` for each trial, by their names.

    Raises:
        ToolkitError: TK-0117.
    """
    return _whole([_Tables(name, content) for name, content in files], TOML_KIND)


def _whole(tables: Sequence[_Lines | _Tables], kind: str) -> TrialFiles:
    trials: list[ForeignTrial] = []
    better: dict[str, str] = {}
    said: dict[str, list[str]] = {"source": [], "published": [], "note": []}
    for lines in tables:
        columns = _columns(lines)
        better |= {column.name: column.better for column in columns if column.better}
        found = list(_trials(lines, columns))
        trials.extend(found)
        for what, text in lines.said:
            said[what].append(text)
        if not found:
            refuse(f"`{lines.name}` has a header and no trial", "one row is one trial")
    one_shape(trials)
    units = {(metric.name, metric.unit): each.place for each in trials for metric in each.metrics}
    for (name, unit), place in units.items():
        other = next((known for named, known in units if named == name), unit)
        if other != unit:
            refuse(
                f"{place}: the unit of `{name}` is `{unit}`, before it was `{other}`", "use one unit for a metric"
            )
    notes = tuple(dict.fromkeys(said.pop("note")))
    environment = {what: "; ".join(dict.fromkeys(texts)) for what, texts in said.items() if texts}
    return TrialFiles(kind, tuple(trials), better=better, environment=environment, notes=notes)


class _Lines:
    """The rows of a table, and where each begins."""

    def __init__(self, name: str, text: str) -> None:
        lines = text.splitlines(keepends=True)
        before = 0
        while before < len(lines) and (lines[before].startswith("#") or not lines[before].strip()):
            before += 1
        matches = (_SAID.match(line.strip()) for line in lines[:before])
        self.said = [(match["what"].lower(), match["text"].strip()) for match in matches if match]
        self.name, self._before = name, before
        header = re.sub(r"\[[^\]]*\]", "", lines[before]) if before < len(lines) else ""
        separator = max((",", ";", "\t"), key=header.count)
        self._reader = csv.reader(_quoted(lines[before:], separator), delimiter=separator, strict=True)

    @property
    def place(self) -> LineOfFile:
        return LineOfFile(self.name, self._before + self._reader.line_num)

    def __iter__(self) -> Iterator[list[str]]:
        try:
            for row in self._reader:
                if any(cell.strip() for cell in row):
                    yield [cell.strip() for cell in row]
        except csv.Error as error:
            refuse(f"{self.place}: this is not CSV: {error}", "close each quote, and end each row on its line")


class _Tables:
    """The trials of a TOML file as rows of text, the names of their columns first."""

    def __init__(self, name: str, text: str) -> None:
        self.name, self._number = name, 0
        try:
            document = tomllib.loads(text)
        except (ValueError, RecursionError) as error:
            told = str(error) if isinstance(error, tomllib.TOMLDecodeError | RecursionError) else _TOO_LONG
            reason = " ".join(told.split())[:120].lower()
            refuse(f"`{name}`: this is not TOML: {reason}", "each trial is a `[[trial]]` with its keys below")
        trials = document.pop("trial", None)
        notes = document.pop("note", [])
        heads = {what: document.pop(what) for what in ("source", "published") if what in document}
        self.said: list[tuple[str, str]] = [(what, self._text(what, text)) for what, text in heads.items()]
        self.said += [("note", self._text("note", one)) for one in (notes if isinstance(notes, list) else [notes])]
        self._same = {key: self._text(key, value) for key, value in document.items()}
        for key in self._same:
            if _column(key, self.place).is_metric:
                refuse(f"`{name}`: `{key[:80]}` cannot stand above the trials", "write it into each `[[trial]]`")
        self._trials = [each for each in trials if isinstance(each, dict)] if isinstance(trials, list) else []
        self._rows = self._all()

    @property
    def place(self) -> LineOfFile:
        return LineOfFile(self.name, max(1, self._number), "trial")

    def __iter__(self) -> Iterator[list[str]]:
        return self._rows

    def _all(self) -> Iterator[list[str]]:
        names = list(dict.fromkeys((*self._same, *(key for each in self._trials for key in each))))
        yield names
        for number, trial in enumerate(self._trials, 1):
            self._number = number
            yield [self._text(name, (self._same | trial).get(name, "")) for name in names]

    def _text(self, name: str, value: object) -> str:
        if isinstance(value, bool):
            return str(value).lower()
        if isinstance(value, datetime):
            return value.isoformat()
        if not isinstance(value, str | int | float):
            refuse(f"{self.place}: `{name[:80]}` is neither a text nor a number", "a trial is a flat table")
        try:
            return str(value).strip()
        except ValueError:  # one that is written in another base than 10
            refuse(f"{self.place}: `{name[:80]}` is a number with too many digits", "no time is as long")


def _quoted(lines: Sequence[str], separator: str) -> Iterator[str]:
    """Quote a unit with its direction in the header, whose comma separates no columns."""
    for number, line in enumerate(lines):
        if number == 0 and separator == "," and '"' not in line:
            yield re.sub(r"([^,\n]*\[[^\]\n]*,[^\]\n]*\])", r'"\1"', line)
        else:
            yield line


def _columns(lines: _Lines | _Tables) -> list[_Column]:
    header = next(iter(lines), [])
    columns = [_column(cell, lines.place) for cell in header]
    names = [column.name for column in columns]
    for name in names:
        if names.count(name) > 1:
            refuse(f"{lines.place}: the column `{name}` is there twice", "name each column once")
    if (VALUE in names) is not (UNIT in names):
        refuse(f"{lines.place}: `value` and `unit` need each other", "or name the column: `tps[1/s,higher]`")
    return columns


def _column(cell: str, place: LineOfFile) -> _Column:
    match = _METRIC.fullmatch(cell)
    if match is not None:
        return _Column(match["name"], match["unit"].strip(), match["better"] or "")
    if cell == ELAPSED:
        return _Column(ELAPSED, "seconds")
    if cell == VALUE:
        return _Column(VALUE, "")
    if cell == THROUGHPUT:
        refuse(f"{place}: `throughput` has no unit", "write `throughput[MB/s]`")
    if cell in (*KNOWN, UNIT):
        return _Column(cell)
    return _Column(check_factor(cell, place))


def _trials(lines: _Lines | _Tables, columns: Sequence[_Column]) -> Iterator[ForeignTrial]:
    before = ""
    for row in lines:
        place = lines.place
        if len(row) != len(columns):
            refuse(f"{place}: {len(row)} values under {len(columns)} columns", "quote values with commas")
        known = {column.name: cell for column, cell in zip(columns, row, strict=True) if not column.is_factor}
        levels = tuple(
            (column.name, check_level(column.name, cell, place))
            for column, cell in zip(columns, row, strict=True)
            if column.is_factor
        )
        outcome = _outcome(known.get("outcome", ""), place)
        given = [column for column in columns if column.is_metric and known[column.name]]
        metrics = [_metric(column, known, place) for column in given]
        of_value = (metric for column, metric in zip(given, metrics, strict=True) if column.name == VALUE)
        measured = next((metric.unit for metric in of_value), before)
        if before and measured != before:
            refuse(
                f"{place}: the value is in `{measured}`, before it was in `{before}`",
                "use one unit, or a column for each metric: `elapsed_seconds`, `throughput[MB/s]`",
            )
        before = measured
        elapsed = next((metric.value for metric in metrics if metric.name == ELAPSED), None)
        if not metrics and outcome is Outcome.OK:
            refuse(
                f"{place}: this trial has no value", "leave out the row, or give its `outcome`: failed, skipped"
            )
        yield ForeignTrial(
            levels,
            place,
            repeat=_repeat(known.get("repeat", ""), place),
            outcome=outcome,
            began_at=_instant(known.get("began_at", ""), place),
            elapsed_seconds=elapsed,
            metrics=tuple(metric for metric in metrics if metric.name != ELAPSED),
            **{name: known.get(name, "") for name in ("run", "target", "operation")},
        )


def _metric(column: _Column, known: dict[str, str], place: LineOfFile) -> Metric:
    text = known[column.name]
    try:
        value = float(text) if re.fullmatch(r"[+-]?[\d.]+(?:[eE][+-]?\d+)?", text, re.ASCII) else math.nan
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        refuse(f"{place}: `{text[:40]}` under `{column.name}` is not a number", "write 1234.5, without separators")
    name, unit = column.name, column.unit or ""
    if name == VALUE:
        unit = known[UNIT]
        if not unit or len(unit) > 40 or not unit.isprintable():
            refuse(f"{place}: the value has no unit", "`s`, `min`, `MB/s` ...")
        if unit in SECONDS:
            name, value, unit = ELAPSED, value * SECONDS[unit], "seconds"
        elif unit.endswith("/s"):
            name = THROUGHPUT
    if name == ELAPSED and (unit != "seconds" or not 0 < value < 1e9):
        refuse(f"{place}: an elapsed time is in seconds, above 0 and below 1e9", "or give `value` with `unit`")
    if name == THROUGHPUT and not unit.endswith("/s"):
        refuse(f"{place}: the unit of a throughput ends in `/s`, not `{unit}`", "name the metric otherwise")
    return Metric(name, value, unit, IMPORTED)


def _outcome(text: str, place: LineOfFile) -> Outcome:
    known = [one.value for one in Outcome]
    if text and text not in known:
        refuse(f"{place}: there is no outcome `{text[:40]}`", "one of " + ", ".join(known))
    return Outcome(text or Outcome.OK)


def _repeat(text: str, place: LineOfFile) -> int | None:
    if not text:
        return None
    if not re.fullmatch(r"\d{1,7}", text, re.ASCII) or int(text) > _MOST_REPEATS:
        refuse(f"{place}: `repeat` cannot be `{text[:40]}`", "1 is the first one, 0 a warm-up")
    return int(text)


def _instant(text: str, place: LineOfFile) -> datetime | None:
    if not text:
        return None
    try:
        found = datetime.fromisoformat(text)
    except ValueError:
        refuse(f"{place}: `{text[:40]}` is not a date and time", "write ISO 8601: 2026-11-21T05:23:07Z")
    return (found if found.tzinfo else found.replace(tzinfo=UTC)).astimezone(UTC)
