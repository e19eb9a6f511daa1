r"""Metrics from what programs write: `rows=(\d+) rows`, a path into JSON, the time between two lines.

Patterns are those of RE2, whose time grows only with the length of a text, whatever the pattern: none can hang a
trial. What RE2 lacks (references back, looking around) is refused with its own sentence.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from toolkit.errors import ToolkitError
from toolkit.model.records import Metric
from toolkit.model.values import Row

OUTPUT = "its output"
_SPEC = re.compile(
    r"(?P<name>[a-z][a-z0-9_.]{0,59})(?:\[(?P<unit>[^\[\],]{0,40})(?:,\s*(?P<better>higher|lower))?\])?=(?P<way>.+)",
    re.ASCII | re.DOTALL,
)
_PHASE = re.compile(r"(?P<name>[a-z][a-z0-9_.]{0,59})=(?P<begin>.+?)\.\.(?P<end>.+)", re.ASCII)
_STEP = re.compile(r"\.(?P<key>[A-Za-z_][\w-]*)|\[(?P<at>\d{1,9})\]|\[\"(?P<quoted>[^\"]+)\"\]", re.ASCII)
_LONGEST_PATTERN = 1000


@dataclass(frozen=True, slots=True)
class OutputMetric:
    """A number that a program writes: by a pattern with one group, or by a path into JSON (`$.a.b[0]`).

    Attributes:
        name: of the number.
        unit: of it; empty for none.
        better: lower or higher; empty where nobody said.
        way: the pattern or the path.
    """

    name: str
    unit: str
    better: str
    way: str

    @property
    def is_path(self) -> bool:
        return self.way.startswith(("$.", "$["))


def read_metric(text: str) -> OutputMetric:
    """Read `NAME=PATTERN`, `NAME[UNIT]=PATTERN`, `NAME[UNIT,higher]=$.path`.

    Raises:
        ToolkitError: TK-0102.
    """
    match = _SPEC.fullmatch(text)
    if match is None:
        raise ToolkitError(
            f"`--metric {text[:80]}` cannot be read",
            code="TK-0102",
            hint="write `NAME=PATTERN`, `NAME[UNIT,higher]=PATTERN` or `NAME=$.path.in.json`",
        )
    found = OutputMetric(match["name"], (match["unit"] or "").strip(), match["better"] or "", match["way"])
    if found.is_path:
        _steps(found.way)
    else:
        pattern = compiled("--metric", found.way)
        if pattern.groups != 1:
            raise ToolkitError(
                f"the pattern of the metric `{found.name}` has {pattern.groups} groups and needs one",
                code="TK-0102",
                hint=r"put parentheses around the number alone: `rows=(\d+) rows`; `(?:...)` only groups",
            )
    return found


def read_phase(text: str, flag: str = "--phase") -> tuple[str, str, str]:
    """Read `NAME=BEGIN..END`, two patterns: name, begin, end.

    Raises:
        ToolkitError: TK-0102.
    """
    match = _PHASE.fullmatch(text)
    if match is None:
        raise ToolkitError(
            f"`{flag} {text[:80]}` cannot be read",
            code="TK-0102",
            hint="write `NAME=BEGIN..END`, two patterns of lines: `load=begin load..load done`",
        )
    compiled(flag, match["begin"])
    compiled(flag, match["end"])
    return match["name"], match["begin"], match["end"]


def compiled(flag: str, pattern: str) -> Any:
    """Return a pattern that RE2 compiled.

    Raises:
        ToolkitError: TK-0102 when it is none; TK-0206 without the package.
    """
    try:
        import re2
    except ImportError:
        raise ToolkitError(
            "patterns need the package `google-re2`", code="TK-0206", hint="pip install google-re2"
        ) from None
    options = re2.Options()
    options.log_errors = False
    try:
        if len(pattern) > _LONGEST_PATTERN:
            raise re2.error("it is too long")
        return re2.compile(pattern, options=options)
    except re2.error as error:
        reason = error.args[0] if error.args else "it is none"
        said = reason.decode(errors="replace") if isinstance(reason, bytes) else str(reason)
        raise ToolkitError(
            f"the pattern `{pattern[:80]}` of `{flag}` cannot be used: {said}",
            code="TK-0102",
            hint="use the syntax of RE2, which has no references back and no looking around",
        ) from None


# -- reading ------------------------------------------------------------------------------------------------------
def metrics_in(log: Iterable[Row], wanted: Sequence[OutputMetric]) -> Iterator[Metric | str]:
    """Yield each metric that the output holds, and a sentence for each that it does not; the last match counts.

    Args:
        log: lines with `line`, as kept of a trial.
        wanted: what is looked for.
    """
    lines = [str(row["line"]) for row in log]
    for one in wanted:
        text = _by_path(lines, one.way) if one.is_path else _by_pattern(lines, one.way)
        if text is None:
            yield f"the metric `{one.name}` is not in the output"
            continue
        value = _number(text)
        if value is None:
            yield f"the metric `{one.name}` is `{text[:40]}`, which is not a number"
        else:
            yield Metric(one.name, value, one.unit, OUTPUT)


def phases_in(
    log: Iterable[Row], wanted: Sequence[tuple[str, str, str]], source: str = OUTPUT
) -> Iterator[Metric | str]:
    """Yield the seconds between the first line that begins a phase and the next one that ends it."""
    rows, place_of = tuple(log), "the output" if source == OUTPUT else source
    for name, begin, end in wanted:
        starts, ends = compiled("--phase", begin), compiled("--phase", end)
        at = next((place for place, row in enumerate(rows) if starts.search(str(row["line"]))), None)
        last = None if at is None else next((row for row in rows[at + 1 :] if ends.search(str(row["line"]))), None)
        if at is None or last is None:
            yield f"the {'begin' if at is None else 'end'} of the phase `{name}` is not in {place_of}"
        else:
            seconds = float(str(last["at_seconds"])) - float(str(rows[at]["at_seconds"]))
            yield Metric(f"{name}_seconds", seconds, "s", source)


def refused_line(lines: Iterable[str], patterns: Sequence[str]) -> str | None:
    """Return the first line that one of some patterns is in; None where there is none."""
    found = [compiled("--fail-if-output", pattern) for pattern in patterns]
    return next((line for line in lines if any(one.search(line) for one in found)), None) if found else None


def _by_pattern(lines: Sequence[str], pattern: str) -> str | None:
    found = compiled("--metric", pattern)
    texts = (match[1] for line in reversed(lines) if (match := _last(found, line)) is not None)
    return next((text for text in texts if text is not None), None)


def _last(pattern: Any, line: str) -> Any:
    match = None
    for match in pattern.finditer(line):  # noqa: B007 (the last one is wanted)
        pass
    return match


def _by_path(lines: Sequence[str], path: str) -> str | None:
    """Look in the last text of the output that is JSON: all of it, from a line on, or a line."""
    for document in _documents(lines):
        found: Any = document
        for step in _steps(path):
            try:
                found = found[step]
            except (KeyError, IndexError, TypeError):
                found = None
                break
        if isinstance(found, str | int | float) and not isinstance(found, bool):
            return str(found)
    return None


def _documents(lines: Sequence[str]) -> Iterator[Any]:
    begins = [place for place, line in enumerate(lines) if line.lstrip().startswith(("{", "["))]
    for place in (*begins[:1], *reversed(begins)):
        for text in ("\n".join(lines[place:]), lines[place]):
            try:
                yield json.loads(text)
            except (ValueError, RecursionError):
                continue


def _steps(path: str) -> list[str | int]:
    steps: list[str | int] = []
    at = 1
    while at < len(path):
        match = _STEP.match(path, at)
        if match is None:
            raise ToolkitError(
                f"`{path[:80]}` is not a path into JSON",
                code="TK-0102",
                hint='write `$.summary.tps` or `$.runs[0]["a b"]`',
            )
        steps.append(int(match["at"]) if match["at"] else match["key"] or match["quoted"])
        at = match.end()
    return steps


def _number(text: str) -> float | None:
    try:
        value = float(text.replace(",", "").strip())
    except ValueError:
        return None
    return value if abs(value) < float("inf") else None


def metric_specs(options: Mapping[str, object]) -> tuple[OutputMetric, ...]:
    """Return the metrics that an experiment reads from output; none where it has no such option."""
    given = options.get("metric")
    return tuple(map(read_metric, given)) if isinstance(given, tuple) else ()


def log_phases(options: Mapping[str, object]) -> tuple[tuple[str, str, str], ...]:
    """Return the phases that an experiment reads from a server's log: name, begin, end."""
    given = options.get("log_phase")
    return tuple(read_phase(text, "--log-phase") for text in given) if isinstance(given, tuple) else ()


def names_read(options: Mapping[str, object]) -> tuple[str, ...]:
    """Return the names of all metrics that an experiment reads from output or a log, as often as they are given.

    Raises:
        ToolkitError: TK-0102 for what cannot be read.
    """
    given = options.get("phase")
    phases = tuple(map(read_phase, given)) if isinstance(given, tuple) else ()
    seconds = (f"{name}_seconds" for name, _, _ in (*phases, *log_phases(options)))
    return (*(one.name for one in metric_specs(options)), *seconds)


def check_log(options: Mapping[str, object]) -> None:
    """Refuse a log of which nothing is wanted, and the other way round.

    Raises:
        ToolkitError: TK-0102 for a phase that cannot be read, TK-0107.
    """
    phases = log_phases(options)
    if bool(phases) == ("server_log" in options):
        return
    lacking = "--server-log" if phases else "--log-phase"
    given = "--log-phase" if phases else "--server-log"
    raise ToolkitError(
        f"`{given}` needs `{lacking}`",
        code="TK-0107",
        hint="give the file (`--server-log FILE`) and what to look for (`--log-phase 'load=BEGIN..END'`)",
    )
