"""CREATE TABLE AS and INSERT ... SELECT."""

# ruff: noqa: ARG002 (every implementation answers with the same arguments)

from __future__ import annotations

from collections.abc import Mapping

from toolkit.dialects.answers import Granted
from toolkit.dialects.implementations import Kept
from toolkit.dialects.postgresql import granted, support
from toolkit.dialects.postgresql.objects import marked
from toolkit.dialects.postgresql.release import major
from toolkit.dialects.postgresql.work.base import QUERY_DEGREE, InSession, Values, change, fillfactor, tablespace
from toolkit.dialects.rows import rows_of
from toolkit.dialects.work import Call, Work
from toolkit.model.facts import Facts
from toolkit.model.values import Scalar, Support
from toolkit.model.words import Effect, Mode, Role


class CreateTableAs(InSession):
    """CREATE TABLE AS: its query runs in parallel."""

    sizes = ("object_bytes",)

    def judge(self, work: Work, facts: Facts) -> Support | None:
        return support.table_logging(work) or support.sample(work, facts) or support.table_compression(work, facts)

    def settings(self, work: Work) -> dict[str, Scalar]:
        settings: dict[str, Scalar] = {QUERY_DEGREE: work.degree - 1}
        if work.option("compression") is not None:
            settings["default_toast_compression"] = str(work.option("compression"))
        return settings

    def plan(self, work: Work) -> tuple[Call, ...]:
        if work.degree < 2:
            return ()
        values: Values = {"query": work.query, "source": work.source, **rows_of(work)}
        return (Call("explain_query", values, session=Role.WORKER, keep_as="plan"),)

    def counted(self, work: Work, facts: Facts, key: str) -> tuple[Call, ...]:
        """Read the database's count of workers launched, which exists from 18 on, for queries only."""
        if work.degree < 2 or major(facts.release) < 18:
            return ()
        return (Call("workers_launched", session=Role.WORKER, file=True, keep_as=key),)

    def timed(self, work: Work, facts: Facts) -> tuple[Call, ...]:
        values: Values = {
            "table": work.object.name,
            "source": work.source,
            "query": work.query,
            **rows_of(work),
            "unlogged": work.mode is Mode.MEASUREMENT and work.option("logging") == "nologging",
            "fillfactor": fillfactor(work),
            "tablespace": tablespace(work),
        }
        make = Call("ctas", values, session=Role.WORKER, effect=Effect.CREATES, object=work.object)
        return marked(make, work.mark)

    def granted(self, work: Work, kept: Kept, peaks: Mapping[str, float], notices: tuple[str, ...]) -> Granted:
        return Granted(1, f"{QUERY_DEGREE} = 0") if work.degree <= 1 else granted.of_query(kept, peaks)


class InsertSelect(InSession):
    """INSERT ... SELECT."""

    serial = "INSERT ... SELECT never writes in parallel on PostgreSQL"
    sizes = ("object_bytes",)

    def judge(self, work: Work, facts: Facts) -> Support | None:
        found = support.table_logging(work) or support.sample(work, facts)
        if found is None and work.option("logging") == "nologging" and not work.object.scratch:
            return support.refused("nologging would turn the user's table UNLOGGED; measure into a copy")
        if found is None and work.option("compression") is not None:
            return support.refused(
                "the compression of a column is set when its table is created, not by this operation"
            )
        return found

    def settings(self, work: Work) -> dict[str, Scalar]:
        return {QUERY_DEGREE: work.degree - 1}

    def prepare(self, work: Work, facts: Facts) -> tuple[Call, ...]:
        """Turn our own, still empty table UNLOGGED where the level says nologging."""
        if work.option("logging") == "nologging" and work.object.scratch:
            values: Values = {"table": work.object.name}
            return (Call("set_unlogged", values, effect=Effect.CHANGES, object=work.object),)
        return ()

    def timed(self, work: Work, facts: Facts) -> tuple[Call, ...]:
        values: Values = {
            "table": work.object.name,
            "source": work.source,
            "query": work.query,
            **rows_of(work),
            "overriding": _overriding(work, facts),
        }
        return (change("insert", values, work),)


def _overriding(work: Work, facts: Facts) -> bool:
    """Say OVERRIDING SYSTEM VALUE where a column named is GENERATED ALWAYS AS IDENTITY.

    It changes nothing for tables without such a column, so it is also used if the columns were not read.
    """
    read = [row for key, rows in facts.answers.items() for row in rows if key.endswith("columns")]
    if not read:
        return bool(work.columns)
    always = {row.get("column_name") for row in read if row.get("identity") == "always"}
    return not always.isdisjoint(work.columns)
