"""DBMS_STATS in named notation: two overloads of GATHER_SCHEMA_STATS differ by an OUT argument only.

What nobody asked for is not sent: a parameter sent overrides the preference a DBA may have set for the table.
FORCE is never sent: locked statistics stay as they are.
"""

# ruff: noqa: ARG001 (every operation answers with the same arguments)

from __future__ import annotations

from toolkit.dialects.base import Call, ContextValue, Work
from toolkit.dialects.oracle import spelling
from toolkit.dialects.oracle.names import package_name
from toolkit.model.facts import Facts
from toolkit.model.values import Support
from toolkit.model.words import Effect, Mode, ObjectKind, Role, StepKind, SupportState

_YES_NO = {"yes": "TRUE", "no": "FALSE"}
_DEGREE_CONSTANTS = {"default": "DEFAULT_DEGREE", "auto": "AUTO_DEGREE"}
_GATHER = {"gather": "GATHER", "stale": "GATHER STALE", "empty": "GATHER EMPTY", "auto": "GATHER AUTO"}


def prepare(work: Work, facts: Facts) -> tuple[Call, ...]:
    """Nothing."""
    return ()


def evidence(work: Work, facts: Facts) -> tuple[Call, ...]:
    """Nothing beside the degree."""
    return ()


def settle(work: Work, facts: Facts) -> tuple[Call, ...]:
    """Nothing: statistics stay as gathered."""
    return ()


def judge(work: Work, facts: Facts) -> Support | None:
    """Judge the choice of objects."""
    if work.object.kind is not ObjectKind.STATISTICS and work.option("gather") not in (None, "gather"):
        return _no("stale or empty objects are chosen within a schema; a table is gathered as it is")
    if work.option("gather") == "auto" and work.degree > 1:
        return _no("`--gather auto` lets Oracle choose and ignores the degree; leave one of the two out")
    return None


def _no(sentence: str) -> Support:
    return Support(SupportState.UNSUPPORTED, sentence)


def timed(work: Work, facts: Facts) -> tuple[Call, ...]:
    """Spell the block that gathers a table's or a whole schema's statistics."""
    whole_schema = work.object.kind is ObjectKind.STATISTICS
    name = work.object.name
    values: dict[str, ContextValue] = {
        "owner": _owner(work),
        "table": None if whole_schema else package_name(name.name),
        "gather": _GATHER.get(spelling.text_option(work, "gather") or "") if whole_schema else None,
        "method_opt": spelling.text_option(work, "method_opt"),
        "granularity": _granularity(work),
        **_degree(work),
        **_estimate(work),
        **_choice(work, "cascade", "AUTO_CASCADE"),
        **_choice(work, "no_invalidate", "AUTO_INVALIDATE", in_measurements="yes"),
    }
    call = Call(
        "stats_schema" if whole_schema else "stats_table",
        values,
        kind=StepKind.BLOCK,
        session=Role.WORKER,
        effect=Effect.CHANGES,
        object=work.object,
    )
    return (call,)


def _degree(work: Work) -> dict[str, ContextValue]:
    word = spelling.degree_word(work)
    return {"degree": None if word else work.degree, "degree_constant": _DEGREE_CONSTANTS.get(word or "")}


def _estimate(work: Work) -> dict[str, ContextValue]:
    value = work.option("estimate_percent")
    number = value if isinstance(value, int | float) and not isinstance(value, bool) else None
    return {"estimate_percent": number, "estimate_constant": "AUTO_SAMPLE_SIZE" if value == "auto" else None}


def _granularity(work: Work) -> str | None:
    level = spelling.text_option(work, "granularity")
    return level.replace("_", " ").upper() if level else None


def _choice(work: Work, name: str, constant: str, in_measurements: str | None = None) -> dict[str, ContextValue]:
    level = spelling.text_option(work, name)
    if level is None and work.mode is Mode.MEASUREMENT:
        level = in_measurements
    return {name: _YES_NO.get(level or ""), f"{name}_constant": constant if level == "auto" else None}


def _owner(work: Work) -> str | None:
    name = work.object.name
    owner = name.name if work.object.kind is ObjectKind.STATISTICS else name.schema
    return package_name(owner) if owner else None
