"""The one way from the arguments of a user, on the command line or in a file, to an experiment.

Decides the mode: one cell and no repeat is a job (done once, into the named object); everything else is a
measurement (repeated, and nothing is left behind).
"""

from __future__ import annotations

import math
import re
import secrets
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace

from toolkit.design.contradictions import check_contradictions, check_one_session
from toolkit.design.judging import read_judge, read_volume
from toolkit.design.order import MOST_TRIALS, check_count
from toolkit.design.output_metrics import check_log
from toolkit.design.searchable import check_searchable
from toolkit.documents import did_you_mean
from toolkit.errors import ToolkitError
from toolkit.model.experiment import Experiment
from toolkit.model.operations import Levels, Options, declaration, every_option, options_of
from toolkit.model.values import Factor, Level
from toolkit.model.words import EngineName, Keep, Mode, OperationName

REPEAT = 3
DETECT_PCT = 10.0
"""What a measurement is to detect where nothing else is asked for."""
MOST_SWEEPS = 20
"""The most repeats of a measurement that goes on until a difference is detected or excluded."""
LEAST_DETECT_PCT, MOST_DETECT_PCT = 0.5, 1000.0
WARMUP = 1
MOST_REPEATS = 1000
MOST_WARMUPS = 100
LARGEST_SEED = 2**31 - 1
SNAPSHOTS = ("auto", "none", "pgstat", "duckstat", "osstat", "vstat", "statspack", "awr")

_MEASURED_ONLY = {"on_live_objects": "a job always works on the live object"}
_LOADS_MEASURED_ONLY = {"bare": "a job loads the table itself", "into": "a job loads the table as it is"}
_BELONGS_TO = {
    "sample_by": "sample",
    "sample_seed": "sample",
    "partitions": "partition_by",
    "different_rows": "query",
}
"""Options that say more about another one."""


@dataclass(frozen=True, slots=True)
class General:
    """What every operation takes beside its options; None where the user gave nothing."""

    target: str
    name: str | None = None
    label: str | None = None
    mode: Mode | None = None
    repeat: int | None = None
    detect_pct: float | None = None
    search: bool = False
    warmup: int | None = None
    seed: int | None = None
    snapshot: str = "auto"
    keep: Keep = Keep.NONE
    work_schema: str | None = None
    budget_seconds: float | None = None
    time_limit_seconds: float | None = None
    quiet_wait_seconds: float | None = None
    guards: tuple[str, ...] = ()
    judge: str | None = None
    volume: str | None = None
    verifies: str = ""
    present: Mapping[str, str] = field(default_factory=dict)


def build_experiment(
    operation: OperationName, options: Options, levels: Levels, general: General, extra: Sequence[Factor] = ()
) -> Experiment:
    """Return the experiment that was asked for.

    Args:
        operation: what is done.
        options: single values, checked; an option nobody gave is left out.
        levels: of the options that are factors, checked likewise.
        general: what every operation takes.
        extra: factors outside the operation, read and applied by commands or SQL; where the operation has factors
            of any name, those too.

    Raises:
        ToolkitError: TK-0101 for an option the operation does not take, TK-0107 for options that are missing or
            are mutually exclusive, TK-0102 for numbers outside their range.
    """
    _check_known(operation, (*options, *levels))
    _check_size(general, (*levels.values(), *(factor.levels for factor in extra)))
    _check_required(operation, options, levels)
    _check_source(operation, options, levels)
    check_contradictions(operation, options, {**levels, **_free(extra)})
    _check_general(general)
    check_log(options)
    factors = _factors(operation, levels, extra)
    _check_detect(general, math.prod(len(factor.levels) for factor in factors))
    _check_search(general, factors)
    mode = _mode(general, math.prod(len(factor.levels) for factor in factors))
    _check_mode(operation, {**options, **levels}, general, mode)
    if mode is Mode.JOB:
        check_one_session(operation, levels)
    measured = mode is Mode.MEASUREMENT
    volume = read_volume(general.volume) if general.volume else ""
    repeat, detect_pct = _repeats(general, math.prod(len(factor.levels) for factor in factors), mode)
    return Experiment(
        target=general.target,
        operation=operation,
        options={one.name: options[one.name] for one in options_of(operation) if one.name in options},
        factors=factors,
        mode=mode,
        repeat=repeat,
        detect_pct=detect_pct,
        search=general.search,
        warmup=(WARMUP if general.warmup is None else general.warmup) if measured else 0,
        name=general.name,
        label=general.label,
        seed=secrets.randbelow(LARGEST_SEED) if general.seed is None else general.seed,
        snapshot=general.snapshot,
        keep=general.keep,
        work_schema=general.work_schema,
        budget_seconds=general.budget_seconds,
        time_limit_seconds=general.time_limit_seconds,
        quiet_wait_seconds=general.quiet_wait_seconds,
        guards=general.guards,
        judge=read_judge(general.judge, operation, options, volume) if general.judge else "",
        volume=volume,
        verifies=general.verifies,
        present=general.present,
    )


