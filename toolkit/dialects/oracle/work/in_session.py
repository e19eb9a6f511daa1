"""What all operations of a session share: how it is set up, and what is asked and said besides."""

# ruff: noqa: ARG002 (every implementation answers with the same arguments)

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from toolkit.dialects.answers import EndlessWait, Granted, TrialFindings
from toolkit.dialects.implementations import Implementation, Kept
from toolkit.dialects.oracle import (
    cache,
    findings,
    granted,
    load_facts,
    locks,
    redo,
    session,
    spelling,
    storage,
    support,
)
from toolkit.dialects.oracle.findings import EVIDENCE, TRACES
from toolkit.dialects.oracle.places import counted_here
from toolkit.dialects.oracle.work import indexes
from toolkit.dialects.oracle.work.base import USUAL, OperationWords, shared, table_attribute
from toolkit.dialects.work import Call, Work
from toolkit.model.facts import Facts
from toolkit.model.steps import Attribute, ObjectRef, Takes
from toolkit.model.values import Support
from toolkit.model.words import ObjectKind, Restored


def of_place(facts: Facts) -> tuple[str, ...]:
    """Say what a count of processors is of, where the session is not alone on its host."""
    counted = counted_here(facts)
    return () if counted is None else (counted,)


def _unusual(calls: Iterable[Call]) -> Iterator[tuple[ObjectRef, Attribute]]:
    """Return what calls would restore of the user's objects that is not what these usually have."""
    for call in calls:
        if call.object is not None and not call.object.scratch:
            backs = (back.restores for back in call.undo if back.restores is not None)
            found = {(each.name, each.part): each for each in (*call.overwrites, *backs)}
            yield from ((call.object, each) for each in found.values() if each.back != USUAL[each.name])


def _to_usual(ref: ObjectRef, found: Attribute) -> Call:
    word = {"degree": "NOPARALLEL", "logging": "LOGGING"}[found.name]
    if ref.kind is ObjectKind.INDEX:
        call = indexes.attribute(ref, word, found.part and "partition", found.part)
    else:
        call = table_attribute(ref, word, found.part)
    return replace(call, overwrites=(replace(found, ours=USUAL[found.name]),))


class OracleInSession(Implementation):
    """A statement or a package call of a session; the words of each operation are in its module.

    Privileges: Database Security Guide; SQL Language Reference and DBMS_STATS, prerequisites.
    """

    privileges = ("CREATE TABLE",)
    in_transaction = False
    """Whether its statements leave a transaction open until a COMMIT."""

    def __init__(
        self, words: OperationWords, *, elsewhere: tuple[str, ...] = (), files: tuple[str, ...] = ()
    ) -> None:
        self._words = words
        self.privileges_elsewhere, self.object_files = elsewhere, files

    def option_files(self, asked: Mapping[str, Sequence[object]]) -> tuple[str, ...]:
        needs = "cold" in asked.get("cache", ()) or any(asked.get("sql_trace", ()))
        columnar = any(level in spelling.HYBRID_COLUMNAR for level in asked.get("compression", ()))
        return (*((support.PRIVILEGES,) if needs else ()), *((storage.TABLESPACES,) if columnar else ()))

    def support(self, work: Work, facts: Facts) -> Support:
        refused = support.of_session(work, facts) or self._words.judge(work, facts) or redo.judge(work, facts)
        return refused or cache.judge(work, facts) or support.SUPPORTED

    def worker_begin(self, work: Work, facts: Facts) -> tuple[Call, ...]:
        return session.begin(work, facts)

    def worker_end(self, work: Work, facts: Facts) -> tuple[Call, ...]:
        return session.end(work, facts, in_transaction=self.in_transaction)

    def setup(self, work: Work, facts: Facts) -> tuple[Call, ...]:
        """Set what is to be restored to the default to it first: every trial then finds and leaves that."""
        if work.option("restore") != Restored.DEFAULT or work.object.scratch:
            return ()
        found = replace(work, options={**work.options, "restore": Restored.FOUND})
        calls = (*self._words.prepare(found, facts), *self._words.timed(found, facts))
        return tuple(_to_usual(ref, each) for ref, each in _unusual(calls))

    def prepare(self, work: Work, facts: Facts) -> tuple[Call, ...]:
        return (*self._words.prepare(work, facts), *cache.prepare(work))

    def timed(self, work: Work, facts: Facts) -> tuple[Call, ...]:
        return redo.marked(self._words.timed(work, facts), work, facts)

    def evidence(self, work: Work, facts: Facts) -> tuple[Call, ...]:
        """Ask in one statement for all that is gone with the session's next one, then for the rest."""
        asked = self._words.evidence(work, facts)
        # A session that is forced to query in parallel would read the dictionary so too, and speak of that.
        forced = work.query is not None and not spelling.is_serial(work)
        dictionary = tuple(call for call in asked if call.keep_as == EVIDENCE)
        also = (
            shared("pq_tqstat"),
            shared("session_switches"),
            shared("statement_cost", statement_id=None),
            *((shared("trace_file"), shared("trace_files")) if work.option("sql_trace") else ()),
            *(() if forced else dictionary),
        )
        others = tuple(call for call in asked if call not in dictionary)
        return (replace(shared("pq_sesstat"), also=also), *(dictionary if forced else ()), *others)

    def evidence_of_sessions(self, work: Work, facts: Facts) -> tuple[Call, ...]:
        if not work.option("sql_trace"):
            return ()
        return (replace(shared("trace_file"), keep_as=TRACES, also=(shared("trace_files"),)),)

    def settle(self, work: Work, facts: Facts) -> tuple[Call, ...]:
        return self._words.settle(work, facts)

    def takes(self, work: Work, facts: Facts) -> tuple[Takes, ...]:
        return self._words.takes(work, facts)

    def tell(self, work: Work, kept: Kept, deltas: Mapping[str, float], seconds: float) -> TrialFindings:
        return findings.tell(work, kept, deltas, seconds)

    def granted(self, work: Work, kept: Kept, peaks: Mapping[str, float], notices: tuple[str, ...]) -> Granted:
        return granted.granted(work, kept, peaks)

    def endless_wait(self, work: Work, facts: Facts) -> EndlessWait | None:
        return locks.endless_wait(work)

    def equal_levels(self, factor: str, works: Sequence[Work], facts: Facts) -> str | None:
        return redo.equal_levels(works, facts) if factor == "logging" else None

    def remarks(self, work: Work, facts: Facts) -> tuple[str, ...]:
        return (
            *redo.remarks(work, facts),
            *load_facts.remarks(work, facts),
            *storage.remarks(work, facts),
            *cache.remarks(work, facts),
            *locks.remarks(work),
            *session.remarks(work),
            *of_place(facts),
        )
