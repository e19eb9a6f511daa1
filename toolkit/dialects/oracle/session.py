"""What a worker's session is set to before the clock, and back to after it; one statement a call.

Each says how it is undone, so that from trial to trial only what differs is sent (`toolkit.runner.context`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

from toolkit.dialects.answers import LockWaits
from toolkit.dialects.locks import asked_seconds, tries
from toolkit.dialects.oracle import spelling
from toolkit.dialects.oracle.degrees import consumer_group, parameters
from toolkit.dialects.oracle.names import parse_name
from toolkit.dialects.oracle.places import service_of
from toolkit.dialects.oracle.releases import Feature, has
from toolkit.dialects.work import Call, Work
from toolkit.model.experiment import OptionValue
from toolkit.model.facts import Facts
from toolkit.model.words import Effect, Mode, Role

LOCK_WAIT_SECONDS = 60
_BUSY = frozenset({"ORA-00054", "ORA-04021"})
_LARGEST_SORT_AREA = 2**31 - 1
"""SORT_AREA_SIZE is a signed 32-bit number (Database Reference)."""

# A session may be refused a parameter: not modifiable in this container (ORA-65040), by this session (ORA-02096,
# ORA-02097), not known to this release (ORA-02248), locked down (ORA-01031). The evidence then decides alone.
_REFUSED = frozenset({"ORA-65040", "ORA-02095", "ORA-02096", "ORA-02097", "ORA-02248", "ORA-01031"})

# Defaults of the Database Reference, for a former value nobody read.
_DEFAULTS = {
    "PARALLEL_DEGREE_POLICY": "MANUAL",
    "PARALLEL_MIN_PERCENT": "0",
    "DDL_LOCK_TIMEOUT": "0",
    "OPTIMIZER_IGNORE_PARALLEL_HINTS": "FALSE",
    "NLS_NUMERIC_CHARACTERS": ".,",
    "OPTIMIZER_IGNORE_HINTS": "FALSE",
    "QUERY_REWRITE_ENABLED": "TRUE",
    "WORKAREA_SIZE_POLICY": "AUTO",
    "SORT_AREA_SIZE": "65536",
}


_TEXTS = frozenset({"NLS_NUMERIC_CHARACTERS", "TRACEFILE_IDENTIFIER"})
"""Parameters whose value is a text in quotes."""
TRACED_AS = "DBATK"
"""TRACEFILE_IDENTIFIER of a traced session: it stands in the file's name. The run is its client identifier."""
_NO_GROUP, _EVERYBODYS_GROUP = "OTHER_GROUPS", "DEFAULT_CONSUMER_GROUP"


def lock_wait_seconds(options: Mapping[str, OptionValue]) -> int:
    """Return how long DDL waits for the transactions of others, in whole seconds."""
    asked = asked_seconds(options)
    return LOCK_WAIT_SECONDS if asked is None else round(asked)


def lock_waits(options: Mapping[str, OptionValue]) -> LockWaits:
    """Let the control session wait as the workers do, and try again: it puts back what must not stay."""
    wait = _set(("DDL_LOCK_TIMEOUT", str(lock_wait_seconds(options))), refusable=True)
    return LockWaits((replace(wait, session=Role.CONTROL),), _BUSY, tries(options))


def begin(work: Work, facts: Facts) -> tuple[Call, ...]:
    """Set a worker's session up; group, policy and hints first, the switches of parallelism and the trace last."""
    calls = [
        replace(_set(*group, refusable=refusable), undo=(_back(group, facts),))
        for group, refusable in _statements(work, facts)
    ]
    switches = (
        replace(_switch(verb, what, degree), undo=(_switch(undo, what, None),))
        for verb, what, degree, undo in _switches(work)
    )
    return (*_group(work, facts), *calls, *switches, *_trace(work))