def check_engine(experiment: Experiment, engine: EngineName) -> None:
    """Refuse options that the engine does not have.

    Raises:
        ToolkitError: TK-0304 naming the option and the engines that have it.
    """
    known = {option.name: option for option in options_of(experiment.operation)}
    for name in (*experiment.options, *(factor.name for factor in experiment.factors if factor.own)):
        option = known.get(name)
        if option is not None and not option.is_of(engine):
            engines = " and ".join(sorted(option.engines))
            instead = f"; {option.elsewhere}" if option.elsewhere else ""
            raise ToolkitError(
                f"`{option.flag}` does not exist on {engine}",
                code="TK-0304",
                hint=f"omit it; {engines} {'have' if len(option.engines) > 1 else 'has'} it{instead}",
            )


def _free(extra: Sequence[Factor]) -> Levels:
    return {factor.name: factor.levels for factor in extra if factor.own}


def _flag(name: str) -> str:
    return f"`{every_option()[name].flag}`"


def _factors(operation: OperationName, levels: Levels, extra: Sequence[Factor]) -> tuple[Factor, ...]:
    said: Levels = {declaration(operation).degree: (1,), **levels}
    if not declaration(operation).free_factors and _free(extra):
        raise ToolkitError(
            f"`{operation}` has no factor `{next(iter(_free(extra)))}`",
            code="TK-0101",
            hint="define how it is read, applied and undone, or see --help for its own factors",
        )
    own = [Factor(one.name, said[one.name], one.unit) for one in options_of(operation) if one.name in said]
    taken = every_option() if not declaration(operation).free_factors else {o.name for o in options_of(operation)}
    for factor in extra:
        if factor.name in ({one.name for one in own} if factor.setting else taken):
            raise ToolkitError(
                f"the factor `{factor.name}` has the name of an option",
                code="TK-0107",
                hint=f"give `{factor.name}` once: under [factors], or as a factor of another name",
            )
        if sum(other.name == factor.name for other in extra) > 1:
            hint = f"give its levels together: `{factor.name}=A,B`" if factor.setting else "rename one"
            raise ToolkitError(f"two factors are named `{factor.name}`", code="TK-0107", hint=hint)
    return (*own, *extra)


