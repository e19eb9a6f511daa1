"""The account as a page, as text and as a document: everything in it, and nothing of it acts."""

from __future__ import annotations

import json
from dataclasses import replace

from tests.analysis.test_run_report import run, step
from toolkit.analysis.run_report import StepStory, run_report_of, trend_of
from toolkit.model.plan import StepState
from toolkit.report.run_report import (
    run_report_document,
    run_report_page,
    run_report_text,
    trends_document,
    trends_text,
)

HOSTILE = "<script>alert(1)</script>\x1b[31m`x`"


def hostile() -> object:
    failed = step("b", None, state=StepState.FAILED, reason=HOSTILE, target=HOSTILE)
    story = StepStory((HOSTILE,), (HOSTILE,), (HOSTILE,))
    whole = replace(run(step("a"), failed, stopped_by=HOSTILE), host=HOSTILE)
    return run_report_of(whole, {}, {"run-a": story}, (HOSTILE,))


def test_nothing_in_an_account_acts() -> None:
    report = hostile()
    page, text = run_report_page(report), run_report_text(report)  # type: ignore[arg-type]
    assert "<script" not in page and "&lt;script" in page and "\x1b" not in page + text
    assert "http" not in page.replace("http-equiv", "").replace("http://www.w3.org/2000/svg", "")


def test_the_page_the_text_and_the_document_tell_the_same_steps() -> None:
    report = run_report_of(run(step("a"), step("c", None, state=StepState.SKIPPED, reason="young")), {}, {})
    page, text, document = run_report_page(report), run_report_text(report), run_report_document(report)
    for word in ("a", "c", "skipped", "young", "60.0 s"):
        assert word in page and word in text
    assert [each["step"] for each in json.loads(json.dumps(document))["steps"]] == ["a", "c"]
    assert max(map(len, text.splitlines())) <= 80


def test_what_did_not_end_well_comes_first_on_each_target_and_every_look_is_told() -> None:
    """Fifty steps on three targets: what a manager looks for must not be searched for."""
    steps = []
    for target in ("dwh", "erp_frankfurt", "erp_munich"):
        for at in range(50):
            one = replace(
                step(f"step_{at:02}", 60 + at, target=target), verified=f"{at} rows loaded; the source has {at}"
            )
            if at == 30:
                one = step(
                    "broken", None, state=StepState.FAILED, reason="ORA-01652: " + "no room " * 20, target=target
                )
            if at == 40:
                one = replace(one, unverified="the source was not counted: another sample has different rows")
            steps.append(one)
    report = run_report_of(run(*steps), {}, {})
    text, page, document = run_report_text(report), run_report_page(report), run_report_document(report)
    assert max(map(len, text.splitlines())) <= 80
    for target in ("dwh", "erp_frankfurt", "erp_munich"):
        lines = text[text.index(f"on {target}: 1 failed, 49 ok of 50 steps") :].splitlines()
        assert lines[1].startswith("  failed   broken")
    assert text.count("NOT verified: the source was not counted") == 3 == page.count(">not verified<")
    assert "verified: 7 rows loaded" in text and "1 step could not be fully verified" in page
    assert document["steps"][7]["verified"] == "7 rows loaded; the source has 7"  # type: ignore[index]


def test_a_trend_shows_its_newest_run_first() -> None:
    trend = trend_of("a", "dwh", [step("a", 60, 1), step("a", 90, 2, state=StepState.FAILED, reason=HOSTILE)])
    text = trends_text([trend])
    assert text.index("2026-11-20") < text.index("2026-11-19") and "\x1b" not in text
    long = trend_of("a", "dwh", [step("a", 60, 1, state=StepState.FAILED, reason="the reason is long " * 9)])
    assert max(map(len, trends_text([long]).splitlines())) <= 80
    document = json.loads(json.dumps(trends_document([trend])))
    assert [each["state"] for each in document["trends"][0]["runs"]] == ["failed", "done"]
