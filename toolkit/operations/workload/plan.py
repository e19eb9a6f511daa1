"""Plans users at work: their tables once per run, the users of each configuration around what is measured."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from toolkit.design.order import cells_of
from toolkit.design.statements import split
from toolkit.design.transactions import ReadFrom, only_reads, parse_transactions, statements_of
from toolkit.dialects.work import Call, Work
from toolkit.dialects.workloads import BUILT_IN, BuiltIn, RunUsers, Tables, table_values, workloads_of
from toolkit.errors import ToolkitError
from toolkit.model.experiment import mark_of
from toolkit.model.facts import Query
from toolkit.model.steps import ObjectRef, Stages
from toolkit.model.values import Cell, QualifiedName
from toolkit.model.words import ObjectKind
from toolkit.model.workload import Drawn, Transaction, Workload
from toolkit.operations.base import Piece, Planner, assemble, support_of
from toolkit.operations.loads import reads_of_space
from toolkit.operations.workload.checks import DOWN, TRIES, UP, measured_seconds, weights_of
from toolkit.rendering import render_call
from toolkit.units import counted


class UsersAtWork:
    """One item on the clock: the measured interval."""

    name = "workload"
    version = 1

    def reads(self, planner: Planner) -> tuple[Query, ...]:
        return tuple(reads_of_space(planner))

    def check(self, planner: Planner) -> None:
        """Refuse a run of which no configuration can be had.

        Raises:
            ToolkitError: TK-0304.
        """
        _check_own(planner)
        found = [support_of(planner, self.pieces(planner, cell)) for cell in cells_of(planner.spec.factors)]
        if not any(support.ok for support in found):
            raise ToolkitError(found[0].sentence, code="TK-0304", hint=found[0].hint)

    def pieces(self, planner: Planner, cell: Cell) -> tuple[Piece, ...]:
        how, options = _how(planner), planner.options(cell)
        workload = Workload(
            transactions=_transactions(planner, cell),
            users=_whole(options.get("users"), 1),
            measure_seconds=measured_seconds(options),
            ramp_up_seconds=float(str(options.get("ramp_up", UP))),
            ramp_down_seconds=float(str(options.get("ramp_down", DOWN))),
            think_seconds=float(str(options.get("think_time", 0))),
            rate=float(str(options.get("rate", 0))),
            tries=_whole(options.get("tries"), TRIES),
            begin=how.begin,
            on=str(options.get("on", "")),
            hosts=_whole(options.get("hosts"), 0),
        )
        label = counted(workload.users, "user")
        ref = ObjectRef(ObjectKind.SESSION, QualifiedName(label))
        work = Work(
            self.name, planner.spec.mode, ref, options, degree=workload.users, mark=planner.mark, users=workload
        )
        loop = how.loop(workload.transactions) if options.get("loop") == "server" else None
        first = how.settings(work) + (loop.sets_up if loop else ())
        workload = replace(
            workload,
            settings=tuple(render_call(planner.dialect, call) for call in first),
            loop=tuple(render_call(planner.dialect, call) for call in loop.calls) if loop else (),
        )
        return (Piece(replace(work, users=workload), label),)

    def plan(self, planner: Planner, cell: Cell) -> Stages:
        how = _how(planner)
        if planner.spec.text("builtin") is None:
            return assemble(planner, cell, self.pieces(planner, cell))
        built = _built(planner)
        every = {scale: _tables(planner, built, scale) for scale in _scales(planner)}
        mark = mark_of(planner.naming.key)
        setup = [
            call
            for scale, tables in every.items()
            for table in built.tables
            for call in how.makes(built, table, tables, scale, mark, planner.facts)
        ]
        drops = [ref for tables in every.values() for ref in tables.values()]
        return assemble(
            planner,
            cell,
            self.pieces(planner, cell),
            setup=setup,
            before=how.renews(built, every[_scale(cell, planner)], _scale(cell, planner)),
            cleanup=[call for ref in reversed(drops) for call in planner.dialect.drop(ref)],
        )


def _how(planner: Planner) -> RunUsers:
    found = workloads_of(planner.dialect.work, planner.spec.operation)
    assert found is not None
    return found


def _built(planner: Planner) -> BuiltIn:
    return BUILT_IN[str(planner.spec.text("builtin"))]


def _whole(value: object, default: int) -> int:
    return default if value is None else int(str(value))


def _scale(cell: Cell, planner: Planner) -> int:
    return _whole(planner.options(cell).get("scale"), 1)


def _scales(planner: Planner) -> tuple[int, ...]:
    """Return the scales of all configurations: each has tables of its own."""
    return tuple(dict.fromkeys(_scale(cell, planner) for cell in cells_of(planner.spec.factors)))


def _tables(planner: Planner, built: BuiltIn, scale: int) -> Tables:
    first = _scales(planner).index(scale) * len(built.tables)
    found: dict[str, ObjectRef] = {}
    for number, table in enumerate(built.tables, first + 1):
        found[table.name] = planner.scratch(ObjectKind.TABLE, planner.naming.run_object(number), None)
    return found


def _check_own(planner: Planner) -> None:
    """Refuse transactions of the user's that change data without a word about it.

    Raises:
        ToolkitError: TK-0107.
    """
    if planner.spec.text("builtin") is not None or planner.spec.flag("may_change_data"):
        return
    for one in _own(planner):
        if not only_reads(one.statements, planner.dialect.engine):
            raise ToolkitError(
                f"the transaction `{one.name}` changes data of yours, which nothing puts back",
                code="TK-0107",
                hint="add `--may-change-data` if it may stay changed, on a database where that is wanted",
            )


def _transactions(planner: Planner, cell: Cell) -> tuple[Transaction, ...]:
    """Return the transactions of a configuration; the user's own are the same in all of them but for weights."""
    own = planner.spec.text("builtin") is None
    every = planner.once("transactions", lambda: _own(planner)) if own else tuple(_of_built_in(planner, cell))
    asked = planner.options(cell).get("weights")
    if asked is None:
        return every
    weights = weights_of(str(asked), [one.name for one in every])
    return tuple(replace(one, weight=weight) for one, weight in zip(every, weights, strict=True) if weight)


