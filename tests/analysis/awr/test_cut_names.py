"""Names that a text report cuts are no other names."""

from __future__ import annotations

from dataclasses import replace

from tests.analysis.awr.made import interval, origin
from toolkit.analysis.awr.diff import compare_intervals
from toolkit.analysis.awr.from_report import interval_of
from toolkit.analysis.awr.sentences import cause_sentence
from toolkit.model.interval import Listing, Wait

WHOLE = "log file switch (checkpoint incomplete)"
CUT = "log file switch (checkpoin"


def test_an_event_that_the_text_report_cuts_is_the_same_event() -> None:
    before = interval(waits={CUT: (100, 10)}, who=origin(cuts_names=True))
    after = interval(day=1, waits={WHOLE: (300, 10)})
    (found,) = [one for one in compare_intervals(before, after).waits if one.key.startswith("log file")]
    assert (found.key, found.seconds.presence) == (WHOLE, "both")


def test_names_of_a_page_that_cuts_nothing_are_left_apart() -> None:
    before = interval(waits={CUT: (100, 10)})
    after = interval(day=1, waits={WHOLE: (300, 10)})
    assert {CUT, WHOLE} <= {one.key for one in compare_intervals(before, after).waits}


def test_a_cut_name_that_may_be_either_of_two_is_left_as_it_is() -> None:
    before = interval(waits={"log file switch (": (100, 10)}, who=origin(cuts_names=True))
    after = interval(day=1, waits={WHOLE: (300, 10), "log file switch (archiving needed)": (1, 1)})
    assert "log file switch (" in {one.key for one in compare_intervals(before, after).waits}


def test_a_cut_value_of_a_parameter_is_no_change_and_another_value_is() -> None:
    long = "+DATA/acme/controlfile/current.455.772715921"
    cut, whole = {"control_files": long[:33], "processes": "150"}, {"control_files": long, "processes": "300"}
    before = interval(who=origin(cuts_names=True), parameters=cut, container_parameters={"PDB1": cut})
    after = interval(day=1, parameters=whole, container_parameters={"PDB1": whole})
    assert compare_intervals(before, after).parameters == {
        "processes": ("150", "300"), "processes (PDB1)": ("150", "300"),
    }  # fmt: skip


def test_an_event_cut_shorter_in_the_long_list_than_among_the_topmost_counts_once() -> None:
    row = {"event": "job scheduler coordinator sl", "waits": 78, "time_s": 1249, "avg_wait_ms": 16010}
    top = {**row, "event": "job scheduler coordinator slave wait", "wait_class": None}
    found = interval_of({"wait_events": [row], "top_events": [top], "elapsed_min": 60, "kind": "statspack"})
    assert set(found.waits.rows) == {"job scheduler coordinator slave wait"}
    assert found.origin.cuts_names


def test_a_cause_beyond_the_load_says_so() -> None:
    load = {"transactions": 20.0, "user_calls": 100.0, "executes": 200.0}
    waits = Listing({"log file sync": Wait("log file sync", 100.0, 100)})
    before = replace(interval(cpu=1000, load=load), waits=waits)
    after = replace(interval(day=1, cpu=1000), waits=Listing({"log file sync": Wait("log file sync", 90.0, 10)}))
    diff = compare_intervals(before, after)
    told = [cause_sentence(one, diff) for one in diff.causes if one.key == "log file sync"]
    assert told
    assert all("than the load explains" in one for one in told)
