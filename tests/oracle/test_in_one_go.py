"""What dresses a new copy goes in one call, and is seen whole by the licence guard."""

from __future__ import annotations

from dataclasses import replace

from tests.oracle.make import OURS, SOURCE, assumed, steps, texts, work
from tests.oracle.standin.blocks import spread
from tests.oracle.test_load_facts import TARGET
from toolkit.dialects.oracle.dialect import DIALECT
from toolkit.dialects.oracle.licences import look
from toolkit.dialects.work import Call
from toolkit.model.steps import ObjectRef
from toolkit.model.values import QualifiedName
from toolkit.model.words import Mode, ObjectKind, StepKind

LIVE = ObjectRef(ObjectKind.TABLE, QualifiedName("GTEST", "DBATK"))


def auxiliary() -> tuple[Call, ...]:
    return DIALECT.empty_copy(SOURCE, OURS, "it's ours", assumed(**TARGET), bare=False)


def test_all_after_the_table_itself_is_one_block_of_the_same_statements() -> None:
    calls = auxiliary()
    sent = DIALECT.in_one_go(calls)
    assert len(calls) > 4
    assert [call.template for call in sent] == ["copy_table", "in_one_go"]
    assert spread(step.text for step in steps(sent)) == [step.text for step in steps(calls)]
    assert sent[1].kind is StepKind.BLOCK


def test_rows_and_logging_of_the_copy_go_along() -> None:
    nologging = DIALECT.work.prepare(work("insert", 2, logging="nologging"), assumed())
    filled = DIALECT.fill_copy(SOURCE, OURS, ("ID",), assumed())
    sent = DIALECT.in_one_go((*auxiliary(), *filled, *nologging))
    assert len(sent) == 2
    assert spread(texts(sent[1:]))[-1].endswith("NOLOGGING")


def test_what_is_the_users_or_has_an_undo_stays_a_statement_of_its_own() -> None:
    live = DIALECT.work.prepare(work("insert", 2, Mode.JOB, ref=LIVE, logging="nologging"), assumed())
    assert DIALECT.in_one_go((*live, *live)) == (*live, *live)
    comments = [call for call in auxiliary() if call.template == "comment"]
    undoable = replace(comments[0], undo=tuple(comments))
    assert DIALECT.in_one_go((undoable, undoable)) == (undoable, undoable)


def test_one_call_alone_needs_no_block() -> None:
    calls = DIALECT.empty_copy(SOURCE, OURS, "m", assumed(**TARGET), bare=True)
    assert DIALECT.in_one_go(calls) == calls


def test_the_licence_guard_sees_what_stands_in_the_block() -> None:
    (call,) = DIALECT.in_one_go(
        [
            replace(one, values={**one.values, "bitmap": True, "unique": False})
            for one in auxiliary()
            if one.template == "index_copy"
        ]
        + [one for one in auxiliary() if one.template == "comment"]
    )
    assert {use.licence for use in look(texts([call])[0]).uses} >= {"enterprise_edition"}
