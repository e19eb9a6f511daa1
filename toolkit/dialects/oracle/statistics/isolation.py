"""Measuring on live objects: new statistics stay pending, and are deleted again table by table.

PUBLISH of every table is set to FALSE, so that a gathering writes pending statistics that no plan is made from
(OPTIMIZER_USE_PENDING_STATISTICS stays FALSE and is never set); afterwards it is what it was. Pending statistics
of a measurement are never published, locked ones never forced, and none that were there before are ever deleted.
Source: PL/SQL Packages, DBMS_STATS: SET_TABLE_PREFS, DELETE_PENDING_STATS (a null table would mean all of them).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from toolkit.dialects.oracle import objects
from toolkit.dialects.oracle.names import package_name
from toolkit.dialects.oracle.statistics import preferences, reads
from toolkit.dialects.oracle.statistics.arguments import chosen, of_schema, owner_of, patterns_of, values
from toolkit.dialects.work import Call, ContextValue, Work
from toolkit.errors import ToolkitError
from toolkit.model.facts import Facts
from toolkit.model.steps import ObjectRef
from toolkit.model.values import Scalar, Support
from toolkit.model.words import Effect, Mode, Role, StepKind, SupportState

_CONCURRENT_BY_HAND = frozenset({"MANUAL", "ALL", "TRUE"})
"""Values of CONCURRENT under which a gathering by hand runs in jobs (TRUE in 11.2)."""
_NEVER = "9999-12-31 00:00:00"


def on_live(work: Work) -> bool:
    """Tell whether a measurement works on an object of the user's."""
    return work.mode is Mode.MEASUREMENT and not work.object.scratch


def table_of(work: Work) -> str | None:
    """Return the one table that is gathered, or None for a whole schema."""
    return None if of_schema(work) else work.object.name.name


def binds_of(work: Work) -> dict[str, Scalar]:
    """Return the binds of every read about a schema or one table of it."""
    return {"schema": owner_of(work), "table": table_of(work)}


# -- what stands in the way -------------------------------------------------------------------------------------
def judge(work: Work, facts: Facts) -> Support | None:
    """Refuse a measurement on live objects where it could not be put back, or would destroy another's work."""
    if not (on_live(work) or preferences.gathers_apart(work)) or facts.assumed:
        return None
    return _grants(work, facts) or _unshielded(work, facts) or _hindrance(work, facts)


def _unshielded(work: Work, facts: Facts) -> Support | None:
    """Refuse what would be published at once, or could not be told from what was there before."""
    if preferences.gathers_apart(work) and reads.CLOCK not in facts.answers:
        return _no("the database clock was not read, by which new pending statistics are told from older ones")
    known = reads.of_schema("stats_shielded", owner_of(work)) in facts.answers
    if table_of(work) is None or not known or list(preferences.shielded(work, facts)):
        return None
    return _no(
        f"the statistics of {work.object.name} would be published at once: it is not a permanent table (a "
        "temporary table, for instance), whose statistics could be pending"
    )


def _grants(work: Work, facts: Facts) -> Support | None:
    views = [
        view
        for file, needed in reads.NEEDED_ON_LIVE.items()
        if file in facts.refused or reads.of_schema(file, owner_of(work)) in facts.refused
        for view in needed
    ]
    if not views:
        return None
    user = facts.value("server", "user_name") or "this_user"
    grants = "; ".join(f"GRANT SELECT ON SYS.{view} TO {user}" for view in dict.fromkeys(views))
    sentence = "the state of live statistics cannot be recorded and proven without these grants"
    return Support(SupportState.NEEDS_PRIVILEGE, f"{sentence}: {grants}")


def _hindrance(work: Work, facts: Facts) -> Support | None:
    found = [*_stored(work, facts), *_everywhere(facts)]
    if not found:
        return None
    reason, remedy = found[0]
    more = f" (and {len(found) - 1} more such reasons)" if len(found) > 1 else ""
    if on_live(work):
        return _no(f"not possible on live objects now: {reason}{more}; measure on copies")
    return _no(f"not possible now: {reason}{more}; {remedy}")


def _stored(work: Work, facts: Facts) -> Iterator[tuple[str, str]]:
    """Yield what the catalogue has of the tables that are gathered, each with what a job can do about it."""
    for row in facts.rows(reads.of_schema("stats_hindrances", owner_of(work))):
        kind, table = str(row.get("hindrance")), str(row.get("hindered_table") or "")
        if not table or chosen(work, table):
            yield str(row.get("reason")), _remedy(work, kind, table)
    for row in facts.rows(reads.RUNNING):
        yield str(row.get("reason")), "gather later"


def _remedy(work: Work, kind: str, table: str) -> str:
    if kind == "window":
        return "gather later"
    owner, name = ((_package(each) or "").replace("'", "''") for each in (owner_of(work), table))
    others = ", or leave the table out by `--only-tables`" if of_schema(work) else ""
    if kind == "publish":
        return f"set it to TRUE first (DBMS_STATS.SET_TABLE_PREFS), if nobody needs that{others}"
    return (
        f"publish them (DBMS_STATS.PUBLISH_PENDING_STATS('{owner}', '{name}')) or delete them "
        f"(DBMS_STATS.DELETE_PENDING_STATS('{owner}', '{name}')) first{others}"
    )


