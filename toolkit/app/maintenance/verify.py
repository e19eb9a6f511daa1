"""Looks at what a step says it did, so that nothing fails in silence."""

from __future__ import annotations

from typing import assert_never

from toolkit.app.maintenance.conditions import invalid_indexes, old_statistics
from toolkit.app.maintenance.loaded import Reader, Verification, look_at_load
from toolkit.app.maintenance.plan_targets import PlanTarget, TargetStep
from toolkit.errors import UNREACHED, ToolkitError
from toolkit.model.engines import engine
from toolkit.model.operations import VerifiedBy, declaration
from toolkit.runner import Stop
from toolkit.runner.leftovers import HAD_VERIFIED
from toolkit.store import Store
from toolkit.units import byte_size, counted, number

_SHOWN = 3
_CLOCK_SECONDS = 2.0
"""A server tells times by the second, and its clock reads on while it is asked."""
_AGAIN_SECONDS = (1.0, 3.0, 10.0, 20.0)
NOT_APPROVED = "TK-0313"
_SOME_ONLY = frozenset({"stale", "empty", "auto"})
"""Values of `gather` with which statistics of some tables only are renewed."""
_OF_PARTS = frozenset({"partition", "granularity", "only_tables", "server", "max_difference"})
"""Options with which not the statistics of every table that is named are renewed."""


def look_at(
    job: TargetStep,
    plan_target: PlanTarget,
    took_seconds: float,
    *,
    run: str,
    store: Store,
    before: Reader | ToolkitError | None,
    stop: Stop,
) -> Verification:
    """Return what is wrong with what a step did, what was verified and what could not be.

    Rows loaded are those read, indexes are valid, statistics newer than the step's beginning, a backup is whole as
    far as its program or the database tells. A database that does not answer is asked again for a while; that it
    stays silent, or refuses to be read, does not fail the step, but is reported: a step taken for failed would
    be done a second time.

    Args:
        job: the step here.
        plan_target: its target.
        took_seconds: since it began.
        run: what did it.
        store: where the run is.
        before: of a load, a session that sees the database as it was before.
        stop: cuts a look off.

    Raises:
        ToolkitError: TK-0313 when a script is needed that was not approved.
    """
    for seconds in (*_AGAIN_SECONDS, None):
        try:
            return _look(job, plan_target, took_seconds, run, store, before, stop)
        except ToolkitError as error:
            if error.code == NOT_APPROVED:
                raise
            if error.code not in UNREACHED:
                why = error if stop.because is None else stop.because  # the look was cut off
                return Verification(unverified=(f"could not verify whether it was done: {why.sentence}",))
            if seconds is None or stop.wait(seconds):
                return Verification(unverified=(f"the database did not respond afterwards: {error.sentence}",))
    raise AssertionError


def _look(
    job: TargetStep,
    plan_target: PlanTarget,
    took_seconds: float,
    run: str,
    store: Store,
    before: Reader | ToolkitError | None,
    stop: Stop,
) -> Verification:
    match declaration(job.step.operation).verified_by:
        case VerifiedBy.ROWS:
            return look_at_load(job, plan_target, run, store, before, stop)
        case VerifiedBy.INDEXES:
            invalid = invalid_indexes(job, plan_target, stop)
            return _looked(
                invalid, "index", "invalid afterwards", "every index is valid according to the catalogue"
            )
        case VerifiedBy.STATISTICS:
            return _of_statistics(job, plan_target, took_seconds, stop)
        case VerifiedBy.BACKUP | VerifiedBy.SIZES | VerifiedBy.REST | VerifiedBy.RESTORE as own:
            return _BY_ITS_OWN_EVIDENCE[own](run, store)
        case VerifiedBy.NOTHING:
            return Verification(unverified=(f"nothing is verified after `{job.step.operation}`",))
        case unknown:
            assert_never(unknown)


def _of_statistics(job: TargetStep, plan_target: PlanTarget, took_seconds: float, stop: Stop) -> Verification:
    if not engine(plan_target.resolved.target.engine).dates_statistics:
        return Verification(
            unverified=(f"{plan_target.resolved.target.engine} does not record how old statistics are",)
        )
    if not _gathers_all(job):
        return Verification(
            unverified=("only some tables or partitions are gathered this way, and which ones is not checked",)
        )
    old = old_statistics(job, plan_target, took_seconds + _CLOCK_SECONDS, stop)
    right = "statistics of every table are newer than its start according to the catalogue"
    return _looked(old, "table", "with statistics older than its start", right)


