"""Statements without room that wait for it instead of failing: RESUMABLE_TIMEOUT."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.oracle.make import work
from tests.oracle.standin import Scenario, running_standin
from tests.oracle.test_command_line import dbatk
from toolkit.dialects.oracle.dialect import DIALECT

SWEEP = ("ctas", "--source", "GTEST", "--table", "MADE", "--degree", "1,2", "--repeat", "2", "--warmup", "0")


@pytest.mark.parametrize("resumable", [True, False])
def test_a_trial_that_was_suspended_for_space_is_no_measurement(resumable: bool, tmp_path: Path) -> None:
    timeout = {"resumable_timeout": "60"} if resumable else {}
    with running_standin(Scenario(fail={"ctas": 1652}, fail_times=1, parameters=timeout)) as standin:
        status, run = dbatk(standin, tmp_path, *SWEEP)
    first, *others = run["trials"]  # type: ignore[misc]
    assert not any(trial["disturbed"] for trial in others), "only one was without room"
    assert {trial["outcome"] for trial in others} == {"ok"}
    said = [sentence for sentence in run["warnings"] if "suspended" in sentence]  # type: ignore[attr-defined]
    if resumable:
        assert (status, first["outcome"], first["disturbed"]) == (0, "ok", True), run
        assert len(said) == 1 and "30.0 s" in said[0] and "RESUMABLE_TIMEOUT" in said[0]
    else:
        assert (first["outcome"], first["error_code"], said) == ("failed", "ORA-01652", [])


def test_of_parallel_servers_only_the_instance_tells() -> None:
    event = "event statement suspended, wait error to be cleared"
    found = DIALECT.work.tell(work("ctas", 4), {}, {event: 7.0}, 20.0)
    assert found.disturbed
    assert "its parallel servers perhaps" in found.sentences[0] and "7.0 s" in found.sentences[0]
