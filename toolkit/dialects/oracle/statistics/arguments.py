"""The arguments of DBMS_STATS.GATHER_*: what is sent, and which combinations make no sense.

What nobody asked for is not sent: a parameter sent overrides the preference a DBA may have set for the table.
FORCE is sent only where a job asks for it: locked statistics stay as they are.
"""

from __future__ import annotations

import re

from toolkit.dialects.oracle import spelling
from toolkit.dialects.oracle.names import package_name, parse_name
from toolkit.dialects.oracle.releases import Feature, has
from toolkit.dialects.work import ContextValue, Work
from toolkit.errors import ToolkitError
from toolkit.model.facts import Facts
from toolkit.model.values import Support
from toolkit.model.words import Mode, ObjectKind, SupportState

_YES_NO = {"yes": "TRUE", "no": "FALSE"}
_DEGREE_CONSTANTS = {"default": "DEFAULT_DEGREE", "auto": "AUTO_DEGREE"}
_GATHER = {"gather": "GATHER", "stale": "GATHER STALE", "empty": "GATHER EMPTY", "auto": "GATHER AUTO"}
_IGNORED_BY_AUTO = ("estimate_percent", "block_sample", "method_opt", "granularity", "cascade", "no_invalidate")
"""GATHER AUTO ignores them, and the degree (PL/SQL Packages, GATHER_SCHEMA_STATS, `options`)."""

# The grammar of METHOD_OPT (PL/SQL Packages, GATHER_TABLE_STATS); a schema takes the first form only.
_SIZE = r"SIZE\s+(?:[0-9]{1,4}|REPEAT|AUTO|SKEWONLY)"
_COLUMN = r'(?:"[^"\x00]{1,128}"|[A-Z][A-Z0-9_$#]*)'
_GROUP = rf"\(\s*{_COLUMN}(?:\s*,\s*{_COLUMN})*\s*\)"
_PICKED = rf"(?:{_COLUMN}|{_GROUP})(?:\s+{_SIZE})?"
_FOR_ALL = rf"FOR\s+ALL\s+(?:INDEXED\s+|HIDDEN\s+)?COLUMNS(?:\s+{_SIZE})?"
_FOR_SOME = rf"FOR\s+COLUMNS\s+(?:{_SIZE}\s+)?{_PICKED}(?:\s*,\s*{_PICKED})*"
_OF_SCHEMA = re.compile(_FOR_ALL, re.IGNORECASE)
_OF_TABLE = re.compile(rf"(?:{_FOR_ALL}|{_FOR_SOME})(?:\s+{_FOR_SOME})*", re.IGNORECASE)
_BLANKS = re.compile(r'"[^"]*"|\s+')
_BUCKETS = re.compile(r"\bSIZE\s+([0-9]{1,4})", re.IGNORECASE)


def of_schema(work: Work) -> bool:
    """Tell whether one call gathers a whole schema."""
    return work.object.kind is ObjectKind.STATISTICS and work.option("server") is None


def owner_of(work: Work) -> str | None:
    """Return the schema worked on, as the catalogue spells it; None is the session's own."""
    return work.object.name.name if of_schema(work) else work.object.name.schema


def values(work: Work) -> dict[str, ContextValue]:
    """Return the values of the templates `stats_schema` and `stats_table`."""
    owner = owner_of(work)
    named: dict[str, ContextValue] = {
        "owner": package_name(owner) if owner else None,
        "table": None if of_schema(work) else package_name(work.object.name.name),
        "partition": _partition(work),
        "gather": _GATHER.get(spelling.text_option(work, "gather") or "") if of_schema(work) else None,
    }
    named["force"] = work.option("force_locked") is True
    if of_schema(work):
        named["patterns"] = patterns_of(work)
    if work.option("gather") == "auto":
        return {**named, **_NOTHING}
    return {
        **named,
        "block_sample": _YES_NO.get(spelling.text_option(work, "block_sample") or ""),
        "method_opt": method_opt(work),
        "granularity": _granularity(work),
        **_degree(work),
        **_estimate(work),
        **_choice(work, "cascade", "AUTO_CASCADE"),
        **_choice(work, "no_invalidate", "AUTO_INVALIDATE", in_measurements="yes"),
    }


_NOTHING: dict[str, ContextValue] = {
    **dict.fromkeys(("degree", "degree_constant", "estimate_percent", "estimate_constant", "block_sample")),
    **dict.fromkeys(("method_opt", "granularity", "cascade", "cascade_constant")),
    **dict.fromkeys(("no_invalidate", "no_invalidate_constant")),
    "compute": False,
}


def method_opt(work: Work) -> str | None:
    """Return METHOD_OPT on one line with single blanks, as it is sent; quoted names stay as they are."""
    text = spelling.text_option(work, "method_opt")
    return _BLANKS.sub(lambda found: found[0] if found[0][0] == '"' else " ", text.strip()) if text else None


_PATTERN = re.compile(r'"[^"\x00]{1,128}"|[A-Z%][A-Z0-9_$#%]{0,127}')


def patterns_of(work: Work) -> tuple[str, ...]:
    """Return the names and patterns of `--only-tables`; `%` and `_` stand as in LIKE.

    Raises:
        ToolkitError: TK-0102 for what is neither a name nor a pattern.
    """
    value = work.option("only_tables")
    texts = [str(text).strip() for text in value] if isinstance(value, tuple | list) else []
    texts = [text if text.startswith('"') else text.upper() for text in texts]
    for text in texts:
        if not _PATTERN.fullmatch(text):
            raise ToolkitError(
                f"`{text[:80]}` is not a name or pattern of tables",
                code="TK-0102",
                hint="as in `ORDERS,ITEM%`, without a schema",
            )
    return tuple(texts)


