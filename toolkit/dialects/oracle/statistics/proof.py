"""The proof after a run: no published statistic moved (measurement), or each is newer than the beginning (job).

Instants are compared as texts of the database's own clock. What moved is not put back unasked: RESTORE_TABLE_STATS
also takes back what others gathered meanwhile, so its statements are given, for just the tables that moved.
Source: PL/SQL Packages, DBMS_STATS: RESTORE_TABLE_STATS, IMPORT_TABLE_STATS.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from toolkit.dialects.oracle.names import package_name
from toolkit.dialects.oracle.statistics import reads
from toolkit.dialects.oracle.statistics.arguments import chosen, owner_of
from toolkit.dialects.oracle.statistics.counts import UNPUBLISHED
from toolkit.dialects.oracle.statistics.isolation import binds_of, on_live, since, table_of
from toolkit.dialects.oracle.statistics.preferences import gathers_apart
from toolkit.dialects.oracle.statistics.server import is_server
from toolkit.dialects.statistics import Proof
from toolkit.dialects.work import Call, ContextValue, Work
from toolkit.model.experiment import OptionValue
from toolkit.model.facts import Facts
from toolkit.model.steps import ObjectRef
from toolkit.model.values import QualifiedName, Row, Scalar
from toolkit.model.words import StepKind
from toolkit.units import counted

_MOST = 20
_COMPARED = ("objects", "analyzed", "newest", "ages", "rows_told")
Answers = Mapping[str, tuple[Row, ...]]
_CLOCK_UNREAD = Proof(good=False, sentence="not verified: the database clock was not read at the start")


def proof(works: Sequence[Work]) -> tuple[Call, ...]:
    """Ask for the state of the statistics of every schema, as it was asked before."""
    if is_server(works[0]):
        return ()
    files = ["stats_record" if on_live(works[0]) else "stats_tables"]
    if gathers_apart(works[0]):
        files = ["stats_pending", "stats_tables"]
    return tuple(
        Call(file, file=True, binds=binds_of(work), keep_as=reads.of_schema(file, owner_of(work)))
        for work in works
        for file in files
    )


def proven(works: Sequence[Work], facts: Facts, answers: Answers, kept: ObjectRef | None) -> Proof:
    """Compare the state now with the recorded one."""
    if is_server(works[0]):
        return Proof(
            good=True, sentence="statistics of the server are not verified further than by the end of the call"
        )
    if gathers_apart(works[0]):
        return _pending(works, facts, answers)
    return _unmoved(works, facts, answers, kept) if on_live(works[0]) else _newer(works, facts, answers)


# -- a measurement: nothing moved -------------------------------------------------------------------------------
def _unmoved(works: Sequence[Work], facts: Facts, answers: Answers, kept: ObjectRef | None) -> Proof:
    moved: dict[QualifiedName, str] = {}
    looked = 0
    for work in works:
        key = reads.of_schema("stats_record", owner_of(work))
        before, now = _lines(facts.rows(key), work), _lines(answers.get(key, ()), work)
        looked += sum(int(str(line.get("objects") or 0)) for line in before.values())
        for (kind, table), line in sorted(now.items()):
            why = _moved(before.get((kind, table)), line, since(facts))
            if why:
                moved.setdefault(QualifiedName(table, owner_of(work)), f"{kind} {why}")
    if not moved:
        return Proof(
            good=True,
            sentence=f"proven: none of {looked} published statistics (tables, partitions, indexes) has changed: "
            f"each is as recorded, and none is newer than {since(facts)}",
        )
    return _not_proven(moved, facts, kept)


def _lines(rows: Iterable[Row], work: Work) -> dict[tuple[str, str], Row]:
    table = table_of(work)
    return {
        (str(row["kind"]), str(row["recorded_table"])): row
        for row in rows
        if table in (None, row["recorded_table"])
    }


def _moved(before: Row | None, now: Row, begun: str) -> str:
    newest = str(now.get("newest") or "")
    if before is None:
        return f"created since, analyzed {newest}" if newest else ""
    if newest > begun:
        return f"analyzed {newest}, after the start"
    if any(_plain(before.get(name)) != _plain(now.get(name)) for name in _COMPARED):
        return "not as recorded: gathered, set, restored, deleted, or partitions added or removed"
    return ""


def _plain(value: Scalar) -> str:
    """Spell a value so that 5 and 5.0, as a driver or a file of facts may give it, are the same."""
    return f"{value:.0f}" if isinstance(value, int | float) else str(value)


def _not_proven(moved: Mapping[QualifiedName, str], facts: Facts, kept: ObjectRef | None) -> Proof:
    names = [f"{name}: {why}" for name, why in list(moved.items())[:_MOST]]
    if len(moved) > _MOST:
        names.append(f"and {counted(len(moved) - _MOST, 'more table')}")
    return Proof(
        good=False,
        sentence=f"not proven: published statistics of {counted(len(moved), 'table')} are not as they were before",
        details=tuple(names),
        mend=tuple(_mend(name, facts, kept) for name in moved),
    )


def _mend(name: QualifiedName, facts: Facts, kept: ObjectRef | None) -> Call:
    """Take a table's statistics back: from the history, or where that does not reach so far from our own copy."""
    began = str(facts.value(reads.CLOCK, "instant") or "")
    oldest = str(facts.value(reads.CLOCK, "oldest") or "")
    values: dict[str, ContextValue] = {
        "owner": package_name(name.schema or ""),
        "table": package_name(name.name),
        "instant": began,
    }
    if kept is None or (began and oldest[:19] <= began[:19]):
        return Call("stats_restore", values, kind=StepKind.BLOCK)
    holder: dict[str, ContextValue] = {
        "holder_owner": package_name(kept.name.schema or ""),
        "holder": package_name(kept.name.name),
    }
    return Call("stats_import", {**values, **holder}, kind=StepKind.BLOCK)


