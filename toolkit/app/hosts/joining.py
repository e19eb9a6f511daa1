"""Finds the hosts of a cluster that a workload is dealt out over, and checks them before a run begins."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from functools import partial

from toolkit.app.approvals import Approvals, TargetPolicy, allowed_by
from toolkit.app.clusters import WorkerCheck, check_workers, connect, leave
from toolkit.app.hosts.agent import Assignment, look
from toolkit.app.hosts.elsewhere import Elsewhere, Roll
from toolkit.app.runs.repair import database_of
from toolkit.dialects.registry import dialect_of
from toolkit.errors import ToolkitError
from toolkit.executors import Sessions
from toolkit.model.protocols import Event, Events
from toolkit.runner import PlanningContext
from toolkit.runner.leftovers import end_sessions_of_others
from toolkit.targets.base import Target
from toolkit.units import counted


def join_hosts(
    planning: PlanningContext,
    run: str,
    sessions: Sessions,
    policy: TargetPolicy,
    approvals: Approvals,
    events: Events,
) -> None:
    """Let the users of a run live on the hosts of the cluster that its experiment names, if it names one.

    They are left when the sessions of the run are ended.

    Raises:
        ToolkitError: TK-0102, TK-0201, TK-0206, TK-0210, TK-0304: no such cluster, or a host does not fit.
    """
    experiment = planning.experiment
    address, target = experiment.options.get("on"), sessions.target
    if address is None:
        return
    assignment = Assignment(
        run, experiment.target, database_of(planning.facts, target), experiment, planning.facts,
        bool(policy.production), allowed_by(approvals),
    )  # fmt: skip
    client = connect(str(address))
    try:
        # first without a word of what is to be done: another version might not understand it
        check_workers(client, str(address), "take part", look)
        found = check_workers(client, str(address), "take part", look, assignment)
        hosts = one_of_each_host(found)
        _refuse_too_few(planning, len(hosts), str(address))
    except BaseException:
        leave(client)
        raise
    names = ", ".join(hosts)
    said = f"the users live on {counted(len(hosts), 'host')} of {address}: {names}"
    events.emit(Event("mode", said, {"hosts": names}))
    roll, end_sessions = Roll(client), partial(_end_sessions, target, run, sessions)
    sessions.programs.let_users_live_on(
        [Elsewhere(client, roll, worker, host, assignment, end_sessions) for host, worker in hosts.items()],
        leave=partial(leave, client),
    )


def one_of_each_host(workers: Mapping[str, WorkerCheck]) -> dict[str, str]:
    """Return a worker of each host, by the name of the host: one begins as many processes as it has processors."""
    found: dict[str, str] = {}
    for worker, check in workers.items():
        found.setdefault(check.host, worker)
    return dict(sorted(found.items()))


def _refuse_too_few(planning: PlanningContext, have: int, address: str) -> None:
    """Refuse a configuration for more hosts than there are.

    Raises:
        ToolkitError: TK-0304.
    """
    want = max((int(str(cell.get("hosts", 1))) for cell in planning.cells), default=1)
    if want > have:
        raise ToolkitError(
            f"the cluster `{address}` has workers on {counted(have, 'host')}, and {want} are asked for",
            code="TK-0304",
            hint="begin a `dask worker` on each host, or give fewer `--hosts`",
        )


def _end_sessions(target: Target, run: str, sessions: Sessions) -> None:
    """End what the users of a lost host may still do in the database, as far as that can be done."""
    with suppress(ToolkitError):
        end_sessions_of_others(target, dialect_of(target.engine), run, sessions.ids)