def chosen(work: Work, table: str) -> bool:
    """Tell whether `--only-tables` may choose a table; rather one too many, as letters count in quotes only."""
    patterns = patterns_of(work)
    likes = (re.escape(each.strip('"')).replace("%", ".*").replace("_", ".") for each in patterns)
    return not patterns or any(re.fullmatch(like, table, re.IGNORECASE | re.DOTALL) for like in likes)


def _partition(work: Work) -> str | None:
    text = spelling.text_option(work, "partition")
    return package_name(parse_name(text).name) if text else None


def _degree(work: Work) -> dict[str, ContextValue]:
    word = spelling.degree_word(work)
    return {"degree": None if word else work.degree, "degree_constant": _DEGREE_CONSTANTS.get(word or "")}


def _estimate(work: Work) -> dict[str, ContextValue]:
    value = work.option("estimate_percent")
    number = value if isinstance(value, int | float) and not isinstance(value, bool) else None
    constant = "AUTO_SAMPLE_SIZE" if value == "auto" else None
    return {"estimate_percent": number, "estimate_constant": constant, "compute": value == "compute"}


def _granularity(work: Work) -> str | None:
    level = spelling.text_option(work, "granularity")
    return level.replace("_", " ").upper() if level else None


def _choice(work: Work, name: str, constant: str, in_measurements: str | None = None) -> dict[str, ContextValue]:
    level = spelling.text_option(work, name)
    if level is None and work.mode is Mode.MEASUREMENT:
        level = in_measurements
    return {name: _YES_NO.get(level or ""), f"{name}_constant": constant if level == "auto" else None}


# -- what cannot be meant ---------------------------------------------------------------------------------------
def extends(work: Work) -> bool:
    """Tell whether METHOD_OPT names a group of columns or an expression, for which the table gets a hidden column.

    Source: SQL Tuning Guide, "Managing Extended Statistics": GATHER_TABLE_STATS creates the extension if there is
    none, DBMS_STATS.DROP_EXTENDED_STATS drops it.
    """
    return "(" in re.sub(r'"[^"]*"', "", method_opt(work) or "")


def judge(work: Work, facts: Facts) -> Support | None:
    """Judge the arguments; what no release takes is refused at once.

    Raises:
        ToolkitError: TK-0102 for a METHOD_OPT that is none, TK-0107 for a partition without its table.
    """
    _check_partition(work)
    _check_method_opt(work)
    patterns_of(work)
    return _choice_of_objects(work) or _sampling(work) or _histograms(work, facts)


def _check_partition(work: Work) -> None:
    if work.option("partition") is not None and work.option("table") is None:
        raise ToolkitError(
            "`--partition` needs `--table`", code="TK-0107", hint="a schema has no partitions; give the table"
        )


def _check_method_opt(work: Work) -> None:
    text = method_opt(work)
    if text is None:
        return
    whole_schema = work.option("schema") is not None or of_schema(work)
    if (_OF_SCHEMA if whole_schema else _OF_TABLE).fullmatch(text):
        return
    if whole_schema and _OF_TABLE.fullmatch(text):
        hint = "give the table with `--table`, or write `FOR ALL COLUMNS SIZE AUTO`"
        raise ToolkitError(
            "for a schema, `method_opt` accepts only `FOR ALL ... COLUMNS`", code="TK-0102", hint=hint
        )
    raise ToolkitError(
        f"`method_opt` cannot be `{text[:80]}`",
        code="TK-0102",
        hint="write `FOR ALL [INDEXED|HIDDEN] COLUMNS SIZE n|REPEAT|AUTO|SKEWONLY`"
        + ("" if whole_schema else ", or `FOR COLUMNS SIZE n a, b`"),
    )


def _choice_of_objects(work: Work) -> Support | None:
    gather = work.option("gather")
    if not of_schema(work) and gather not in (None, "gather"):
        if work.object.scratch:
            return _no("stale or empty objects are selected in a live schema; copies are gathered as they are")
        return _no("stale or empty objects are selected in a schema; a table is gathered as it is")
    if gather != "auto":
        return None
    given = ignored_by_auto(work)
    return _no(f"`--gather auto` lets Oracle choose and ignores {', '.join(given)}; omit it") if given else None


def ignored_by_auto(work: Work) -> list[str]:
    """Name what was asked for and GATHER AUTO ignores."""
    degree = ["degree"] if spelling.degree_word(work) or work.degree > 1 else []
    return degree + [name for name in _IGNORED_BY_AUTO if work.option(name) is not None]


def _sampling(work: Work) -> Support | None:
    if work.option("block_sample") != "yes":
        return None
    percent = work.option("estimate_percent")
    if isinstance(percent, int | float) and percent < 100:
        return None
    return _no("blocks are only sampled for a percentage below 100; give `--estimate-percent` a number")


def _histograms(work: Work, facts: Facts) -> Support | None:
    most = 2048 if has(facts.release, Feature.LARGE_HISTOGRAMS) else 254
    counts = [int(count) for count in _BUCKETS.findall(method_opt(work) or "")]
    if all(1 <= count <= most for count in counts):
        return None
    return _no(f"a histogram has 1 to {most} buckets in this release, not {max(counts, default=0)}")


def _no(sentence: str) -> Support:
    return Support(SupportState.UNSUPPORTED, sentence)
