"""How far a long statement is: asked now and then, never the whole, and quiet when refused."""

from __future__ import annotations

from tests.for_each import for_each
from toolkit.model.protocols import Answer, DatabaseError, Event
from toolkit.model.steps import Step
from toolkit.model.values import Row
from toolkit.snapshots.counters import ProgressProvider, progress_event


def scan(done: float, total: float, left: float | None = None) -> Row:
    return {"operation": "Rowid Range Scan ", "target": "APP.T", "done": done, "total": total, "unit": "Blocks",
            "seconds_left": left}  # fmt: skip


class Watched:
    """A provider with a scripted database, and the events it emitted."""

    def __init__(self, *answers: tuple[Row, ...] | Exception) -> None:
        self.answers = list(answers)
        self.asked: list[Step] = []
        self.events: list[Event] = []
        self.provider = ProgressProvider("oracle", "progress", self._ask, "run 1", self.events.append)
        self.provider.begin()

    def _ask(self, step: Step) -> Answer:
        self.asked.append(step)
        answer = self.answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return Answer(answer)


def test_a_short_statement_is_never_asked_about() -> None:
    one = Watched()
    for at in (0.1, 1.0, 1.9):
        assert one.provider.sample(at) == ()
    assert one.asked == []
    assert one.provider.end() == ()
    assert one.events == []


def test_a_long_one_is_asked_every_two_seconds_and_its_end_is_told() -> None:
    one = Watched((scan(10, 40, 30),), (scan(30, 40, 10),))
    for at in (2.1, 3.0, 4.2):
        one.provider.sample(at)
    one.provider.end()
    assert [event.data.get("percent") for event in one.events] == [25, 75, None]
    assert [step.binds for step in one.asked] == [{"run": "run 1", "seconds": 2}, {"run": "run 1", "seconds": 4}]


@for_each(("done", "percent"), [(0, 0), (39.9, 99), (40, 99), (50, 99)])
def test_no_statement_is_told_to_be_done_before_it_ends(done: float, percent: float) -> None:
    event = progress_event((scan(done, 40),))
    assert event is not None
    assert event.data["percent"] == percent
    assert event.text == "Rowid Range Scan APP.T"


def test_what_has_no_total_yet_is_not_shown() -> None:
    assert progress_event(()) is None
    assert progress_event((scan(0, 0),)) is None


def test_a_refused_view_is_said_once_and_asked_no_more() -> None:
    one = Watched(DatabaseError("ORA-00942: no such view", code="ORA-00942"))
    one.provider.sample(2.5)
    one.provider.sample(9.0)
    assert len(one.asked) == 1
    assert one.provider.warnings() == ("the progress of a statement cannot be shown: ORA-00942: no such view",)
    assert one.provider.warnings() == ()
