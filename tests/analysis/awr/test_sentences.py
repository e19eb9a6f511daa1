"""No sentence about a cause says anything that its own numbers deny."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.analysis.awr.made import interval, origin
from tests.for_each import for_each
from tests.tiers import examples
from toolkit.analysis.awr.causes import Cause
from toolkit.analysis.awr.changes import Amount, Change
from toolkit.analysis.awr.diff import compare_intervals
from toolkit.analysis.awr.sentences import cause_sentence, evidence
from toolkit.analysis.awr.wording import Lead, head, shift
from toolkit.model.interval import Statement
from toolkit.units import byte_size, number, percent, seconds

VALUES = st.one_of(
    st.none(), st.just(0.0), st.floats(1e-9, 1e12), st.sampled_from([45.2, 45.2000001, 1e-300, 0.28, 0.321]),
    st.floats(-1e6, -1e-6),
)  # fmt: skip
KINDS = {
    "load": ("transactions", "executes"), "parsing": ("hard_parses", "hard parse elapsed time"),
    "redo": ("redo_size_bytes",), "temp": ("temp_io_bytes",), "reads": ("latency", "waits", "e"),
    "cache": ("physical_reads", "Buffer Hit", "Buffer Cache"), "cluster": ("latency", "waits", "e"),
    "cpu": ("DB CPU",),
    "event": ("latency", "waits", "e"), "queue": ("host_cpu", "unaccounted"), "commit": ("latency",),
}  # fmt: skip
CLAIMS = (
    (r"did more work", ("transactions", "executes"), 1),
    (r"did less work", ("transactions", "executes"), -1),
    (r"^more hard parses", ("hard_parses",), 1), (r"^fewer hard parses", ("hard_parses",), -1),
    (r"more redo is written", ("redo_size_bytes",), 1), (r"less redo is written", ("redo_size_bytes",), -1),
    (r"spill more to", ("temp_io_bytes",), 1), (r"less data spills", ("temp_io_bytes",), -1),
    (r"takes longer", ("latency",), 1), (r"takes less time", ("latency",), -1),
    (r"reads slower", ("latency",), 1), (r"reads faster", ("latency",), -1),
    (r"satisfies fewer reads", ("physical_reads",), 1), (r"satisfies more reads", ("physical_reads",), -1),
)  # fmt: skip
"""Said only of two known values."""
TIMES = (
    (r"more CPU is used", ("DB CPU",), 1), (r"less CPU is used", ("DB CPU",), -1),
    (r"CPU rose by less", ("DB CPU",), 1), (r"CPU fell by less", ("DB CPU",), -1),
    (r"time in `e` rose by less|`e` rose by less", ("e",), 1),
    (r"time in `e` fell by less|`e` fell by less", ("e",), -1),
    (r"redo rose by less", ("redo_size_bytes",), 1), (r"redo fell by less", ("redo_size_bytes",), -1),
    (r"temporary I/O rose by less", ("temp_io_bytes",), 1),
    (r"temporary I/O fell by less", ("temp_io_bytes",), -1),
    (r"hard parses rose by less", ("hard_parses",), 1), (r"hard parses fell by less", ("hard_parses",), -1),
    (r"more time in `e`|other instances take more", ("e",), 1),
    (r"less time in `e`|other instances take less", ("e",), -1),
    (r"more waits for `e`", ("waits",), 1), (r"fewer waits for `e`", ("waits",), -1),
)  # fmt: skip
"""Said of two values that read so, or where one is not known."""
DIFF = compare_intervals(interval(), interval(day=1, cpu=2000))


def amounts(one: tuple[float | None, float | None], name: str) -> Change:
    return Change(name, *(Amount(value, None, 1.0) for value in one))


@given(st.booleans(), st.tuples(VALUES, VALUES), st.sampled_from([number, seconds, percent, byte_size]))
@examples(300)
def test_a_head_says_rise_or_fall_only_of_two_values_that_read_so(grew: bool, sides, spell) -> None:  # type: ignore[no-untyped-def]
    before, after = sides
    said = head(grew, [Lead(amounts(sides, "x"), "rose", "fell", spell)], ("more", "less"))
    if said in ("rose", "fell"):
        assert before is not None
        assert after is not None
        assert spell(before) != spell(after)
        assert (after > before) == (said == "rose") == grew
    else:
        assert said == ("more" if grew else "less")


@given(
    st.data(),
    st.sampled_from(sorted(KINDS)),
    st.floats(-1e6, 1e6).filter(bool),
    st.sampled_from(["latency", "count"]),
)
@examples(600)
def test_no_sentence_denies_its_own_numbers(data, kind: str, impact: float, part: str) -> None:  # type: ignore[no-untyped-def]
    changes = {name: data.draw(st.tuples(VALUES, VALUES)) for name in KINDS[kind]}
    key = {"cpu": "DB CPU", "queue": "host CPU"}.get(kind, "e")
    made = tuple(amounts(one, name) for name, one in changes.items())
    cause = Cause(kind, key, impact, part, made, ("e",))
    sentence = cause_sentence(cause, DIFF)
    assert "  " not in sentence
    for pattern, names, way in CLAIMS:
        if re.search(pattern, sentence):
            known = [changes[name] for name in names if name in changes and None not in changes[name]]
            assert any((after - before) * way > 0 for before, after in known), sentence
    for pattern, (name,), way in TIMES:
        if re.search(pattern, sentence) and None not in changes[name]:
            before, after = changes[name]
            assert (after - before) * way > 0, sentence
    assert len(evidence(cause)) == len(made)


@given(st.lists(st.floats(0.1, 1e6), min_size=6, max_size=6), st.booleans())
@examples(200)
def test_what_went_against_the_load_is_told_as_such(values: list[float], grew: bool) -> None:
    names = ("transactions", "user_calls", "executes")
    made = tuple(
        amounts(one, name) for name, one in zip(names, zip(values[::2], values[1::2], strict=True), strict=True)
    )
    told, _, against = cause_sentence(Cause("load", "load", 1.0 if grew else -1.0, "", made), DIFF).partition(
        "though "
    )
    assert ("(-" if grew else "(+") not in told
    assert ("(+" if grew else "(-") not in against.partition(";")[0]


def test_a_statement_that_took_more_time_is_not_told_as_less() -> None:
    before = interval(load={"transactions": 10.0}, statements=(Statement("k", 280.0, 388.0, None, 1e6),))
    after = interval(day=1, load={"transactions": 18.0, "user_calls": 90.0, "executes": 180.0},
                     statements=(Statement("k", 321.0, 463.0, None, 1.15e6),))  # fmt: skip
    sentence = cause_sentence(Cause("statement", "k", -0.1, "executions"), compare_intervals(before, after))
    assert sentence.startswith(
        "statement `k` whose time rose by less than the load: active sessions 0.108 -> 0.129"
    )


def test_a_hit_ratio_that_fell_by_less_than_a_percent_is_seen_to_fall() -> None:
    fell = (amounts((1.0, 300.0), "physical_reads"), amounts((99.99, 99.61), "Buffer Hit"))
    cause = Cause("cache", "buffer cache", 1.0, "size", fell, ("e",))
    assert "hit ratio 99.99 % -> 99.61 %" in cause_sentence(cause, DIFF)
    assert "instance efficiency: Buffer Hit 99.99 % -> 99.61 %" in evidence(cause)


def test_redo_is_told_by_what_sessions_mostly_wait_for() -> None:
    full, sync = "log file switch (checkpoint incomplete)", "log file sync"
    for events, words in (((full, sync), "log switches wait for a checkpoint: "), ((sync, full), "commits: ")):
        cause = Cause("redo", "redo", 1.0, "size", (amounts((1e6, 9e6), "redo_size_bytes"),), events)
        assert cause_sentence(cause, DIFF).startswith(f"{words}more redo is written: bytes per second ")
    waits = {sync: (100.0, 1e5), full: (50.0, 50.0)}
    more = {sync: (200.0, 2e5), full: (4000.0, 3e3)}
    before = interval(waits=waits, load={"redo_size_bytes": 1e6})
    after = interval(day=1, waits=more, load={"redo_size_bytes": 1e7})
    assert compare_intervals(before, after).causes[0].events[0] == full


@pytest.mark.parametrize(
    ("kind", "name", "said"),
    [
        ("redo", "redo_size_bytes", "redo rose by less than the load"),
        ("temp", "temp_io_bytes", "temporary I/O rose by less than the load"),
        ("parsing", "hard_parses", "hard parses rose by less than the load"),
    ],
)
def test_what_rose_by_less_than_the_load_is_not_told_as_if_it_fell(kind: str, name: str, said: str) -> None:
    cause = Cause(kind, kind, -0.7, "size", (amounts((17.4e6, 19.6e6), name),))
    assert cause_sentence(cause, DIFF).startswith(f"{said}: ")
    # two values that read the same neither rose nor fell
    alike = Cause(kind, kind, -0.7, "size", (amounts((17.4e6, 17.4e6 + 0.1), name),))
    assert "rose by less" not in cause_sentence(alike, DIFF)


def test_more_waits_for_other_instances_are_shown_by_their_number() -> None:
    changes = {"e": (0.1, 0.3), "latency": (0.0031, 0.0029), "waits": (30.0, 100.0)}
    made = tuple(amounts(one, name) for name, one in changes.items())
    sentence = cause_sentence(Cause("cluster", "cluster waits", 0.2, "count", made, ("e",)), DIFF)
    assert sentence.startswith(
        "waits for blocks of other instances take more: waits per second 30.0 -> 100 (3.33 times), "
        "average of `e` 3.10 ms -> 2.90 ms"
    )


@pytest.mark.parametrize(
    ("most", "said"), [(0.5, "x 2.00 (before below 0.500)"), (75.8, "x 2.00"), (0.0, "x 2.00 (none before)")]
)
def test_a_bound_is_told_only_where_the_other_value_is_above_it(most: float, said: str) -> None:
    assert shift(Change("x", Amount(None, most, 1.0), Amount(2.0, None, 1.0)), "x") == said
    turned = Change("x", Amount(2.0, None, 1.0), Amount(None, most, 1.0))
    assert shift(turned, "x") == said.replace("2.00", "2.00 before").replace("before below", "now below").replace(
        "none before", "none now"
    )


COUNTS = st.one_of(st.none(), st.integers(0, 10**9).map(float))
PARALLEL = {"PX remote messages sent": 9.0, "queries parallelized": 3.0, "DML statements parallelized": 2.0}


@given(
    st.lists(COUNTS, min_size=10, max_size=10),
    st.sampled_from(["executions", "work", "slower", "new"]),
    st.booleans(),
    st.booleans(),
)
@examples(400)
def test_no_sentence_of_a_statement_denies_its_own_numbers(values, part: str, grew: bool, across: bool) -> None:  # type: ignore[no-untyped-def]
    sides = [Statement("k", *each, text="select 1") for each in (values[:5], values[5:])]
    before, after = (
        interval(day=day, statements=(one,), who=origin(day=day, rac=True), counters=PARALLEL if across else {})
        for day, one in enumerate(sides)
    )
    diff = compare_intervals(before, after)
    sentence = cause_sentence(Cause("statement", "k", 1.0 if grew else -1.0, part), diff)
    runs, gets = (sides[0].executions, sides[1].executions), (sides[0].gets, sides[1].gets)
    spent = sides[0].elapsed_s, sides[1].elapsed_s
    if None not in spent and part != "new":
        more, less = "takes more time", "takes less time:"
        if f"{more}:" in sentence or "time rose by less" in sentence:
            assert spent[1] > spent[0], sentence
        if less in sentence or "time fell by less" in sentence:
            assert spent[1] < spent[0], sentence
    if "executed more often" in sentence:
        assert runs[0] is not None and runs[1] is not None and runs[1] > runs[0]
    if "executed less often" in sentence:
        assert runs[0] is not None and runs[1] is not None and runs[1] < runs[0]
    if "more buffer gets" in sentence or "fewer buffer gets" in sentence:
        assert all(runs) and None not in gets
        more = gets[1] / runs[1] > gets[0] / runs[0]
        assert more == ("more buffer gets" in sentence)
    # one instance's share of what runs on several says nothing of an execution, and no more than the share
    share = across and any(one is not None and one <= 5 for one in runs)
    assert share == ("what it did on other instances is not in these reports" in sentence), sentence
    if share:
        said = r"needs (more|fewer|less)|spills|takes (longer|less time) per execution"
        assert not re.search(said, sentence), sentence
    if "work on this instance" in sentence or "time on this instance" in sentence:
        assert share
        assert all(runs)
        each = [
            [getattr(side, name) / side.executions for side in sides]
            for name in ("gets", "cpu_s", "elapsed_s")
            if None not in (getattr(side, name) for side in sides)
        ]
        assert any((b > a) == grew and a != b for a, b in each), sentence


@for_each(
    ("who", "counters", "said"),
    [
        ({"rac": True}, PARALLEL, "does less work on this instance per execution"),
        (
            {"rac": True},
            {**PARALLEL, "queries parallelized": 0.0, "DML statements parallelized": 0.0},
            "needs fewer",
        ),
        ({"rac": True}, {"queries parallelized": 9.0, "PX local messages sent": 9.0}, "needs fewer buffer gets"),
        ({"rac": True, "scope": "rac_global"}, PARALLEL, "needs fewer buffer gets"),
        ({"rac": False}, PARALLEL, "needs fewer buffer gets"),
    ],
)
def test_a_share_of_a_parallel_statement_is_told_as_one(
    who: dict[str, object], counters: dict[str, float], said: str
) -> None:
    """Seen in two real reports of one instance: the same query ran on one instance, then on four."""
    sides = [
        interval(day=day, statements=(Statement("k", 1.0, spent, None, gets),), who=origin(day=day, **who),
                 counters=counters)
        for day, spent, gets in ((0, 1188.0, 3880826.0), (1, 289.0, 970122.0))
    ]  # fmt: skip
    sentence = cause_sentence(Cause("statement", "k", -0.2, "work"), compare_intervals(*sides))
    assert sentence.startswith(f"statement `k` {said}")
    assert ("other instances" in sentence) == ("on this instance" in said)


@pytest.mark.parametrize("counters", [PARALLEL, {}])
def test_what_no_execution_ended_of_may_have_its_coordinator_elsewhere(counters: dict[str, float]) -> None:
    sides = [
        interval(day=day, statements=(Statement("k", ended, 900.0, None, 1e6),), who=origin(day=day, rac=True),
                 counters=counters)
        for day, ended in ((0, 1.0), (1, 0.0))
    ]  # fmt: skip
    sentence = cause_sentence(Cause("statement", "k", 0.2, "slower"), compare_intervals(*sides))
    assert "none of its executions ended in the interval after" in sentence
    assert ("after, or another instance coordinated it" in sentence) == bool(counters)
