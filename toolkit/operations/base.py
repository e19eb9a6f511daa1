"""What an operation is: two pure functions, `reads` and `plan`, and the parts they share.

`reads` says which catalogue queries must be answered before planning; `plan` turns the answers into stages for one
cell. Neither touches a database.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby
from typing import Protocol, TypeVar, cast

from toolkit.dialects.base import Dialect
from toolkit.dialects.implementations import AFTER, BEFORE
from toolkit.dialects.indexes import IndexDefinition, IndexPart
from toolkit.dialects.work import Call, Work
from toolkit.errors import ToolkitError
from toolkit.model.experiment import Naming, OptionValue, Spec, mark_of
from toolkit.model.facts import Facts, Query
from toolkit.model.operations import degree_factor, degree_of
from toolkit.model.records import run_of_object
from toolkit.model.steps import ObjectRef, Stages, Step, Timed, TimedItem
from toolkit.model.values import Cell, QualifiedName, Row, Scalar, Support
from toolkit.model.words import Keep, Mode, ObjectKind, OperationName, Role, SupportState
from toolkit.rendering import step_of

T = TypeVar("T")
_LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"


@dataclass(frozen=True, slots=True)
class Planner:
    """Everything a plan is made from: the spec, the facts, the engine's dialect and the names to use."""

    dialect: Dialect
    spec: Spec
    facts: Facts
    naming: Naming
    known: dict[Hashable, object] = field(default_factory=dict, repr=False, compare=False)
    """What was derived from the facts already; all planners of a run share it."""

    def once(self, key: Hashable, derive: Callable[[], T]) -> T:
        """Return what is the same under all names and for all cells, derived from the facts when first asked."""
        if key not in self.known:
            self.known[key] = derive()
        return cast(T, self.known[key])

    @property
    def measuring(self) -> bool:
        return self.spec.mode is Mode.MEASUREMENT

    @property
    def mark(self) -> str | None:
        """The comment on scratch objects; a job's object is the user's and bears none."""
        return mark_of(self.naming.key) if self.measuring else None

    def named(self, option: str) -> QualifiedName | None:
        """Return the name given by an option, with the session's schema where the user gave none."""
        text = self.spec.text(option)
        return None if text is None else self.qualified(text)

    def qualified(self, text: str) -> QualifiedName:
        """Read a name as typed and add the session's schema."""
        name = self.dialect.parse_name(text, self.facts.release)
        schema = name.schema or str(self.facts.value("server", "current_schema", ""))
        return QualifiedName(name.name, schema or None)

    def schemas(self) -> tuple[str, ...]:
        """Return the schemas of `--schema`, as the catalogue spells them.

        Raises:
            ToolkitError: TK-0102 for a name of two parts.
        """
        return tuple(map(self._schema, self.spec.names("schema")))

    def _schema(self, text: str) -> str:
        name = self.dialect.parse_name(text, self.facts.release)
        if name.schema is not None:
            raise ToolkitError(
                f"`--schema` takes the name of a schema, and `{text}` has two parts", code="TK-0102",
                hint="name a table with --table, a schema with a dot in double quotes",
            )  # fmt: skip
        return name.name

    def existing(self, key: str, option: str) -> QualifiedName:
        """Return the exact name of a relation that must exist.

        Raises:
            ToolkitError: TK-0204 when the catalogue has no such relation.
        """
        name = self.named(option)
        assert name is not None
        if self.facts.assumed and key not in self.facts.answers:
            return name
        row = self.facts.first(key)
        if not row:
            raise self.not_there(name)
        return QualifiedName(str(row["table_name"]), str(row["schema_name"]))

    def not_there(self, name: QualifiedName, kind: ObjectKind = ObjectKind.TABLE) -> ToolkitError:
        """Return the error of a name that the catalogue does not show: what cannot be seen may be there."""
        grant = self.dialect.shown_by(name, kind, self.facts)
        user = self.facts.value("server", "user_name", "") or "this session"
        return ToolkitError(
            f"`{name}` does not exist or is not visible to {user}",
            code="TK-0204",
            hint="check schema and name (names in double quotes keep their case)"
            + ("" if grant is None else f"; if it is there, this shows it: {grant}"),
        )

    def must_be_free(self, key: str, name: QualifiedName) -> None:
        """Refuse a name that is in use already.

        Raises:
            ToolkitError: TK-0205.
        """
        row = self.facts.first(key)
        if row:
            raise ToolkitError(
                f"`{name}` already exists as {row.get('object_kind') or 'an object'}",
                code="TK-0205",
                hint="choose another name; dbatk never replaces an object, and `dbatk clean` drops what an "
                "interrupted run left",
            )

    def work_schema(self, near: QualifiedName | None) -> str | None:
        """Return where scratch objects go: `--work-schema`, else beside the user's table."""
        if self.spec.work_schema:
            return self.dialect.parse_name(self.spec.work_schema, self.facts.release).name
        if near is not None and near.schema:
            return near.schema
        return str(self.facts.value("server", "current_schema", "")) or None

    def scratch(
        self, kind: ObjectKind, name: str, near: QualifiedName | None, table: QualifiedName | None = None
    ) -> ObjectRef:
        """Refer to an object under a generated name."""
        return ObjectRef(kind, QualifiedName(name, self.work_schema(near)), scratch=True, table=table)

    def options(self, cell: Cell) -> Mapping[str, OptionValue]:
        """Lay the levels of a cell over the experiment's options; settings of the database are no options."""
        settings = {factor.name for factor in self.spec.factors if factor.setting}
        options = {**self.spec.options, **{name: level for name, level in cell.items() if name not in settings}}
        query = self.spec.query(cell)
        return options if query is None else {**options, "query": query}

    def workers(self, cell: Cell) -> int:
        """Return how many sessions work at once."""
        return int(cell.get("concurrency", 1)) * self.sessions(cell)

    def sessions(self, cell: Cell) -> int:
        """Return how many sessions a degree means."""
        by_sessions = self.dialect.work.of(self.spec.operation).degree_by_sessions
        return max(1, degree_of(cell)) if by_sessions else 1

    def degree(self, cell: Cell) -> int:
        """Return the degree of each session's statement; 0 leaves it to the engine."""
        return 1 if self.dialect.work.of(self.spec.operation).degree_by_sessions else degree_of(cell)

    @property
    def highest_degree(self) -> int:
        """The highest degree among the configurations: what is made beside them is made so."""
        name = degree_factor(self.spec.operation)
        levels = next((factor.levels for factor in self.spec.factors if factor.name == name), ())
        return max((int(level) for level in levels if isinstance(level, int | float)), default=1)

    def asks_for(self, option: str, value: Scalar) -> bool:
        """Tell whether an option has a value in any configuration."""
        levels = next((factor.levels for factor in self.spec.factors if factor.name == option), ())
        return value in (*levels, self.spec.options.get(option))

    def letters(self, count: int) -> Sequence[str]:
        """Return suffixes that tell several objects of one trial apart; one object needs none."""
        if count == 1:
            return ("",)
        return [_LETTERS[i % 26] + (str(i // 26) if i >= 26 else "") for i in range(count)]

    def steps(self, calls: Iterable[Call]) -> tuple[Step, ...]:
        """Render calls into steps."""
        return tuple(step_of(self.dialect, call) for call in calls)

    def index_rows(self, rows: Iterable[Row]) -> tuple[IndexDefinition, ...]:
        """Read index definitions from catalogue rows, with the parts of each."""
        parts = _parts(self.facts)
        return tuple(_index(row, parts.get((row.get("schema_name"), row.get("index_name")), ())) for row in rows)


Owner = tuple[Scalar, Scalar]
_LEVELS = {"index_partitions": "partition", "index_subpartitions": "subpartition"}


def _parts(facts: Facts) -> dict[Owner, tuple[IndexPart, ...]]:
    """Return the parts of each index: its subpartitions where it has them, else its partitions."""
    found: dict[Owner, dict[str, list[IndexPart]]] = {}
    sizes = _sizes(facts)
    for key, rows in facts.answers.items():
        level = _LEVELS.get(key.partition(":")[0])
        for row in rows if level else ():
            owner, name = (row.get("of_schema"), row.get("of_index")), str(row["part_name"])
            size = float(sizes.get((*owner, name)) or row.get("byte_count") or 0)
            of = None if row.get("partition_name") is None else str(row["partition_name"])
            part = IndexPart(name, str(level), size, str(row.get("is_valid", "yes")) == "yes", of)
            found.setdefault(owner, {}).setdefault(part.level, []).append(part)
    return {owner: tuple(levels.get("subpartition") or levels["partition"]) for owner, levels in found.items()}


def _sizes(facts: Facts) -> dict[tuple[Scalar, ...], Scalar]:
    return {
        (row.get("of_schema"), row.get("of_index"), row.get("part_name")): row.get("byte_count")
        for key, rows in facts.answers.items()
        if key.partition(":")[0] == "index_segments"
        for row in rows
    }


def _index(row: Row, parts: tuple[IndexPart, ...]) -> IndexDefinition:
    columns = tuple(part.strip() for part in str(row.get("column_list") or "").split(",") if part.strip())
    definition = row.get("definition")
    return IndexDefinition(
        QualifiedName(str(row["index_name"]), str(row["schema_name"])),
        QualifiedName(str(row["table_name"]), str(row["table_schema"])),
        unique=str(row.get("is_unique")) == "yes",
        columns=columns,
        definition=None if definition is None else str(definition),
        bytes=float(row.get("byte_count") or 0),
        valid=str(row.get("is_valid", "yes")) == "yes" and all(part.valid for part in parts),
        parts=parts,
        leftover=str(row.get("has_leftover")) == "yes",
    )


@dataclass(frozen=True, slots=True)
class Piece:
    """A work with its label and weight in the queue; those of one `apart` are never worked on at once."""

    work: Work
    label: str
    weight: float = 0.0
    apart: str | None = None


class Operation(Protocol):
    """An operation; `version` changes whenever its timed work does, since runs of two versions do not compare."""

    name: OperationName
    version: int

    def reads(self, planner: Planner) -> tuple[Query, ...]:
        """Say what must be read; `planner.facts` holds only the answer of `server` yet."""
        ...

    def check(self, planner: Planner) -> None:
        """Refuse what cannot be right, once, before anything is changed.

        Raises:
            ToolkitError: TK-0204, TK-0205 or TK-0107.
        """
        ...

    def pieces(self, planner: Planner, cell: Cell) -> tuple[Piece, ...]:
        """Return what is worked on in a trial of this cell."""
        ...

    def plan(self, planner: Planner, cell: Cell) -> Stages:
        """Return the stages of one trial of this cell; setup and cleanup are equal for all cells."""
        ...


def relation_query(key: str, name: QualifiedName, file: str = "relation") -> Query:
    """Ask the catalogue about one name."""
    return Query(key, file, {"schema": name.schema, "name": name.name})


def scratch_of_run(name: QualifiedName) -> str | None:
    """Say whose scratch object it is that a schema lists: that run may drop it at any time; None of any other."""
    run = run_of_object(name.name)
    return None if run is None else f"it is a scratch object of run {run}"


def support_of(planner: Planner, pieces: Sequence[Piece]) -> Support:
    """Say whether a cell can be had: the first piece that cannot decides."""
    for piece in pieces:
        support = planner.dialect.work.support(piece.work, planner.facts)
        if not support.ok:
            return support
    return Support(SupportState.SUPPORTED)


def assemble(
    planner: Planner,
    cell: Cell,
    pieces: Sequence[Piece],
    *,
    setup: Iterable[Call] = (),
    before: Iterable[Call] = (),
    cleanup: Iterable[Call] = (),
    drops: Iterable[ObjectRef] = (),
    left_out: tuple[tuple[str, str], ...] = (),
) -> Stages:
    """Put the stages together in the way all operations share.

    Args:
        planner: what the plan is made from.
        cell: the cell.
        pieces: the works on the clock; none where there is nothing to do, which `left_out` explains.
        setup: once per run, before the first trial.
        before: in prepare, before the dialect's own.
        cleanup: once per run, at the end.
        drops: scratch objects that conclude drops (unless `--keep all`: then they are settled).
        left_out: label of what is not worked on although it was asked for among others, and why.
    """
    if not pieces:
        return Stages(timed=Timed((), 1, left_out=left_out))
    dialect, facts = planner.dialect, planner.facts
    how = dialect.work.of(planner.spec.operation)
    first = pieces[0].work
    single = all(piece.work.object == first.object for piece in pieces)
    made = _made_of(planner, cell, pieces)
    evidence = how.evidence(first, facts) if single else how.evidence_of_sessions(first, facts)
    kept = planner.spec.keep is Keep.ALL
    look = how.before_and_after([piece.work for piece in pieces], facts)
    before_it, after_it = ((replace(look, keep_as=key),) if look else () for key in (BEFORE, AFTER))
    away = [] if kept else [call for ref in drops for call in dialect.drop(ref)]
    workers = min(planner.workers(cell), max(1, len(made.items)))
    flush = next(iter(_in_worker(planner.steps(filter(None, [how.flush(first, facts)])))), None)
    return Stages(
        timed=Timed(made.items, workers, first.transfer is not None, left_out, flush=flush),
        setup=(*planner.steps(setup), *made.changes),
        prepare=_once(planner.steps(dialect.in_one_go((*before, *made.prepares, *before_it)))),
        worker_begin=_in_worker(planner.steps(how.worker_begin(first, facts))),
        evidence=_in_worker(
            _about(planner.steps((*evidence, *after_it)), dialect.statement_id(made.items[0].steps[0].text))
        ),
        worker_end=_in_worker(planner.steps(how.worker_end(first, facts))),
        conclude=(*_once(planner.steps(made.settles)), *planner.steps(away)),
        cleanup=planner.steps(cleanup),
    )


@dataclass(frozen=True, slots=True)
class _Made:
    """What the pieces of a cell became, kept for the next plan of the cell: of live objects it has the same."""

    pieces: tuple[Piece, ...]
    items: tuple[TimedItem, ...]
    changes: tuple[Step, ...]
    prepares: Sequence[Call]
    settles: Sequence[Call]


def _made_of(planner: Planner, cell: Cell, pieces: Sequence[Piece]) -> _Made:
    dialect, facts, key = planner.dialect, planner.facts, ("made", cell)
    how = dialect.work.of(planner.spec.operation)
    known = planner.known.get(key)
    if isinstance(known, _Made) and known.pieces == tuple(pieces):
        return known
    items = tuple(
        TimedItem(
            p.label,
            planner.steps(how.timed(p.work, facts)),
            p.weight,
            p.apart,
            how.takes(p.work, facts),
            "another range of the table" if p.work.chunks else "",
        )
        for p in pieces
    )
    changes = planner.steps(call for p in pieces for call in how.setup(p.work, facts))
    kept = planner.spec.keep is Keep.ALL
    settles = [call for p in pieces if kept or not p.work.object.scratch for call in how.settle(p.work, facts)]
    prepares = _in_turn(call for p in pieces for call in how.prepare(p.work, facts))
    made = planner.known[key] = _Made(tuple(pieces), items, _once(changes), prepares, settles)
    return made


def _in_turn(calls: Iterable[Call]) -> list[Call]:
    """Leave out a call that is the same as the one before, so that it is rendered once."""
    return [call for call, _ in groupby(calls)]


def _once(steps: Iterable[Step]) -> tuple[Step, ...]:
    """Leave out what several pieces ask for alike: a checkpoint, the degree of an index with many partitions."""
    return tuple(
        {(step.text, step.transfer, step.program, tuple(step.binds.items())): step for step in steps}.values()
    )


def _about(steps: Iterable[Step], statement_id: str | None) -> tuple[Step, ...]:
    """Name the timed statement to those that ask about it."""
    return tuple(
        replace(step, binds={**step.binds, "statement_id": statement_id}, parts=_about(step.parts, statement_id))
        if "statement_id" in step.binds
        else step
        for step in steps
    )


def _in_worker(steps: tuple[Step, ...]) -> tuple[Step, ...]:
    return tuple(replace(step, session=Role.WORKER) for step in steps)
