"""Backups as a bundle: RMAN scripts with a driver for a server without Python, and their logs read back."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from string import Template

from toolkit import resources
from toolkit.app.bundles.root import Root
from toolkit.dialects.base import Dialect
from toolkit.dialects.oracle.backup import client
from toolkit.dialects.oracle.backup import facts as known
from toolkit.dialects.work import Work
from toolkit.errors import ToolkitError
from toolkit.executors.scripted import Bundled
from toolkit.executors.scripted.bundle import digest
from toolkit.model.bundle import DRIVER, PLAN, SPOOLS, SUMS, script_name
from toolkit.model.experiment import Experiment, PlannedTrial
from toolkit.model.facts import Facts
from toolkit.model.operations import degree_level
from toolkit.model.protocols import DatabaseError, OutputLine
from toolkit.model.records import TrialRecord, run_key
from toolkit.model.steps import Step
from toolkit.model.values import Row
from toolkit.model.words import Effect, Mode, Outcome, StepKind
from toolkit.runner import PlanningContext, rman_log

_STAMP = "%Y-%m-%d %H:%M:%S"
_FOLDER = "make"


# -- export -------------------------------------------------------------------------------------------------------
def files_of(
    experiment: Experiment, facts: Facts, run: str, trials: Sequence[Bundled], licences: Sequence[str],
    folder: Path,
) -> dict[str, str]:  # fmt: skip
    """Return the text of every file by its path, checksums included.

    Raises:
        ToolkitError: TK-0304 where the backup is no script of RMAN's (Amazon RDS), or would delete archived logs
            that nobody has read.
    """
    files: dict[str, str] = {DRIVER: resources.template_text("bundle/rman.sh")}
    plan = []
    for each in trials:
        if each.stages is None:
            continue
        name = script_name(each.planned.number)
        [timed] = [step for item in each.stages.timed.items for step in item.steps]
        if timed.kind is not StepKind.RMAN:
            raise ToolkitError(
                "on Amazon RDS a database procedure makes the backup, not an RMAN script",
                code="TK-0304",
                hint="run it from here: `dbatk backup run`",
            )
        files[f"rman/{name}.rman"] = timed.text + "\n"
        deletes = [step for step in each.stages.conclude if step.kind is StepKind.RMAN]
        if deletes:
            files[f"rman/{name}-delete.rman"] = deletes[0].text + "\n"
            files[f"rman/{name}-folders"] = "".join(f"{path}\n" for path in _folders(each.stages.prepare))
        plan.append(f"{name} {each.title}\n")
    files[PLAN] = "".join(plan)
    measuring = experiment.mode is Mode.MEASUREMENT
    writes = any(path.endswith("-delete.rman") for path in files)
    files["README.txt"] = Template(resources.template_text("bundle/rman.txt")).substitute(
        run=run,
        mode="a measurement" if measuring else "a job",
        trials=len(plan),
        folder=shlex.quote(folder.name),
        licences="\n                ".join(licences) or "none",
        makes="a backup, which is kept" if not measuring and _writes(trials)
        else "backups with their own tag, each deleted after its trial" if writes
        else "nothing",
        deletes=_deletes(files, facts),
    )  # fmt: skip
    return {**files, SUMS: "".join(f"{digest(text)}  {path}\n" for path, text in sorted(files.items()))}


def _writes(trials: Sequence[Bundled]) -> bool:
    """Tell whether any trial writes a backup: a report or a validation does not."""
    return any(
        step.effect is Effect.CREATES
        for each in trials if each.stages is not None
        for item in each.stages.timed.items for step in item.steps
    )  # fmt: skip


def _deletes(files: Mapping[str, str], facts: Facts) -> str:
    """Say which files of the site are deleted: archived logs, where they were read."""
    if not any("DELETE INPUT" in text for path, text in files.items() if path.endswith(".rman")):
        return "nothing of yours"
    if known.LOGS not in facts.answers:
        raise ToolkitError(
            "the archived logs that `delete_input` would delete were not read: a bundle must name them",
            code="TK-0304",
            hint="export it with `-t TARGET` instead of `--assume`, or omit `delete_input`",
        )
    return (
        "the archived logs that it backed up (DELETE INPUT), without an undo but a restore;\n                "
        f"at the export {known.logs(facts)}: the script chooses anew"
    )


def _folders(steps: Sequence[Step]) -> list[str]:
    return [step.argv[1] for step in steps if step.kind is StepKind.FOLDER and step.argv[0] == _FOLDER]


# -- ingest -------------------------------------------------------------------------------------------------------
def logs_of(path: Path) -> Mapping[int, Path]:
    """Return the log of each trial that came to its end, by its number."""
    found = {}
    for times in sorted((path / SPOOLS).glob("t*.times")):
        log = times.with_suffix(".log")
        if times.stem[1:].isdecimal() and log.is_file():
            found[int(times.stem[1:])] = log
    return found


def record_of(
    planned: PlannedTrial, root: Root, log: Path, experiment: Experiment, run: str, dialect: Dialect, facts: Facts
) -> TrialRecord:
    """Return what a trial's log tells."""
    texts = root.text_of(log).splitlines()
    lines = [OutputLine(0.0, text) for text in texts]
    begun, ended = _times(root, log.with_suffix(".times"))
    work = _work(planned, experiment, run, dialect, facts)
    [call] = dialect.work.timed(work, facts)
    rows = rman_log.rows_of(lines)
    status = 1 if any("ERROR MESSAGE STACK" in line.text for line in lines) else 0
    error: DatabaseError | None = client.error(call.template, status, [line.text for line in lines])
    error = error or rman_log.not_whole(rows.get(rman_log.LOG, ()))
    kept: dict[str, tuple[Row, ...]] = {**rows, rman_log.PIECES: tuple(_placed(rows, texts))}
    seconds = (ended - begun).total_seconds()
    found, granted = dialect.work.tell(work, kept, {}, seconds), dialect.work.granted(work, kept, {}, ())
    asked = degree_level(planned.cell)
    outcome = Outcome.DOWNGRADED if granted.downgraded else Outcome.OK
    return TrialRecord(
        planned.number, 1, planned.cell, planned.repeat, outcome if error is None else Outcome.FAILED, begun,
        ended,
        reason=error.sentence if error is not None else granted.sentence or None,
        error_code=None if error is None else error.code,
        elapsed_seconds=seconds if error is None else None,
        requested_degree=asked if isinstance(asked, int) else None,
        granted_degree=granted.degree,
        granted_source=granted.source,
        items=found.items,
        metrics=found.metrics if error is None else (),
    )  # fmt: skip


