"""One measurement on several targets: release against release, storage against storage.

Each target has a run of its own, with its own lease, journal and facts. The runs take turns trial by trial, in an
order that is reversed each time (A B, B A), so that whatever changes meanwhile meets all alike; only one of them
works at a time once all are set up. What they measured is then one run, with the factor `target`.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from functools import partial

from toolkit.app.environments import environment_of_run
from toolkit.app.runs.execute import Guarding
from toolkit.app.runs.joint import Joint
from toolkit.design.searchable import refuse_search
from toolkit.errors import ToolkitError
from toolkit.model.environment import EnvironmentValue, differences
from toolkit.model.experiment import Experiment
from toolkit.model.records import IN_TURNS, MEASURED_BY, RunHead, RunRecord, TrialRecord, fresh_run_id
from toolkit.model.values import Cell, Factor, Scalar
from toolkit.model.words import Mode, RunState
from toolkit.runner import Gates, Stop
from toolkit.store import Store
from toolkit.targets.base import Target

TARGET = "target"
"""The factor that says where a trial ran."""
REPEAT = 5
"""Without a number of repeats: nobody looks between the sweeps whether a difference is known."""
_TICK_SECONDS = 0.2
_MOST_NAMED, _LONGEST = 12, 40
_RELEASE = "server.version"
_BETWEEN = re.compile(r",\s*(?=[A-Za-z][A-Za-z0-9_.+-]*(?:://|,|$))", re.ASCII)

Ready = Callable[[frozenset[str]], None]
"""Waits until nothing refuses any of the runs; takes the servers that this one changes the settings of."""
Side = Callable[[Experiment, Stop, Callable[[Guarding], Guarding], Ready], str]
"""Runs the experiment on one target and returns the run's id; what it is given wraps its guards, and waits."""


def names_of(text: str, profiles: Callable[[], Mapping[str, object]]) -> tuple[str, ...]:
    """Return the targets that a text names: `a,b` where both are profiles or URLs; else it is one.

    Args:
        text: as typed.
        profiles: gives the names of profiles.
    """
    parts = [part.strip() for part in _BETWEEN.split(text)]
    if len(parts) < 2 or not all("://" in part or part in profiles() for part in parts):
        return (text,)
    return tuple(parts)


def check_several(experiment: Experiment, names: Sequence[str], targets: Sequence[Target]) -> Experiment:
    """Return the measurement that runs on each target; refuse what cannot be compared.

    Raises:
        ToolkitError: TK-0107 for a job, for engines that differ, and for one database twice.
    """
    if experiment.mode is not Mode.MEASUREMENT:
        raise ToolkitError(
            "several targets are compared by a measurement", code="TK-0107", hint=f"add `--repeat {REPEAT}`"
        )
    refuse_search(experiment, "a run on several targets")
    engines = sorted({target.engine for target in targets})
    if len(engines) > 1:
        raise ToolkitError(
            f"the targets are {' and '.join(engines)}, whose work differs",
            code="TK-0107",
            hint="run one measurement on each, and `dbatk compare` the runs",
        )
    keys = [target.lease_key for target in targets]
    if len(set(keys)) < len(keys) or len(set(names)) < len(names):
        raise ToolkitError(
            "two of the targets are the same database", code="TK-0107", hint="give each database once"
        )
    if experiment.detect_pct is not None:
        experiment = replace(experiment, detect_pct=None, repeat=min(REPEAT, experiment.repeat))
    return experiment


