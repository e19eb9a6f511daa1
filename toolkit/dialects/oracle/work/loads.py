"""What CTAS and INSERT AS SELECT share: table compression, and statistics gathered while loading."""

from __future__ import annotations

from toolkit.dialects.base import Work
from toolkit.dialects.oracle import spelling
from toolkit.dialects.oracle.options import advanced_compression, option_is_off
from toolkit.dialects.oracle.releases import Feature, edition_of, has
from toolkit.model.facts import Facts
from toolkit.model.values import Support
from toolkit.model.words import SupportState


def judge(work: Work, facts: Facts) -> Support | None:
    """Judge compression and statistics of a load."""
    return _compression(work, facts) or _statistics(work, facts)


def _compression(work: Work, facts: Facts) -> Support | None:
    level = spelling.text_option(work, "compression")
    if level is None or level == "none":
        return None
    if spelling.table_compression(level, facts.release) is None:
        return _no(
            f"tables have no compression `{level}`: none, basic, oltp, advanced, query_low, query_high, "
            "archive_low or archive_high"
        )
    edition = edition_of(facts)
    if edition.enterprise is False or option_is_off(facts, "Basic Compression"):
        return _no(f"table compression needs Enterprise Edition; this is {edition.words}")
    if level in ("oltp", "advanced"):
        return advanced_compression(f"compression `{level}`", facts)
    return None


def _statistics(work: Work, facts: Facts) -> Support | None:
    if work.option("online_statistics") and not has(facts.release, Feature.ONLINE_STATISTICS):
        return _no("statistics while loading came with release 12.1")
    return None


def _no(sentence: str) -> Support:
    return Support(SupportState.UNSUPPORTED, sentence)