def _work(planned: PlannedTrial, experiment: Experiment, run: str, dialect: Dialect, facts: Facts) -> Work:
    planning = PlanningContext(experiment, dialect, facts)
    return planning.operation.pieces(planning.planner(run_key(run), planned.number), planned.cell)[0].work


def _times(root: Root, path: Path) -> tuple[datetime, datetime]:
    """Return when the driver began and ended a trial; some systems tell whole seconds only."""
    words = root.text_of(path).split()
    try:
        begun, ended = (datetime.fromtimestamp(float(word), UTC) for word in words[:2])
    except (ValueError, OverflowError):
        raise ToolkitError(
            f"`{path.name}` does not say when the trial began and ended",
            code="TK-0406",
            hint="give the folder unchanged after `run.sh`",
        ) from None
    return begun, ended


def _placed(rows: Mapping[str, Sequence[Row]], texts: Sequence[str]) -> Iterator[Row]:
    """Give pieces their place on the clock by the stamps of the log, for nobody saw its lines come."""
    from toolkit.readers.rman.log import read_log

    pieces = {each.handle: each for each in read_log(texts).pieces}
    starts = [at for each in pieces.values() if (at := _stamp(each.start)) is not None]
    for row in rows.get(rman_log.PIECES, ()):
        piece = pieces.get(None if row.get("handle") is None else str(row["handle"]))
        at = _stamp(piece.start) if piece is not None else None
        yield {
            **row,
            "begin_seconds": (at - min(starts)).total_seconds() if at is not None else None,
            "elapsed_seconds": piece.elapsed_seconds if piece is not None else None,
        }


def _stamp(text: str | None) -> datetime | None:
    try:
        return datetime.strptime(text or "", _STAMP).replace(tzinfo=UTC)
    except ValueError:
        return None
