"""A bundle's folder as `ingest` finds it: whole and unaltered, with the spools of one run only."""

from __future__ import annotations

import hashlib
import os
import re
import stat
from collections.abc import Iterable, Iterator, Mapping, MutableMapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path

from toolkit.app.bundles import dumping, loading
from toolkit.app.bundles.root import Root
from toolkit.dialects.answers import TrialFindings
from toolkit.dialects.base import Dialect
from toolkit.dialects.oracle.errors import cause_code, headline
from toolkit.dialects.transfers import MOVED
from toolkit.errors import ToolkitError
from toolkit.executors.scripted.bundle import APART, SNAPSHOT
from toolkit.model.bundle import MANIFEST, SPOOLS, BundleTrial, Manifest
from toolkit.model.experiment import Experiment, PlannedTrial
from toolkit.model.facts import Facts
from toolkit.model.operations import degree_level
from toolkit.model.protocols import Answer, DatabaseError
from toolkit.model.records import ItemRecord, Metric, TrialRecord, run_key
from toolkit.model.steps import Step, TimedItem
from toolkit.model.values import Row
from toolkit.model.words import Outcome
from toolkit.operations.base import Piece
from toolkit.readers.attempts import AttemptRead, Failure, ItemRead, Line, SpoolMark, read_attempt, read_spool
from toolkit.readers.manifest import not_a_bundle, read_manifest
from toolkit.readers.sqlldr import LoaderLog
from toolkit.runner import PlanningContext, gathering
from toolkit.runner.context import BackgroundLoad
from toolkit.runner.evidence import NOT_DONE, item_record
from toolkit.runner.item_result import ItemResult, TimedResult
from toolkit.runner.judging import JudgedTrial, judge_trial
from toolkit.runner.stop import Stop
from toolkit.snapshots import CounterProvider

_SPOOL = re.compile(r"t(\d{4,6})-a(\d{1,4})(?:-(before|after|s\d{1,4}))?\.lst", re.ASCII)
_CLIENT = re.compile(r"SQL(?:\*Plus|cl)\b[\w .:,*-]*")


@dataclass(frozen=True, slots=True)
class SpooledAttempt:
    """The spools of one attempt of a trial, in the order before, sessions, after."""

    trial: int
    attempt: int
    spools: tuple[tuple[Line, ...], ...]
    logs: Mapping[int, LoaderLog] = field(default_factory=dict)
    """Of SQL*Loader, by item."""
    programs: Mapping[int, str] = field(default_factory=dict)
    """What clients of Data Pump wrote, by item."""


@dataclass(frozen=True, slots=True)
class Folder:
    """A bundle with what it printed; attempts by trial, the first one first."""

    root: Root
    manifest: Manifest
    manifest_bytes: bytes
    client: str
    attempts: Mapping[int, Sequence[SpooledAttempt]] = field(default_factory=dict)

    def around(self, name: str) -> tuple[tuple[Line, ...], ...]:
        """Return the spool of `check` or `setup`, or none."""
        path = self.root.path / SPOOLS / f"{name}.lst"
        return (read_spool(self.root.text_of(path)),) if path.is_file() else ()

    def received(self) -> Iterator[tuple[str, bytes]]:
        """Yield the files that a run keeps: scripts and spools, by path."""
        for name in sorted(self.manifest.files):
            yield name, self.root.bytes_of(self.root.path / name)
        spools = (self.root.path / SPOOLS).glob("*")
        for path in sorted(each for each in spools if each.suffix in {".lst", ".log"}):
            yield f"{SPOOLS}/{path.name}", self.root.bytes_of(path)


def read_folder(root: Root) -> Folder:
    """Read a bundle's folder.

    Raises:
        ToolkitError: TK-0406 when it is no bundle, when a file is missing or was altered, when a spool is of
            another run.
    """
    path = root.path
    if not os.path.lexists(path / MANIFEST):
        raise not_a_bundle(f"`{path}` is not a bundle: {MANIFEST} is missing")
    _refuse_links(path)
    raw = root.bytes_of(path / MANIFEST)
    manifest = read_manifest(raw.decode("utf-8", "replace"))
    _refuse_altered(root, manifest)
    attempts: dict[int, list[SpooledAttempt]] = {}
    logs = loading.logs_by_attempt(path / SPOOLS, root.text_of)
    programs = dumping.written_by_attempt(path / SPOOLS, root.text_of)
    for trial, number, names in _found(path):
        spools = tuple(read_spool(root.text_of(name)) for name in names)
        _refuse_foreign(manifest, trial, names, spools)
        at = trial, number
        found = SpooledAttempt(trial, number, spools, logs.get(at, {}), programs.get(at, {}))
        attempts.setdefault(trial, []).append(found)
    return Folder(root, manifest, raw, _client(root), attempts)


