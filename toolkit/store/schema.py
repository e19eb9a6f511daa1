"""The tables, as the newest version has them.

Narrow tables: factors, metrics and phases are rows, so that a new one needs no new column. Units stand in column
names, instants are UTC text in ISO 8601 (`values.instant_text`), sizes are bytes. Raw values, no stored means.
Rows are added and completed, never overwritten; only leases move, and whole runs can be deleted.
A change here needs a migration (`migrations.py`) and a greater `SCHEMA_VERSION`.
"""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import (
    DDL,
    BigInteger,
    Boolean,
    Column,
    Dialect,
    Double,
    ForeignKey,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    Table,
    Text,
    TypeDecorator,
    UniqueConstraint,
    event,
)

from toolkit.store.rows import instant_of, instant_text

SCHEMA_VERSION = 10
APPLICATION_ID = 0x64626174
"""Marks a SQLite file as a store of dbatk (`dbat`), https://www.sqlite.org/pragma.html#pragma_application_id."""


class CleanText(TypeDecorator[str]):
    """Text that every engine can keep: lone surrogates and NUL, which PostgreSQL refuses, become a mark."""

    impl = Text
    cache_ok = True

    def process_bind_param(self, value: str | None, dialect: Dialect) -> str | None:  # noqa: ARG002
        if value is None or (value.isascii() and "\0" not in value):
            return value
        return value.encode("utf-8", "replace").decode("utf-8").replace("\0", "\ufffd")


class Instant(TypeDecorator[datetime]):
    """An aware instant, kept as text with microseconds in UTC."""

    impl = Text
    cache_ok = True

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> str | None:  # noqa: ARG002
        return None if value is None else instant_text(value)

    def process_result_value(self, value: str | None, dialect: Dialect) -> datetime | None:  # noqa: ARG002
        return None if value is None else instant_of(value)


RunId = Text().with_variant(Text(collation="C"), "postgresql")
"""Compared byte by byte everywhere, so that a prefix is a range of the index."""

metadata = MetaData()


def _run_key(*, primary_key: bool = True) -> Column[str]:
    return Column("run", RunId, ForeignKey("run.run", ondelete="CASCADE"), primary_key=primary_key, nullable=False)


def _trial_key() -> Column[int]:
    return Column("trial_id", Integer, ForeignKey("trial.trial_id", ondelete="CASCADE"), primary_key=True)


def _position() -> Column[int]:
    return Column("position", Integer, primary_key=True)


schema_version = Table(
    "schema_version",
    metadata,
    Column("version", Integer, primary_key=True),
    Column("applied_at", Instant, nullable=False),
    Column("tool_version", Text, nullable=False),
)

run = Table(
    "run",
    metadata,
    Column("run", RunId, primary_key=True),
    Column("parent_run", RunId, index=True),
    Column("label", CleanText),
    Column("name", CleanText),
    Column("mode", Text, nullable=False),
    Column("state", Text, nullable=False),
    Column("target", CleanText, nullable=False),
    Column("target_name", CleanText, nullable=False),
    Column("engine", Text, nullable=False),
    Column("operation", Text, nullable=False),
    Column("operation_version", Integer, nullable=False),
    Column("tool_version", Text, nullable=False),
    Column("began_at", Instant, nullable=False),
    Column("ended_at", Instant),
    Column("seed", BigInteger, nullable=False),
    Column("trials_planned", Integer, nullable=False),
    Column("experiment", Text, nullable=False),
)

trial = Table(
    "trial",
    metadata,
    Column("trial_id", Integer, primary_key=True),
    _run_key(primary_key=False),
    Column("trial", Integer, nullable=False),
    Column("attempt", Integer, nullable=False),
    Column("repeat", Integer, nullable=False),
    Column("began_at", Instant, nullable=False),
    Column("ended_at", Instant),
    Column("outcome", Text),
    Column("reason", CleanText),
    Column("error_code", CleanText),
    Column("elapsed_seconds", Double),
    Column("requested_degree", Integer),
    Column("granted_degree", Integer),
    Column("granted_source", CleanText),
    Column("effective_parallelism", Double),
    Column("row_count", BigInteger),
    Column("size_bytes", BigInteger),
    Column("disturbed", Boolean, nullable=False, default=False),
    UniqueConstraint("run", "trial", "attempt"),
)