def _own(planner: Planner) -> tuple[Transaction, ...]:
    found = []
    for one in parse_transactions(str(planner.spec.text("transactions"))):
        drawn = tuple(
            _read(planner, each, one.columns[each.name]) if each.name in one.columns else each
            for each in one.parameters
        )
        found.append(Transaction(one.name, statements_of(one, planner.dialect.engine), one.weight, drawn))
    return tuple(found)


def _read(planner: Planner, drawn: Drawn, column: ReadFrom) -> Drawn:
    """Return a parameter with the query that reads its values."""
    table = planner.qualified(column.table)
    if column.last:
        return replace(drawn, read=_last(planner, table, column.column))
    name = planner.dialect.parse_name(column.column, planner.facts.release).name
    spelled = ".".join(planner.dialect.quote(part) for part in (table.schema, table.name, name) if part)
    read = render_call(planner.dialect, Call("values_of", {"column": name, "table": table}))
    return replace(drawn, read=read, column=spelled)


def _last(planner: Planner, table: QualifiedName, column: str) -> str:
    """Return the query that reads the highest value of a column."""
    name = planner.dialect.parse_name(column, planner.facts.release).name
    return render_call(planner.dialect, Call("last_value", {"column": name, "table": table}))


def _of_built_in(planner: Planner, cell: Cell) -> Iterator[Transaction]:
    built, scale = _built(planner), _scale(cell, planner)
    tables = _tables(planner, built, scale)
    for one in built.transactions:
        text = render_call(planner.dialect, Call(built.template(one.name), table_values(tables)))
        after = {name: (tables[table].name, column) for name, table, column in one.follows}
        parameters = tuple(
            replace(
                each, high=each.high * (scale if each.name in one.grow else 1),
                read=_last(planner, *after[each.name]) if each.name in after else "",
            )
            for each in one.parameters
        )  # fmt: skip
        yield Transaction(one.name, split(text, planner.dialect.engine), one.weight, parameters)


OPERATION = UsersAtWork()
