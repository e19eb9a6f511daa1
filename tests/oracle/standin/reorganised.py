"""What reorganises a table in the stand-in: row movement and SHRINK SPACE, with what Oracle refuses."""

from __future__ import annotations

import duckdb

from tests.oracle.standin import parallel
from tests.oracle.standin.duck import run, spell
from tests.oracle.standin.errors import ora
from tests.oracle.standin.grammar import Command
from tests.oracle.standin.state import Session


class Reorganised:
    """What an engine does to tables that are reorganised where they are."""

    def _do_row_movement(self, _: Session, __: duckdb.DuckDBPyConnection, command: Command) -> None:
        table = self._found("TABLE", command.name)  # type: ignore[attr-defined]
        table.row_movement = f"{(command.parts['verb'] or '').upper()}D"

    def _do_constraint_state(self, session: Session, data: duckdb.DuckDBPyConnection, command: Command) -> None:
        """Change a constraint; rows are checked in a query of the table's degree.

        Raises:
            BackendError: ORA-02293 or ORA-02298 where rows violate it, ORA-02430 for an unknown one.
        """
        table = self._found("TABLE", command.name)  # type: ignore[attr-defined]
        name, state = (
            (command.parts["constraint"] or "").strip('"'),
            (command.parts["state"] or "").upper().split(),
        )
        row = next((each for each in table.constraints if each["CONSTRAINT_NAME"] == name), None)
        if row is None:
            raise ora(2430, name)
        if state[-1] == "VALIDATE":
            degree = self._granted(session, int(table.degree) if table.degree.isdigit() else 1)  # type: ignore[attr-defined]
            with self._working(session, degree, degree):  # type: ignore[attr-defined]
                run(data, f"SELECT count(*) FROM {spell(command.name)}", degree)
            parallel.remember(session, self.scenario, "Queries Parallelized", degree, 1)  # type: ignore[attr-defined]
            if row.get("VIOLATED"):
                raise ora(2298 if row["CONSTRAINT_TYPE"] == "R" else 2293, name)
        row["STATUS"] = f"{state[0]}D"
        row["VALIDATED"] = "VALIDATED" if state[-1] == "VALIDATE" else "NOT VALIDATED"

    def _do_table_shrink(self, _: Session, __: duckdb.DuckDBPyConnection, command: Command) -> None:
        """Give back what is wasted, unless the rows are only moved.

        Raises:
            BackendError: ORA-10636 without row movement, ORA-10631 with an index on an expression, ORA-10635 where
                the tablespace manages free space by lists, ORA-02149.
        """
        table, part = self._found("TABLE", command.name), command.parts["part"]  # type: ignore[attr-defined]
        if table.row_movement != "ENABLED":
            raise ora(10636)
        indexes = [each for each in self.state.indexes() if each.table == command.name]  # type: ignore[attr-defined]
        if any(each.shape.type.startswith("FUNCTION-BASED") for each in indexes):
            raise ora(10631)
        if table.tablespace in self.scenario.managed_by_lists:  # type: ignore[attr-defined]
            raise ora(10635)
        known = [each.name for whole in table.parts for each in (whole.subs or [whole])]
        if part is not None and part.strip('"') not in known:
            raise ora(2149)
        if not command.parts["compact"]:
            table.wasted = 0
            for each in indexes if command.parts["cascade"] else ():
                each.wasted = 0
