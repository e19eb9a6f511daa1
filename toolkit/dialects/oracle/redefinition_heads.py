"""What stands at the head of each script of a redefinition: what it does, what it locks, what mends a failure."""

from __future__ import annotations

from dataclasses import dataclass

DATABASE = "DATABASE"
_AGAIN = "if it fails: mend the cause and run it again; nothing was changed"
_ABORT = "if it fails: run abort.sql, mend the cause, and begin again with 1_check.sql"


@dataclass(frozen=True, slots=True)
class Said:
    """The words of the heads; `waits` is how long the last step waits for others."""

    table: str
    interim: str
    waits: str

    def check(self) -> tuple[str, ...]:
        return (
            f"1 of 6: can {self.table} be redefined online, and is there room for it twice?",
            "locks: nothing; reads only",
            "needs: EXECUTE on DBMS_REDEFINITION (EXECUTE_CATALOG_ROLE), SELECT_CATALOG_ROLE",
            _AGAIN,
        )

    def start(self) -> tuple[str, ...]:
        return (
            f"2 of 6: make {self.interim}, and copy all rows of {self.table} into it",
            "locks: others read and change the table meanwhile; from here on each change is also written to a "
            "log, and what they change is not in the new table until 4_sync.sql or 5_finish.sql",
            "takes: the space of the table once more, undo for the length of the copy, and redo for all rows",
            _ABORT,
        )

    def dependents(self) -> tuple[str, ...]:
        return (
            "3 of 6: make indexes, constraints, triggers and grants on the interim table",
            "locks: nothing of the table for long; foreign keys are enabled by 5_finish.sql",
            "DBA_REDEFINITION_ERRORS has the statement of each object that could not be made",
            _ABORT,
        )

    def sync(self) -> tuple[str, ...]:
        return (
            "4 of 6: apply what was changed meanwhile, gather statistics, and compare the rows of both",
            "locks: nothing; may be run as often as wanted, last just before 5_finish.sql"
            ", whose lock is then short",
            "the rows differ by what others committed after the first statement",
            "if it fails: run it again, or abort.sql",
        )

    def finish(self) -> tuple[str, ...]:
        return (
            f"5 of 6: {self.interim} becomes {self.table}, and the old table gets the name {self.interim}",
            "locks: the table in exclusive mode while the last changes are applied and the names are exchanged; "
            f"changes of others wait that long, and {self.waits}",
            "there is no way back by a script: abort.sql does nothing after it",
            "if it fails: the table is as it was; run it again, or abort.sql",
        )

    def compare(self) -> tuple[str, ...]:
        return (
            f"6 of 6: comment and attributes of {self.table}, constraints to validate, the rows of both tables",
            "locks: attributes for a moment; the comparison only reads",
            "the old table stands still since 5_finish.sql: rows only in it were deleted since, or are lost; rows "
            "only in the table were inserted since",
            "what it lists of constraints is validated by ALTER TABLE ... MODIFY CONSTRAINT ... VALIDATE",
        )

    def abort(self) -> tuple[str, ...]:
        return (
            f"ends the redefinition of {self.table} without its result, and drops {self.interim}",
            "does nothing after 5_finish.sql has ended, and nothing to a table that has rows of its own; end the "
            "session that runs another of these scripts first",
            "locks: the table for a moment, while its log is dropped",
            "ORA-00942: there is no interim table, and nothing to abort",
        )
