"""Finds the hosts of a cluster that a run is dealt out over, and checks them before it begins."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from functools import partial
from pathlib import Path

from toolkit.app.approvals import Approvals, TargetPolicy, allowed_by
from toolkit.app.clusters import WorkerCheck, check_workers, connect, leave
from toolkit.app.hosts.agent import Assignment, look
from toolkit.app.hosts.files import check_files
from toolkit.app.hosts.programs import ProgramsElsewhere
from toolkit.app.hosts.sessions import SessionsElsewhere
from toolkit.app.hosts.talk import ClusterHost, Roll
from toolkit.app.hosts.users import UsersElsewhere
from toolkit.app.runs.databases import database_of
from toolkit.dialects.programs import looked_for
from toolkit.dialects.registry import dialect_of
from toolkit.dialects.transfers import FILES
from toolkit.errors import ToolkitError
from toolkit.executors import Sessions
from toolkit.model.operations import declaration
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
    """Let a run work on the hosts of the cluster that its experiment names, if it names one.

    They are left when the sessions of the run are ended.

    Raises:
        ToolkitError: TK-0102, TK-0201, TK-0206, TK-0210, TK-0304: no such cluster, or a host does not fit.
    """
    address = planning.experiment.options.get("on")
    if address is None:
        return
    assignment = _assignment(planning, run, sessions.target, policy, approvals)
    client = connect(str(address))
    try:
        # first without a word of what is to be done: another version might not understand it
        check_workers(client, str(address), "take part", look)
        workers = check_workers(client, str(address), "take part", look, assignment)
        hosts = one_of_each_host(workers)
        _refuse_too_few(planning, len(hosts), str(address))
        paths = _files(planning)
        modified = check_files(client, hosts, paths) if paths else {}
    except BaseException:
        leave(client)
        raise
    roll = Roll(client, workers)
    places = [ClusterHost(client, roll, worker, host, roll.workers) for host, worker in hosts.items()]
    away = partial(leave, client)
    if assignment.programs is not None:
        what = "jobs run"
        sessions.programs.let_jobs_run_on([ProgramsElsewhere(place, assignment) for place in places], away)
    elif paths:
        what = "sessions are"
        sessions.let_workers_be_on(
            [
                SessionsElsewhere(place, replace(assignment, files=modified[place.name]), sessions.target)
                for place in places
            ],
            away,
        )
    else:
        what = "users live"
        end_sessions = partial(_end_sessions, sessions.target, run, sessions)
        sessions.programs.let_users_live_on(
            [UsersElsewhere(place, assignment, end_sessions) for place in places], away
        )
    names = ", ".join(hosts)
    said = f"the {what} on {counted(len(hosts), 'host')} of {address}: {names}"
    events.emit(Event("mode", said, {"hosts": names}))


def _files(planning: PlanningContext) -> list[str]:
    """Return the files that are loaded, by their absolute paths; none where something else is done."""
    return [str(Path(str(row["path"])).absolute()) for row in planning.facts.rows(FILES)]


def _assignment(
    planning: PlanningContext, run: str, target: Target, policy: TargetPolicy, approvals: Approvals
) -> Assignment:
    """Return what each host is to take part in: users on the database, or the programs of jobs."""
    experiment = planning.experiment
    programs = tuple(_programs(planning)) if declaration(experiment.operation).runs_programs else None
    return Assignment(
        run, experiment.target, database_of(planning.facts, target), experiment, planning.facts,
        bool(policy.production), allowed_by(approvals), programs,
    )  # fmt: skip


_THERE = ("command", "env", "prepare", "conclude")
"""Options with programs that run on the hosts."""


def _programs(planning: PlanningContext) -> Mapping[tuple[str, str | None], None]:
    """Return the programs of the jobs, and those that prepare and conclude on each host."""
    found: dict[tuple[str, str | None], None] = {}
    for cell in planning.cells:
        for piece in planning.pieces(cell):
            there = {name: value for name, value in piece.work.options.items() if name in _THERE}
            found |= dict.fromkeys(looked_for(there))
    return found


def one_of_each_host(workers: Mapping[str, WorkerCheck]) -> dict[str, str]:
    """Return a worker of each host, by the name of the host: one begins as many processes as it has processors.

    Two machines may have one name: what they are since their boot tells them apart.
    """
    found: dict[tuple[str, str], str] = {}
    for worker, check in workers.items():
        found.setdefault((check.host, check.boot), worker)
    alike = Counter(host for host, _ in found)
    return dict(sorted((_named(host, boot, alike[host]), worker) for (host, boot), worker in found.items()))


def _named(host: str, boot: str, alike: int) -> str:
    return host if alike == 1 else f"{host} ({boot[:8]})"


def _refuse_too_few(planning: PlanningContext, have: int, address: str) -> None:
    """Refuse a configuration for more hosts than there are.

    Raises:
        ToolkitError: TK-0304.
    """
    name = "nodes" if declaration(planning.experiment.operation).runs_programs else "hosts"
    want = max((int(str(cell.get(name, 1))) for cell in planning.cells), default=1)
    if want > have:
        raise ToolkitError(
            f"the cluster `{address}` has workers on {counted(have, 'host')}, and {want} are asked for",
            code="TK-0304",
            hint=f"begin a `dask worker` on each host, or give fewer `--{name}`",
        )


def _end_sessions(target: Target, run: str, sessions: Sessions) -> None:
    """End what the users of a lost host may still do in the database, as far as that can be done."""
    with suppress(ToolkitError):
        end_sessions_of_others(target, dialect_of(target.engine), run, sessions.ids)
