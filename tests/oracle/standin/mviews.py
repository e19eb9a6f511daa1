"""Materialized views of the stand-in, and DBMS_MVIEW.REFRESH with what Oracle refuses and leaves behind.

The procedure is many statements: the last one notes the refresh, serially, so that V$PQ_SESSTAT tells nothing of
the others. A complete refresh that is not atomic truncates first: what fails after that leaves no rows.
"""

from __future__ import annotations

import datetime
from dataclasses import dataclass
from typing import TYPE_CHECKING

import duckdb

from tests.oracle.standin import grammar, parallel
from tests.oracle.standin.duck import count, run, spell
from tests.oracle.standin.errors import ora

if TYPE_CHECKING:
    from tests.oracle.standin.grammar import Command, Name
    from tests.oracle.standin.state import Made, Session, State

_METHODS = {"C": "COMPLETE", "F": "FAST", "P": "FAST_PCT", "?": "FORCE"}
_ARGUMENTS = frozenset({"list", "method", "atomic_refresh", "out_of_place"})


@dataclass
class Refreshed:
    """How a materialized view is refreshed, and how it was."""

    query: str
    method: str = "FORCE"
    fast: str = "NO"
    mode: str = "DEMAND"
    link: str | None = None
    changed: bool = False
    """Whether what it reads is changed again before anybody can look."""
    last: str = "COMPLETE"
    staleness: str = "STALE"


def rows_of(state: State) -> list[dict[str, object]]:
    """Return the rows of ALL_MVIEWS."""
    return [
        {"OWNER": made.name[0], "MVIEW_NAME": made.name[1], "CONTAINER_NAME": made.name[1], "UPDATABLE": "N",
         "MASTER_LINK": made.view.link, "REFRESH_MODE": made.view.mode, "REFRESH_METHOD": made.view.method,
         "FAST_REFRESHABLE": made.view.fast, "LAST_REFRESH_TYPE": made.view.last,
         "LAST_REFRESH_DATE": datetime.datetime(2026, 11, 26, 3, 0, 0), "STALENESS": made.view.staleness,
         "COMPILE_STATE": "VALID"}
        for made in state.tables() if made.view is not None
    ]  # fmt: skip


class Refreshing:
    """What an engine does to materialized views."""

    def add_view(self, name: Name, query: str, **how: object) -> Made:
        """Make a materialized view that is filled."""
        self.data.execute(f"CREATE TABLE {spell(name)} AS {query}")  # type: ignore[attr-defined]
        made: Made = self._enter_table(self.data, name)  # type: ignore[attr-defined]
        made.view = Refreshed(query, **how)  # type: ignore[arg-type]
        return made

    def _do_mview_refresh(self, session: Session, data: duckdb.DuckDBPyConnection, command: Command) -> None:
        """Refresh one view as asked, or completely where changes alone are not enough.

        Raises:
            BackendError: ORA-12003, ORA-23538, ORA-12004, ORA-32355, ORA-06550.
        """
        given = grammar.arguments(command.parts["arguments"] or "")
        newer = {"out_of_place"} if self.scenario.number < (12, 1) else set()  # type: ignore[attr-defined]
        if strange := set(given) - (_ARGUMENTS - newer):
            raise ora(6550, ", ".join(sorted(strange)))
        table, view = self._view_of(session, given)
        method = _METHODS.get(given.get("method", "").strip("'"), view.method)
        atomic = given.get("atomic_refresh", "TRUE").upper() != "FALSE"
        if view.method == "NEVER":
            raise ora(23538)
        if method in ("FAST", "FAST_PCT") and view.fast == "NO":
            raise ora(12004)
        if method == "FORCE":
            method = "COMPLETE" if view.fast == "NO" else "FAST"
        if not atomic and method == "COMPLETE" and "out_of_place" not in given:
            data.execute(f"DELETE FROM {spell(table.name)}")
            table.rows = 0
        self._misfortune(session, "mview_rows", command.parts["arguments"] or "")  # type: ignore[attr-defined]
        self._fill_view(session, data, table, view, atomic=atomic)
        view.last, view.staleness = method, "STALE" if view.changed else "FRESH"
        parallel.remember(session, self.scenario, "Queries Parallelized", 1, 1)  # type: ignore[attr-defined]

    def _view_of(self, session: Session, given: dict[str, str]) -> tuple[Made, Refreshed]:
        name = grammar.qualified(given["list"].strip("'"), session.user)
        table = self.state.objects.get(("TABLE", name))  # type: ignore[attr-defined]
        if table is None or table.view is None:
            raise ora(12003, ".".join(name))
        held = self.scenario.privileges  # type: ignore[attr-defined]
        if session.user != name[0] and "ALTER ANY MATERIALIZED VIEW" not in held:
            raise ora(1031)
        if "out_of_place" in given and given.get("atomic_refresh", "TRUE").upper() != "FALSE":
            raise ora(32355)
        return table, table.view

    def _fill_view(
        self, session: Session, data: duckdb.DuckDBPyConnection, table: Made, view: Refreshed, *, atomic: bool
    ) -> None:
        """Query in parallel where the session is forced to, and load so where it is not one transaction."""
        read = self._granted(session, session.forced or 1)  # type: ignore[attr-defined]
        load = self._granted(session, session.forced_dml or 1) if session.dml and not atomic else 1  # type: ignore[attr-defined]
        degree = max(read, load)
        with self._working(session, max(session.forced or 1, degree), degree):  # type: ignore[attr-defined]
            data.execute(f"DELETE FROM {spell(table.name)}")
            run(data, f"INSERT INTO {spell(table.name)} {view.query}", degree)
        kind = "DML Parallelized" if load > 1 else "Queries Parallelized"
        parallel.remember(session, self.scenario, kind, degree, 1)  # type: ignore[attr-defined]
        table.rows = count(data, table.name)