# -- a job: everything is newer ---------------------------------------------------------------------------------
def _newer(works: Sequence[Work], facts: Facts, answers: Answers) -> Proof:
    begun = since(facts)
    if reads.CLOCK not in facts.answers:
        return _CLOCK_UNREAD
    old: list[str] = []
    gathered = 0
    for work in works:
        for row in answers.get(reads.of_schema("stats_tables", owner_of(work)), ()):
            if str(row.get("last_analyzed") or "") >= begun:
                gathered += 1
            elif row.get("temporary") != "Y":
                name = QualifiedName(str(row["analyzed_table"]), owner_of(work))
                old.append(f"{name}: {_why_old(work, row, facts)}")
    some = works[0].option("gather") not in (None, "gather") or works[0].option("only_tables") is not None
    if some:
        return Proof(
            good=True,
            sentence=f"of {counted(gathered + len(old), 'table')} {gathered} got statistics newer than {begun}",
        )
    if not old:
        whose = "the one table" if gathered == 1 else f"all {gathered} tables"
        return Proof(good=True, sentence=f"verified: the statistics of {whose} are newer than {begun}")
    more = [f"and {counted(len(old) - _MOST, 'more table')}"] if len(old) > _MOST else []
    tables = counted(len(old), "table")
    return Proof(
        good=False,
        sentence=f"the statistics of {tables} are not newer than {begun}, those of {gathered} are",
        details=(*old[:_MOST], *more),
    )


def _pending(works: Sequence[Work], facts: Facts, answers: Answers) -> Proof:
    """Look for what a job left pending: all of it to be published later, or what differed too much."""
    begun = since(facts)
    if reads.CLOCK not in facts.answers:
        return _CLOCK_UNREAD
    rows = [
        row
        for work in works
        for row in answers.get(reads.of_schema("stats_pending", owner_of(work)), ())
        if chosen(work, str(row["pending_table"]))
    ]
    new = [row for row in rows if str(row["newest"] or "") >= begun]
    most = works[0].option("max_difference")
    if new and most is not None:
        return Proof(
            good=False,
            sentence=_too_different(new, most),
            details=tuple(_compare(row) for row in new[:_MOST]),
        )
    if new:
        what = f"verified: pending statistics of {counted(len(new), 'table')} are newer than {begun}"
        return Proof(good=True, sentence=f"{what}: {_named(new)}")
    if most is None:
        return Proof(good=False, sentence=f"no pending statistics are newer than {begun}: nothing was gathered")
    tables = [row for work in works for row in answers.get(reads.of_schema("stats_tables", owner_of(work)), ())]
    published = sum(1 for row in tables if str(row.get("last_analyzed") or "") >= begun)
    if published:
        what = f"the statistics of {counted(published, 'table')} gathered since {begun} are published"
        return Proof(good=True, sentence=f"{what}: none differed by more than {most:g} %")
    # of one partition nothing of the table itself need be newer
    some = works[0].option("gather") not in (None, "gather") or works[0].option("partition") is not None
    return Proof(good=some, sentence=f"nothing was gathered: no table has statistics newer than {begun}")


def refuted(work: Work, kept: Answers) -> str | None:
    """Say which tables a job gathered and did not publish, because they differ too much."""
    found = [row for key, rows in kept.items() if key.partition(":")[0] == UNPUBLISHED for row in rows]
    rows = [row for row in found if chosen(work, str(row["pending_table"]))]
    return _too_different(rows, work.option("max_difference")) if rows else None


def _too_different(rows: Sequence[Row], most: OptionValue | None) -> str:
    return (
        f"pending statistics of {counted(len(rows), 'table')} differ from the present ones by more than {most:g} %"
        f" (or it is not known by how much) and were not published: {_named(rows)}"
    )


def _named(rows: Sequence[Row]) -> str:
    names = [f"{row['schema_name']}.{row['pending_table']}" for row in rows]
    return ", ".join(names[:_MOST]) + (", ..." if len(names) > _MOST else "")


def _compare(row: Row) -> str:
    owner, table = (package_name(str(row[name])).replace("'", "''") for name in ("schema_name", "pending_table"))
    asked = f"DBMS_STATS.DIFF_TABLE_STATS_IN_PENDING('{owner}', '{table}', NULL, 10)"
    return f"{row['schema_name']}.{row['pending_table']}: {asked} tells how"


def _why_old(work: Work, row: Row, facts: Facts) -> str:
    when = f"analyzed {row['last_analyzed']}" if row.get("last_analyzed") else "never analyzed"
    if row.get("locked"):
        return f"{when}; its statistics are locked ({row['locked']}), and locks are honoured"
    stored = {
        str(each["preferring_table"]): str(each["preference_value"])
        for each in facts.rows(reads.of_schema("stats_table_preferences", owner_of(work)))
        if each.get("preference_name") == "PUBLISH"
    }
    everywhere = reads.preference(facts, "PUBLISH") or "TRUE"
    if stored.get(str(row["analyzed_table"]), everywhere).upper() == "FALSE":
        return f"{when}; PUBLISH is FALSE, so the gathered statistics are pending"
    return when