def _found(path: Path) -> Iterable[tuple[int, int, list[Path]]]:
    """Yield trial, attempt and spools, in their order."""
    groups: dict[tuple[int, int], list[tuple[int, int, Path]]] = {}
    folder = path / SPOOLS
    for name in folder.iterdir() if folder.is_dir() else ():
        match = _SPOOL.fullmatch(name.name)
        if match is not None and name.is_file():
            part = match[3] or ""
            place = {"": 0, "before": 0, "after": 2}.get(part, 1)
            session = int(part[1:]) if place == 1 else 0
            groups.setdefault((int(match[1]), int(match[2])), []).append((place, session, name))
    for (trial, attempt), members in sorted(groups.items()):
        yield trial, attempt, [name for _, _, name in sorted(members)]


def _refuse_links(path: Path) -> None:
    """Refuse a folder whose files are elsewhere: what a run keeps of them may be no business of its readers."""
    for folder, folders, files in os.walk(path):
        for name in (*folders, *files):
            mode = (Path(folder) / name).lstat().st_mode
            if not (stat.S_ISREG(mode) or stat.S_ISDIR(mode)):
                what = "a symbolic link" if stat.S_ISLNK(mode) else "a pipe or a device: it is not a file"
                raise not_a_bundle(f"`{(Path(folder) / name).relative_to(path)}` of the bundle is {what}")


def _refuse_altered(root: Root, manifest: Manifest) -> None:
    for name, digest in manifest.files.items():
        file = root.path / name
        if Path(name).is_absolute() or ".." in Path(name).parts:
            raise not_a_bundle(f"{MANIFEST} names a file outside the bundle")
        if not file.is_file():
            raise not_a_bundle(f"`{name}` of the bundle is missing")
        if hashlib.sha256(root.bytes_of(file)).hexdigest() != digest:
            raise ToolkitError(
                f"`{name}` was altered after the export, so the run does not describe what was measured",
                code="TK-0406",
                hint="export the experiment again, and run that bundle unchanged",
            )


def _refuse_foreign(
    manifest: Manifest, trial: int, names: Sequence[Path], spools: Sequence[Sequence[Line]]
) -> None:
    known = {each.number for each in manifest.trials}
    for name, lines in zip(names, spools, strict=True):
        marks = [line for line in lines if isinstance(line, SpoolMark)]
        if trial not in known or any(mark.run != manifest.run or mark.trial != trial for mark in marks):
            raise ToolkitError(
                f"`{SPOOLS}/{name.name}` belongs to another run or trial",
                code="TK-0406",
                hint=f"keep only spool files of run {manifest.run} in this folder",
            )


def _client(root: Root) -> str:
    file = root.path / SPOOLS / "client.txt"
    text = root.text_of(file) if file.is_file() else ""
    match = _CLIENT.search(text)
    return match[0].strip() if match is not None else "SQL*Plus"


# -- from spool files to trials -----------------------------------------------------------------------------------
_CLOCKS_APART_SECONDS, _CLOCKS_APART = 0.5, 0.05


