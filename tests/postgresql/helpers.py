"""Runs calls of the dialect in real sessions, in the order of the runner, without the runner."""

from __future__ import annotations

import threading
from collections.abc import Iterable
from dataclasses import dataclass, field, replace

from tests.servers.postgresql import Server
from toolkit.dialects.answers import Granted
from toolkit.dialects.indexes import IndexDefinition
from toolkit.dialects.postgresql.dialect import DIALECT
from toolkit.dialects.work import Call, Work
from toolkit.model.address import Address
from toolkit.model.facts import Facts
from toolkit.model.protocols import Answer, Connection, DatabaseError
from toolkit.model.steps import ObjectRef
from toolkit.model.values import QualifiedName, Row
from toolkit.model.words import Mode, ObjectKind, OperationName, Role
from toolkit.rendering import sql_file, step_of
from toolkit.targets.base import Access, SessionTag
from toolkit.targets.postgresql import PostgresqlTarget

RUN = "20251121-053100-abcd"
MARK = f"dbatk {RUN}"


def target_of(server: Server) -> PostgresqlTarget:
    """Return the target of a test server."""
    address = Address("postgresql", server.database, server.user, server.host, server.port)
    password = server.password if server.password_user is None else None
    return PostgresqlTarget(Access(address, lambda: password))


def table(name: str, schema: str, *, scratch: bool = True) -> ObjectRef:
    return ObjectRef(ObjectKind.TABLE, QualifiedName(name, schema), scratch)


def index(name: str, on: QualifiedName) -> ObjectRef:
    return ObjectRef(ObjectKind.INDEX, QualifiedName(name, on.schema), scratch=True, table=on)


def work_of(operation: OperationName, ref: ObjectRef, **more: object) -> Work:
    """Make a work of a measurement; `options` and other fields as in `Work`."""
    plain = Work(operation, Mode.MEASUREMENT, ref, {}, mark=MARK)
    return replace(plain, **more)


@dataclass
class Bench:
    """Three sessions and what was kept from them."""

    target: PostgresqlTarget
    schema: str
    control: Connection
    worker: Connection
    monitor: Connection
    facts: Facts
    kept: dict[str, tuple[Row, ...]] = field(default_factory=dict)
    notices: list[str] = field(default_factory=list)
    statements: list[str] = field(default_factory=list)
    server: Server | None = None

    def name(self, name: str) -> QualifiedName:
        return QualifiedName(name, self.schema)

    def run(self, calls: Iterable[Call]) -> list[Answer]:
        """Run calls in the session that each asks for; keep rows and notices."""
        answers = []
        for call in calls:
            step = step_of(DIALECT, call)
            session = self.worker if step.session is Role.WORKER else self.control
            try:
                answer = session.execute(step.text, step.binds or None)
            except DatabaseError as error:
                if error.code not in step.tolerates:
                    raise
                answer = Answer()
            self.notices += answer.notices
            if step.keep_as is not None:
                self.kept[step.keep_as] = answer.rows
            answers.append(answer)
        return answers

    def read(self, file: str, **binds: object) -> tuple[Row, ...]:
        return self.control.execute(sql_file("postgresql", file), binds or None).rows

    def identity(self, ref: ObjectRef) -> Row | None:
        rows = self.run([DIALECT.identity(ref)])[0].rows
        return rows[0] if rows else None

    def trial(self, work: Work) -> tuple[Granted, list[Answer]]:
        """Run a work as a trial does, sampling meanwhile; return the degree granted and the timed answers."""
        self.kept, self.notices = {}, []
        assert DIALECT.work.support(work, self.facts).ok
        self.run(DIALECT.work.prepare(work, self.facts))
        self.run(DIALECT.work.worker_begin(work, self.facts))
        with Peaks(self.monitor) as peaks:
            answers = self.run(DIALECT.work.timed(work, self.facts))
        self.run(DIALECT.work.evidence(work, self.facts))
        self.run(DIALECT.work.worker_end(work, self.facts))
        return DIALECT.work.granted(work, self.kept, peaks.highest, tuple(self.notices)), answers

    def definition(self, name: str) -> IndexDefinition:
        """Read an index definition as the operations do."""
        row = self.read("index", schema=self.schema, name=name)[0]
        return IndexDefinition(
            QualifiedName(str(row["index_name"]), str(row["schema_name"])),
            QualifiedName(str(row["table_name"]), str(row["table_schema"])),
            unique=row["is_unique"] == "yes",
            definition=str(row["definition"]),
            valid=row["is_valid"] == "yes",
        )

    def close(self) -> None:
        for session in (self.control, self.worker, self.monitor):
            session.close()


def open_context(target: PostgresqlTarget, schema: str, run: str) -> Bench:
    """Open the sessions and read the server's facts."""
    control, worker, monitor = (
        target.connect(role, SessionTag(run)) for role in (Role.CONTROL, Role.WORKER, Role.MONITOR)
    )
    rows = control.execute(sql_file("postgresql", "server")).rows
    facts = Facts("postgresql", DIALECT.release(rows[0]), {"server": rows})
    context = Bench(target, schema, control, worker, monitor, facts)
    target.observer = context.statements.append
    return context


class Peaks:
    """Samples without pause until the block ends."""

    def __init__(self, monitor: Connection) -> None:
        self.highest: dict[str, float] = {}
        self._monitor = monitor
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._run)

    def _run(self) -> None:
        text = sql_file("postgresql", "sample_pgstat")
        while not self._ended.is_set():
            for row in self._monitor.execute(text, {"run": RUN}).rows:
                name, value = str(row["metric_name"]), float(str(row["metric_value"]))
                self.highest[name] = max(value, self.highest.get(name, 0.0))

    def __enter__(self) -> Peaks:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ended.set()
        self._thread.join()