# -- turns --------------------------------------------------------------------------------------------------------
@dataclass(slots=True)
class Turns:
    """Lets one of several runs work at a time, trial by trial; each round in the order of another one reversed."""

    names: Sequence[str]
    _turn: int = 0
    _at_work: str | None = None
    _ready: dict[str, frozenset[str]] = field(default_factory=dict)
    """The runs that may begin, with the servers whose settings they change."""
    _arrived: set[str] = field(default_factory=set)
    _gone: set[str] = field(default_factory=set)
    _changed: threading.Condition = field(default_factory=threading.Condition)

    def meet(self, name: str, stop: Stop, changed: frozenset[str] = frozenset()) -> None:
        """Wait until all runs may begin.

        Args:
            name: of the run's target.
            stop: of the run.
            changed: the servers whose settings it changes, for whoever works on them.

        Raises:
            ToolkitError: TK-0107 where another one changes the settings of the same server; TK-0130 where another
                one was refused, or why this one is to stop.
        """
        with self._changed:
            self._refuse_same_server(name, changed)
            self._ready[name] = changed
            self._changed.notify_all()
            while not {*self.names} <= self._ready.keys():
                if stop.requested or self._gone:
                    raise stop.because or ToolkitError(
                        "nothing was begun: another target was refused", code="TK-0130"
                    )
                self._changed.wait(_TICK_SECONDS)

    def _refuse_same_server(self, name: str, changed: frozenset[str]) -> None:
        other = next((other for other, servers in self._ready.items() if servers & changed), None)
        if other is not None:
            raise ToolkitError(
                f"`{other}` and `{name}` are on one server, whose settings each would change for the other",
                code="TK-0107",
                hint="measure one after the other, and `dbatk compare` the runs",
            )

    def take(self, name: str, stop: Stop) -> None:
        """Give the turn away and wait for the next one, until the run is asked to stop."""
        with self._changed:
            self._arrived.add(name)
            self._pass_on(name)
            while not stop.requested:
                if self._may(name):
                    self._at_work = name
                    return
                self._changed.wait(_TICK_SECONDS)

    def leave(self, name: str) -> None:
        """Give the turn away for good."""
        with self._changed:
            self._gone.add(name)
            self._pass_on(name)

    def _pass_on(self, name: str) -> None:
        if self._at_work == name:
            self._at_work = None
            self._turn += 1
        self._changed.notify_all()

    def _may(self, name: str) -> bool:
        if self._at_work is not None or not {*self.names} <= self._arrived | self._gone:
            return False
        while (owner := self._owner()) in self._gone:
            self._turn += 1
        return owner == name

    def _owner(self) -> str:
        sweep, place = divmod(self._turn, len(self.names))
        return self.names[place] if sweep % 2 == 0 else self.names[-1 - place]


def taking_turns(turns: Turns, name: str, guarding: Guarding) -> Guarding:
    """Return guards that also wait for the turn of a run before each trial, and give it away at its end."""

    @contextmanager
    def guarded(run: str, experiment: Experiment, stop: Stop) -> Iterator[Gates]:
        with guarding(run, experiment, stop) as gates:

            def before() -> None:
                turns.take(name, stop)
                gates.before_trial()

            yield replace(gates, before_trial=before)

    return guarded


def run_in_turns(experiment: Experiment, sides: Mapping[str, Side], stop: Stop) -> dict[str, str]:
    """Run an experiment on several targets in turns; return the run of each.

    Args:
        experiment: as `check_several` returned it.
        sides: by the name of the target, what runs it there.
        stop: signals set it.

    Raises:
        ToolkitError: of the side that failed first; the others are stopped, and can be resumed.
    """
    turns, runs, failed = Turns(tuple(sides)), dict[str, str](), list[tuple[str, BaseException]]()
    stops = {name: Stop() for name in sides}

    def work(name: str, side: Side) -> None:
        try:
            own = replace(experiment, target=name, label=None)
            in_turns = partial(taking_turns, turns, name)
            runs[name] = side(own, stops[name], in_turns, partial(turns.meet, name, stops[name]))
        except BaseException as error:  # noqa: BLE001 (raised again below, in the thread that waits)
            failed.append((name, error))
        finally:
            turns.leave(name)

    threads = [threading.Thread(target=work, args=each, name=each[0], daemon=True) for each in sides.items()]
    with stop.listening():
        for thread in threads:
            thread.start()
        while any(thread.is_alive() for thread in threads):
            threads[0].join(_TICK_SECONDS) if threads[0].is_alive() else stop.wait(_TICK_SECONDS)
            if stop.requested or failed:
                for name, each in stops.items():
                    if name not in runs and not each.requested:
                        each.request(stop.because or _ended_by(failed))
    if failed:
        raise failed[0][1]
    return {name: runs[name] for name in sides}