@dataclass(slots=True)
class Recorder:
    """Turns attempts into records; has what a judge of trials must know."""

    manifest: Manifest
    experiment: Experiment
    dialect: Dialect
    facts: Facts
    client: str
    source_has_rows: bool
    stop: Stop = field(default_factory=Stop)
    others: BackgroundLoad = field(default_factory=BackgroundLoad)
    warnings: list[str] = field(default_factory=list)

    def record(self, planned: PlannedTrial, attempt: SpooledAttempt) -> TrialRecord:
        """Return the record of an attempt; one without an end is interrupted."""
        read = read_attempt(attempt.spools)
        began = read.begun_at or datetime.fromisoformat(self.manifest.created_at)
        ended = read.ended_at or began
        if read.end == "settled":
            return TrialRecord(
                planned.number, attempt.attempt, planned.cell, planned.repeat, Outcome.OK, began, ended,
                reason="it broke off after its COMMIT, and its work is there: it was not timed",
                requested_degree=_requested(planned),
            )  # fmt: skip
        if read.end not in {"end", "failed"} or read.lost is not None:
            return TrialRecord(
                planned.number, attempt.attempt, planned.cell, planned.repeat, Outcome.INTERRUPTED, began, ended,
                reason=_broken(read), error_code=read.lost.code if read.lost else None,
                requested_degree=_requested(planned),
            )  # fmt: skip
        return self._ended(planned, attempt, read, (began, ended))

    def _ended(
        self, planned: PlannedTrial, attempt: SpooledAttempt, read: AttemptRead, span: tuple[datetime, datetime]
    ) -> TrialRecord:
        pieces = self._pieces(planned)
        moved = loading.moved(read, attempt.logs, pieces)
        timed = self._timed(planned, read)
        error = _error(read.fatal()) if timed is None else timed.error
        metrics, peaks = self._metrics(read)
        told: tuple[ItemRecord, ...] = ()
        kept = _kept(read) | ({MOVED: moved} if moved else {}) | dumping.kept(read, attempt.programs)
        self.warnings += [f"trial {planned.number}: {each}" for each in loading.rejected(attempt.logs)]
        if timed is not None and timed.error is None:
            found = self._told(planned, pieces, kept, peaks, timed.elapsed_seconds)
            metrics, told = (*metrics, *found.metrics, *gathering.counted(kept)), found.items
            wrong = self.dialect.work.of(self.experiment.operation).refuted(pieces[0].work, kept)
            error = None if wrong is None else DatabaseError(wrong, code=NOT_DONE)
        judged = judge_trial(self, timed, error, pieces, kept, peaks, ())
        elapsed = timed.elapsed_seconds if timed is not None and judged.has_time else None
        cpu = peaks.get("cpu_seconds")
        self._compare_clocks(planned, read, elapsed)
        return TrialRecord(
            planned.number, attempt.attempt, planned.cell, planned.repeat, judged.outcome, *span,
            reason=judged.reason, error_code=judged.error_code, elapsed_seconds=elapsed,
            requested_degree=judged.requested,
            granted_degree=judged.granted.degree if judged.granted else None,
            granted_source=judged.granted.source if judged.granted else None,
            effective_parallelism=cpu / elapsed if cpu is not None and elapsed else None,
            rows=judged.rows, bytes=judged.bytes, phases=read.phases,
            items=(*_items(timed), *gathering.objects(kept), *told),
            metrics=(*metrics, *self._client_metric(read, judged)),
        )  # fmt: skip

    # -- what was done ------------------------------------------------------------------------------------------
    def _pieces(self, planned: PlannedTrial) -> Sequence[Piece]:
        planning = PlanningContext(self.experiment, self.dialect, self.facts)
        planner = planning.planner(run_key(self.manifest.run), planned.number)
        return planning.operation.pieces(planner, planned.cell)

    def _trial(self, planned: PlannedTrial) -> BundleTrial:
        return next(each for each in self.manifest.trials if each.number == planned.number)

    def _timed(self, planned: PlannedTrial, read: AttemptRead) -> TimedResult | None:
        """Return what the clock saw, by the server's clock; None when it never began."""
        if not read.items:
            return None
        labels = [item.label for item in self._trial(planned).items]
        origin = min((item.begun_at for item in read.items.values() if item.begun_at), default=None)
        results = [
            _result(item, labels[number - 1], origin)
            for number, item in sorted(read.items.items())
            if 1 <= number <= len(labels)
        ]
        done = {result.item.label for result in results}
        left = tuple(TimedItem(label, ()) for label in labels if label not in done)
        elapsed = max((each.begin_seconds + each.elapsed_seconds for each in results), default=0.0)
        return TimedResult(elapsed, tuple(results), left)

    # -- what was counted ---------------------------------------------------------------------------------------
    def _metrics(self, read: AttemptRead) -> tuple[tuple[Metric, ...], dict[str, float]]:
        """Take the difference of the counters, as the provider does that reads them itself."""
        files = [key.removeprefix(SNAPSHOT) for key in read.before if key.startswith(SNAPSHOT)]
        if not files:
            return (), {}
        answers = iter((read.before, read.kept))

        def ask(step: Step) -> Answer:
            del step
            found = next(answers, {})
            return Answer(tuple(row for file in files for row in found.get(f"{SNAPSHOT}{file}", ())))

        provider = CounterProvider("vstat", self.dialect.engine, ask, self.manifest.run, snapshot=files)
        provider.begin()
        metrics = provider.end()
        self.warnings += [f"vstat: {sentence}" for sentence in provider.warnings()]
        return metrics, dict(provider.peaks())

    def _told(
        self, planned: PlannedTrial, pieces: Sequence[Piece], kept: MutableMapping[str, tuple[Row, ...]],
        peaks: MutableMapping[str, float], seconds: float,
    ) -> TrialFindings:  # fmt: skip
        """Say what the evidence tells besides the degree, as the runner does (`toolkit.runner.evidence`)."""
        found = self.dialect.work.tell(pieces[0].work, kept, peaks, seconds)
        self.warnings += [f"{planned.cell}: {sentence}" for sentence in found.sentences]
        if found.bytes is not None:
            kept.setdefault("bytes", ({"byte_count": found.bytes},))
        if found.cpu_seconds is not None:
            peaks.setdefault("cpu_seconds", found.cpu_seconds)
        return found

    def _client_metric(self, read: AttemptRead, judged: JudgedTrial) -> tuple[Metric, ...]:
        seconds = _client_seconds(read)
        if seconds is None or not judged.has_time:
            return ()
        return (Metric("client_elapsed_seconds", seconds, "s", "client"),)

    def _compare_clocks(self, planned: PlannedTrial, read: AttemptRead, elapsed: float | None) -> None:
        client = _client_seconds(read)
        if client is None or elapsed is None or len(read.items) != 1:
            return
        if abs(client - elapsed) > max(_CLOCKS_APART_SECONDS, _CLOCKS_APART * elapsed):
            self.warnings.append(
                f"trial {planned.number}: the client's clock says {client:.2f} s, the server's {elapsed:.2f} s"
            )


