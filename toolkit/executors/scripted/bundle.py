"""The scripts of one trial, of what surrounds the trials, and of what puts everything back."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import zip_longest

from toolkit import resources
from toolkit.dialects.base import Dialect
from toolkit.model.bundle import DATA_PUMP, DRIVER, LOADER, PLAN, SUMS, BundleItem, script_name
from toolkit.model.experiment import OptionValue, PlannedTrial
from toolkit.model.facts import Facts, Query
from toolkit.model.records import run_key
from toolkit.model.steps import Attribute, ObjectRef, Stages, Step, TimedItem, values_set
from toolkit.model.values import Scalar
from toolkit.model.words import Effect, ObjectKind, StepKind
from toolkit.rendering import sql_file, step_of

from .client import Scribe, comment, is_loader, session_language

Scripts = dict[str, str]
_IN_CATALOGUE = frozenset({ObjectKind.TABLE, ObjectKind.INDEX})
APART = "+"
"""Ends the key of rows that count only where the read of all of them together was refused."""
SNAPSHOT = "snapshot:"
"""Opens the key of the rows of a snapshot file."""


@dataclass(frozen=True, slots=True)
class Writer:
    """What all scripts of a bundle share; it writes each of them."""

    dialect: Dialect
    run: str
    snapshots: tuple[str, ...] = ()
    language: tuple[tuple[str, str], ...] = ()
    waits: tuple[Step, ...] = ()
    """Let what prepares, concludes and puts back wait for locks, as the control session of a run does."""

    def scribe(self, trial: int, title: str, action: str | None, session: int = 0) -> Scribe:
        """Begin a script."""
        scribe = Scribe(self.dialect, self.run, trial, session)
        scribe.open(f"dbatk run {self.run}: {title}", action, self.run, self.language)
        return scribe

    def read(self, scribe: Scribe, query: Query) -> None:
        """Write a read of the catalogue."""
        text = sql_file(self.dialect.engine, query.file)
        scribe.rows(query.key, text, query.binds.items())

    # -- a trial ------------------------------------------------------------------------------------------------
    def trial(self, number: int, title: str, stages: Stages) -> Scripts:
        """Return the scripts of a trial by name: one, or of several sessions those of each and two around."""
        if stages.timed.workers == 1:
            return {script_name(number): self._alone(number, title, stages)}
        return self._together(number, title, stages)

    def _alone(self, number: int, title: str, stages: Stages) -> str:
        scribe = self.scribe(number, title, title, 1)
        self._before(scribe, stages)
        self._begin(scribe, stages)
        self._timed(scribe, list(enumerate(stages.timed.ordered(), 1)), stages.evidence[:1])
        self._snapshot(scribe)
        self._evidence(scribe, stages.evidence)
        self._restore(scribe, stages)
        self._conclude(scribe, stages)
        return scribe.text()

    def _together(self, number: int, title: str, stages: Stages) -> Scripts:
        before = self.scribe(number, f"{title}, before its sessions", title)
        self._before(before, stages)
        before.mark("clock")
        scripts = {script_name(number, "before"): before.text()}
        for session, share in enumerate(numbered_shares(stages), 1):
            named = f"{title}, session {session} of {stages.timed.workers}"
            begin = self.scribe(number, f"{named}, begin", title, session)
            self._begin(begin, stages)
            scripts[script_name(number, f"s{session}-begin")] = begin.text()
            timed = Scribe(self.dialect, self.run, number, session)
            timed.lines.append(comment(f"dbatk run {self.run}: {named}; all start together"))
            self._timed(timed, share, ())
            self._restore(timed, stages)
            scripts[script_name(number, f"s{session}")] = timed.text()
        after = self.scribe(number, f"{title}, after its sessions", title)
        self._snapshot(after)
        self._conclude(after, stages)
        return {**scripts, script_name(number, "after"): after.text()}

    def _before(self, scribe: Scribe, stages: Stages) -> None:
        scribe.mark("clock")
        scribe.say("stage", "prepare")
        scribe.stop_on_error()
        scribe.steps(self.waits)
        scribe.steps(self._still_as_read(stages))
        scribe.steps(stages.prepare)
        scribe.mark("clock")
        self._snapshot(scribe)

    def _still_as_read(self, stages: Stages) -> Iterator[Step]:
        """Look at the values that a trial overwrites: the catalogue was read when the bundle was made."""
        steps = (*stages.prepare, *(step for item in stages.timed.items for step in item.steps))
        pairs = dict.fromkeys((step.object, each) for step in steps for each in step.overwrites)
        for ref, change in pairs:
            call = self.dialect.still_as_read(ref, change) if ref is not None else None
            if call is not None:
                yield step_of(self.dialect, call)

    def _snapshot(self, scribe: Scribe) -> None:
        """Read the counters; what may not be read is a warning and stops nothing."""
        scribe.go_on()
        scribe.say("stage", "snapshot")
        for file in self.snapshots:
            text = sql_file(self.dialect.engine, file)
            binds = {"run": self.run} if ":run" in text else {}
            self.read(scribe, Query(f"{SNAPSHOT}{file}", file, binds))

    def _begin(self, scribe: Scribe, stages: Stages) -> None:
        scribe.mark("clock")
        scribe.say("stage", "begin")
        scribe.stop_on_error()
        scribe.steps(stages.worker_begin)
        scribe.go_on()

    def _timed(self, scribe: Scribe, share: Sequence[tuple[int, TimedItem]], first: Sequence[Step]) -> None:
        """Write the clock, and right after it what is gone with the session's next statement.

        That is read once before as well: its variables are set and it is parsed by then, so nothing comes between,
        and it tells the end without delay.
        """
        scribe.say("stage", "snapshot")
        scribe.steps(step for step in first if step.own_read)
        scribe.say("stage", "timed")
        scribe.mark("clock")
        for number, item in share:
            scribe.item(number)
            scribe.timed(item.steps)
            if item is not share[-1][1]:
                scribe.mark("clock")
        scribe.say("stage", "evidence")
        for step in first:
            scribe.step(step, bound=step.own_read)
        scribe.mark("clock")

    @staticmethod
    def _evidence(scribe: Scribe, evidence: Sequence[Step]) -> None:
        """Write what may be asked later; what was asked in one statement is asked again one by one.

        A view that is not granted refuses the whole statement, and here only its own part.
        """
        scribe.say("stage", "evidence")
        scribe.steps(evidence[1:])
        for step in evidence:
            for part in step.parts:
                scribe.step(replace(part, keep_as=f"{step.keep_as}{APART}", parts=()))
        scribe.mark("clock")

    def _restore(self, scribe: Scribe, stages: Stages) -> None:
        scribe.say("stage", "restore")
        scribe.steps(stages.worker_end)

    def _conclude(self, scribe: Scribe, stages: Stages) -> None:
        scribe.mark("clock")
        scribe.say("stage", "conclude")
        scribe.steps(self.waits)
        for step in stages.conclude:
            back = step.puts_back
            if back is None or step.object is None:
                scribe.step(step)
            elif values_set([back]):
                scribe.step(guarded(self.dialect, step.text, step.object, [back]))
        scribe.mark("end")

    # -- around the trials --------------------------------------------------------------------------------------
    def check(self, reads: Iterable[Query]) -> str:
        """Return the script that proves the connection and looks around; it changes nothing."""
        scribe = self.scribe(0, "database identity, and objects of this run", None)
        for query in reads:
            scribe.say("may-fail", "ORA-00942,ORA-01031")
            self.read(scribe, query)
            scribe.say("may-fail")
        scribe.mark("end")
        return scribe.text()

    def setup(self, stages: Stages) -> str:
        """Return the script that makes what all trials work on."""
        scribe = self.scribe(0, "setup, once", "setup")
        scribe.stop_on_error()
        scribe.say("stage", "setup")
        scribe.steps(self.waits)
        scribe.steps(stages.setup)
        scribe.mark("end")
        return scribe.text()

    def cleaning(self, trial: int, title: str, steps: Iterable[Step]) -> str:
        """Return a script that puts back; what is not there is no matter."""
        scribe = self.scribe(trial, title, "cleanup")
        scribe.say("stage", "cleanup")
        scribe.steps(self.waits)
        scribe.steps(steps)
        scribe.mark("cleaned")
        return scribe.text()


def numbered_shares(stages: Stages) -> tuple[tuple[tuple[int, TimedItem], ...], ...]:
    """Deal the items out to the sessions, each with its number in the queue's order."""
    numbers = {id(item): number for number, item in enumerate(stages.timed.ordered(), 1)}
    return tuple(tuple((numbers[id(item)], item) for item in share) for share in stages.timed.shares())


