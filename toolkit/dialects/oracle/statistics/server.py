"""Statistics of the server itself: the dictionary, fixed objects (behind V$ views), the system (CPU, I/O).

Each is one call, which replaces what is there for everybody; so it is a job, and what takes it back is told.
Source: PL/SQL Packages, DBMS_STATS: GATHER_DICTIONARY_STATS, GATHER_FIXED_OBJECTS_STATS, GATHER_SYSTEM_STATS, and
the RESTORE_ procedures of each.
"""

from __future__ import annotations

from toolkit.dialects.oracle.statistics import reads
from toolkit.dialects.oracle.statistics.arguments import ignored_by_auto, values
from toolkit.dialects.work import Call, ContextValue, Work
from toolkit.model.facts import Facts
from toolkit.model.values import Support
from toolkit.model.words import Effect, Mode, Role, StepKind, SupportState

_CALLS = {
    "dictionary": "GATHER_DICTIONARY_STATS",
    "fixed_objects": "GATHER_FIXED_OBJECTS_STATS",
    "system": "GATHER_SYSTEM_STATS",
}
_BACK = {
    "dictionary": "RESTORE_DICTIONARY_STATS",
    "fixed_objects": "RESTORE_FIXED_OBJECTS_STATS",
    "system": "RESTORE_SYSTEM_STATS",
}
_RIGHTS = {"dictionary": ("ANALYZE ANY", "ANALYZE ANY DICTIONARY"), "fixed_objects": ("ANALYZE ANY DICTIONARY",)}
_TAKES = {
    "dictionary": ("degree", "estimate_percent", "gather", "no_invalidate"),
    "fixed_objects": ("no_invalidate",),
    "system": (),
}
_NOT_OF_CALLS = frozenset(
    {"server", "degree", "concurrency", "consumer_group", "sql_trace", "lock_wait", "lock_tries"}
)
_EFFECT = {
    "dictionary": "the optimizer plans queries of the dictionary by them",
    "fixed_objects": "the optimizer plans queries of V$ views by them; gather them under a usual load",
    "system": "they weigh CPU against I/O in every execution plan of the database (NOWORKLOAD)",
}


def is_server(work: Work) -> bool:
    """Tell whether a work is about the server itself."""
    return work.option("server") is not None


def _what(work: Work) -> str:
    return str(work.option("server"))


def timed(work: Work) -> Call:
    """Spell the one call; what nobody asked for is not sent, as of tables."""
    what, sent = _what(work), values(work)
    names: tuple[str, ...] = ("no_invalidate", "no_invalidate_constant") if "no_invalidate" in _TAKES[what] else ()
    if what == "dictionary":
        names += ("degree", "degree_constant", "estimate_percent", "estimate_constant", "compute")
    chosen: dict[str, ContextValue] = {**_NOTHING_SENT, **{name: sent.get(name) for name in names}}
    if work.degree == 1 and not work.option("gather"):
        chosen["degree"] = None  # GATHER AUTO, Oracle's default, would ignore it
    chosen |= {
        "procedure": _CALLS[what],
        "mode": "NOWORKLOAD" if what == "system" else None,
        "gather": gather_words(work) if what == "dictionary" else None,
    }
    return Call(
        "stats_server", chosen, kind=StepKind.BLOCK, session=Role.WORKER, effect=Effect.CHANGES, object=work.object
    )


_NOTHING_SENT: dict[str, ContextValue] = {
    **dict.fromkeys(("no_invalidate", "no_invalidate_constant", "degree", "degree_constant")),
    **dict.fromkeys(("estimate_percent", "estimate_constant")),
    "compute": False,
}


def gather_words(work: Work) -> str | None:
    """Return the `options` of the call: which objects of the dictionary; None for Oracle's default, GATHER AUTO.

    That one ignores every other setting (PL/SQL Packages, GATHER_DICTIONARY_STATS), so whoever asks for one means
    another.
    """
    level = work.option("gather")
    if level is None:
        return "GATHER" if ignored_by_auto(work) else None
    return "GATHER" if level == "gather" else f"GATHER {str(level).upper()}"


def judge(work: Work, facts: Facts) -> Support | None:
    """Refuse a measurement, options that the call does not take, and a user without the right."""
    what = _what(work)
    words = what.replace("_", " ")
    if work.mode is not Mode.JOB:
        return _no(f"statistics of the server ({words}) are no copy's: gather them once, as a job")
    given = [name for name, value in work.options.items() if value not in (None, False)]
    strange = [name for name in given if name not in _NOT_OF_CALLS and name not in _TAKES[what]]
    if strange:
        return _no(f"`--{strange[0].replace('_', '-')}` does not apply to statistics of the {words}")
    if work.degree > 1 and "degree" not in _TAKES[what]:
        return _no(f"gathering statistics of the {words} takes no degree")
    if work.option("gather") == "auto" and (ignored := ignored_by_auto(work)):
        return _no(f"`--gather auto` lets Oracle choose and ignores {', '.join(ignored)}; omit it")
    return _right(what, words, facts)


def _right(what: str, words: str, facts: Facts) -> Support | None:
    user = facts.value("server", "user_name")
    if reads.RIGHTS not in facts.answers or user == "SYS" or what not in _RIGHTS:
        return None
    owned = {row.get("privilege") for row in facts.rows(reads.RIGHTS)}
    missing = [name for name in _RIGHTS[what] if name not in owned]
    if not missing:
        return None
    return Support(
        SupportState.NEEDS_PRIVILEGE,
        f"gathering statistics of the {words} needs SYSDBA, or GRANT {', '.join(missing)} TO {user}",
    )


def remarks(work: Work, facts: Facts) -> tuple[str, ...]:
    """Say whom they concern and what takes them back."""
    what = _what(work)
    instant = facts.value(reads.CLOCK, "instant")
    when = "the instant before" if instant is None else f"'{instant}'"
    all_of_it = ""
    if what == "dictionary" and work.option("gather") is None and (asked := ignored_by_auto(work)):
        all_of_it = f"; every object is gathered (GATHER), because GATHER AUTO ignores {', '.join(asked)}"
    asks = "; it needs the role GATHER_SYSTEM_STATISTICS" if what == "system" else ""
    return (
        f"statistics of the {what.replace('_', ' ')}: {_EFFECT[what]}{asks}{all_of_it}",
        f"to go back by hand: DBMS_STATS.{_BACK[what]} with as_of_timestamp of {when}",
    )


def _no(sentence: str) -> Support:
    return Support(SupportState.UNSUPPORTED, sentence)
