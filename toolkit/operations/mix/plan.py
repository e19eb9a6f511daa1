"""Plans the jobs of a mix: each is an item on the clock that is begun when it is due."""

from __future__ import annotations

from dataclasses import replace

from toolkit.design.mix import parse_mix
from toolkit.design.order import cells_of
from toolkit.dialects.programs import after_all
from toolkit.dialects.work import Work
from toolkit.errors import ToolkitError
from toolkit.model.engines import engines
from toolkit.model.experiment import OptionValue
from toolkit.model.facts import Query
from toolkit.model.mix import Mix, StartedJob, jobs_of
from toolkit.model.steps import ObjectRef, Stages
from toolkit.model.values import Cell, QualifiedName
from toolkit.model.words import ObjectKind
from toolkit.operations.base import Piece, Planner, assemble, support_of


class JobsTogether:
    """The neutral half: which jobs on which CPUs, and what each waits for."""

    name = "mix"
    version = 1

    def reads(self, planner: Planner) -> tuple[Query, ...]:
        del planner
        return ()

    def check(self, planner: Planner) -> None:
        """Refuse programs that are not there, and more nodes than CPUs.

        Raises:
            ToolkitError: TK-0204, TK-0304.
        """
        cpus, nodes = _cpus(planner), 0 if _elsewhere(planner) else _most_nodes(planner)
        if nodes > len(cpus):
            have = f"{len(cpus)} CPUs" if cpus else "no CPUs that programs can be bound to"
            raise ToolkitError(
                f"this host has {have}, which cannot be divided into {nodes} nodes",
                code="TK-0304",
                hint="give fewer `--nodes`, or omit it",
            )
        for cell in cells_of(planner.spec.factors):
            for piece in self.pieces(planner, cell):
                support = support_of(planner, [piece])
                if not support.ok:
                    raise ToolkitError(f"{piece.label}: {support.sentence}", code="TK-0204", hint=support.hint)

    def pieces(self, planner: Planner, cell: Cell) -> tuple[Piece, ...]:
        mix = _mix(planner, cell)
        return tuple(_piece(planner, cell, mix, each) for each in _jobs(planner, cell))

    def plan(self, planner: Planner, cell: Cell) -> Stages:
        pieces, jobs = self.pieces(planner, cell), {each.label: each for each in _jobs(planner, cell)}
        stages = assemble(planner, cell, pieces, cleanup=after_all(pieces[0].work))
        items = tuple(
            replace(item, due_seconds=jobs[item.label].due_seconds, needs=jobs[item.label].needs)
            for item in stages.timed.items
        )
        asked = cell.get("concurrency")
        workers = min(len(items), int(asked)) if isinstance(asked, int) else len(items)
        return replace(stages, timed=replace(stages.timed, items=items, workers=workers))


def _mix(planner: Planner, cell: Cell) -> Mix:
    levels = tuple(sorted(cell.items()))
    return planner.once(("mix", levels), lambda: parse_mix(str(planner.spec.options["jobs"]), cell))


def _jobs(planner: Planner, cell: Cell) -> tuple[StartedJob, ...]:
    copies, nodes = int(str(cell.get("copies", 1))), int(str(cell.get("nodes", 1)))
    levels = tuple(sorted(cell.items()))
    return planner.once(("jobs", levels), lambda: jobs_of(_mix(planner, cell), copies, nodes))


def _cpus(planner: Planner) -> tuple[str, ...]:
    """Return the numbers of the CPUs that jobs can be bound to; of an assumed host one for each node."""
    if planner.facts.assumed:
        return tuple(map(str, range(_most_nodes(planner))))
    found = str(planner.facts.value("server", "cpu_list", "") or "")
    return tuple(found.split(",")) if found else ()


def _elsewhere(planner: Planner) -> bool:
    """Tell whether the nodes are hosts of a cluster, not CPUs of this one."""
    return planner.spec.text("on") is not None


def _most_nodes(planner: Planner) -> int:
    """Return the highest number of nodes; 0 where the jobs are not bound to CPUs."""
    levels = next((factor.levels for factor in planner.spec.factors if factor.name == "nodes"), ())
    return max((int(level) for level in levels), default=0)


def _piece(planner: Planner, cell: Cell, mix: Mix, each: StartedJob) -> Piece:
    """Return a job with its options; a node has as many CPUs whatever their number, so that they compare."""
    options: dict[str, OptionValue] = {**mix.options, **each.job.options, **cell, "command": each.job.argv}
    # what is run around the jobs may make the folder in which they begin
    options["folder"] = str(options.pop("cwd", ""))
    if each.job.own:
        # a measurement leaves nothing, and so does each of its jobs
        once = ("--repeat", "1", "--warmup", "0") if planner.measuring and each.job.operation else ()
        options |= {"command": (*each.job.argv, *once, "--label", each.label), "own": True}
    if _elsewhere(planner):
        options["node"] = each.node
    elif nodes := _most_nodes(planner):
        cpus, size = _cpus(planner), len(_cpus(planner)) // nodes
        options["cpus"] = cpus[(each.node - 1) * size : each.node * size]
    options["jobs"] = str(planner.spec.options["jobs"])
    ref = ObjectRef(ObjectKind.SESSION, QualifiedName(each.label))
    return Piece(Work("mix", planner.spec.mode, ref, options), each.label, apart=_alone(each.job.target))


def _alone(target: str) -> str | None:
    """Return the target whose database one process at a time can open: its jobs go one after another."""
    scheme = target.partition("://")[0]
    return next((target for engine in engines().values() if engine.embedded and scheme in engine.schemes), None)


OPERATION = JobsTogether()