def _ended_by(failed: Sequence[tuple[str, BaseException]]) -> ToolkitError | None:
    if not failed:
        return None
    name, error = failed[0]
    sentence = f"the run on `{name}` ended: {error}"
    return ToolkitError(sentence, code="TK-0130", hint="`dbatk runs resume last` continues it on all of them")


# -- one run of all -----------------------------------------------------------------------------------------------
def new_joint(experiment: Experiment, names: Sequence[str]) -> Joint:
    """Return a measurement on several targets, of which nothing has run."""
    run = fresh_run_id()
    return Joint(run, tuple(names), experiment)


def as_one_run(joint: Joint, runs: Mapping[str, str], store: Store) -> str:
    """Store what was measured on several targets as one run with the factor `target`, and return its id.

    Args:
        joint: what was run on each.
        runs: the run of each target, by its name.
        store: has them.
    """
    experiment = joint.experiment
    records = {name: store.load_run(run) for name, run in runs.items()}
    trials = _trials(records)
    heads = [record.head for record in records.values()]
    now = datetime.now(UTC)
    head = RunHead(
        joint.run,
        replace(
            experiment,
            target=",".join(joint.names),
            factors=(Factor(TARGET, tuple(runs)), *heads[0].experiment.factors),
            only=tuple(dict.fromkeys(trial.cell for trial in trials)) if experiment.only else (),
        ),
        heads[0].engine,
        RunState.DONE if all(each.state is RunState.DONE for each in heads) else RunState.FAILED,
        max(each.began_at for each in heads)
        + timedelta(microseconds=1),  # `last` is this one, not one of its parts
        max(each.ended_at or now for each in heads),
        operation_version=heads[0].operation_version,
        tool_version=heads[0].tool_version,
        trials_planned=sum(each.trials_planned for each in heads),
        trials_ended=len(trials),
        target_name=" and ".join(each.target_name for each in heads),
    )
    warnings = [f"{name}: {each}" for name, record in records.items() for each in record.warnings]
    environment = _common([record.environment for record in records.values()])
    by = ", ".join(f"{name}: {run}" for name, run in runs.items())
    record = RunRecord(
        head, trials, {**environment, MEASURED_BY: f"{IN_TURNS} ({by})"}, (*_different(runs, store), *warnings)
    )
    store.put_runs([record])
    return head.run


def _trials(records: Mapping[str, RunRecord]) -> tuple[TrialRecord, ...]:
    found = [
        replace(trial, cell=Cell(((TARGET, name), *trial.cell.levels)))
        for name, record in records.items()
        for trial in record.latest_trials
    ]
    ordered = sorted(found, key=lambda trial: trial.began_at)
    return tuple(replace(trial, trial=number, attempt=1) for number, trial in enumerate(ordered, 1))


def _common(environments: Sequence[Mapping[str, Scalar]]) -> dict[str, Scalar]:
    first, *others = environments
    return {name: value for name, value in first.items() if all(each.get(name) == value for each in others)}


def _different(runs: Mapping[str, str], store: Store) -> Iterator[str]:
    """Say in what the environments of the targets differ: that, together, is the factor."""
    found = [environment_of_run(store, run) for run in runs.values()]
    known = [each for each in found if each is not None]
    if len(known) < len(found):
        return
    named = differences(known)
    if not named:
        yield "the environments of the targets are the same, as far as they were read"
        return
    both = sorted(named, key=lambda one: (None in one.sides, one.name != _RELEASE))
    from toolkit.report.labels import surrounding

    values = [f"{surrounding(one.name)} {' / '.join(map(_shown, one.sides))}" for one in both[:_MOST_NAMED]]
    more = f" and {len(named) - len(values)} more" if len(named) > len(values) else ""
    one, other = list(runs.values())[:2]
    yield (
        f"`target` stands for all in which the environments differ: {'; '.join(values)}{more} "
        f"(`dbatk environment diff {one} {other}`)"
    )


def _shown(value: EnvironmentValue | None) -> str:
    text = "none" if value is None else f"{value.value}{value.unit and ' ' + value.unit}"
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}..."
