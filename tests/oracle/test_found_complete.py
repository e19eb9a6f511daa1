"""What a job made before its client or its connection was lost is found, and not made twice."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.oracle import wreck
from tests.oracle.standin import running_standin
from tests.oracle.standin.faults import AFTER, Fault, break_connection
from tests.tiers import thinned

JOBS = [("ctas-job", 'CREATE TABLE "DBATK"."MADE"'), ("index-build-job", "CREATE INDEX")]


@pytest.mark.thin(2)
@pytest.mark.parametrize("killed", thinned([True, False], 2), ids=["killed", "connection lost"])
@pytest.mark.parametrize(("job", "words"), JOBS)
def test_a_job_that_was_done_when_nobody_heard_is_found_complete(
    job: str, words: str, killed: bool, tmp_path: Path
) -> None:
    fault = Fault(break_connection, words=words, when=AFTER)
    with running_standin() as standin:
        if killed:
            assert wreck.kill(standin, tmp_path, fault, *wreck.OPERATIONS[job])
        else:
            standin.engine.faults.append(fault)
            status, run = wreck.run(
                standin, tmp_path, *wreck.OPERATIONS[job], "-t", standin.url, "--not-production"
            )
            assert status == 3 and "was created before the interruption" in str(run["warnings"])
        made = wreck.look(standin)
        status, run = wreck.run(standin, tmp_path, "runs", "resume", "last", "--not-production")
        assert (status, run["state"]) == (0, "done")
        last = run["trials"][-1]  # type: ignore[index]
        assert (last["outcome"], last["reason"]) == ("ok", "it had been done before the interruption")
        sent = [text for text in standin.statements if words in text and "EXECUTE IMMEDIATE" not in text]
        assert len(sent) == 1
        assert wreck.look(standin).keys() == made.keys()
