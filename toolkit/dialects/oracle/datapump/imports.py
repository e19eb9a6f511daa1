"""Import by Data Pump: a table, or schemas, out of files that lie in a directory of the server.

A trial of a measurement imports the table alone under a generated name, without what would need names of its
own (indexes, constraints, triggers), and drops it. What a job imported stays, also what it had imported when it
was cut off: there is no undo but to drop or truncate it by hand.
Sources: Utilities, Data Pump Import: REMAP_SCHEMA, REMAP_TABLE (only what the import creates is renamed: a table
that exists is not, with TRUNCATE and APPEND), TABLE_EXISTS_ACTION (SKIP by default, APPEND with data alone,
which the operation refuses to take for granted).
"""

# ruff: noqa: ARG002 (every implementation answers with the same arguments)

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from toolkit.dialects.answers import TrialFindings
from toolkit.dialects.implementations import AFTER, BEFORE, Kept, Options
from toolkit.dialects.oracle import session, spelling
from toolkit.dialects.oracle.datapump import client
from toolkit.dialects.oracle.datapump.job import (
    LOG,
    LOG_SOURCE,
    UNREAD_LOG,
    DatapumpJobs,
    asked,
    items_of,
    job_call,
    literals,
    log_file,
    log_of,
    remove,
    schemas,
)
from toolkit.dialects.oracle.names import parse_name
from toolkit.dialects.work import Call, ContextValue, Work
from toolkit.model.facts import Facts, Probe
from toolkit.model.records import Metric
from toolkit.model.steps import Place, PlaceKind, Takes
from toolkit.model.values import QualifiedName, Support
from toolkit.model.words import Mode, Role, SupportState
from toolkit.units import counted

_END_UNKNOWN = (
    "whether all was imported is not known: read the end of the log of Data Pump before the rows are relied on"
)
_NEEDS_NAMES = ("INDEX", "CONSTRAINT", "REF_CONSTRAINT", "TRIGGER", "STATISTICS", "OBJECT_GRANT", "COMMENT")
"""What --bare leaves out: above all objects with names, which a second table cannot have in the same schema."""


class DatapumpImports(DatapumpJobs):
    """Tables and schemas that are made, or filled, from a dump."""

    privileges_elsewhere = ("DROP ANY TABLE",)

    worked = "read"

    def probes(self, options: Options, facts: Facts) -> tuple[Probe, ...]:
        return client.probes(options, "IMPORT")

    def judge(self, work: Work, facts: Facts) -> Support | None:
        action, into = work.option("if_exists"), table_of(work)
        renamed = into is not None and work.source is not None and into.name != work.source.name
        if renamed and action in ("append", "truncate"):
            return Support(
                SupportState.UNSUPPORTED,
                f"Data Pump does not rename into a table that exists: with `{action}` rows go into "
                f"`{work.source}` of the dump's own name; import into a new table and insert from it",
            )
        return None

    def timed(self, work: Work, facts: Facts) -> tuple[Call, ...]:
        action = work.option("if_exists")
        return (
            job_call(
                work,
                facts,
                _remove(work),
                operation="IMPORT",
                files=_files(work),
                if_exists=None if action is None else str(action).upper(),
                excluded=_excluded(work),
                **_renames(work),
            ),
        )

    def before_and_after(self, works: Sequence[Work], facts: Facts) -> Call | None:
        """Count the rows of the table; one that is not there yet has none."""
        table = table_of(works[0])
        if table is None:
            return None
        values: dict[str, ContextValue] = {"table": table, "hint": spelling.degree_hint(works[0], "t")}
        return Call("count_rows", values, session=Role.WORKER, tolerates=frozenset({"ORA-00942"}))

    def evidence(self, work: Work, facts: Facts) -> tuple[Call, ...]:
        """Ask for the log."""
        return (asked(LOG, LOG, work, log_file(work)),)

    def settle(self, work: Work, facts: Facts) -> tuple[Call, ...]:
        """Remove the table and the log of a trial; those of a job stay."""
        return (_remove(work),) if work.mode is Mode.MEASUREMENT else ()

    def refuted(self, work: Work, kept: Kept) -> str | None:
        return super().refuted(work, kept) or _miscounted(work, kept)

    def tell(self, work: Work, kept: Kept, deltas: Mapping[str, float], seconds: float) -> TrialFindings:
        found = log_of(kept)
        if found is None:
            return TrialFindings((), (UNREAD_LOG, _END_UNKNOWN))
        rows = sum(table.rows for table in found.tables)
        moved = sum(table.bytes for table in found.tables)
        metrics = (
            Metric("imported_rows", float(rows), "rows", LOG_SOURCE),
            Metric("dump_bytes", float(moved), "bytes", LOG_SOURCE),
        )
        unknown = () if found.error_count is not None or found.errors else (_END_UNKNOWN,)
        if table_of(work) is not None and _rows(kept, AFTER) is None:
            unknown = (*unknown, f"the rows of `{table_of(work)}` were not counted: SELECT on it is needed")
        more = _more_than_told(work, kept)
        if more is not None and not _is_refuted(work, more):
            others = f"{counted(more, 'row')} more than the log tells of: others inserted meanwhile"
            unknown = (*unknown, f"`{table_of(work)}` has {others}, or its rows before were not those counted")
        return TrialFindings(metrics, (*unknown, *found.errors[:20]), items=items_of(found))

    def takes(self, work: Work, facts: Facts) -> tuple[Takes, ...]:
        place = Place(PlaceKind.TABLESPACE, owner="the imported tables")
        return (
            Takes(None, place, unknown="how large the tables of a dump become is known when they are imported"),
        )

    def remarks(self, work: Work, facts: Facts) -> tuple[str, ...]:
        return (*_remarks(work), *session.remarks(work))