def _repeats(general: General, cells: int, mode: Mode) -> tuple[int, float | None]:
    """Return the number of repeats, and what is to be detected where that is the most."""
    if mode is Mode.JOB:
        return 1, None
    if general.repeat is not None or cells == 1:
        return general.repeat or REPEAT, None
    warmup = WARMUP if general.warmup is None else general.warmup
    most = min(MOST_SWEEPS, max(REPEAT, MOST_TRIALS // cells - warmup))
    return most, DETECT_PCT if general.detect_pct is None else general.detect_pct


def of_fixed_repeats(experiment: Experiment) -> Experiment:
    """Return an experiment for where nobody looks between the sweeps, such as a script."""
    return experiment if experiment.detect_pct is None else replace(experiment, repeat=REPEAT, detect_pct=None)


def _check_detect(general: General, cells: int) -> None:
    if general.detect_pct is None:
        return
    if not LEAST_DETECT_PCT <= general.detect_pct <= MOST_DETECT_PCT:
        raise ToolkitError(
            f"`detect` cannot be {general.detect_pct:g} %",
            code="TK-0102",
            hint=f"from {LEAST_DETECT_PCT:g} % to {MOST_DETECT_PCT:g} %",
        )
    if general.repeat is not None:
        raise ToolkitError(
            "`--detect` and `--repeat` are mutually exclusive: the number of repeats is open, or it is fixed",
            code="TK-0107",
            hint="use only one of them",
        )
    if cells == 1:
        raise ToolkitError(
            "`--detect` compares configurations, but there is one",
            code="TK-0107",
            hint="sweep a factor, such as `--degree 1,2,4`, or give `--repeat`",
        )


def _check_search(general: General, factors: Sequence[Factor]) -> None:
    if not general.search:
        return
    if general.repeat is not None:
        raise ToolkitError(
            "`--search` and `--repeat` are mutually exclusive: a search repeats what it needs to",
            code="TK-0107",
            hint="use only one of them; `--detect` says which difference matters",
        )
    check_searchable(factors)


def parse_detect(text: str) -> float:
    """Read a percentage such as `10%`.

    Raises:
        ToolkitError: TK-0102.
    """
    match = _PERCENTAGE.fullmatch(text)
    if match is None:
        raise ToolkitError(
            f"`{text[:40]}` is not a difference", code="TK-0102", hint="give it in percent, such as `10%`"
        )
    return float(match[1])


_PERCENTAGE = re.compile(r"\s*(\d{1,4}(?:\.\d{1,3})?)\s*%?\s*", re.ASCII)


def _mode(general: General, cells: int) -> Mode:
    natural = Mode.JOB if cells == 1 and general.repeat is None else Mode.MEASUREMENT
    if general.mode is Mode.JOB and natural is Mode.MEASUREMENT:
        reason = "several configurations" if cells > 1 else "`repeat`"
        raise ToolkitError(
            f"a job runs once, but {reason} make a measurement",
            code="TK-0107",
            hint="omit `mode`, or give one level per factor and no `repeat`",
        )
    return general.mode or natural


def _check_known(operation: OperationName, names: Sequence[str]) -> None:
    known = [option.name for option in options_of(operation)]
    for name in names:
        if name not in known:
            raise ToolkitError(
                f"`{operation}` does not accept `{name}`", code="TK-0101", hint=did_you_mean(name, known)
            )


def _check_size(general: General, levels: Collection[Sequence[Level]]) -> None:
    """Refuse more trials than can be kept before each is looked at; a search tries a part of them."""
    count = math.prod(map(len, levels))
    if count > 1 and not general.search:
        warmup = WARMUP if general.warmup is None else general.warmup
        check_count(count, (general.repeat or REPEAT) + warmup)


def _check_required(operation: OperationName, options: Options, levels: Levels) -> None:
    for group in declaration(operation).required:
        given = [name for name in group if name in options or name in levels]
        flags = " or ".join(_flag(name) for name in group)
        if not given:
            raise ToolkitError(f"`{operation}` needs {flags}", code="TK-0107", hint=f"give {flags}")
        if len(given) > 1:
            both = " and ".join(_flag(name) for name in given)
            raise ToolkitError(f"{both} are mutually exclusive", code="TK-0107", hint=f"give only one of {flags}")
    if options.get("unusable_only") and "index" in options:
        raise ToolkitError(
            "`--unusable-only` selects among several indexes, but `--index` names one",
            code="TK-0107",
            hint="use only one of them",
        )


def _check_source(operation: OperationName, options: Options, levels: Levels) -> None:
    given = {*options, *levels}
    if "query" in options:
        for name in declaration(operation).of_source:
            if name in given:
                raise ToolkitError(
                    f"{_flag(name)} needs `--source`, but `--query` was given",
                    code="TK-0107",
                    hint="put it into the query itself",
                )
    for name, other in _BELONGS_TO.items():
        if name in given and other not in given:
            raise ToolkitError(
                f"{_flag(name)} applies only to {_flag(other)}, which was not given",
                code="TK-0107",
                hint=f"give {_flag(other)} too, or omit it",
            )


def _check_general(general: General) -> None:
    _check_range("repeat", general.repeat, 1, MOST_REPEATS)
    _check_range("warmup", general.warmup, 0, MOST_WARMUPS)
    _check_range("seed", general.seed, 0, LARGEST_SEED)
    check_label(general.label)
    if general.snapshot not in SNAPSHOTS:
        raise ToolkitError(
            f"`snapshot` cannot be `{general.snapshot[:80]}`",
            code="TK-0102",
            hint=did_you_mean(general.snapshot, SNAPSHOTS),
        )


def check_label(label: str | None) -> None:
    """Refuse a label that could not name a run.

    Raises:
        ToolkitError: TK-0102.
    """
    if label is None:
        return
    plain = label.isprintable() and label == label.strip() and "/" not in label
    if not plain or not 1 <= len(label) <= 100 or label == "last":
        raise ToolkitError(
            f"the label `{label[:100]!a}` cannot identify a run",
            code="TK-0102",
            hint="give up to 100 printable characters without `/`, and not `last`",
        )


def _check_range(name: str, value: int | None, low: int, high: int) -> None:
    if value is not None and not low <= value <= high:
        raise ToolkitError(
            f"`{name}` cannot be `{value}`", code="TK-0102", hint=f"give a whole number from {low} to {high}"
        )


def _check_mode(operation: OperationName, said: Mapping[str, object], general: General, mode: Mode) -> None:
    if mode is Mode.JOB:
        _check_job(operation, said, general)
    elif general.keep is Keep.ALL and not declaration(operation).keeps:
        raise ToolkitError(
            f"`--keep all` has no effect for `{operation}`: a trial creates no object of its own",
            code="TK-0107",
            hint="omit it, or use `--keep best` to run the work once more with the best setting",
        )


def _check_job(operation: OperationName, said: Mapping[str, object], general: General) -> None:
    measure = "omit it, or measure with `--repeat 3`"
    loads = _LOADS_MEASURED_ONLY if declaration(operation).makes_rows else {}
    for name, reason in (_MEASURED_ONLY | loads).items():
        if said.get(name) not in (None, False, (False,)):
            raise ToolkitError(f"{_flag(name)} is for measurements only: {reason}", code="TK-0107", hint=measure)
    if general.verifies:
        raise ToolkitError(
            "`verifies` measures configurations again, and a job has one",
            code="TK-0107",
            hint="`dbatk verify RUN --save-as FILE` writes such a file",
        )
    if general.warmup:
        raise ToolkitError("`--warmup` is for measurements only: a job runs once", code="TK-0107", hint=measure)
    if general.keep is not Keep.NONE:
        raise ToolkitError(
            "`--keep` is for measurements only: the result of a job is always kept", code="TK-0107", hint=measure
        )
