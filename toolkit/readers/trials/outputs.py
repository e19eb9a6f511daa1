"""What programs that print one result a run have in common: the settings that vary are the factors."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime

from toolkit.model.engines import engines
from toolkit.model.records import Metric
from toolkit.readers.trials.model import ForeignTrial, LineOfFile, TrialFiles, check_level, one_shape, refuse

_LONGEST = 200


@dataclass(frozen=True, slots=True)
class ForeignResult:
    """One result of a program: what it ran with, and the trial that it is, without levels."""

    settings: Mapping[str, str]
    trial: ForeignTrial


def over_settings(
    kind: str,
    outputs: Sequence[ForeignResult],
    *,
    better: Mapping[str, str] | None = None,
    environment: Mapping[str, str] | None = None,
    notes: Sequence[str] = (),
) -> TrialFiles:
    """Return outputs as trials over the settings that vary; the other settings are of the environment.

    Raises:
        ToolkitError: TK-0117.
    """
    settings = [each.settings for each in outputs]
    names = list(dict.fromkeys(name for each in settings for name in each))
    varied = [name for name in names if len({each.get(name, "") for each in settings}) > 1]
    one_target = len({each.trial.target for each in outputs}) == 1
    trials = tuple(
        replace(
            each.trial,
            levels=tuple(
                (name, check_level(name, each.settings.get(name) or "none", each.trial.place)) for name in varied
            ),
            target=each.trial.target if one_target else "",
        )
        for each in outputs
    )
    one_shape(trials)
    same = {name: settings[0][name] for name in names if name not in varied and settings[0][name]}
    return TrialFiles(
        kind, trials, better=better or {}, environment=same | dict(environment or {}), notes=tuple(notes)
    )


def parts_of(name: str, text: str, begin: re.Pattern[str]) -> Iterator[tuple[LineOfFile, list[str]]]:
    """Divide a text at the lines that match; what stands before the first is left out."""
    lines = text.splitlines()
    begins = [number for number, line in enumerate(lines) if begin.match(line)]
    for first, end in zip(begins, [*begins[1:], len(lines)], strict=True):
        yield LineOfFile(name, first + 1), lines[first:end]


def first_of(lines: Sequence[str], pattern: re.Pattern[str]) -> str:
    """Return what the group of a pattern holds in the first line that it matches; empty if none does."""
    return next((found[1].strip() for line in lines if (found := pattern.search(line))), "")


def numbers_of(
    lines: Sequence[str], patterns: Mapping[str, tuple[re.Pattern[str], str]], source: str
) -> list[Metric]:
    """Return metrics by their names: the first line that a pattern matches, and the unit."""
    texts = [(name, first_of(lines, pattern), unit) for name, (pattern, unit) in patterns.items()]
    return [Metric(name, float(text), unit, source) for name, text, unit in texts if text]


def target_of(product: str) -> str:
    """Return the engine that a product is, by the name that others give it (`POSTGRES`); empty if none is."""
    word = product.strip().lower()
    return next((each for each in sorted(engines()) if word and each.startswith(word)), "")


# -- JSON -------------------------------------------------------------------------------------------------------
def within(document: object, *path: str) -> object:
    """Return what stands at a path of objects, None where there is nothing."""
    for name in path:
        document = document.get(name) if isinstance(document, dict) else None
    return document


def text_of(document: object, *path: str) -> str:
    """Return a text or a number as one printable line; empty where there is neither."""
    found = within(document, *path)
    if isinstance(found, bool) or not isinstance(found, str | int | float):
        return ""
    return " ".join("".join(char if char.isprintable() else " " for char in str(found)).split())[:_LONGEST]


def number_of(document: object, *path: str) -> float | None:
    """Return a finite number, None where there is none."""
    found = within(document, *path)
    if isinstance(found, bool) or not isinstance(found, int | float):
        return None
    try:
        return float(found) if math.isfinite(found) else None
    except OverflowError:  # a whole number of more than 308 digits
        return None


def instant_of(text: str) -> datetime | None:
    """Return an instant in ISO 8601, of UTC where no zone is given; None where it is none."""
    try:
        found = datetime.fromisoformat(text)
        return (found if found.tzinfo else found.replace(tzinfo=UTC)).astimezone(UTC)
    except (ValueError, OverflowError):
        return None


def told_of(documents: Sequence[Mapping[str, object]], paths: Mapping[str, tuple[str, ...]]) -> dict[str, str]:
    """Return what documents tell of where they were measured, different answers side by side."""
    told = {
        word: "; ".join(dict.fromkeys(filter(None, [text_of(each, *path) for each in documents])))
        for word, path in paths.items()
    }
    return {word: text for word, text in told.items() if text}


def listed(document: object, *path: str) -> list[object]:
    """Return a list; an empty one where there is none."""
    found = within(document, *path)
    return found if isinstance(found, list) else []


def seconds_of(value: float | None, place: LineOfFile) -> float:
    """Return an elapsed time.

    Raises:
        ToolkitError: TK-0117 for what is no number above 0.
    """
    if value is None or not 0 < value < 1e9:
        refuse(f"{place} has a time that is not a number above 0", "give the file as it was written, unchanged")
    return value