def end(work: Work, facts: Facts, *, in_transaction: bool = False) -> tuple[Call, ...]:
    """Put a worker's session back, in the reverse order; `in_transaction`: what failed may have left one open."""
    opening: tuple[Call, ...] = ()
    if in_transaction:
        # A transaction keeps its locks, and lets no DML switch be set inside it (ORA-12841).
        opening = (Call("rollback", session=Role.WORKER, effect=Effect.CHANGES),)
    back = [_switch(undo, what, None) for _, what, _, undo in reversed(_switches(work))]
    restored = [_back(group, facts) for group, _ in reversed(_statements(work, facts))]
    untraced = (undo for call in reversed(_trace(work)) for undo in call.undo)
    left = (undo for call in _group(work, facts) for undo in call.undo)
    return (*opening, *untraced, *back, *restored, *left)


def _group(work: Work, facts: Facts) -> tuple[Call, ...]:
    """Switch to the consumer group asked for; back to the session's own, or to the one that PUBLIC may switch to.

    Nobody can switch to OTHER_GROUPS (ORA-29396; PL/SQL Packages, DBMS_SESSION.SWITCH_CURRENT_CONSUMER_GROUP).
    """
    text = spelling.text_option(work, "consumer_group")
    if text is None:
        return ()
    own = consumer_group(facts) or _NO_GROUP
    back = replace(
        _switch_group(_EVERYBODYS_GROUP if own == _NO_GROUP else own),
        tolerates=frozenset({"ORA-01031", "ORA-29368", "ORA-29396"}),
    )
    return (replace(_switch_group(parse_name(text).name), undo=(back,)),)


def _switch_group(name: str) -> Call:
    return Call("consumer_group", {"group": name}, session=Role.WORKER, effect=Effect.CHANGES)


def _trace(work: Work) -> tuple[Call, ...]:
    """Trace the session and its waits into a file that bears our name (DBMS_SESSION needs only ALTER SESSION)."""
    if not work.option("sql_trace"):
        return ()
    ended = _set(("TRACEFILE_IDENTIFIER", ""), refusable=True)
    off = Call("session_trace", {"begins": False}, session=Role.WORKER, effect=Effect.CHANGES)
    on = replace(off, values={"begins": True}, undo=(off,))
    return (replace(_set(("TRACEFILE_IDENTIFIER", TRACED_AS), refusable=True), undo=(ended,)), on)


def remarks(work: Work) -> Iterator[str]:
    """Say what a trace does to the times, and where its other files are."""
    if work.option("sql_trace"):
        yield (
            "SQL trace slows every session down: compare times with those of traced runs only; a session's file "
            f"is named `*_{TRACED_AS}.trc`, parallel servers write files of their own (`*_p000_*.trc` and on) "
            "beside it, and `trcsess clientid=RUN` joins them"
        )


def _statements(work: Work, facts: Facts) -> list[tuple[tuple[tuple[str, str], ...], bool]]:
    """Divide the parameters into statements, and whether each may be refused: those that must hold are one.

    ALTER SESSION SET takes several parameters (SQL Language Reference, alter_session_set_clause); one that is
    refused takes the others of its statement with it, so those that may be are each on their own.
    """
    chosen = _parameters(work, facts)
    firm = tuple((name, value) for name, value, refusable in chosen if not refusable)
    alone = [((name, value), refusable) for name, value, refusable in chosen if refusable]
    return [(firm, False), *(((one,), refusable) for one, refusable in alone)]


def _back(group: tuple[tuple[str, str], ...], facts: Facts) -> Call:
    return _set(*((name, _former(name, facts)) for name, _ in group), refusable=True)


