"""Factors outside the operation as a script shows them: what sets a level, and what puts the former value back."""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import replace

from toolkit.model.steps import Stages, Step
from toolkit.model.values import Factor, Level, spell_level
from toolkit.model.words import Effect, StepKind
from toolkit.runner.external import fill

_OF_THE_SESSION = re.compile(r"\s*(set(?!\s+(global|persist))|reset|pragma|alter\s+session)\b", re.IGNORECASE)


def with_external_factors(stages: Stages, factors: Sequence[Factor], cell: Mapping[str, Level]) -> Stages:
    """Return the stages of a trial with its external factors in their places.

    The former value is known in a run only, so what needs it stands there as a comment with `{before}`.
    """
    for factor in factors:
        if factor.command is None or factor.name not in cell:
            continue
        level, how = spell_level(cell[factor.name]), factor.command
        apply = _shown(how.apply, how.apply_sql, level)
        undo = _shown(how.undo, how.undo_sql, level)
        if _OF_THE_SESSION.match(how.apply_sql):
            stages = replace(
                stages, worker_begin=(apply, *stages.worker_begin), worker_end=(*stages.worker_end, undo)
            )
        else:
            stages = replace(stages, prepare=(apply, *stages.prepare), conclude=(*stages.conclude, undo))
    return stages


def _shown(argv: tuple[str, ...], sql: str, level: str) -> Step:
    if argv:
        return Step("factor", fill(shlex.join(argv), level, "{before}"), kind=StepKind.COMMAND, argv=argv)
    text = fill(sql, level, "{before}")
    comment = "-- put back the former value: " if "{before}" in text else ""
    return Step("factor", comment + text, effect=Effect.CHANGES)