trial_factor = Table(
    "trial_factor",
    metadata,
    _trial_key(),
    _position(),
    Column("factor", CleanText, nullable=False),
    Column("level", CleanText),
    Column("level_type", Text, nullable=False),
    sqlite_with_rowid=False,
)

item = Table(
    "item",
    metadata,
    _trial_key(),
    _position(),
    Column("label", CleanText, nullable=False),
    Column("outcome", Text, nullable=False),
    Column("elapsed_seconds", Double),
    Column("begin_seconds", Double),
    Column("worker", Integer, nullable=False),
    Column("row_count", BigInteger),
    Column("size_bytes", BigInteger),
    Column("reason", CleanText),
    Column("error_code", CleanText),
    sqlite_with_rowid=False,
)

phase = Table(
    "phase",
    metadata,
    _trial_key(),
    _position(),
    Column("phase", CleanText, nullable=False),
    Column("elapsed_seconds", Double, nullable=False),
    sqlite_with_rowid=False,
)

metric = Table(
    "metric",
    metadata,
    _trial_key(),
    _position(),
    Column("name", CleanText, nullable=False),
    Column("value", Double, nullable=False),
    Column("unit", CleanText, nullable=False),
    Column("source", CleanText, nullable=False),
    sqlite_with_rowid=False,
)

sample = Table(
    "sample",
    metadata,
    _trial_key(),
    _position(),
    Column("at_seconds", Double, nullable=False),
    Column("name", CleanText, nullable=False),
    Column("value", Double, nullable=False),
    sqlite_with_rowid=False,
)

snapshot = Table(
    "snapshot",
    metadata,
    Column("snapshot_id", Integer, primary_key=True),
    Column("run", RunId, ForeignKey("run.run", ondelete="CASCADE"), index=True),
    Column("trial", Integer),
    Column("label", CleanText, nullable=False, index=True),
    Column("target_name", CleanText, nullable=False),
    Column("provider", Text, nullable=False),
    Column("taken_at", Instant, nullable=False),
    Column("identity", Text, nullable=False),
)

snapshot_value = Table(
    "snapshot_value",
    metadata,
    Column("snapshot_id", Integer, ForeignKey("snapshot.snapshot_id", ondelete="CASCADE"), primary_key=True),
    _position(),
    Column("name", CleanText, nullable=False),
    Column("value", CleanText),
    Column("value_type", Text, nullable=False),
    Column("unit", CleanText, nullable=False),
    sqlite_with_rowid=False,
)

snapshot_state = Table(
    "snapshot_state",
    metadata,
    Column("snapshot_id", Integer, ForeignKey("snapshot.snapshot_id", ondelete="CASCADE"), primary_key=True),
    Column("size_bytes", BigInteger, nullable=False),
    Column("content", LargeBinary, nullable=False),
)
"""What a snapshot read, as compressed JSON: one row a snapshot, so that a list reads none of it."""

artifact = Table(
    "artifact",
    metadata,
    _run_key(),
    Column("trial", Integer, primary_key=True, autoincrement=False, comment="0: the run itself"),
    Column("name", CleanText, primary_key=True),
    Column("media_type", Text, nullable=False),
    Column("size_bytes", BigInteger, nullable=False),
    Column("content", LargeBinary, nullable=False),
)

environment = Table(
    "environment",
    metadata,
    _run_key(),
    _position(),
    Column("name", CleanText, nullable=False),
    Column("value", CleanText),
    Column("value_type", Text, nullable=False),
    sqlite_with_rowid=False,
)

facts = Table("facts", metadata, _run_key(), Column("content", CleanText, nullable=False))

journal = Table(
    "journal",
    metadata,
    _run_key(),
    Column("entry", Integer, primary_key=True, autoincrement=False),
    Column("trial", Integer),
    Column("state", Text, nullable=False),
    Column("effect", Text, nullable=False),
    Column("object_kind", Text, nullable=False),
    Column("schema_name", CleanText),
    Column("name", CleanText, nullable=False),
    Column("scratch", Boolean, nullable=False),
    Column("table_schema", CleanText),
    Column("table_name", CleanText),
    Column("undo", Text, nullable=False),
    Column("proof", Text, nullable=False),
    Column("identity", Text, nullable=False),
    Column("intended_at", Instant, nullable=False),
    Column("changed_at", Instant),
)

