"""Preferences that a gathering sets for itself, and what they need: INCREMENTAL, PUBLISH of tables, CONCURRENT.

Each is stored in the dictionary and so holds for everybody: it is in the journal with its former value, and put
back when the run ends unless the user wants it kept.
Sources: PL/SQL Packages, DBMS_STATS: SET_TABLE_PREFS, SET_GLOBAL_PREFS; SQL Tuning Guide, incremental statistics
(AUTO_SAMPLE_SIZE, granularity AUTO, PUBLISH TRUE) and concurrent statistics gathering.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from toolkit.dialects.oracle import spelling
from toolkit.dialects.oracle.names import package_name
from toolkit.dialects.oracle.releases import Feature, has
from toolkit.dialects.oracle.statistics import reads
from toolkit.dialects.oracle.statistics.arguments import chosen, of_schema, owner_of
from toolkit.dialects.work import Call, ContextValue, Work
from toolkit.model.facts import Facts
from toolkit.model.steps import ObjectRef
from toolkit.model.values import QualifiedName, Support
from toolkit.model.words import Effect, Mode, ObjectKind, StepKind, SupportState

_OPTIONS = ("incremental", "concurrent", "publish", "max_difference", "force_locked", "only_tables")
_ON = {"yes": "TRUE", "no": "FALSE"}
_FOR_JOBS = ("CREATE JOB", "MANAGE SCHEDULER", "MANAGE ANY QUEUE")
_FOR_ALL = ("ANALYZE ANY", "ANALYZE ANY DICTIONARY")


def gathers_apart(work: Work) -> bool:
    """Tell whether a job gathers pending statistics: to be published later, or after they were compared."""
    apart = work.option("publish") == "later" or work.option("max_difference") is not None
    return work.mode is Mode.JOB and apart


def setup(work: Work, facts: Facts) -> tuple[Call, ...]:
    """Set what the options of a job ask for, each with what puts it back."""
    if work.mode is not Mode.JOB:
        return ()
    return (*_tables(work, facts), *_everywhere(work, facts))


def _tables(work: Work, facts: Facts) -> Iterator[Call]:
    value = _ON.get(spelling.text_option(work, "incremental") or "")
    for name, former in partitioned(work, facts) if value else ():
        now = (former or reads.preference(facts, "INCREMENTAL") or "FALSE").upper()
        if now != value and chosen(work, name.name):
            yield of_table(
                name, "INCREMENTAL", str(value), former, "ALL_TABLES", keep=work.option("keep_preferences") is True
            )
    if gathers_apart(work):
        for name, former in shielded(work, facts):
            if chosen(work, name.name):
                yield of_table(name, "PUBLISH", "FALSE", former)


def _everywhere(work: Work, facts: Facts) -> Iterator[Call]:
    off = "OFF" if has(facts.release, Feature.STATISTICS_TASKS) else "FALSE"
    former = (reads.preference(facts, "CONCURRENT") or off).upper()
    value = _concurrent(former, facts) if work.option("concurrent") is True else former
    if value == former:
        return
    ref = ObjectRef(ObjectKind.PREFERENCE, QualifiedName("CONCURRENT of the database"))
    yield _change(
        "stats_global_preference", {"preference": "CONCURRENT"}, value, former, ref,
        keep=work.option("keep_preferences") is True,
    )  # fmt: skip


def _concurrent(former: str, facts: Facts) -> str:
    """Return the value by which gatherings by hand run in jobs, and automatic ones as they did."""
    if not has(facts.release, Feature.STATISTICS_TASKS):
        return "TRUE"
    return {"OFF": "MANUAL", "FALSE": "MANUAL", "AUTOMATIC": "ALL"}.get(former, former)


def partitioned(work: Work, facts: Facts) -> Iterable[tuple[QualifiedName, str | None]]:
    """Return the partitioned tables gathered, each with its own INCREMENTAL, or None."""
    return _named(work, facts, "stats_partitioned", "partitioned_table", "incremental")


def shielded(work: Work, facts: Facts) -> Iterable[tuple[QualifiedName, str | None]]:
    """Return the tables whose statistics a gathering would replace, each with its own PUBLISH, or None."""
    return _named(work, facts, "stats_shielded", "shielded_table", "publish")


def _named(
    work: Work, facts: Facts, file: str, table: str, value: str
) -> Iterable[tuple[QualifiedName, str | None]]:
    owner, only = owner_of(work), None if of_schema(work) else work.object.name.name
    return [
        (QualifiedName(str(row[table]), owner), None if row.get(value) is None else str(row[value]))
        for row in facts.require(reads.of_schema(file, owner))
        if only in (None, row[table])
    ]


def of_table(
    name: QualifiedName, preference: str, value: str, former: str | None, view: str = "DBA_TABLES", *,
    keep: bool = False,
) -> Call:  # fmt: skip
    """Set a preference of one table; undone only while it is still ours.

    Args:
        name: the table.
        preference: its name.
        value: what is set.
        former: what it was; None where the table had none of its own.
        view: where the table was found, and is looked for before the undo: only that is known to be readable.
        keep: leave it.
    """
    ref = ObjectRef(ObjectKind.PREFERENCE, QualifiedName(f"{preference} of {name.name}", name.schema), table=name)
    values: dict[str, ContextValue] = {
        "owner": None if name.schema is None else package_name(name.schema),
        "table": package_name(name.name),
        "preference": preference,
    }
    catalogue = {"view": view, "catalogue_owner": name.schema, "catalogue_table": name.name}
    return _change("stats_table_preference", values, value, former, ref, catalogue, keep=keep)


def _change(
    template: str, values: dict[str, ContextValue], value: str, former: str | None, ref: ObjectRef,
    more: dict[str, str | None] | None = None, *, keep: bool = False,
) -> Call:  # fmt: skip
    before = "none of its own" if former is None else former
    put_back = {**values, **(more or {}), "ours": value, "value": former, "before": before}
    undo = Call(f"{template}_back", put_back, kind=StepKind.BLOCK, effect=Effect.CHANGES, object=ref)
    return Call(
        template,
        {**values, "value": value},
        kind=StepKind.BLOCK,
        effect=Effect.CHANGES,
        object=ref,
        undo=() if keep else (undo,),
        before=before,
    )


# -- what stands in the way -------------------------------------------------------------------------------------
def judge(work: Work, facts: Facts) -> Support | None:
    """Refuse what only a job can have, and what would not do what was asked."""
    given = [name for name in _OPTIONS if work.option(name) not in (None, False)]
    if given and work.mode is not Mode.JOB:
        flag = "--" + given[0].replace("_", "-")
        return _no(f"`{flag}` is for a job: a measurement works on copies, or leaves pending what it gathers")
    if work.option("only_tables") is not None and not of_schema(work):
        return _no("`--only-tables` selects from a schema; a table is gathered as it is")
    if gathers_apart(work) and work.option("concurrent") is True:
        return _no("jobs of `--concurrent` could go on after PUBLISH is restored: omit it here")
    return _incremental(work, facts) or _void(work, facts) or _of_jobs(work, facts)


def _incremental(work: Work, facts: Facts) -> Support | None:
    asked = work.option("incremental")
    if asked == "yes" and gathers_apart(work):
        return _no("incremental statistics need PUBLISH TRUE: they cannot be pending first")
    other = [name for name in ("estimate_percent", "granularity") if work.option(name) not in (None, "auto")]
    if asked == "yes" and other:
        return _no(f"incremental statistics need `--{other[0].replace('_', '-')} auto`: others have no synopses")
    unread = facts.assumed or reads.of_schema("stats_partitioned", owner_of(work)) in facts.refused
    if asked is None or unread or list(partitioned(work, facts)):
        return None
    return _no(f"no partitioned table of {work.object.name} is visible: only those have incremental statistics")


_NEEDED = {"PUBLISH": "TRUE", "ESTIMATE_PERCENT": "AUTO_SAMPLE_SIZE", "GRANULARITY": "AUTO"}
"""What incremental statistics need: else every partition is read (SQL Tuning Guide)."""


def _void(work: Work, facts: Facts) -> Support | None:
    """Refuse synopses of a table with preferences, its own or the database's, that rule them out."""
    if (
        work.option("incremental") != "yes"
        or reads.of_schema("stats_partitioned", owner_of(work)) not in facts.answers
    ):
        return None
    overriding = (reads.preference(facts, "PREFERENCE_OVERRIDES_PARAMETER") or "FALSE").upper() == "TRUE"
    own = {
        (str(row["preferring_table"]), row["preference_name"]): str(row["preference_value"])
        for row in facts.rows(reads.of_schema("stats_table_preferences", owner_of(work)))
    }
    for table, _ in partitioned(work, facts):
        if not chosen(work, table.name):
            continue
        for name, needed in _NEEDED.items():
            value = own.get((table.name, name)) or reads.preference(facts, name) or needed
            sent = name != "PUBLISH" and work.option(name.lower()) is not None and not overriding
            if not sent and value.upper().removeprefix("DBMS_STATS.") != needed:
                whose = table if (table.name, name) in own else "the database"
                return _no(
                    f"incremental statistics of {table} need {name} {needed}: the preference of {whose} is {value}"
                )
    return None


