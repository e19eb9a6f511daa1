"""The steps that bring an older store up to date.

Each is written once and never edited again; a test holds that they lead to the same tables as `schema.py` does.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from sqlalchemy import Connection, text

from toolkit.store.schema import ONLY_ADDED


@dataclass(frozen=True, slots=True)
class Migration:
    """One step: `apply` turns a store of version `to - 1` into one of version `to`."""

    to: int
    why: str
    apply: Callable[[Connection], None]


def _index_lists(connection: Connection) -> None:
    for statement in (
        "CREATE INDEX run_newest ON run (began_at, run)",
        "CREATE INDEX run_label ON run (label, began_at)",
        "CREATE INDEX trial_ended ON trial (run, outcome, trial)",
    ):
        connection.execute(text(statement))


def _keep_states(connection: Connection) -> None:
    content = "BYTEA" if connection.dialect.name == "postgresql" else "BLOB"
    connection.execute(
        text(
            "CREATE TABLE snapshot_state (snapshot_id INTEGER NOT NULL, size_bytes BIGINT NOT NULL, "
            f"content {content} NOT NULL, PRIMARY KEY (snapshot_id), "
            "FOREIGN KEY(snapshot_id) REFERENCES snapshot (snapshot_id) ON DELETE CASCADE)"
        )
    )


def _keep_plans(connection: Connection) -> None:
    server = connection.dialect.name == "postgresql"
    key, real = ('TEXT COLLATE "C"', "DOUBLE PRECISION") if server else ("TEXT", "DOUBLE")
    for statement in (
        f"CREATE TABLE plan_run (plan_run {key} NOT NULL, plan TEXT NOT NULL, plan_hash TEXT NOT NULL, "
        "state TEXT NOT NULL, began_at TEXT NOT NULL, ended_at TEXT, window_begin TEXT, window_end TEXT, "
        "host TEXT NOT NULL, stopped_by TEXT, text TEXT NOT NULL, PRIMARY KEY (plan_run))",
        f"CREATE TABLE plan_step (plan_run {key} NOT NULL, position INTEGER NOT NULL, target TEXT NOT NULL, "
        f"step TEXT NOT NULL, state TEXT NOT NULL, reason TEXT, run {key}, tries INTEGER NOT NULL, began_at TEXT, "
        f"ended_at TEXT, expected_seconds {real}, slow_seconds {real}, size_bytes {real}, "
        "PRIMARY KEY (plan_run, position), "
        "FOREIGN KEY(plan_run) REFERENCES plan_run (plan_run) ON DELETE CASCADE)",
        "CREATE INDEX plan_newest ON plan_run (plan, began_at)",
        "CREATE INDEX step_history ON plan_step (step, target, ended_at)",
    ):
        connection.execute(text(statement))


def _keep_what_was_verified(connection: Connection) -> None:
    real = "DOUBLE PRECISION" if connection.dialect.name == "postgresql" else "DOUBLE"
    for column in (f"size_rows {real}", "verified TEXT", "unverified TEXT"):
        connection.execute(text(f"ALTER TABLE plan_step ADD COLUMN {column}"))


def _distinguish_hosts(connection: Connection) -> None:
    connection.execute(text("ALTER TABLE lease ADD COLUMN boot TEXT"))


def _keep_marks(connection: Connection) -> None:
    connection.execute(
        text(
            "CREATE TABLE audit_mark (path TEXT NOT NULL, log TEXT NOT NULL, line_count INTEGER NOT NULL, "
            "last_hash TEXT NOT NULL, marked_at TEXT NOT NULL, PRIMARY KEY (path))"
        )
    )


def _keep_notes_of_plan_runs(connection: Connection) -> None:
    key = 'TEXT COLLATE "C"' if connection.dialect.name == "postgresql" else "TEXT"
    connection.execute(
        text(
            f"CREATE TABLE plan_note (plan_run {key} NOT NULL, position INTEGER NOT NULL, target TEXT NOT NULL, "
            "text TEXT NOT NULL, noted_at TEXT NOT NULL, PRIMARY KEY (plan_run, position), "
            "FOREIGN KEY(plan_run) REFERENCES plan_run (plan_run) ON DELETE CASCADE)"
        )
    )


def _name_scratch_objects(connection: Connection) -> None:
    connection.execute(text("ALTER TABLE journal RENAME COLUMN ours TO scratch"))


def _know_the_log_by_its_store(connection: Connection) -> None:
    """Keep the newest mark: a store has one log, whose names were those of a host and a path."""
    server = connection.dialect.name == "postgresql"
    for statement in (
        # the log of a database was a file of each host; now it is a table, which begins anew
        "DELETE FROM audit_mark"
        if server
        else "DELETE FROM audit_mark WHERE path NOT IN "
        "(SELECT path FROM audit_mark WHERE path NOT LIKE '% sealed' ORDER BY marked_at DESC LIMIT 1)",
        "UPDATE audit_mark SET path = 'seen'",
        "ALTER TABLE audit_mark RENAME COLUMN path TO what",
        "CREATE TABLE audit_line (number INTEGER NOT NULL, line TEXT NOT NULL, PRIMARY KEY (number))",
        *(ONLY_ADDED if server else ()),
    ):
        connection.execute(text(statement))


MIGRATIONS: tuple[Migration, ...] = (
    Migration(2, "lists stay quick in a store of 100,000 trials", _index_lists),
    Migration(3, "what a snapshot read is one compressed document", _keep_states),
    Migration(4, "plan runs, and what became of each step", _keep_plans),
    Migration(5, "what was verified of a step, and the rows it worked on", _keep_what_was_verified),
    Migration(6, "hosts of one name are distinguished by their boot", _distinguish_hosts),
    Migration(7, "how far the audit log was seen, so that it is missed when it is cut", _keep_marks),
    Migration(8, "what a plan run waited for, and what could not be watched", _keep_notes_of_plan_runs),
    Migration(9, "a scratch object is called so", _name_scratch_objects),
    Migration(10, "a store has one log, by whatever path or host it is reached", _know_the_log_by_its_store),
)
