"""A database that is away when a step is looked at: asked again, and what it does not say is no failure."""

from __future__ import annotations

from pathlib import Path

import duckdb
import pytest

from tests.engines.arena import Heard
from toolkit.app.approvals import Approvals
from toolkit.app.maintenance import plan_targets_of, run_plan, verify
from toolkit.design.plan_file import read_plan
from toolkit.documents import parse_document
from toolkit.errors import ToolkitError
from toolkit.model.plan import StepRecord
from toolkit.store import Store

LOST = ToolkitError("the connection was lost", code="TK-0202")


def built(store: Store, folder: Path) -> StepRecord:
    with duckdb.connect(str(folder / "x.duckdb")) as made:
        made.execute("CREATE TABLE g AS SELECT range AS id FROM range(1000)")
    step = '[[step]]\nname = "build"\noperation = "index-build"\ntable = "g"\ncolumns = "id"\n'
    text = f'[plan]\nname = "n"\ntarget = "duckdb:///{folder}/x.duckdb"\n{step}'
    plan = read_plan(parse_document(text, "n.toml"), folder)
    places = plan_targets_of(plan, store, Approvals())
    return run_plan(plan, places, store=store, approvals=Approvals(), events=Heard()).steps[0]


@pytest.mark.parametrize(("silent", "verified"), [(2, True), (9, False)])
def test_it_is_asked_again_for_a_while_and_silence_is_no_failure(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, silent: int, verified: bool
) -> None:
    monkeypatch.setattr(verify, "_AGAIN_SECONDS", (0.01, 0.01, 0.01))
    real, asked = verify.invalid_indexes, list[int]()

    def away(*arguments: object) -> list[str]:
        asked.append(1)
        if len(asked) <= silent:
            raise LOST
        return real(*arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(verify, "invalid_indexes", away)
    step = built(store, tmp_path)
    assert step.state.value == "done", step.reason
    assert bool(step.verified) is verified
    if not verified:
        assert "did not respond afterwards: the connection was lost" in str(step.unverified)
