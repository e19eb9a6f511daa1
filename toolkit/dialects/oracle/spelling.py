"""How Oracle spells degrees, compression, logging and hints; words come from tables, never from users."""

from __future__ import annotations

import re

from toolkit.dialects.oracle.releases import Feature, has
from toolkit.dialects.work import ContextValue, Work
from toolkit.model.facts import Facts, Release
from toolkit.model.words import Mode

HYBRID_COLUMNAR = ("query_low", "query_high", "archive_low", "archive_high")

# SQLRF 11.2, table_compression.
_TABLE_WORDS_11 = {
    "none": "NOCOMPRESS",
    "basic": "COMPRESS BASIC",
    "oltp": "COMPRESS FOR OLTP",
    "advanced": "COMPRESS FOR OLTP",
    **{level: "COMPRESS FOR " + level.replace("_", " ").upper() for level in HYBRID_COLUMNAR},
}
# SQLRF 12.1 to 26ai, table_compression.
_TABLE_WORDS_12 = {
    "none": "NOCOMPRESS",
    "basic": "ROW STORE COMPRESS BASIC",
    "oltp": "ROW STORE COMPRESS ADVANCED",
    "advanced": "ROW STORE COMPRESS ADVANCED",
    **{level: "COLUMN STORE COMPRESS FOR " + level.replace("_", " ").upper() for level in HYBRID_COLUMNAR},
}
# SQLRF, index_attributes and advanced_index_compression.
_INDEX_WORDS = {
    "none": "NOCOMPRESS",
    "basic": "COMPRESS",
    "low": "COMPRESS ADVANCED LOW",
    "high": "COMPRESS ADVANCED HIGH",
}

_PLAIN = re.compile(r"[A-Z][A-Z0-9_$#]*")

DEGREE_WORDS = ("default", "auto")


def degree_word(work: Work) -> str | None:
    """Return `default` or `auto` when the degree was given as a word."""
    level = work.option("degree")
    if isinstance(level, str) and level in DEGREE_WORDS:
        return level
    return "default" if work.degree == 0 else None


def is_serial(work: Work) -> bool:
    """Tell whether the work is asked to run serially."""
    return degree_word(work) is None and work.degree <= 1


def parallel_clause(work: Work) -> str:
    """Spell the parallel clause of a table or index: `PARALLEL 8`, `PARALLEL`, `NOPARALLEL`."""
    if is_serial(work):
        return "NOPARALLEL"
    return "PARALLEL" if degree_word(work) else f"PARALLEL {work.degree}"


def degree_hint(work: Work, alias: str) -> str:
    """Spell the hint for one object of a query.

    The serial baseline needs NO_PARALLEL: without it the table's own DEGREE would make the query parallel.
    `auto` is a hint of the whole statement; an object cannot have it.
    """
    word = degree_word(work)
    if word == "auto":
        return "PARALLEL(AUTO)"
    if word == "default":
        return f"PARALLEL({alias} DEFAULT)"
    return f"PARALLEL({alias} {work.degree})" if work.degree > 1 else f"NO_PARALLEL({alias})"


def statistics_hint(work: Work, facts: Facts) -> str:
    """Spell the hint that keeps statistics out of a measured load, where the release gathers them at all."""
    gathers = work.option("online_statistics") or ("yes" if work.mode is Mode.JOB else "no")
    if gathers in (True, "yes"):
        return ""
    return "NO_GATHER_OPTIMIZER_STATISTICS" if has(facts.release, Feature.ONLINE_STATISTICS) else ""


def rewrite_hint(work: Work) -> str:
    """Spell the hint that makes a measured scan read its table, not a materialized view of it."""
    return "NO_REWRITE" if work.mode is Mode.MEASUREMENT else ""


def distribute_hint(work: Work, table: str) -> str:
    """Spell how rows reach the servers that load them: by what the load calls its table (SQLRF, PQ_DISTRIBUTE)."""
    level = text_option(work, "pq_distribute")
    return f"PQ_DISTRIBUTE({table} {level.upper()})" if level else ""


def is_plain(name: str) -> bool:
    """Tell whether a name stands for itself without quotes, as in a hint."""
    return _PLAIN.fullmatch(name) is not None


def hints_parallel_dml(work: Work) -> bool:
    """Tell whether parallel DML is enabled by a hint of the statement, not by the session."""
    return work.option("parallel_dml") == "hint" and not is_serial(work)


def hints(*words: str) -> str:
    """Join hints, each once, leaving out the empty ones."""
    return " ".join(dict.fromkeys(word for word in words if word))


def table_compression(level: str, release: Release) -> str | None:
    """Spell a compression level of a table, or None when tables have no such level."""
    words = _TABLE_WORDS_12 if has(release, Feature.STORE_WORDS) else _TABLE_WORDS_11
    return words.get(level)


def index_compression(level: str) -> str | None:
    """Spell a compression level of an index, or None when indexes have no such level."""
    return _INDEX_WORDS.get(level)


def logging_word(work: Work) -> str:
    """Spell LOGGING or NOLOGGING; without a wish the object is logged."""
    return "NOLOGGING" if work.option("logging") == "nologging" else "LOGGING"


def integer_option(work: Work, name: str) -> ContextValue:
    """Return an option as an integer, or None."""
    value = work.option(name)
    return int(value) if isinstance(value, int | float) and not isinstance(value, bool) else None


def text_option(work: Work, name: str) -> str | None:
    """Return an option as text, or None."""
    value = work.option(name)
    return str(value) if value is not None else None