def undoing(dialect: Dialect, steps: Iterable[Step], born: Scalar = None) -> tuple[Step, ...]:
    """Return what puts steps back, the last first: scratch objects are dropped, former values set again.

    Args:
        dialect: spells it; where the engine can, each statement looks first whether the object is there.
        steps: what was done, in its order.
        born: the database's instant before; an older object was not created by the bundle, whatever its name.
    """
    back: dict[str, tuple[Step, bool, list[Attribute]]] = {}
    for step in reversed(tuple(steps)):
        ref = step.object
        ours = ref is not None and ref.scratch and step.effect is Effect.CREATES
        texts = [step_of(dialect, call).text for call in dialect.drop(ref)] if ours and ref else list(step.undo)
        for text, change in zip_longest(texts, () if ours else step.restores):
            _, _, restores = back.setdefault(text, (step, ours, []))
            restores += [change] if change is not None else []
    made = [
        replace(
            guarded(dialect, text, step.object, restores, born if ours else None),
            effect=Effect.DROPS if ours else Effect.CHANGES,
        )
        for text, (step, ours, restores) in back.items()
        if not restores or values_set(restores)
    ]
    # former values are set while what they belong to is there
    return tuple(sorted(made, key=lambda each: each.effect is Effect.DROPS))


def guarded(
    dialect: Dialect, text: str, ref: ObjectRef | None, restores: Sequence[Attribute] = (), born: Scalar = None
) -> Step:
    """Return a statement that looks first whether its object, and the value that it restores, are the run's."""
    known = ref is not None and ref.kind in _IN_CATALOGUE
    call = dialect.by_hand(text, ref, None, born, restores) if known and ref is not None else None
    return Step("undo", text, kind_of(text)) if call is None else step_of(dialect, call)