def _gathers_all(job: TargetStep) -> bool:
    """Whether every table that the step names must have new statistics."""
    given = {**job.step.options, **job.step.levels}
    if given.get("publish") == "later":
        return False
    return not _OF_PARTS & set(given) and str(given.get("gather", "gather")).lower() not in _SOME_ONLY


def _of_rest(run: str, store: Store) -> Verification:
    """Tell by the run's own counts; rows that came meanwhile are no fault of the step."""
    good = [trial for trial in store.load_run(run, samples=False).trials if trial.done]
    metrics = {metric.name: metric.value for metric in good[-1].metrics} if good else {}
    if "rows_left" not in metrics:
        return Verification(unverified=("the rows to which its condition applies were not counted afterwards",))
    left = f"afterwards its condition applies to {counted(int(metrics['rows_left']), 'row')}"
    if metrics["rows_left"]:
        return Verification(unverified=(f"{left}: they came or were changed meanwhile",))
    return Verification(verified=(f"{left}, before to {number(metrics.get('rows_before', 0))}",))


def _of_backup(run: str, store: Store) -> Verification:
    """Tell by the run's own evidence: its program's log, a program that reads the backup, the database's views."""
    good = [trial for trial in store.load_run(run, samples=False).trials if trial.done]
    metrics = {metric.name: metric for metric in good[-1].metrics} if good else {}
    corrupt, whole = metrics.get("corrupt_files"), metrics.get("verified")
    if corrupt is not None and corrupt.value:
        return Verification(f"corrupt blocks were found in {number(corrupt.value)} data file(s)")
    looked = Verification(verified=("its program ended without an error",))
    items = store.items_of(run, good[-1].trial) if good else ()
    before = next((item.reason for item in items if (item.reason or "").endswith(HAD_VERIFIED)), None)
    if whole is None and before is not None:
        return looked + Verification(verified=(before,))
    if whole is None:
        return looked + Verification(unverified=("the backup was not read back",))
    if not whole.value:
        return looked + Verification(unverified=(f"{whole.source} did not confirm the backup",))
    return looked + Verification(verified=(f"{whole.source} confirms the backup (no restore was tried)",))


def _of_sizes(run: str, store: Store) -> Verification:
    """Tell by the figures that the run read before and right after its work."""
    good = [trial for trial in store.load_run(run, samples=False).trials if trial.done]
    found = {metric.name: metric.value for metric in good[-1].metrics} if good else {}
    if unusable := found.get("unusable_parts_after"):
        return Verification(f"{number(unusable)} index(es) or parts of them are unusable afterwards")
    before, after = (found.get(f"table_bytes_{when}") for when in ("before", "after"))
    if before is None or after is None:
        return Verification(unverified=("the size of its tables was not read before and after",))
    said = f"its tables had {byte_size(before)} before and have {byte_size(after)} after"
    dead = found.get("dead_rows_after")
    return Verification(verified=(said if not dead else f"{said}; {number(dead)} dead rows remain",))


def _of_restore(run: str, store: Store) -> Verification:
    """Tell by the run's own evidence: what verified the files, and which checks the restored data passed."""
    good = [trial for trial in store.load_run(run, samples=False).trials if trial.done]
    if not good:
        return Verification("no restore ended well")
    metrics = {metric.name: metric for metric in good[-1].metrics}
    items = (*good[-1].items, *store.items_of(run, good[-1].trial))
    passed = tuple(dict.fromkeys(item.label for item in items if item.label.startswith(("table ", "check "))))
    proved, point = metrics.get("proved"), metrics.get("recovery_point_age_seconds")
    told = (f"it was restored up to {point.source} and opened",) if point is not None else ("it was opened",)
    if proved is None or not proved.value:
        return Verification(verified=(*told, *passed), unverified=("no checksum confirms its files",))
    return Verification(verified=(f"{proved.source} confirms every file", *told, *passed))


_BY_ITS_OWN_EVIDENCE = {
    VerifiedBy.BACKUP: _of_backup,
    VerifiedBy.SIZES: _of_sizes,
    VerifiedBy.REST: _of_rest,
    VerifiedBy.RESTORE: _of_restore,
}


def _looked(names: list[str], what: str, how: str, right: str) -> Verification:
    if not names:
        return Verification(verified=(right,))
    shown = ", ".join(f"`{name}`" for name in names[:_SHOWN]) + (", ..." if len(names) > _SHOWN else "")
    many = {"index": "indexes", "table": "tables"}[what]
    return Verification(f"{len(names)} {what if len(names) == 1 else many} {how}: {shown}")
