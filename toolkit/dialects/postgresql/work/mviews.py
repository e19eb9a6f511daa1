"""REFRESH MATERIALIZED VIEW: the query again, into new files that take the place of the old ones when it commits.

With CONCURRENTLY the new rows are compared with the old ones, and only what differs is changed while others read.
The query runs in parallel from 14 (release notes); the comparison and the changes do not.
"""

# ruff: noqa: ARG002 (every implementation answers with the same arguments)

from __future__ import annotations

from collections.abc import Iterator, Mapping

from toolkit.dialects.answers import Granted
from toolkit.dialects.implementations import Kept
from toolkit.dialects.postgresql import granted, space, support, workers
from toolkit.dialects.postgresql.release import major
from toolkit.dialects.postgresql.work.base import QUERY_DEGREE, InSession, Values, change
from toolkit.dialects.work import Call, Work
from toolkit.model.facts import Facts
from toolkit.model.steps import Takes, Until
from toolkit.model.values import QualifiedName, Row, Scalar, Support
from toolkit.model.words import Role

VIEWS = "mviews"
_NOT_OURS = frozenset({"42501"})
"""Who may refresh a view need not be allowed to read what it reads: then there is no plan, and no failure."""


class RefreshView(InSession):
    """REFRESH MATERIALIZED VIEW, measured on the view itself."""

    table_files = (VIEWS,)

    def judge(self, work: Work, facts: Facts) -> Support | None:
        name = work.object.name
        row = _row_of(work, facts)
        if not row:
            read = any(key.partition(":")[0] == VIEWS for key in facts.answers)  # doctor asks of any table
            return None if facts.assumed or not read else support.refused(f"`{name}` is not a materialized view")
        if row.get("may_refresh") == "no":
            return support.refused(_not_ours(name, facts), _grant_of(name, facts))
        if work.option("online") and row.get("populated") == "no":
            return support.refused(
                f"`{name}` was never filled, so that there are no rows to compare with (CONCURRENTLY)",
                "refresh it once without --online",
            )
        if work.option("online") and row.get("unique_index") is None:
            return support.refused(
                f"`{name}` has no unique index on columns alone, without a condition, by which CONCURRENTLY tells "
                "its rows apart",
                "create one, or omit --online",
            )
        return workers.judge_memory(work, "work_mem")

    def left_out(self, work: Work, facts: Facts) -> str | None:
        row = _row_of(work, facts)
        return _not_ours(work.object.name, facts) if row.get("may_refresh") == "no" else None

    def settings(self, work: Work) -> dict[str, Scalar]:
        return {QUERY_DEGREE: work.degree - 1, **workers.memory(work, "work_mem")}

    def plan(self, work: Work, facts: Facts) -> tuple[Call, ...]:
        """Ask for the plan of the view's query."""
        query = _row_of(work, facts).get("definition")
        if work.degree < 2 or query is None:
            return ()
        values: Values = {"query": str(query).rstrip("; \n"), "lines": False}
        return (Call("explain_query", values, session=Role.WORKER, keep_as="plan", tolerates=_NOT_OURS),)

    def counted(self, work: Work, facts: Facts, key: str) -> tuple[Call, ...]:
        """Read the database's count of workers launched, from 18 on."""
        if work.degree < 2 or major(facts.release) < 18:
            return ()
        return (Call("workers_launched", session=Role.WORKER, file=True, keep_as=key),)

    def timed(self, work: Work, facts: Facts) -> tuple[Call, ...]:
        values: Values = {"view": work.object.name, "online": bool(work.option("online"))}
        return (change("mview_refresh", values, work),)

    def granted(self, work: Work, kept: Kept, peaks: Mapping[str, float], notices: tuple[str, ...]) -> Granted:
        if work.degree <= 1:
            return Granted(1, f"{QUERY_DEGREE} = 0")
        return granted.of_query(work.degree - 1, kept, peaks)

    def takes(self, work: Work, facts: Facts) -> tuple[Takes, ...]:
        """Say that the rows are there twice until the old ones go, with new indexes unless CONCURRENTLY."""
        row = _row_of(work, facts)
        table, indexes = (float(row.get(column) or 0) for column in ("table_bytes", "index_bytes"))
        why = "" if row else f"the size of `{work.object.name}` is not known"
        if work.option("online"):  # the new rows are in a temporary table
            return (space.sorting(table if row else None, facts, why),)
        place = space.own(row.get("tablespace"), facts)
        return (Takes(table + indexes if row else None, place, Until.STEP, why),)

    def remarks(self, work: Work, facts: Facts) -> tuple[str, ...]:
        return tuple(self._remarks(work, facts))

    def _remarks(self, work: Work, facts: Facts) -> Iterator[str]:
        name = work.object.name
        if work.option("online"):
            yield (
                f"locks: EXCLUSIVE on `{name}` from its beginning to its end: others read the old rows, and "
                "another refresh waits; rows that differ are deleted and inserted, leaving dead rows to VACUUM"
            )
        else:
            yield (
                f"locks: ACCESS EXCLUSIVE on `{name}` from its beginning to its end: nobody reads it meanwhile, "
                "and who comes waits (--online lets others read, and needs a unique index)"
            )
        yield "a failure or a kill leaves the old rows as they were; there is no undo afterwards"
        if _row_of(work, facts).get("populated") == "no":
            yield f"`{name}` was never filled: until it is, queries of it fail"
        if work.degree > 1 and work.option("online"):
            yield "the degree is of the view's query; the comparison with the old rows has one process"


def _row_of(work: Work, facts: Facts) -> Row:
    """Return what was read of the view; empty where it was not."""
    name = work.object.name
    rows = (row for key, found in facts.answers.items() if key.partition(":")[0] == VIEWS for row in found)
    return next((row for row in rows if (row["schema_name"], row["table_name"]) == (name.schema, name.name)), {})


def _not_ours(name: QualifiedName, facts: Facts) -> str:
    lacks = "neither owns nor maintains" if major(facts.release) >= 17 else "does not own"
    return f"`{name}` is not refreshed: this user {lacks} it"


def _grant_of(name: QualifiedName, facts: Facts) -> str:
    user = facts.value("server", "user_name")
    if major(facts.release) >= 17:
        return f"GRANT MAINTAIN ON {name} TO {user}"
    return f"connect as its owner, or grant that role to {user}"
