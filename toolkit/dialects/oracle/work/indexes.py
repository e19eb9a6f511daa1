"""What building and rebuilding an index share: storage, compression, ONLINE."""

from __future__ import annotations

from toolkit.dialects.base import ContextValue, Work
from toolkit.dialects.oracle import spelling
from toolkit.dialects.oracle.options import advanced_compression, option_is_off
from toolkit.dialects.oracle.releases import FEATURES, Feature, edition_of, has
from toolkit.dialects.oracle.work.base import tablespace
from toolkit.model.facts import Facts
from toolkit.model.values import Support
from toolkit.model.words import SupportState


def storage(work: Work) -> dict[str, ContextValue]:
    """Return the values of index attributes that both templates take."""
    compression = spelling.text_option(work, "compression")
    return {
        "pctfree": spelling.integer_option(work, "pctfree"),
        "tablespace": tablespace(work),
        "compression": spelling.index_compression(compression) if compression else None,
        "logging": spelling.logging_word(work),
        "online": bool(work.option("online")),
    }


def judge(work: Work, facts: Facts) -> Support | None:
    """Judge compression and ONLINE."""
    return _compression(work, facts) or _online(work, facts)


def _compression(work: Work, facts: Facts) -> Support | None:
    level = spelling.text_option(work, "compression")
    if level is None or level == "none":
        return None
    if spelling.index_compression(level) is None:
        return _no(f"indexes have no compression `{level}`: none, basic (prefix), low or high")
    if level == "basic":
        single = bool(work.option("unique")) and len(work.columns) == 1
        return _no("the prefix of a unique index of one column cannot be compressed") if single else None
    feature = Feature.INDEX_ADVANCED_LOW if level == "low" else Feature.INDEX_ADVANCED_HIGH
    if not has(facts.release, feature):
        since = ".".join(map(str, FEATURES[feature].number))
        return _no(f"index compression `{level}` came with release {since}")
    return advanced_compression(f"index compression `{level}`", facts)


def _online(work: Work, facts: Facts) -> Support | None:
    if not work.option("online"):
        return None
    edition = edition_of(facts)
    if edition.enterprise is False or option_is_off(facts, "Online Index Build"):
        return _no(f"ONLINE needs Enterprise Edition; this is {edition.words}")
    return None


def _no(sentence: str) -> Support:
    return Support(SupportState.UNSUPPORTED, sentence)
