"""pg_repack: a table and its indexes rewritten while others read and change it.

It copies the rows into a table of its own, collects what others change meanwhile by a trigger, and exchanges the
files at the end. A program of this host does it, over n + 1 sessions where n build the indexes. Whatever keeps it
from a table is a warning to it, and exit status 0.
Sources: manual of pg_repack 1.4.8 (requirements, options, diagnostics, details); `repack.primary_keys` and
`repack_drop` of its SQL; SQL_XID_SNAPSHOT of its program (it waits for every transaction but those of
sessions with its own name); what it writes and leaves as tried with 1.4.8.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator

from toolkit.dialects.answers import Granted
from toolkit.dialects.implementations import Kept
from toolkit.dialects.indexes import IndexDefinition
from toolkit.dialects.locks import asked_seconds
from toolkit.dialects.postgresql import support
from toolkit.dialects.postgresql.backup.basebackup import ACCESS
from toolkit.dialects.postgresql.backup.dump import at_once
from toolkit.dialects.postgresql.backup.programs import REPACK, missing, path_to, release_of
from toolkit.dialects.postgresql.names import quote
from toolkit.dialects.postgresql.work.base import INDEX_DEGREE, Values
from toolkit.dialects.work import Call, Work
from toolkit.model.facts import Facts
from toolkit.model.values import QualifiedName, Row, Support
from toolkit.model.words import Effect, Role, StepKind, SupportState
from toolkit.units import count

FACTS, TABLES = "repack", "repack_tables"
TIMES = 2.0
"""How much more space it needs than table and indexes take (manual, Requirements)."""
_BEFORE, _AFTER = "rows_before", "rows"
_WITH_PARTITIONS = (1, 4, 8)
_LOCK_SECONDS = 60.0
_BEGINS = re.compile(r"(?:Initial|Assigning) worker \d+ to build index")
_ENDS = re.compile(r"Command finished in worker \d+")
_OTHER_WAY = re.compile(r"\b(?:DESC|NULLS|COLLATE)\b|(?:text|varchar|bpchar|char)_pattern_ops")


def asked(work: Work) -> bool:
    """Tell whether pg_repack does a work."""
    return work.option("method") == REPACK


def row_of(work: Work, facts: Facts) -> Row:
    """Return what was read of the user's table; empty where it was not."""
    name = work.source or work.object.name
    rows = (row for key, found in facts.answers.items() if key.partition(":")[0] == TABLES for row in found)
    return next((row for row in rows if (row["schema_name"], row["table_name"]) == (name.schema, name.name)), {})


# -- whether it can be had ----------------------------------------------------------------------------------------
def judge(work: Work, facts: Facts) -> Support | None:
    """Say what stands in the way; None when nothing does."""
    if (absent := missing(REPACK, facts)) is not None:
        return support.refused(absent, "without `--method pg_repack` the table is locked and rewritten")
    if work.concurrency > 1:
        return support.refused(
            "two pg_repacks at once would wait for each other's transactions without end, since their sessions "
            "have the name of the run",
            "without --concurrency one table is rewritten after the other; `--degree N` builds the indexes of "
            "each by N sessions",
        )
    return _judge_extension(facts) or _judge_table(work, facts) or _judge_order(work.index)


def _judge_extension(facts: Facts) -> Support | None:
    if FACTS not in facts.answers:
        return None
    row, own = facts.first(FACTS), ".".join(map(str, release_of(REPACK, facts)))
    installed, database = row.get("installed_version"), facts.value("server", "database_name")
    if installed is None:
        where = "" if row.get("available_version") else (
            "install the package of pg_repack for the server's release on its host, then "
        )  # fmt: skip
        return support.refused(
            f"the extension pg_repack is not in database `{database}`", f"{where}CREATE EXTENSION pg_repack"
        )
    if own and own != installed:
        return support.refused(
            f"pg_repack {own} (`{path_to(REPACK, facts)}`) works with an extension of the same version only, and "
            f"database `{database}` has {installed}",
            f"give the folder of pg_repack {installed} with --bin-dir, or, with no other at work there: DROP "
            "EXTENSION pg_repack; CREATE EXTENSION pg_repack",
        )
    if row.get("is_superuser") != "yes":
        return Support(SupportState.NEEDS_PRIVILEGE, "pg_repack works for a superuser only")
    if row.get("is_at_work") == "yes":
        return support.refused(
            f"a pg_repack is at work in database `{database}`: two could wait for each other without end",
            "wait for its end",
        )
    return None


def _judge_table(work: Work, facts: Facts) -> Support | None:
    if facts.value("target", "kind") == "materialized view":
        return support.refused("pg_repack does not rewrite materialized views", "`dbatk mview refresh` does")
    row = row_of(work, facts)
    if (why := _never(work, row)) is not None:
        return support.refused(why, "without `--method pg_repack` the table is locked and rewritten")
    left = row.get("left_behind")
    if left is not None and row.get("at_work") == "yes":
        return support.refused(f"a pg_repack is at work on `{left}`", "wait for its end")
    if left is not None and not work.object.scratch:
        return support.refused(
            f"a pg_repack that was killed left its trigger on `{left}`",
            "`dbatk clean` removes what a run of dbatk left; of another: DROP EXTENSION pg_repack CASCADE; CREATE "
            "EXTENSION pg_repack (its manual), with no other pg_repack at work",
        )
    release = release_of(REPACK, facts)
    if row.get("kind") == "partitioned table" and release and release < _WITH_PARTITIONS:
        return support.refused(
            f"pg_repack {'.'.join(map(str, release))} does not rewrite all partitions of a table (1.4.8 does)",
            "name each partition with --table",
        )
    return None