def _everywhere(facts: Facts) -> Iterator[tuple[str, str]]:
    """Yield what is set for the whole database and keeps pending statistics from being pending and unused."""
    if (reads.preference(facts, "PUBLISH") or "TRUE").upper() == "FALSE":
        yield "PUBLISH is FALSE for the whole database: pending statistics are in use", "set it to TRUE first"
    if str(facts.value(reads.OPTIMIZER, "uses_pending", "FALSE")).upper() == "TRUE":
        yield (
            "OPTIMIZER_USE_PENDING_STATISTICS is TRUE: plans would use pending statistics",
            "set it to FALSE first",
        )
    concurrent = (reads.preference(facts, "CONCURRENT") or "OFF").upper()
    if concurrent in _CONCURRENT_BY_HAND:
        yield (
            f"CONCURRENT is {concurrent}: tables are gathered in jobs, which outlive a cancelled session and "
            "would publish their results once PUBLISH is restored",
            "set it to FALSE (11.2) or OFF first",
        )


def _no(sentence: str) -> Support:
    return Support(SupportState.UNSUPPORTED, sentence)


# -- what is changed, and put back ------------------------------------------------------------------------------
def isolate(works: Sequence[Work], kept: ObjectRef, mark: str, facts: Facts) -> tuple[Call, ...]:
    """Copy the current statistics to a table created by dbatk, then set PUBLISH of every table to FALSE.

    Raises:
        ToolkitError: TK-0112 when the catalogue was not read, or the schema is not known.
    """
    facts.require(reads.CLOCK)
    if any(owner_of(work) is None for work in works):
        raise ToolkitError("the schema of the table is unknown", code="TK-0112", hint="write it as SCHEMA.TABLE")
    calls = [_export_table(kept), objects.comment(kept, mark), _lock(kept)]
    calls += [_export(work, kept) for work in works]
    return (*calls, *(change for work in works for change in _unpublished(work, facts)))


def end_isolation(works: Sequence[Work], facts: Facts) -> tuple[Call, ...]:
    """Put PUBLISH of every table back."""
    changes = (change for work in works for change in _unpublished(work, facts))
    return tuple(back for change in changes for back in change.undo)


def _unpublished(work: Work, facts: Facts) -> Iterator[Call]:
    for name, former in preferences.shielded(work, facts):
        yield preferences.of_table(name, "PUBLISH", "FALSE", former)


def delete_pending(work: Work, facts: Facts) -> Call:
    """Delete what a gathering left pending: table by table, and only what is younger than the run."""
    values: dict[str, ContextValue] = {
        "owner": _package(owner_of(work)),
        "catalogue_owner": owner_of(work),
        "catalogue_table": table_of(work),
        "since": since(facts),
    }
    return Call("stats_pending_delete", values, kind=StepKind.BLOCK, effect=Effect.CHANGES, object=work.object)


def publish_pending(work: Work, facts: Facts) -> Call:
    """Publish what a job gathered as pending, of the tables that do not differ too much."""
    sent, most = values(work), work.option("max_difference")
    given: dict[str, ContextValue] = {
        **{name: sent[name] for name in ("owner", "no_invalidate", "no_invalidate_constant", "force")},
        "catalogue_owner": owner_of(work),
        "catalogue_table": table_of(work),
        "since": since(facts),
        "most": most if isinstance(most, int | float) else None,
        "patterns": tuple(each.strip('"') for each in patterns_of(work)),
    }
    return Call(
        "stats_publish_pending", given, kind=StepKind.BLOCK, session=Role.WORKER, effect=Effect.CHANGES,
        object=work.object,
    )  # fmt: skip


def since(facts: Facts) -> str:
    """Return the database's clock at the beginning of the run, as a text; where it is not known, never."""
    return str(facts.value(reads.CLOCK, "instant_date") or _NEVER)


def still_safe(work: Work, facts: Facts) -> tuple[Call, ...]:
    """Ask just before each gathering whether it would harm: rows kept under `refusal...` refuse the trial."""
    state = Call("stats_unsafe", file=True, binds=binds_of(work), keep_as=f"refusal:{work.object.name}")
    running = Call(reads.running_file(facts.release), file=True, keep_as="refusal:running")
    return state, running


def _export_table(kept: ObjectRef) -> Call:
    return Call("stats_export_table", _holder(kept), kind=StepKind.BLOCK, effect=Effect.CREATES, object=kept)


def _lock(kept: ObjectRef) -> Call:
    """Lock our own table's statistics: where it stands in the schema that is measured, it is no part of it."""
    return Call("stats_lock", _holder(kept), kind=StepKind.BLOCK, effect=Effect.CHANGES, object=kept)


def _export(work: Work, kept: ObjectRef) -> Call:
    table = table_of(work)
    values: dict[str, ContextValue] = {
        "owner": _package(owner_of(work)),
        "table": package_name(table) if table else None,
        "statid": "DBATK",
        **_holder(kept),
    }
    return Call("stats_export", values, kind=StepKind.BLOCK, effect=Effect.CHANGES, object=kept)


def _holder(kept: ObjectRef) -> dict[str, ContextValue]:
    return {"holder_owner": _package(kept.name.schema), "holder": package_name(kept.name.name)}


def _package(name: str | None) -> str | None:
    return package_name(name) if name else None