def kind_of(text: str) -> StepKind:
    """Tell a block, which the client sends at `/`, from a statement."""
    block = text.lstrip()[:7].upper().startswith(("BEGIN", "DECLARE"))
    return StepKind.BLOCK if block else StepKind.SQL


def steps_of(stages: Stages) -> Mapping[str, tuple[Step, ...]]:
    """Return the steps of a trial, without what surrounds the run, by stage."""
    timed = tuple(step for item in stages.timed.items for step in item.steps)
    return {"prepare": stages.prepare, "timed": timed, "evidence": stages.evidence}


# -- all files of a bundle ----------------------------------------------------------------------------------------
_HEADING = "trials in order: number, sessions, description"
_OF_INSTANCE = "# set for the whole instance while a trial runs: "
"""What run.sh says before it asks."""
_ONCE = "# once: what broke off is done again only where it is known that its rows are missing"
"""By this run.sh knows a job that must not be repeated unasked."""


@dataclass(frozen=True, slots=True)
class Bundled:
    """A trial of a bundle with its stages; None where its cell cannot be had."""

    planned: PlannedTrial
    title: str
    stages: Stages | None
    refused: str | None = None

    @property
    def items(self) -> tuple[BundleItem, ...]:
        """The items in the order of their numbers, each with its session."""
        if self.stages is None:
            return ()
        numbered = sorted(
            (number, session, item.label)
            for session, share in enumerate(numbered_shares(self.stages), 1)
            for number, item in share
        )
        return tuple(BundleItem(label, session) for _, session, label in numbered)


