"""DBMS_MVIEW.REFRESH of one materialized view.

Sources: Data Warehousing Guide, refreshing materialized views (atomic refresh deletes and inserts in one
transaction, otherwise a complete refresh truncates and loads by direct path; out-of-place refresh from 12.1);
Database Error Messages: ORA-32355 (out of place and atomic), ORA-23538 (NEVER REFRESH), ORA-12004. The degree is
the session's, for query and DML: `parallelism` of the procedure is about pushing the changes of updatable views.
"""

# ruff: noqa: ARG001 (every operation answers with the same arguments)

from __future__ import annotations

from collections.abc import Iterator, Mapping

from toolkit.dialects.oracle import space, spelling
from toolkit.dialects.oracle.catalog import fact_about
from toolkit.dialects.oracle.names import package_name
from toolkit.dialects.oracle.releases import Feature, has
from toolkit.dialects.oracle.work.base import NOT_GRANTED, segment_bytes
from toolkit.dialects.oracle.work.indexes import no
from toolkit.dialects.work import Call, ContextValue, Work
from toolkit.model.facts import Facts
from toolkit.model.steps import Takes, Until
from toolkit.model.values import QualifiedName, Row, Support
from toolkit.model.words import Effect, Mode, Role, StepKind

VIEWS = "mviews"
_REFRESHED = "refreshed"
_METHODS = {"complete": "C", "fast": "F", "force": "?", "pct": "P"}


def prepare(work: Work, facts: Facts) -> tuple[Call, ...]:
    """Nothing."""
    return ()


def timed(work: Work, facts: Facts) -> tuple[Call, ...]:
    """Spell the refresh; by its own method where none was asked for."""
    method = spelling.text_option(work, "method")
    values: dict[str, ContextValue] = {
        "view": _in_list(work.object.name),
        "method": None if method is None else _METHODS[method],
        "atomic": _is_atomic(work),
        "out_of_place": bool(work.option("out_of_place")),
    }
    return (
        Call(
            "mview_refresh",
            values,
            kind=StepKind.BLOCK,
            session=Role.WORKER,
            effect=Effect.CHANGES,
            object=work.object,
        ),
    )


def _in_list(name: QualifiedName) -> str:
    """Spell a name in a list that the package folds where it is not quoted."""
    return ".".join(package_name(part) for part in (name.schema, name.name) if part is not None)


def _is_atomic(work: Work) -> bool:
    return work.option("atomic_refresh") != "no"


def settle(work: Work, facts: Facts) -> tuple[Call, ...]:
    """Nothing."""
    return ()


def evidence(work: Work, facts: Facts) -> tuple[Call, ...]:
    """Ask how it was refreshed and whether it is fresh now, and measure it."""
    binds = {"schema": work.object.name.schema, "name": work.object.name.name}
    asked = Call(VIEWS, session=Role.WORKER, file=True, binds=binds, keep_as=_REFRESHED, tolerates=NOT_GRANTED)
    return (segment_bytes(work.object, facts), asked)


def told(work: Work, kept: Mapping[str, tuple[Row, ...]]) -> Iterator[str]:
    """Say what was not as asked for: another method, rows that changed meanwhile."""
    row = next(iter(kept.get(_REFRESHED, ())), {})
    name, how = work.object.name, str(row.get("last_refresh_type") or "")
    if work.option("method") in (None, "force") and how.startswith("COMPLETE") and _might_be_fast(row):
        yield f"`{name}` was refreshed completely, though changes alone might have been enough"
    staleness = str(row.get("staleness") or "")
    if staleness in ("STALE", "NEEDS_COMPILE", "UNUSABLE"):
        yield (
            f"ALL_MVIEWS says that `{name}` is {staleness} after the refresh: what it reads was changed "
            "meanwhile, or it reads another materialized view that is not fresh"
        )


def _might_be_fast(row: Row) -> bool:
    return str(row.get("fast_refreshable") or "NO") not in ("NO", "")


def takes(work: Work, facts: Facts) -> tuple[Takes, ...]:
    """Say what the other table takes of an out-of-place refresh; undo and redo of the others are not known."""
    if not work.option("out_of_place"):
        return ()
    name = work.object.name
    size, place = (fact_about(facts, name, column) for column in ("byte_count", "tablespace_name"))
    known = float(size) if isinstance(size, int | float) else None
    why = "" if known is not None else f"`{name}` has no statistics and is not the user's own"
    return tuple(
        space.takes(
            known, None if place is None else str(place), name.schema, facts, until=Until.STEP, unknown=why
        )
    )