def _parameters(work: Work, facts: Facts) -> list[tuple[str, str, bool]]:
    auto = spelling.degree_word(work) == "auto"
    chosen = [("PARALLEL_DEGREE_POLICY", "AUTO" if auto else "MANUAL", False)]
    if work.mode is Mode.MEASUREMENT and spelling.degree_word(work) is None:
        # ORA-12827 instead of a quiet downgrade (VLDBG, PARALLEL_MIN_PERCENT). A serial statement asks for no
        # servers; its session is set alike, so that nothing has to be sent between the cells of a sweep.
        chosen.append(("PARALLEL_MIN_PERCENT", "100", True))
    chosen += _sort_area(work)
    chosen.append(("DDL_LOCK_TIMEOUT", str(lock_wait_seconds(work.options)), False))
    chosen.append(("NLS_NUMERIC_CHARACTERS", ".,", False))
    if work.mode is Mode.MEASUREMENT and work.query is not None:
        # A query of the user's has no added hint: no materialized view may answer it (SQLRF, NO_REWRITE).
        chosen.append(("QUERY_REWRITE_ENABLED", "FALSE", True))
    if has(facts.release, Feature.IGNORE_PARALLEL_HINTS):
        chosen.append(("OPTIMIZER_IGNORE_PARALLEL_HINTS", "FALSE", True))
    service = service_of(facts)
    own = {name: value for name, value, _ in service.session}
    if parameters(facts).get("optimizer_ignore_hints", "").upper() == "TRUE":
        own["OPTIMIZER_IGNORE_HINTS"] = "FALSE"
    chosen += [(name, value, True) for name, value in own.items()]
    return [one for one in chosen if one[0] not in service.unsettable]


def _sort_area(work: Work) -> list[tuple[str, str, bool]]:
    """Give each sorting process the memory asked for; PX servers take both over from the session (VLDBG)."""
    asked = work.option("sort_area_mb")
    if not isinstance(asked, int):
        return []
    size = min(asked * 2**20, _LARGEST_SORT_AREA)
    return [("WORKAREA_SIZE_POLICY", "MANUAL", False), ("SORT_AREA_SIZE", str(size), False)]


def _switches(work: Work) -> list[tuple[str, str, int | None, str]]:
    """Return (verb, what, degree, verb that undoes it) of the ALTER SESSION switches."""
    chosen: list[tuple[str, str, int | None, str]] = []
    if work.operation in ("ctas", "insert") and work.query is not None:
        chosen += _query_switch(work)
    if work.operation == "mview-refresh":
        # DBMS_MVIEW writes its own statements: what they are given is the session's.
        chosen += _query_switch(work)
        if not spelling.is_serial(work):
            verb, degree = ("FORCE", work.degree) if work.degree > 1 else ("ENABLE", None)
            chosen.append((verb, "DML", degree, "DISABLE"))
    by_session = not spelling.is_serial(work) and not spelling.hints_parallel_dml(work)
    if work.operation == "insert" and by_session:
        chosen.append(("ENABLE", "DML", None, "DISABLE"))
    return chosen


def _query_switch(work: Work) -> list[tuple[str, str, int | None, str]]:
    # The user's own query is run as it is, so the degree of its objects is set around it, not by hints in it.
    if spelling.is_serial(work):
        return [("DISABLE", "QUERY", None, "ENABLE")]
    return [("FORCE", "QUERY", work.degree, "ENABLE")] if work.degree > 1 else []


def _former(name: str, facts: Facts) -> str:
    for row in facts.rows("settings"):
        if str(row.get("name", "")).upper() == name and row.get("value") is not None:
            return str(row["value"])
    theirs = {each: default for each, _, default in service_of(facts).session}
    return theirs[name] if name in theirs else _DEFAULTS[name]


def _set(*parameters: tuple[str, str], refusable: bool) -> Call:
    spelled = [_spelled(name, value) for name, value in parameters]
    words, numbers, quoted = zip(*spelled, strict=True)
    names = tuple(name for name, _ in parameters)
    return Call(
        "session_set_all",
        {"names": names, "words": words, "numbers": numbers, "quoted": quoted},
        session=Role.WORKER,
        effect=Effect.CHANGES,
        tolerates=_REFUSED if refusable else frozenset(),
    )


def _spelled(name: str, value: str) -> tuple[str | None, int | None, str | None]:
    """Return a value as a word, a number or a text in quotes."""
    if value.isdecimal():
        return None, int(value), None
    return (None, None, value) if name in _TEXTS else (value.upper(), None, None)


def _switch(verb: str, what: str, degree: int | None) -> Call:
    return Call(
        "session_parallel",
        {"verb": verb, "what": what, "degree": degree},
        session=Role.WORKER,
        effect=Effect.CHANGES,
    )
