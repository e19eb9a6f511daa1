"""Whether a target can do a piece of work, and the sentence a DBA would want; never a bare boolean."""

from __future__ import annotations

from collections.abc import Callable

from toolkit.dialects.base import Work
from toolkit.dialects.oracle import spelling
from toolkit.dialects.oracle.catalog import fact_about
from toolkit.dialects.oracle.releases import FEATURES, MAINTAINED_SCHEMAS, Feature, edition_of, has
from toolkit.model.facts import Facts
from toolkit.model.values import Support
from toolkit.model.words import ObjectKind, OperationName, SupportState

_OK = Support(SupportState.SUPPORTED)
_TABLE_WORK = (OperationName.CTAS, OperationName.INSERT)
_INDEX_WORK = (OperationName.INDEX_BUILD, OperationName.INDEX_REBUILD)


def support(work: Work, facts: Facts) -> Support:
    """Judge a piece of work; the first thing in its way is said.

    Rows `licences` of the facts (column `licence`) name the options that the target's profile declares.
    """
    judges: tuple[Callable[[Work, Facts], Support | None], ...] = (
        _owner,
        _degree,
        _compression,
        _online,
        _statistics,
        _partitions,
        _same_columns,
        _load,
    )
    found = (judge(work, facts) for judge in judges)
    return next((answer for answer in found if answer is not None), _OK)


def option_is_off(facts: Facts, parameter: str) -> bool:
    """Tell whether V$OPTION was read and says FALSE for an option."""
    return any(
        row.get("parameter") == parameter and str(row.get("value")).upper() == "FALSE"
        for row in facts.rows("doctor_options")
    )


def _owner(work: Work, facts: Facts) -> Support | None:
    schema = work.object.name.name if work.object.kind is ObjectKind.STATISTICS else work.object.name.schema
    schema = schema or str(facts.value("server", "current_schema") or "")
    if schema in MAINTAINED_SCHEMAS or _said_maintained(facts, schema):
        return _no(f"`{schema}` belongs to the database software; work in a schema of your own")
    return None


def _said_maintained(facts: Facts, schema: str) -> bool:
    return any(
        row.get("oracle_maintained") == "Y" and row.get("schema_name") == schema
        for rows in facts.answers.values()
        for row in rows
    )


def _degree(work: Work, facts: Facts) -> Support | None:
    if spelling.is_serial(work):
        return None
    edition = edition_of(facts)
    if not edition.parallel:
        return _no(
            f"Oracle {edition.words} runs every statement serially; a degree above 1 needs Enterprise Edition"
        )
    if option_is_off(facts, "Parallel execution"):
        return _no("V$OPTION says that parallel execution is not part of this installation")
    return None


def _compression(work: Work, facts: Facts) -> Support | None:
    level = spelling.text_option(work, "compression")
    if level is None or level == "none":
        return None
    if work.operation in _INDEX_WORK:
        return _index_compression(work, level, facts)
    if spelling.table_compression(level, facts.release) is None:
        return _no(
            f"tables have no compression `{level}`: none, basic, oltp, advanced, query_low, query_high, "
            "archive_low or archive_high"
        )
    edition = edition_of(facts)
    if edition.enterprise is False or option_is_off(facts, "Basic Compression"):
        return _no(f"table compression needs Enterprise Edition; this is {edition.words}")
    if level in ("oltp", "advanced"):
        return _advanced_compression(f"compression `{level}`", facts)
    return None


def _index_compression(work: Work, level: str, facts: Facts) -> Support | None:
    if spelling.index_compression(level) is None:
        return _no(f"indexes have no compression `{level}`: none, basic (prefix), low or high")
    if level == "basic":
        single = bool(work.option("unique")) and len(work.columns) == 1
        return _no("the prefix of a unique index of one column cannot be compressed") if single else None
    feature = Feature.INDEX_ADVANCED_LOW if level == "low" else Feature.INDEX_ADVANCED_HIGH
    if not has(facts.release, feature):
        since = ".".join(map(str, FEATURES[feature].number))
        return _no(f"index compression `{level}` came with release {since}")
    return _advanced_compression(f"index compression `{level}`", facts)


def _advanced_compression(what: str, facts: Facts) -> Support | None:
    edition = edition_of(facts)
    if edition.enterprise is False or option_is_off(facts, "Advanced Compression"):
        return _no(
            f"{what} needs Enterprise Edition with the Advanced Compression option; this is {edition.words}"
        )
    if edition.code == "free":
        return None  # Oracle Database Free and its options need no licence (Licensing Information, Free)
    if any(row.get("licence") == "advanced_compression" for row in facts.rows("licences")):
        return None
    return Support(
        SupportState.NEEDS_LICENCE,
        f"{what} needs the Advanced Compression option; declare `advanced_compression` in the target's profile",
    )


def _online(work: Work, facts: Facts) -> Support | None:
    if work.operation not in _INDEX_WORK or not work.option("online"):
        return None
    edition = edition_of(facts)
    if edition.enterprise is False or option_is_off(facts, "Online Index Build"):
        return _no(f"ONLINE needs Enterprise Edition; this is {edition.words}")
    return None


def _statistics(work: Work, facts: Facts) -> Support | None:
    if work.operation is OperationName.STATS_GATHER:
        if work.object.kind is not ObjectKind.STATISTICS and work.option("gather") not in (None, "gather"):
            return _no("stale or empty objects are chosen within a schema; a table is gathered as it is")
        if work.option("gather") == "auto" and work.degree > 1:
            return _no("`--gather auto` lets Oracle choose and ignores the degree; leave one of the two out")
    wanted = work.operation in _TABLE_WORK and work.option("online_statistics")
    if wanted and not has(facts.release, Feature.ONLINE_STATISTICS):
        return _no("statistics while loading came with release 12.1")
    return None


def _same_columns(work: Work, _: Facts) -> Support | None:
    if work.operation is OperationName.INDEX_BUILD and work.concurrency > 1:
        return _no("the same columns of one table cannot be indexed twice (ORA-01408); build with one session")
    return None


def _partitions(work: Work, facts: Facts) -> Support | None:
    if work.operation is OperationName.INDEX_REBUILD:
        if str(fact_about(facts, work.object.name, "partitioned") or "NO") == "YES":
            return _no(
                f"the index `{work.object.name}` is partitioned: it is rebuilt partition by partition (ORA-14086)"
            )
        kind = str(fact_about(facts, work.object.name, "index_type") or "NORMAL")
        if kind.startswith(("DOMAIN", "IOT", "LOB", "CLUSTER")):
            return _no(f"an index of type {kind} is not rebuilt this way")
        if work.option("online") and "BITMAP" in kind and not facts.release.number >= (12,):
            return _no("a bitmap index cannot be rebuilt ONLINE in this release")
    return None


def _load(work: Work, facts: Facts) -> Support | None:
    if work.operation is not OperationName.INSERT or spelling.is_serial(work):
        return None
    if fact_about(facts, work.object.name, "cluster_name") is not None:
        return _no(f"`{work.object.name}` is in a cluster: a load into it is always serial")
    if fact_about(facts, work.object.name, "iot_type") is not None:
        return _no(f"`{work.object.name}` is index-organized: a load into it falls back to a serial insert")
    return None


def _no(sentence: str) -> Support:
    return Support(SupportState.UNSUPPORTED, sentence)
