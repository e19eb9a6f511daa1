"""Two runs, or two configurations, against each other: by how much, and whether that is more than noise.

Within one run blocks are taken out. Between two runs they do not cancel: the sweeps of A and of B happened at
other times. There a difference is held against how much stored runs of identical work differ (`noise`), and where
that is not known there is no interval and no verdict. What differs between the surroundings of the runs is shown
first, and is never a reason to refuse.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import median
from typing import TYPE_CHECKING

from toolkit.analysis.cells import confidence_of, in_order
from toolkit.analysis.confounded import levels_changed, several_at_once
from toolkit.analysis.doubts import way_of_reading
from toolkit.analysis.fit import ConfidenceInterval, Fit, Noise, Observation, fit
from toolkit.analysis.judged import Judged, judged_of
from toolkit.analysis.metrics import MetricPair, left_out, metric_pairs, metrics_by_cell
from toolkit.analysis.noise import LOAD_APART_PCT, BetweenRuns, between_runs, load_of
from toolkit.errors import ToolkitError
from toolkit.model.environment import DATABASE_ID
from toolkit.model.records import RunRecord
from toolkit.model.values import Cell, Level, Scalar, spell_level
from toolkit.model.words import Verdict
from toolkit.units import percent

if TYPE_CHECKING:
    from toolkit.model.environment import Environment, EnvironmentValue


@dataclass(frozen=True, slots=True)
class Difference:
    """A setting, option or property that is not the same; None is one that is not there."""

    name: str
    a: Scalar
    b: Scalar


def differences_of(a: RunRecord, b: RunRecord) -> tuple[Difference, ...]:
    """Return what differs: the target, then the options, then the environment by name."""
    found = []
    for of in (_head, _options, _reading, _surroundings):
        first, second = of(a), of(b)
        names = sorted({*first, *second})
        found += [
            Difference(name, first.get(name), second.get(name))
            for name in names
            if first.get(name) != second.get(name)
        ]
    return tuple(found)


def _head(run: RunRecord) -> Mapping[str, Scalar]:
    head = run.head
    return {
        "target": head.experiment.target,
        "database": head.target_name or None,
        "mode": head.mode.value,
        "dbatk version": head.tool_version or None,
    }


def _reading(run: RunRecord) -> Mapping[str, Scalar]:
    most = way_of_reading(run.trials)
    return {} if most is None else {"most blocks": most[0]}


def _options(run: RunRecord) -> Mapping[str, Scalar]:
    return {
        f"option {name}": ", ".join(value) if isinstance(value, tuple) else spell_level(value)
        for name, value in run.head.experiment.options.items()
    }


def _surroundings(run: RunRecord) -> Mapping[str, Scalar]:
    # target and database are named by `_head`, in words
    return {name: value for name, value in run.environment.items() if name != DATABASE_ID}


_IN_ENVIRONMENTS = ("setting.", "host_")
"""What the names of values begin with that an environment kept with a run has, too, and in full."""


def with_environments(found: Sequence[Difference], a: Environment, b: Environment) -> tuple[Difference, ...]:
    """Name all that differs between the environments kept with two runs; what somebody set comes first."""
    from toolkit.model.environment import differences

    own = [one for one in found if not one.name.startswith(_IN_ENVIRONMENTS)]
    kept = [Difference(one.name, *map(_spelled_with_unit, one.sides)) for one in differences((a, b))]
    return (*own, *kept)


def _spelled_with_unit(value: EnvironmentValue | None) -> Scalar:
    if value is None or value.value is None or not value.unit:
        return None if value is None else value.value
    return f"{value.value} {value.unit}"


# -- load of others ---------------------------------------------------------------------------------------------
_HIGH_PCT = 20.0


def load_notes(a: RunRecord, b: RunRecord) -> tuple[str, ...]:
    """Say when others used much of the host during either run, or more in one than in the other."""
    of_a, of_b = load_of(a), load_of(b)
    if of_a is None or of_b is None or a.head.run == b.head.run:
        return ()
    if max(of_a, of_b) < _HIGH_PCT and abs(of_a - of_b) < LOAD_APART_PCT:
        return ()
    shown = f"{percent(of_a)} of the host's CPU in A and {percent(of_b)} in B (medians)"
    return (f"others used {shown}: a difference may be due to them; repeat both runs on a quiet host",)


# -- the comparison ---------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Pair:
    """One cell of A against one cell of B; `ratio` is B over A: of times, below 1 B is faster."""

    cell_a: Cell
    cell_b: Cell
    n_a: int
    n_b: int
    median_a: float | None
    median_b: float | None
    ratio: float | None
    interval: ConfidenceInterval | None
    verdict: Verdict
    minimum_detectable_pct: float | None
    metrics: tuple[MetricPair, ...] = ()


@dataclass(frozen=True, slots=True)
class Comparison:
    """B against A: differences of the environment first, then the pairs, then what was left out.

    `unlike` says why both did not do the same work, if they are compared anyway. `history` are other stored runs
    of the operation, and `between` what they show; None within one run.
    """

    a: RunRecord
    b: RunRecord
    differences: tuple[Difference, ...]
    pairs: tuple[Pair, ...]
    notes: tuple[str, ...] = ()
    unlike: tuple[str, ...] = ()
    chosen: tuple[tuple[Cell, Cell], ...] = ()
    history: Sequence[RunRecord] = ()
    between: BetweenRuns | None = None

    @property
    def judged(self) -> Judged:
        """What both are compared by."""
        return judged_of(self.a)


def compare(
    a: RunRecord,
    b: RunRecord,
    *,
    cell_a: Cell | None = None,
    cell_b: Cell | None = None,
    pairs: Sequence[tuple[Cell, Cell]] = (),
    force: bool = False,
    history: Sequence[RunRecord] = (),
) -> Comparison:
    """Compare two runs cell by cell, or two named cells of one or two runs.

    Args:
        a: the run to compare with (before).
        b: the run in question (after).
        cell_a: a cell of A; with it, `cell_b` is the cell of B (the same levels when not given).
        cell_b: a cell of B.
        pairs: the cells of A and of B that are compared, where they are not those of equal levels.
        force: compare what did not do the same work all the same.
        history: other stored runs, which show how much runs of identical work differ.

    Raises:
        ToolkitError: TK-0110 for another operation, operation version, engine or row count; TK-0109 for a cell
            that a run does not have, or when no cell is in both.
    """
    chosen, notes = (list(pairs), ()) if pairs else _chosen(a, b, cell_a, cell_b)
    reasons = (*_other_work(a, b), *_other_rows(a, b, chosen))
    if reasons and not force:
        raise ToolkitError(
            f"the two runs did not do the same work: {'; '.join(reasons)}",
            code="TK-0110",
            hint="compare like with like, or add `--allow-unlike` to compare them anyway",
        )
    forced = tuple(f"compared although the work differs: {reason}" for reason in reasons)
    compared, between = compare_values(a, b, chosen, judged_of(a), history)
    of_a, of_b = metrics_by_cell(a), metrics_by_cell(b)
    with_metrics = tuple(
        replace(one, metrics=metric_pairs(of_a.get(one.cell_a, ()), of_b.get(one.cell_b, ()))) for one in compared
    )
    return Comparison(
        a,
        b,
        (*(Difference(*found) for found in levels_changed(chosen)), *differences_of(a, b)),
        with_metrics,
        (*forced, *several_at_once(chosen), *load_notes(a, b), *notes, *left_out(a, b)),
        unlike=reasons,
        chosen=tuple(chosen),
        history=history,
        between=between,
    )


def compare_levels(run: RunRecord, factor: str, one: Level, other: Level) -> Comparison:
    """Compare the configurations of a run that have one level of a factor with those that have another.

    They are paired in the order of the experiment: where the other factors have the same levels, by those.
    """
    of_one, of_other = ([cell for cell in _cells(run) if cell.get(factor) == level] for level in (one, other))
    rest = {_without(cell, factor): cell for cell in of_other}
    alike = [(cell, rest[_without(cell, factor)]) for cell in of_one if _without(cell, factor) in rest]
    if len(alike) < len(of_one) and len(of_one) == len(of_other):
        alike = list(zip(of_one, of_other, strict=True))
    if not alike:
        raise ToolkitError(
            f"run `{run.head.run}` has nothing to compare by `{factor}`",
            code="TK-0109",
            hint=f"name two of its configurations, such as `{run.head.run}/{_example(_cells(run))}`",
        )
    return compare(run, run, pairs=alike)


def _without(cell: Cell, factor: str) -> frozenset[tuple[str, Level]]:
    return frozenset(pair for pair in cell.levels if pair[0] != factor)


def compare_values(
    a: RunRecord,
    b: RunRecord,
    chosen: Iterable[tuple[Cell, Cell]],
    judged: Judged,
    history: Sequence[RunRecord] = (),
) -> tuple[tuple[Pair, ...], BetweenRuns | None]:
    """Compare one measured value of the chosen cells; values that are not positive do not enter.

    Returns:
        the pairs, and by what two runs were compared; None within one run.
    """
    seen_a, seen_b = judged.observed(a.trials), judged.observed(b.trials)
    values_a, values_b = _by_cell(seen_a), _by_cell(seen_b)
    chosen = tuple(chosen)
    between: BetweenRuns | None = None
    if a.head.run == b.head.run:
        estimate = _within(fit(seen_a, confidence_of(a)))
    else:
        between = between_runs(a, b, history, judged)
        single = fit(seen_a).components.pooled_with(fit(seen_b).components).single()
        compared = sum(a in values_a and b in values_b for a, b in chosen)
        estimate = _across(between, replace(single, pairs=max(1, compared)))
    pairs = (
        _pair(cells, values_a.get(cells[0], ()), values_b.get(cells[1], ()), estimate, judged) for cells in chosen
    )
    return tuple(pairs), between


_Values = tuple[float, ...]
_Estimate = Callable[[tuple[Cell, Cell], _Values, _Values], tuple[float, Noise | None]]
"""Returns log(B / A) of two cells with values, and its noise; None where that is not known."""


def _within(fitted: Fit) -> _Estimate:
    return lambda cells, _a, _b: fitted.ratio(cells[1], cells[0])


def _across(between: BetweenRuns, own: Noise) -> _Estimate:
    def estimate(_: tuple[Cell, Cell], values_a: _Values, values_b: _Values) -> tuple[float, Noise | None]:
        noise = between.noise.of_pair(own, len(values_a), len(values_b)) if between.reason is None else None
        return _mean_log(values_b) - _mean_log(values_a), noise

    return estimate


def _by_cell(seen: Iterable[Observation]) -> dict[Cell, tuple[float, ...]]:
    values: dict[Cell, list[float]] = {}
    for observation in seen:
        values.setdefault(observation.cell, []).append(observation.value)
    return {cell: tuple(found) for cell, found in values.items()}


def _pair(
    cells: tuple[Cell, Cell], values_a: _Values, values_b: _Values, estimate: _Estimate, judged: Judged
) -> Pair:
    if not values_a or not values_b:
        middle_a, middle_b = (median(found) if found else None for found in (values_a, values_b))
        return Pair(
            *cells, len(values_a), len(values_b), middle_a, middle_b, None, None, Verdict.INCONCLUSIVE, None
        )
    centre, noise = estimate(cells, values_a, values_b)
    value = median(values_b) / median(values_a)
    interval = None if noise is None else noise.interval(centre)
    interval = None if interval is None else interval.reaching(value)
    return Pair(
        *cells,
        len(values_a),
        len(values_b),
        median(values_a),
        median(values_b),
        value,
        interval,
        judged.verdict(interval),
        None if noise is None else noise.minimum_detectable_pct(),
    )


def _mean_log(values: tuple[float, ...]) -> float:
    return sum(math.log(value) for value in values) / len(values)


def _chosen(
    a: RunRecord, b: RunRecord, cell_a: Cell | None, cell_b: Cell | None
) -> tuple[list[tuple[Cell, Cell]], tuple[str, ...]]:
    """Return the pairs of cells to compare, and a sentence for cells that have no partner."""
    in_a, in_b = _cells(a), _cells(b)
    if cell_a is not None or cell_b is not None:
        first, second = cell_a or cell_b, cell_b or cell_a
        return [(_named(first, in_a, a), _named(second, in_b, b))], ()
    partners = {frozenset(cell.levels): cell for cell in in_b}
    chosen = [(cell, partners[key]) for cell in in_a if (key := frozenset(cell.levels)) in partners]
    if not chosen and len(in_a) == len(in_b) == 1:
        return [(in_a[0], in_b[0])], ()
    if not chosen:
        raise ToolkitError(
            f"runs `{a.head.run}` and `{b.head.run}` have no configuration in common",
            code="TK-0109",
            hint=f"name two configurations, such as `{a.head.run}/{_example(in_a)}` and "
            f"`{b.head.run}/{_example(in_b)}`",
        )
    paired = {cell for pair in chosen for cell in pair}
    notes = [
        f"only in run `{run.head.run}`: {', '.join(f'`{cell}`' for cell in alone)}"
        for run, found in ((a, in_a), (b, in_b))
        if (alone := [cell for cell in found if cell not in paired])
    ]
    return chosen, tuple(notes)


def _cells(run: RunRecord) -> list[Cell]:
    return in_order(dict.fromkeys(trial.cell for trial in run.trials), run.head.experiment)


def _named(cell: Cell | None, found: Iterable[Cell], run: RunRecord) -> Cell:
    wanted = frozenset(cell.levels) if cell is not None else frozenset()
    known = list(found)
    for candidate in known:
        if frozenset(candidate.levels) == wanted:
            return candidate
    raise ToolkitError(
        f"run `{run.head.run}` has no configuration `{cell}`",
        code="TK-0109",
        hint=f"its configurations are {', '.join(f'`{candidate}`' for candidate in known[:8]) or 'none'}",
    )


def _example(found: list[Cell]) -> str:
    return str(found[0]) if found else "degree=1"


def _other_work(a: RunRecord, b: RunRecord) -> tuple[str, ...]:
    asked = (
        ("operation", a.head.experiment.operation, b.head.experiment.operation),
        ("operation version", a.head.operation_version, b.head.operation_version),
        ("engine", a.head.engine, b.head.engine),
    )
    return tuple(f"{word} `{first}` against `{second}`" for word, first, second in asked if first != second)


def _other_rows(a: RunRecord, b: RunRecord, chosen: Iterable[tuple[Cell, Cell]]) -> tuple[str, ...]:
    rows_a, rows_b = _rows(a), _rows(b)
    pairs = [(rows_a.get(first), rows_b.get(second)) for first, second in chosen]
    return tuple(
        dict.fromkeys(
            f"row count {_spelled(first)} against {_spelled(second)}"
            for first, second in pairs
            if first and second and first != second
        )
    )


def _rows(run: RunRecord) -> dict[Cell, set[int]]:
    found: dict[Cell, set[int]] = {}
    for trial in run.trials:
        if trial.counts and trial.rows is not None:
            found.setdefault(trial.cell, set()).add(trial.rows)
    return found


def _spelled(rows: set[int]) -> str:
    low, high = min(rows), max(rows)
    return f"{low:,}" if low == high else f"{low:,} to {high:,}"