def _requested(planned: PlannedTrial) -> int | None:
    level = degree_level(planned.cell)
    return level if isinstance(level, int) else None


def _broken(read: AttemptRead) -> str:
    if read.end == "interrupted":
        return "run.sh was stopped"
    if read.lost is not None:
        return f"the connection was lost ({read.lost})"
    return "the spool file is truncated"


def _client_seconds(read: AttemptRead) -> float | None:
    """Return what the client's own clock says of the whole; of several sessions the slowest counts."""
    sessions: dict[int, float] = {}
    for item in read.items.values():
        if item.client_seconds is None:
            return None
        sessions[item.session] = sessions.get(item.session, 0.0) + item.client_seconds
    return max(sessions.values(), default=None)


def _result(item: ItemRead, label: str, origin: datetime | None) -> ItemResult:
    begin = (item.begun_at - origin).total_seconds() if item.begun_at and origin else 0.0
    span = (item.ended_at - item.begun_at).total_seconds() if item.begun_at and item.ended_at else None
    elapsed = max(0.0, item.client_seconds or 0.0) if span is None else max(0.0, span)
    error = _error(item.failures[0], item.failures) if item.failures else None
    worker = max(0, item.session - 1)
    return ItemResult(TimedItem(label, ()), worker, max(0.0, begin), elapsed, item.rows, (), error)


def _error(failure: Failure | None, stack: Sequence[Failure] = ()) -> DatabaseError | None:
    """Return an error stack as the driver would raise it."""
    if failure is None:
        return None
    message = "\n".join(map(str, stack or (failure,)))
    return DatabaseError(message, code=cause_code(failure.code, message), headline=headline(failure.code, message))


def _kept(read: AttemptRead) -> dict[str, tuple[Row, ...]]:
    """Return the evidence; what was read one by one counts only where the read of all was refused."""
    kept = {key: tuple(rows) for key, rows in read.kept.items() if not key.endswith(APART)}
    for key, rows in read.kept.items():
        if key.endswith(APART):
            kept.setdefault(key.removesuffix(APART), tuple(rows))
    return kept


def _items(timed: TimedResult | None) -> tuple[ItemRecord, ...]:
    if timed is None:
        return ()
    begun = sorted(timed.items, key=lambda result: result.begin_seconds)
    skipped = tuple(ItemRecord(item.label, Outcome.SKIPPED, reason="not started") for item in timed.not_begun)
    return (*(item_record(result) for result in begun), *skipped)