lease = Table(
    "lease",
    metadata,
    Column("target", CleanText, primary_key=True),
    Column("run", RunId, nullable=False, index=True),
    Column("host", CleanText, nullable=False),
    Column("pid", Integer, nullable=False),
    Column("process_began", Double, nullable=False),
    Column("acquired_at", Instant, nullable=False),
    Column("heartbeat_at", Instant, nullable=False),
    Column("boot", Text),
)

warning = Table(
    "warning",
    metadata,
    _run_key(),
    _position(),
    Column("text", CleanText, nullable=False),
    Column("warned_at", Instant, nullable=False),
    sqlite_with_rowid=False,
)

plan_run = Table(
    "plan_run",
    metadata,
    Column("plan_run", RunId, primary_key=True),
    Column("plan", CleanText, nullable=False),
    Column("plan_hash", Text, nullable=False),
    Column("state", Text, nullable=False),
    Column("began_at", Instant, nullable=False),
    Column("ended_at", Instant),
    Column("window_begin", Instant),
    Column("window_end", Instant),
    Column("host", CleanText, nullable=False),
    Column("stopped_by", CleanText),
    Column("text", CleanText, nullable=False),
)
"""One execution of a plan; its child runs name it as their parent."""

plan_step = Table(
    "plan_step",
    metadata,
    Column(
        "plan_run", RunId, ForeignKey("plan_run.plan_run", ondelete="CASCADE"), primary_key=True, nullable=False
    ),
    _position(),
    Column("target", CleanText, nullable=False),
    Column("step", CleanText, nullable=False),
    Column("state", Text, nullable=False),
    Column("reason", CleanText),
    Column("run", RunId),
    Column("tries", Integer, nullable=False),
    Column("began_at", Instant),
    Column("ended_at", Instant),
    Column("expected_seconds", Double),
    Column("slow_seconds", Double),
    Column("size_bytes", Double),
    Column("size_rows", Double),
    Column("verified", CleanText),
    Column("unverified", CleanText),
)

audit_mark = Table(
    "audit_mark",
    metadata,
    Column("what", CleanText, primary_key=True, nullable=False),
    Column("log", Text, nullable=False),
    Column("line_count", Integer, nullable=False),
    Column("last_hash", Text, nullable=False),
    Column("marked_at", Instant, nullable=False),
)
"""How far the audit log was seen, and how much of it was found whole."""

audit_line = Table(
    "audit_line",
    metadata,
    Column("number", Integer, primary_key=True, nullable=False, autoincrement=False),
    Column("line", Text, nullable=False),
)
"""The audit log of a store in a database; that of a store in a file lies beside it."""

ONLY_ADDED = (
    "CREATE FUNCTION audit_line_stays() RETURNS trigger LANGUAGE plpgsql AS "
    "$$ BEGIN RAISE EXCEPTION 'lines of the audit log are only added'; END $$",
    "CREATE TRIGGER audit_line_stays BEFORE UPDATE OR DELETE OR TRUNCATE ON audit_line "
    "EXECUTE FUNCTION audit_line_stays()",
)
"""What keeps a mistaken change of the log out of a server, statement by statement."""
for _statement in ONLY_ADDED:
    event.listen(audit_line, "after_create", DDL(_statement).execute_if(dialect="postgresql"))  # type: ignore[no-untyped-call]

plan_note = Table(
    "plan_note",
    metadata,
    Column(
        "plan_run", RunId, ForeignKey("plan_run.plan_run", ondelete="CASCADE"), primary_key=True, nullable=False
    ),
    _position(),
    Column("target", CleanText, nullable=False),
    Column("text", CleanText, nullable=False),
    Column("noted_at", Instant, nullable=False),
)
"""What happened in a plan run beside its steps: what was waited for, what could not be watched."""

plan_newest = Index("plan_newest", plan_run.c.plan, plan_run.c.began_at)
step_history = Index("step_history", plan_step.c.step, plan_step.c.target, plan_step.c.ended_at)
journal_open = Index("journal_open", journal.c.state, journal.c.run)
run_newest = Index("run_newest", run.c.began_at, run.c.run)
run_label = Index("run_label", run.c.label, run.c.began_at)
trial_ended = Index("trial_ended", trial.c.run, trial.c.outcome, trial.c.trial)
"""Counts the ended trials of every listed run without reading the trials."""