def _never(work: Work, row: Row) -> str | None:
    """Say why pg_repack can do nothing with a table whatever else is asked for."""
    if (name := row.get("not_logged")) is not None and not work.object.scratch:
        return f"pg_repack does not rewrite unlogged and temporary tables, as `{name}` is"
    if (name := row.get("without_key")) is not None:
        return f"`{name}` has no primary key and no unique index over NOT NULL columns, which pg_repack needs"
    return None


def left_out(work: Work, facts: Facts) -> str | None:
    """Say why a table of a schema is left out; None where it is worked on."""
    return _never(work, row_of(work, facts))


def _judge_order(index: IndexDefinition | None) -> Support | None:
    if index is None or index.definition is None:
        return None
    if not index.definition.startswith("USING btree (") or _OTHER_WAY.search(index.definition):
        return support.refused(
            f"pg_repack orders by columns, ascending, and `{index.name}` has another order",
            "without `--method pg_repack` CLUSTER takes any order",
        )
    return None


# -- what is done -------------------------------------------------------------------------------------------------
def prepare(work: Work) -> tuple[Call, ...]:
    """Count the rows of one table; a copy with a key is what the table was: NOT NULL."""
    return (Call("count_rows", {"table": work.object.name}, keep_as=_BEFORE),) if _counts(work) else ()


def key_of_copy(work: Work, facts: Facts) -> tuple[Call, ...]:
    """Declare the key of a copy NOT NULL, which CREATE TABLE AS does not."""
    columns = row_of(work, facts).get("key_columns")
    if not work.object.scratch or columns is None:
        return ()
    values: Values = {"table": work.object.name, "columns": tuple(json.loads(str(columns)))}
    return (Call("key_not_null", values, effect=Effect.CHANGES, object=work.object),)


def evidence(work: Work) -> tuple[Call, ...]:
    """Count the rows again."""
    if not _counts(work):
        return ()
    return (Call("count_rows", {"table": work.object.name}, session=Role.WORKER, keep_as=_AFTER),)


def _counts(work: Work) -> bool:
    """Tell whether rows are counted: of a schema that would read each table twice more."""
    return work.option("schema") is None


def timed(work: Work, facts: Facts, memory: int | None) -> tuple[Call, ...]:
    """Spell the command line.

    Args:
        work: what is done.
        facts: with the answers about the table.
        memory: kilobytes for the builds of all indexes together; None for the server's setting in each session.
    """
    whole = row_of(work, facts).get("kind") == "partitioned table"
    order = "--no-order" if work.index is None else f"--order-by={', '.join(work.index.columns)}"
    argv = (
        path_to(REPACK, facts), f"--{'parent-table' if whole else 'table'}={_spelled(work.object.name)}", order,
        "--no-kill-backend", f"--wait-timeout={wait_seconds(work)}", "--no-analyze", "--no-password",
        *((f"--jobs={work.degree}", "--elevel=LOG") if work.degree > 1 else ()),
    )  # fmt: skip
    settings = {INDEX_DEGREE: "0"} | ({} if memory is None else {"maintenance_work_mem": f"{memory}kB"})
    name = facts.value("server", "database_name")
    environment = {"PGOPTIONS": " ".join(f"-c {key}={value}" for key, value in settings.items())}
    environment |= {} if name is None else {"PGDATABASE": str(name)}
    return (
        Call(
            REPACK, kind=StepKind.COMMAND, session=Role.WORKER, effect=Effect.CHANGES, object=work.object,
            argv=argv, environment=environment, access=ACCESS, undo=(_leftovers(work),),
        ),
    )  # fmt: skip


def _leftovers(work: Work) -> Call:
    values: Values = {"table_text": _spelled(work.object.name)}
    return Call("repack_leftovers", values, effect=Effect.DROPS, object=work.object)


def _spelled(name: QualifiedName) -> str:
    return ".".join(quote(part) for part in (name.schema, name.name) if part)


def wait_seconds(work: Work) -> int:
    """Return how long it waits for a lock, in whole seconds, at least one."""
    return max(1, math.ceil(asked_seconds(work.options) or _LOCK_SECONDS))


# -- what became of it --------------------------------------------------------------------------------------------
def granted(work: Work, kept: Kept) -> Granted:
    """Count the sessions that built indexes at once."""
    return at_once(REPACK, work.degree, kept, _BEGINS, _ENDS, "an index")


def rows_told(kept: Kept) -> tuple[str, ...]:
    """Say that there are more or fewer rows than before, which others may have made so."""
    known = [kept[key][0].get("row_count") for key in (_BEFORE, _AFTER) if kept.get(key)]
    before, after = (*known, None, None)[:2]
    if not isinstance(before, int) or not isinstance(after, int) or before == after:
        return ()
    return (
        f"the table has {count(after)} rows, and had {count(before)} before: others changed it meanwhile, or rows "
        "were lost or doubled; compare it with its source",
    )


def remarks(work: Work, facts: Facts) -> Iterator[str]:
    """Say what it locks, and what a kill leaves."""
    del facts
    yield (
        "locks: ACCESS EXCLUSIVE on each table for a moment at its beginning and at its end, for which it waits "
        f"{wait_seconds(work)} s (--lock-wait) and ends no session of others; between them they read and write, "
        "and DDL waits"
    )
    yield (
        "a killed pg_repack leaves a trigger that logs every change of the table, and tables in schema `repack`: "
        "`dbatk clean` and `runs resume` remove them"
    )
    yield "each change of others meanwhile is written three times, and read again before the end"
    yield "what it frees goes back to the disk; there is no undo, and none is needed: the rows are the same"
    if work.degree > 1:
        yield f"a degree is sessions that build indexes: one copies the rows, then {work.degree} build at once"
