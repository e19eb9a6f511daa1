from __future__ import annotations

import json
import math
from dataclasses import replace

from tests.report.make import cell, metric, sweep
from toolkit.analysis.compare import compare
from toolkit.analysis.documents import comparison_document, run_document, runs_document

TIMES = {1: [8.0, 8.2, 8.1], 2: [4.1, 4.0, None], 4: [2.0, 2.1, 2.04]}


def test_the_document_of_a_run_has_the_published_keys() -> None:
    document = run_document(sweep(TIMES))
    assert list(document) == [
        *("format", "run", "label", "mode", "state", "target", "engine", "operation", "began_at", "ended_at"),
        *("seed", "environment", "warnings", "licences", "trials", "judged_by", "cells", "advice"),
        *("detect_pct", "ended_because", "not_run", "given_up"),
    ]
    assert document["format"] == 1
    assert list(document["trials"][0]) == [  # type: ignore[index,call-overload,arg-type]
        *("trial", "attempt", "factors", "repeat", "warmup", "outcome", "reason", "error_code", "began_at"),
        *("ended_at", "elapsed_seconds", "requested_degree", "granted_degree", "effective_parallelism", "rows"),
        *("bytes", "disturbed", "phases", "items", "metrics"),
    ]
    assert list(document["cells"][0]) == [  # type: ignore[index,call-overload,arg-type]
        *("factors", "n", "median", "median_seconds", "ci_low", "ci_high", "speedup", "efficiency"),
    ]


def test_the_document_of_a_run_has_what_is_recommended() -> None:
    told = run_document(sweep(TIMES | {2: [4.1, 4.0, 4.05]}), 7.5)["advice"]
    assert isinstance(told, dict)
    assert list(told) == [
        *("headline", "recommended", "best_median", "not_excluded", "worth_pct", "sentences", "doubts"),
    ]
    assert told["not_excluded"] is None
    assert (told["recommended"], told["best_median"]) == ([{"degree": 4}], {"degree": 4})
    assert (told["worth_pct"], str(told["headline"])[:15]) == (7.5, "use `degree=4`:")
    once = run_document(sweep({1: [None]}))["advice"]
    assert isinstance(once, dict)
    assert (once["recommended"], once["best_median"]) == ([], None)


def test_the_document_of_a_comparison_has_the_published_keys() -> None:
    document = comparison_document(compare(sweep(TIMES, run="a"), sweep(TIMES, run="b", environment={})))
    assert document["format"] == 1
    assert list(document["pairs"][0]) == [  # type: ignore[index,call-overload,arg-type]
        *(
            "factors",
            "n_a",
            "n_b",
            "median_a",
            "median_b",
            "median_a_seconds",
            "median_b_seconds",
            "ratio",
            "ci_low",
            "ci_high",
            "verdict",
        ),
        "minimum_detectable_pct",
        "metrics",
    ]
    assert {"name": "cpu_count", "a": 2, "b": None} in document["differences"]  # type: ignore[operator]


def test_two_cells_of_different_levels_are_both_named() -> None:
    run = sweep(TIMES)
    document = comparison_document(compare(run, run, cell_a=cell(degree=1), cell_b=cell(degree=4)))
    (pair,) = document["pairs"]  # type: ignore[misc]
    assert (pair["factors"], pair["factors_b"]) == ({"degree": 1}, {"degree": 4})  # type: ignore[index,call-overload]


def test_trials_stand_in_the_order_run_and_failed_ones_have_no_time() -> None:
    run = sweep(TIMES)
    document = run_document(replace(run, trials=run.trials[::-1]))
    assert [one["trial"] for one in document["trials"]] == list(range(1, 10))  # type: ignore[index,union-attr,call-overload]
    failed = document["trials"][7]  # type: ignore[index,call-overload]
    assert (failed["outcome"], failed["elapsed_seconds"], failed["reason"]) == ("failed", None, "out of memory")


def test_numbers_that_json_does_not_know_are_null() -> None:
    run = sweep({1: [2.0]}, environment={"load": math.nan})
    odd = replace(run, trials=(replace(run.trials[0], metrics=(metric("x", math.inf),)),))
    text = json.dumps(run_document(odd), allow_nan=False)
    assert '"load": null' in text
    assert '"value": null' in text


def test_runs_are_listed_newest_first() -> None:
    old, new = sweep(TIMES, run="20250101-000000-aaaa").head, sweep(TIMES, run="20260101-000000-bbbb").head
    old = replace(old, began_at=old.began_at.replace(year=2025))
    document = runs_document([old, new])
    assert [one["run"] for one in document["runs"]] == [new.run, old.run]  # type: ignore[index,union-attr,call-overload]