def _of_jobs(work: Work, facts: Facts) -> Support | None:
    if work.option("concurrent") is not True:
        return None
    if reads.preference(facts, "CONCURRENT") is None and not facts.assumed:
        return _no("the present value of CONCURRENT was not read (11.2.0.1 has none), and could not be restored")
    if reads.RIGHTS not in facts.answers:
        return None
    user = str(facts.value("server", "user_name") or "this_user")
    owned = {row.get("privilege") for row in facts.rows(reads.RIGHTS)}
    set_already = (reads.preference(facts, "CONCURRENT") or "OFF").upper() in ("MANUAL", "ALL", "TRUE")
    needed = _FOR_JOBS if set_already else (*_FOR_ALL, *_FOR_JOBS)
    missing = [name for name in needed if name not in owned]
    if user == "SYS" or not missing:
        return None
    return Support(
        SupportState.NEEDS_PRIVILEGE,
        f"setting CONCURRENT and gathering in jobs needs more privileges: GRANT {', '.join(missing)} TO {user}",
    )


def remarks(work: Work, facts: Facts) -> Iterator[str]:
    """Say what the options change for others, and what is left."""
    if work.mode is not Mode.JOB:
        return
    kept = work.option("keep_preferences") is True
    if work.option("incremental") == "yes":
        known = reads.of_schema("stats_partitioned", owner_of(work)) in facts.answers
        names = [name.name for name, _ in partitioned(work, facts)] if known else []
        shown = ", ".join(names[:10]) + (", ..." if len(names) > 10 else "")
        after = (
            "stays TRUE (--keep-preferences)" if kept else "is restored afterwards (--keep-preferences leaves it)"
        )
        yield f"INCREMENTAL of {shown or 'each partitioned table'} {after}"
        yield "synopses are stored in SYSAUX; the first gathering with them reads every partition"
    if work.option("concurrent") is True:
        yield (
            "CONCURRENT holds for the whole database meanwhile, and needs free job_queue_processes (in 11.2 also "
            "a resource plan): tables and partitions are gathered in jobs, which outlive a cancelled session"
        )
    if work.option("publish") == "later":
        yield "the new statistics stay pending, until `dbatk stats publish` publishes or deletes them"
    elif gathers_apart(work):
        yield (
            "each table's new statistics are compared with the present ones (DIFF_TABLE_STATS_IN_PENDING) before "
            "they are published; to go back afterwards, use DBMS_STATS.RESTORE_TABLE_STATS"
        )
    if work.option("force_locked") is True:
        yield "statistics that somebody locked on purpose are replaced too (--force-locked); they stay locked"


def _no(sentence: str) -> Support:
    return Support(SupportState.UNSUPPORTED, sentence)