def table_of(work: Work) -> QualifiedName | None:
    """Return the table that rows are imported into; None where it is schemas."""
    return work.tables[0] if work.tables else None


def _files(work: Work) -> tuple[str, ...]:
    given = work.option("dump_files")
    return tuple(map(str, given)) if isinstance(given, tuple | list) else ()


def _remove(work: Work) -> Call:
    """End the job, and remove its log; of a trial the table, too."""
    return remove(work, (log_file(work),), table_of(work) if work.mode is Mode.MEASUREMENT else None)


def _excluded(work: Work) -> str | None:
    """Name the kinds of objects that are left out: of a schema the user itself, who is there already."""
    bare = work.mode is Mode.MEASUREMENT or bool(work.option("bare"))
    kinds = (*(() if work.source is not None else ("USER",)), *(_NEEDS_NAMES if bare else ()))
    return literals(kinds) if kinds else None


def _renames(work: Work) -> dict[str, ContextValue]:
    """Say what the objects of the dump are called and where they go, where that is not as they were."""
    into, given = table_of(work), work.option("into_schema")
    schema = into.schema if into is not None else None if given is None else parse_name(str(given)).name
    old = schemas(work)[0] if schemas(work) else None
    renames: dict[str, ContextValue] = {}
    if schema is not None and schema != old:
        renames |= {"old_schema": old, "new_schema": schema}
    if into is not None and work.source is not None and into.name != work.source.name:
        renames |= {"old_table": work.source.name, "new_table": into.name}
    return renames


def _more_than_told(work: Work, kept: Kept) -> int | None:
    """Return how many more rows the table has than the log tells of, negative where it has fewer.

    None where that is not known, or not to be expected.
    """
    found, after = log_of(kept), _rows(kept, AFTER)
    if found is None or table_of(work) is None or after is None or work.option("content") == "metadata_only":
        return None
    before = _rows(kept, BEFORE) if work.option("if_exists") == "append" else 0
    return None if before is None else after - before - sum(each.rows for each in found.tables)


def _is_refuted(work: Work, more: int) -> bool:
    """Tell whether a difference refutes an import: missing rows do, in a table of nobody else's any.

    More rows may be what others inserted between the counts; what they deleted looks like rows that were lost.
    """
    return more != 0 if work.mode is Mode.MEASUREMENT else more < 0


def _miscounted(work: Work, kept: Kept) -> str | None:
    """Say that the table did not get the rows that the log names."""
    more, found = _more_than_told(work, kept), log_of(kept)
    if more is None or found is None or not _is_refuted(work, more):
        return None
    told = sum(each.rows for each in found.tables)
    than = " more than before" if work.option("if_exists") == "append" else ""
    deleted = "" if work.mode is Mode.MEASUREMENT else " (unless others deleted some meanwhile)"
    return (
        f"`{table_of(work)}` has {counted(told + more, 'row')}{than}, and the log of Data Pump tells of {told} "
        f"imported{deleted}"
    )


def _rows(kept: Kept, key: str) -> int | None:
    value = next((row.get("row_count") for row in kept.get(key, ())), None)
    return int(value) if isinstance(value, int | float) else None


def _remarks(work: Work) -> Iterator[str]:
    table = table_of(work)
    yield f"the server reads {', '.join(_files(work))} from directory {work.object.name.schema}, on its own host"
    if work.mode is Mode.MEASUREMENT:
        yield (
            f"each trial imports into the new table `{table}` and drops it: without indexes, constraints, "
            "triggers, statistics, comments and grants, which a whole import makes as well"
        )
        return
    yield from _of_job(work, table)
    if work.degree > 1:
        yield "a table without partitions is mostly imported by one worker"


def _of_job(work: Work, table: QualifiedName | None) -> Iterator[str]:
    action = work.option("if_exists")
    if action in ("truncate", "replace"):
        what = f"`{table}`" if table is not None else "each table that is there"
        yield f"the rows that {what} has are lost ({str(action).upper()})"
    elif action is None:
        yield "a table that is there already is an error of the job, and stays as it is (TABLE_EXISTS_ACTION=SKIP)"
    if table is None:
        yield "rows are told by the log of Data Pump, and not counted in the tables (of one --table they are)"
    elif table.name != (work.source.name if work.source else None) and not work.option("bare"):
        yield "indexes and constraints keep their names, which fails where the schema has them already (--bare)"
    yield (
        "what was imported stays, also when the job fails or is cut off: the only undo is to drop or truncate it"
    )
