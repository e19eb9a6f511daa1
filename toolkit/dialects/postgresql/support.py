"""What PostgreSQL can do of an operation, each answer with its sentence."""

from __future__ import annotations

from collections.abc import Callable

from toolkit.dialects.postgresql.release import OLDEST, major
from toolkit.dialects.work import Work
from toolkit.model.facts import Facts
from toolkit.model.values import Support
from toolkit.model.words import Mode, ObjectKind, SupportState

SUPPORTED = Support(SupportState.SUPPORTED)
_INDEX_WORK = ("index-build", "index-rebuild")
_TOAST_METHODS = ("pglz", "lz4")


def _refused(sentence: str) -> Support:
    return Support(SupportState.UNSUPPORTED, sentence)


def _server(work: Work, facts: Facts) -> Support | None:
    del work
    if facts.release.number and major(facts.release) < OLDEST:
        return _refused(f"PostgreSQL {facts.release} is older than {OLDEST}, the oldest release that is supported")
    if facts.value("server", "in_recovery") == "yes":
        return _refused("the server is a replica (in recovery) and takes no writes; connect to the primary")
    return None


def _degree(work: Work, facts: Facts) -> Support | None:
    del facts
    if work.degree < 1:
        return _refused("`default` and `auto` are degrees of Oracle; PostgreSQL takes a number")
    if work.degree == 1:
        return None
    if work.operation == "insert":
        return _refused("INSERT ... SELECT never writes in parallel on PostgreSQL")
    if work.operation == "stats-gather":
        return _refused(
            "ANALYZE of one table is one process on PostgreSQL; a degree is had by several connections, "
            "each with a table of its own (--schema)"
        )
    if work.degree > 1025:
        return _refused("PostgreSQL takes at most 1024 workers beside the leader")
    return None


def _statistics(work: Work, facts: Facts) -> Support | None:
    del facts
    whole = work.object.kind is ObjectKind.STATISTICS and work.object.name.schema is None
    if work.operation == "stats-gather" and whole:
        return _refused("PostgreSQL has no statement for the statistics of a schema; name its tables")
    return None


def _logging(work: Work, facts: Facts) -> Support | None:
    del facts
    if work.option("logging") != "nologging":
        return None
    if work.operation in _INDEX_WORK:
        return _refused("an index of PostgreSQL is logged as its table is; there is no NOLOGGING for it alone")
    if work.mode is Mode.JOB:
        return _refused(
            "nologging would make the table UNLOGGED: not crash-safe, empty on every replica; "
            "it is for measurements only"
        )
    if work.operation == "insert" and not work.object.scratch:
        return _refused("nologging would turn the user's table UNLOGGED; measure into a copy")
    return None


def _compression(work: Work, facts: Facts) -> Support | None:
    level = work.option("compression")
    if level is None:
        return None
    if work.operation in _INDEX_WORK:
        return None if level == "none" else _refused(f"an index of PostgreSQL is never compressed (`{level}`)")
    if work.operation != "ctas":
        return _refused("the compression of a column is set when its table is made, not by this operation")
    if level == "none":
        return _refused(
            "PostgreSQL always compresses wide values of a new table (pglz or lz4); none needs STORAGE EXTERNAL "
            "for each column, which CREATE TABLE AS cannot say"
        )
    if level not in _TOAST_METHODS:
        return _refused(
            f"PostgreSQL knows no compression `{level}` of a table; it takes pglz or lz4 for wide values"
        )
    return _toast_method(str(level), facts)


def _toast_method(level: str, facts: Facts) -> Support:
    known = str(facts.value("server", "toast_compressions", "pglz,lz4")).split(",")
    if level not in known:
        return _refused(f"this server was built without {level}; it knows {', '.join(known)}")
    return Support(
        SupportState.SUPPORTED,
        f"{level} applies to values wider than 2 kB; values that the source holds compressed keep their method",
    )


def _space(work: Work, facts: Facts) -> Support | None:
    del facts
    if work.option("pctfree") is not None and work.operation == "index-rebuild":
        return _refused("REINDEX takes no fillfactor; ALTER INDEX ... SET (fillfactor = ...) comes before it")
    return None


def _sample(work: Work, facts: Facts) -> Support | None:
    kind = str(facts.value("source", "kind", "") or "")
    if work.option("sample") is not None and kind in ("view", "foreign table"):
        return _refused("TABLESAMPLE reads tables and materialized views only; put the sample into a --query")
    return None


def _online(work: Work, facts: Facts) -> Support | None:
    del facts
    live = work.mode is Mode.MEASUREMENT and bool(work.option("on_live_objects"))
    if live and work.operation == "index-build" and not work.option("online"):
        return _refused(
            "PostgreSQL has no invisible index: a build on the live table blocks its writers; "
            "measure on the copy, or with --online"
        )
    return None


_RULES: tuple[Callable[[Work, Facts], Support | None], ...] = (
    _server, _degree, _statistics, _logging, _space, _online, _sample, _compression,
)  # fmt: skip


def support(work: Work, facts: Facts) -> Support:
    """Say whether this work can be done so: the first rule that speaks decides."""
    for rule in _RULES:
        answer = rule(work, facts)
        if answer is not None:
            return answer
    return SUPPORTED
