"""What building and rebuilding an index share: storage, compression, ONLINE, the attributes that are put back."""

from __future__ import annotations

from dataclasses import replace

from toolkit.dialects.oracle import archiving, index_facts, spelling
from toolkit.dialects.oracle.options import advanced_compression, option_is_off
from toolkit.dialects.oracle.releases import FEATURES, Feature, edition_of, has
from toolkit.dialects.oracle.work.base import restoring, tablespace
from toolkit.dialects.work import Call, ContextValue, Work
from toolkit.model.facts import Facts
from toolkit.model.steps import ObjectRef
from toolkit.model.values import Support
from toolkit.model.words import Effect, SupportState


def storage(work: Work) -> dict[str, ContextValue]:
    """Return the values of index attributes that both templates take."""
    return {
        "pctfree": spelling.integer_option(work, "pctfree"),
        "tablespace": tablespace(work),
        "compression": compression(work),
        "logging": spelling.logging_word(work),
        "online": bool(work.option("online")),
    }


def compression(work: Work) -> str | None:
    """Spell the compression asked for; a number of leading columns stands beside COMPRESS."""
    level, prefix = spelling.text_option(work, "compression"), spelling.integer_option(work, "prefix")
    if prefix is not None:
        return f"COMPRESS {prefix}"
    return spelling.index_compression(level) if level else None


def attribute(
    ref: ObjectRef,
    word: str,
    level: str | None = None,
    part: str | None = None,
    *,
    instead_of: str | None = None,
) -> Call:
    """Set one attribute of an index or of one partition of it; `instead_of` is what the work set."""
    values: dict[str, ContextValue] = {
        "index": ref.name,
        "attribute": word,
        "level": level.upper() if level else None,
        "part": part,
    }
    back = restoring(word, instead_of, part)
    made = Call("index_attribute", values, effect=Effect.CHANGES, object=ref, restores=back)
    return replace(made, redo_bytes=archiving.DICTIONARY)


def judge(work: Work, facts: Facts) -> Support | None:
    """Judge compression, ONLINE and sort memory."""
    return _compression(work, facts) or _online(work, facts) or _sort_area(work)


def is_bitmap(work: Work, facts: Facts) -> bool:
    """Tell whether a bitmap index is built or rebuilt."""
    return bool(work.option("bitmap")) or "BITMAP" in index_facts.kind(
        index_facts.row_of(facts, index_facts.original(work))
    )


def _compression(work: Work, facts: Facts) -> Support | None:
    level = spelling.text_option(work, "compression")
    if level is None or level == "none":
        return None
    if spelling.index_compression(level) is None:
        return no(f"indexes have no compression `{level}`: none, basic (prefix), low or high")
    if is_bitmap(work, facts):
        return no("a bitmap index is always compressed and accepts no other compression")
    single = bool(work.option("unique")) and len(work.keys or work.columns) == 1
    if single and level in ("basic", "low"):
        return no(f"a unique index of one column has no prefix for compression `{level}`")
    return None if level == "basic" else _advanced(level, facts)


def _advanced(level: str, facts: Facts) -> Support | None:
    feature = Feature.INDEX_ADVANCED_LOW if level == "low" else Feature.INDEX_ADVANCED_HIGH
    if not has(facts.release, feature):
        since = ".".join(map(str, FEATURES[feature].number))
        return no(f"index compression `{level}` needs release {since}")
    return advanced_compression(f"index compression `{level}`", facts)


def _online(work: Work, facts: Facts) -> Support | None:
    if not work.option("online"):
        return None
    edition = edition_of(facts)
    if edition.enterprise is False or option_is_off(facts, "Online Index Build"):
        return no(f"ONLINE needs Enterprise Edition; this is {edition.words}")
    if is_bitmap(work, facts) and not has(facts.release, Feature.BITMAP_ONLINE):
        return no("this release cannot build or rebuild a bitmap index ONLINE (ORA-08108)")
    return None


def _sort_area(work: Work) -> Support | None:
    if isinstance(work.option("sort_area_mb"), int) and spelling.degree_word(work) is not None:
        return no("`--sort-area-mb` applies to each sort process: set their number with `--degree`")
    return None


def needs_enterprise(what: str, option: str, facts: Facts) -> Support | None:
    """Judge what comes with Enterprise Edition, or with an option of it that V$OPTION names."""
    edition = edition_of(facts)
    if edition.enterprise is False or option_is_off(facts, option):
        return no(f"{what} needs Enterprise Edition (V$OPTION `{option}`); this is {edition.words}")
    return None


def no(sentence: str) -> Support:
    """Answer that something cannot be had."""
    return Support(SupportState.UNSUPPORTED, sentence)
