"""Turns of several runs, and which targets a text names."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence

import pytest

from tests.for_each import for_each
from toolkit.app.runs.several_targets import Turns, names_of, run_in_turns
from toolkit.errors import ToolkitError
from toolkit.model.experiment import Experiment
from toolkit.model.words import Mode
from toolkit.runner import Stop

EXPERIMENT = Experiment("a,b", "ctas", {}, (), Mode.MEASUREMENT, repeat=3)


def order(trials: dict[str, int], names: Sequence[str]) -> list[str]:
    """Let runs with so many trials take turns; return who worked, in order."""
    turns, worked, stop = Turns(tuple(names)), list[str](), Stop()

    def work(name: str) -> None:
        for _ in range(trials[name]):
            turns.take(name, stop)
            worked.append(name)
        turns.leave(name)

    threads = [threading.Thread(target=work, args=(name,)) for name in names]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(300)
        assert not thread.is_alive()
    return worked


def test_each_round_runs_in_the_order_of_another_one_reversed() -> None:
    assert "".join(order({"a": 4, "b": 4}, "ab")) == "abbaabba"
    assert "".join(order({"a": 2, "b": 2, "c": 2}, "abc")) == "abccba"


def test_one_that_ends_early_leaves_its_turns_to_the_others() -> None:
    assert "".join(order({"a": 1, "b": 4}, "ab")) == "abbbb"
    assert "".join(order({"a": 0, "b": 2}, "ab")) == "bb"


def test_a_run_that_is_asked_to_stop_waits_for_no_turn() -> None:
    turns, stop = Turns(("a", "b")), Stop()
    stop.request()
    turns.take("a", stop)
    assert turns._at_work is None


def test_the_run_that_fails_stops_the_others_and_is_the_error() -> None:
    stopped = []

    def fails(*_: object) -> str:
        raise ToolkitError("no such table", code="TK-0204")

    def waits(_: object, stop: Stop, *__: object) -> str:
        assert stop.wait(300)
        stopped.append(str(stop.because))
        return "run"

    with pytest.raises(ToolkitError, match="no such table"):
        run_in_turns(EXPERIMENT, {"a": fails, "b": waits}, Stop())
    assert "the run on `a` ended" in stopped[0]


def test_nothing_begins_before_all_may_begin() -> None:
    begun = []

    def refused(*_: object) -> str:
        raise ToolkitError("production", code="TK-0301")

    def begins(_: object, __: object, ___: object, ready: Callable[[], None]) -> str:
        ready()
        begun.append("b")
        return "run"

    with pytest.raises(ToolkitError, match="production"):
        run_in_turns(EXPERIMENT, {"a": refused, "b": begins}, Stop())
    assert begun == []
    assert run_in_turns(EXPERIMENT, {"a": begins, "b": begins}, Stop()) == {"a": "run", "b": "run"}


@for_each(
    ("text", "names"),
    [("a", ("a",)), ("a,b", ("a", "b")), ("a, b", ("a", "b")), ("a,nobody", ("a,nobody",)),
     ("duckdb:///x,y.duckdb", ("duckdb:///x,y.duckdb",)), ("postgresql://h1,h2/d", ("postgresql://h1,h2/d",)),
     ("duckdb:///x.duckdb,duckdb:///y.duckdb", ("duckdb:///x.duckdb", "duckdb:///y.duckdb")),
     ("a,oracle://u@h/s", ("a", "oracle://u@h/s"))],
)  # fmt: skip
def test_a_comma_separates_targets_only(text: str, names: tuple[str, ...]) -> None:
    assert names_of(text, lambda: {"a": None, "b": None}) == names
