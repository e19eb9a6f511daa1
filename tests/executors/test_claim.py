"""The lock of the database: held by a session before it is used, and taken over within a plan."""

from __future__ import annotations

from typing import Any

import pytest

from toolkit.errors import ToolkitError
from toolkit.executors import Sessions
from toolkit.model.protocols import Answer
from toolkit.model.steps import Step
from toolkit.model.values import Row
from toolkit.model.words import Effect, Role
from toolkit.targets.base import SessionTag

TAKEN: Row = {"taken": "yes", "run": None, "pid": None, "host": None, "since": None}
GONE: Row = {**TAKEN, "taken": "no"}


def held_by(run: str) -> Row:
    return {"taken": "no", "run": run, "pid": 7, "host": "10.0.0.1", "since": None}


class Database:
    """Answers each claim with the next of its rows."""

    engine, display = "postgresql", "db"

    def __init__(self, *answers: Row) -> None:
        self.answers = list(answers)
        self.open = 0

    def connect(self, role: Role, tag: SessionTag, *, read_only: bool = False) -> Any:
        del role, tag, read_only
        self.open += 1
        return Session(self)


class Session:
    identity = "pid 1"

    def __init__(self, database: Database) -> None:
        self._database = database

    def execute(self, text: str, binds: object = None) -> Answer:
        del binds
        return Answer((self._database.answers.pop(0),)) if "pg_try_advisory_lock" in text else Answer()

    def cancel(self) -> None: ...

    def close(self) -> None:
        self._database.open -= 1


def sessions_of(database: Any) -> Sessions:
    return Sessions(database, "ours-1")


def change() -> Step:
    return Step("postgresql/drop", "DROP TABLE t", effect=Effect.DROPS)


def test_a_session_that_could_not_claim_is_closed_and_never_used() -> None:
    database = Database(TAKEN, held_by("theirs"), held_by("theirs"), TAKEN)
    sessions = sessions_of(database)
    sessions.claim(lambda run: run.startswith("ours"))
    sessions.forget(Role.CONTROL)
    for _ in range(2):
        with pytest.raises(ToolkitError) as caught:
            sessions.get(Role.CONTROL)
        assert caught.value.code == "TK-0302"
        assert database.open == 0
    sessions.get(Role.CONTROL)
    assert database.open == 1
    sessions.close()


def test_a_run_of_a_plan_takes_the_lock_when_the_one_that_has_it_ends() -> None:
    database = Database(held_by("ours-2"), held_by("ours-2"), TAKEN)
    sessions = sessions_of(database)
    sessions.claim(lambda run: run.startswith("ours"))
    for left in (1, 0, 0):
        sessions.run(change())
        assert len(database.answers) == left
    sessions.close()


def test_what_is_undone_of_a_run_of_the_same_plan_keeps_no_other_out() -> None:
    sessions = sessions_of(Database(held_by("plan-2-clean")))
    sessions.claim(lambda run: run == "plan-2")
    sessions.close()


def test_a_holder_that_left_between_the_try_and_the_look_is_no_holder() -> None:
    database = Database(GONE, TAKEN)
    sessions = sessions_of(database)
    sessions.claim(lambda _: False)
    assert database.answers == []
    sessions.close()


def test_a_holder_that_does_not_show_itself_is_said_so() -> None:
    sessions = sessions_of(Database(GONE, GONE))
    with pytest.raises(ToolkitError) as caught:
        sessions.claim(lambda _: False)
    assert "does not show itself" in caught.value.message
    assert "None" not in caught.value.message
    sessions.close()