# -- what stands in the way -------------------------------------------------------------------------------------
def judge(work: Work, facts: Facts) -> Support | None:
    """Refuse what is no such view, what it cannot do, and a measurement that would find nothing to do."""
    why = next(_reasons(work, facts), None)
    return None if why is None else no(why)


def _reasons(work: Work, facts: Facts) -> Iterator[str]:
    name, method = work.object.name, spelling.text_option(work, "method")
    if work.option("out_of_place") and not has(facts.release, Feature.OUT_OF_PLACE_REFRESH):
        yield "an out-of-place refresh comes with 12.1"
    if work.mode is Mode.MEASUREMENT and work.option("on_live_objects") and method != "complete":
        yield (
            "only a complete refresh does the same work again: the second one of changes alone finds none; "
            "add `--method complete`"
        )
    if facts.assumed or not any(key.partition(":")[0] == VIEWS for key in facts.answers):
        return  # doctor asks of any table
    if not is_view(name, facts):
        yield f"`{name}` is not a materialized view that ALL_MVIEWS shows to this user"
    if why := hindrance(work, facts):
        yield why
    if method == "fast" and str(fact_about(facts, name, "fast_refreshable") or "") == "NO":
        yield (
            f"`{name}` cannot be refreshed by changes alone (ALL_MVIEWS.FAST_REFRESHABLE is NO, ORA-12004); use "
            "`--method force`, or `complete`"
        )


def is_view(name: QualifiedName, facts: Facts) -> bool:
    """Tell whether the catalogue shows a materialized view of this name."""
    return fact_about(facts, name, "refresh_mode") is not None


def views_of(facts: Facts) -> tuple[QualifiedName, ...]:
    """Return the materialized views that were read of: a refresh runs their queries."""
    rows = (row for key, found in facts.answers.items() if key.partition(":")[0] == VIEWS for row in found)
    return tuple(QualifiedName(str(row["table_name"]), str(row["schema_name"])) for row in rows)


def hindrance(work: Work, facts: Facts) -> str | None:
    """Say why a view is never refreshed."""
    if str(fact_about(facts, work.object.name, "refresh_method") or "") == "NEVER":
        return f"`{work.object.name}` is created with NEVER REFRESH (ORA-23538)"
    return None


# -- what to know before ----------------------------------------------------------------------------------------
def remarks(work: Work, facts: Facts) -> Iterator[str]:
    """Say what readers see meanwhile, what a cut leaves, and what the degree is of."""
    name = work.object.name

    def said(column: str) -> str:
        return str(fact_about(facts, name, column) or "")

    yield from _of_readers(work)
    if said("last_refresh_at"):
        yield (
            f"`{name}` is {said('staleness') or 'of unknown freshness'}; its last refresh was at "
            f"{said('last_refresh_at')} ({said('last_refresh_type') or 'method not known'})"
        )
    if said("refresh_mode") == "COMMIT":
        yield f"`{name}` is refreshed at each commit of what it reads as well"
    if said("master_link"):
        yield f"`{name}` reads over the database link {said('master_link')}: that database works, too"
    if said("updatable") == "Y":
        yield f"`{name}` is updatable: its own changes are pushed first, or they seem to be lost meanwhile"
    if not spelling.is_serial(work):
        yield (
            "the degree is forced on the session's queries and DML; which of the package's statements had it is "
            "told by samples of the parallel servers; one transaction (--atomic-refresh yes) inserts serially"
        )


def _of_readers(work: Work) -> Iterator[str]:
    name = work.object.name
    if work.option("out_of_place"):
        yield f"locks: readers of `{name}` see the old rows until the tables are switched; there is no undo"
    elif _is_atomic(work):
        yield (
            f"locks: readers of `{name}` see the old rows until its transaction ends, and a failure leaves them; "
            "a complete refresh deletes and inserts every row, with undo and redo of both; afterwards nothing "
            "undoes it"
        )
    else:
        yield (
            f"locks: a complete refresh truncates `{name}` first: readers find it empty until it is filled (or "
            "get ORA-08103), and a failure leaves it so until it is refreshed again; there is no undo"
        )