def bundle_files(
    dialect: Dialect, run: str, trials: Sequence[Bundled], facts: Facts, *,
    snapshots: tuple[str, ...], readme: str, born: Scalar = None, options: Mapping[str, OptionValue] | None = None,
    once: bool = False,
) -> dict[str, str]:  # fmt: skip
    """Return the text of every file by its path, checksums included.

    Args:
        dialect: of the engine; its statements are written as they would be sent.
        run: the run's id.
        trials: in the order in which they run.
        facts: of the catalogue; they tell the language of a session.
        snapshots: the SQL files read around each trial.
        readme: one screen for the person who runs it.
        born: the database's instant when the bundle was made, where it was asked.
        options: of the experiment; they say how long to wait for locks.
        once: whether the work must not be done a second time, as rows that are added to a table of the user's.
    """
    waits = tuple(step_of(dialect, call) for call in dialect.lock_waits(options or {}).begin)
    writer = Writer(dialect, run, snapshots, session_language(facts), waits)
    ran = [(each, each.stages) for each in trials if each.stages is not None]
    files = {
        DRIVER: resources.template_text("bundle/run.sh"),
        "README.txt": readme,
        PLAN: _plan(run, trials, once=once),
    }
    scripts = {"check": writer.check(_reads(run))}
    everything: list[Step] = []
    asked: tuple[Step, ...] = ()
    if ran:
        first = ran[0][1]
        asked = tuple(step for step in first.cleanup if step.object is None)
        around = (*undoing(dialect, first.setup, born), *asked)
        if first.setup:
            scripts["setup"] = writer.setup(first)
        if around:
            scripts["cleanup"] = writer.cleaning(0, "cleanup, once", around)
        everything += first.setup
    for each, stages in ran:
        number = each.planned.number
        scripts |= writer.trial(number, each.title, stages)
        files |= _controls(number, stages)
        done = [step for part in steps_of(stages).values() for step in part]
        back = undoing(dialect, done, born)
        scripts[f"t{number:04d}-clean"] = writer.cleaning(number, f"restore {each.title}", back)
        everything += done
    undo = (*undoing(dialect, everything, born), *asked)
    files["undo.sql"] = writer.cleaning(0, "restores everything, whatever was done", undo)
    files |= {f"sql/{name}.sql": text for name, text in scripts.items()}
    return {**files, SUMS: "".join(f"{digest(text)}  {path}\n" for path, text in sorted(files.items()))}


def _controls(trial: int, stages: Stages) -> Scripts:
    """Return the file of each item that SQL*Loader or a client of Data Pump reads, and what calls these."""
    found: Scripts = {}
    for number, item in enumerate(stages.timed.ordered(), 1):
        for step in item.steps:
            if is_loader(step) or step.kind is StepKind.PARAMETERS:
                ending, caller = ("ctl", LOADER) if is_loader(step) else ("par", DATA_PUMP)
                found[f"sql/{script_name(trial, f'i{number}')}.{ending}"] = f"{step.text}\n"
                found[caller] = resources.template_text(f"bundle/{caller}")
    return found


def digest(text: str) -> str:
    """Return the SHA-256 of a text as UTF-8."""
    return hashlib.sha256(text.encode()).hexdigest()


def _plan(run: str, trials: Sequence[Bundled], *, once: bool) -> str:
    lines = [f"{each.planned.number} {each.stages.timed.workers} {each.title}" for each in trials if each.stages]
    changed = dict.fromkeys(
        step.object.name.name
        for each in trials
        for step in (each.stages.prepare if each.stages else ())
        if step.object is not None and step.object.kind is ObjectKind.SETTING
    )
    told = [f"{_OF_INSTANCE}{', '.join(changed)}"] if changed else []
    told += [_ONCE] if once else []
    return "\n".join([f"# {_HEADING}", *told, f"run {run}", *lines]) + "\n"


def _reads(run: str) -> tuple[Query, ...]:
    return (
        Query("server", "server"),
        Query("settings", "settings"),
        Query("sessions", "sessions_of", {"run": run}),
        Query("objects", "objects_of", {"prefix": f"DBATK_{run_key(run)}_"}),
    )
