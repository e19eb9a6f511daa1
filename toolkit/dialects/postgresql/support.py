"""What PostgreSQL can do of an operation, each answer with its sentence."""

from __future__ import annotations

from toolkit.dialects.postgresql.release import OLDEST, major
from toolkit.dialects.work import Work
from toolkit.model.facts import Facts
from toolkit.model.operations import degree_level
from toolkit.model.values import Support
from toolkit.model.words import Mode, SupportState

SUPPORTED = Support(SupportState.SUPPORTED)
_TOAST_METHODS = ("pglz", "lz4")


def refused(sentence: str, hint: str = "") -> Support:
    """Answer that something cannot be had, and what to do instead."""
    return Support(SupportState.UNSUPPORTED, sentence, hint)


def server(facts: Facts) -> Support | None:
    """Judge the server itself: its release, and whether it takes writes."""
    if facts.release.number and major(facts.release) < OLDEST:
        return refused(f"PostgreSQL {facts.release} is older than {OLDEST}, the oldest release that is supported")
    if facts.value("server", "in_recovery") == "yes":
        return refused("the server is a replica (in recovery) and accepts no writes; connect to the primary")
    return None


def degree(work: Work, serial: str = "") -> Support | None:
    """Judge the degree.

    Args:
        work: what is done.
        serial: why a degree above 1 cannot be had at all, where it cannot.
    """
    if work.degree < 1 or isinstance(degree_level(work.options), str):
        return refused("`default` and `auto` are Oracle degrees; PostgreSQL needs a number")
    if work.degree > 1 and serial:
        return refused(serial)
    if work.degree > 1025:
        return refused("PostgreSQL allows at most 1024 workers besides the leader")
    return None


def index_options(work: Work) -> Support | None:
    """Judge logging and compression of an index."""
    if work.option("logging") == "nologging":
        return refused("a PostgreSQL index is logged like its table; it has no NOLOGGING of its own")
    level = work.option("compression")
    return None if level in (None, "none") else refused(f"PostgreSQL indexes are never compressed (`{level}`)")


def table_logging(work: Work) -> Support | None:
    """Judge `nologging` of a table that is made or filled."""
    if work.option("logging") == "nologging" and work.mode is Mode.JOB:
        return refused(
            "nologging would make the table UNLOGGED: not crash-safe, empty on every replica; "
            "it is for measurements only"
        )
    return None


def sample(work: Work, facts: Facts) -> Support | None:
    """Judge a sample of the source."""
    kind = str(facts.value("source", "kind", "") or "")
    if work.option("sample") is not None and kind in ("view", "foreign table"):
        return refused("TABLESAMPLE reads only tables and materialized views; put the sample into a --query")
    return None


def table_compression(work: Work, facts: Facts) -> Support | None:
    """Judge the compression of a new table; the answer may be that it is supported, with a sentence."""
    level = work.option("compression")
    if level is None:
        return None
    if level == "none":
        return refused(
            "PostgreSQL always compresses wide values of a new table (pglz or lz4); none needs STORAGE EXTERNAL "
            "for each column, which CREATE TABLE AS cannot set"
        )
    if level not in _TOAST_METHODS:
        return refused(f"PostgreSQL has no table compression `{level}`; it has pglz or lz4 for wide values")
    known = str(facts.value("server", "toast_compressions", "pglz,lz4")).split(",")
    if level not in known:
        return refused(f"this server was built without {level}; it has {', '.join(known)}")
    return Support(
        SupportState.SUPPORTED,
        f"{level} applies to values wider than 2 kB; values already compressed in the source keep their method",
    )
