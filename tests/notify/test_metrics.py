"""Metrics: read by Prometheus' own parser, named by its rules, and there as a whole or not at all."""

from __future__ import annotations

import re
import stat
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from prometheus_client.parser import text_string_to_metric_families

from tests.for_each import for_each
from tests.notify.runs import BEGAN, run, step
from toolkit.app.notices import tell
from toolkit.config.notices import Notices
from toolkit.model.plan import PlanRunRecord
from toolkit.notify.metrics import exposition

NOW = datetime(2026, 11, 22, tzinfo=UTC)
Samples = dict[tuple[str, tuple[tuple[str, str], ...]], float]


def read(*runs: PlanRunRecord) -> Samples:
    families = list(text_string_to_metric_families(exposition(runs, NOW)))
    assert len({family.name for family in families}) == len(families)
    assert all(family.documentation.endswith(".") and family.type == "gauge" for family in families)
    return {
        (sample.name, tuple(sorted(sample.labels.items()))): sample.value
        for family in families
        for sample in family.samples
    }


def value(samples: Samples, name: str, **labels: str) -> float | None:
    return samples.get((name, tuple(sorted({"plan": "nightly", **labels}.items()))))


STATISTICS = {"step": "statistics", "target": "dwh"}


def test_the_last_success_outlives_a_failure() -> None:
    good = run(step(), days_ago=1)
    bad = run(step("failed", began_at=BEGAN, ended_at=BEGAN + timedelta(seconds=2)))
    found = read(bad, good)
    assert value(found, "dbatk_plan_last_run_success") == 0
    assert good.ended_at is not None and good.steps[0].ended_at is not None
    assert value(found, "dbatk_plan_last_success_timestamp_seconds") == good.ended_at.timestamp()
    assert value(found, "dbatk_step_last_success_timestamp_seconds", **STATISTICS) == pytest.approx(
        good.steps[0].ended_at.timestamp()
    )
    assert value(found, "dbatk_step_last_duration_seconds", **STATISTICS) == 2
    assert value(found, "dbatk_step_last_state", **STATISTICS, state="failed") == 1
    assert value(found, "dbatk_step_last_state", **STATISTICS, state="done") == 0
    assert value(found, "dbatk_plan_last_run_steps", state="failed") == 1
    assert value(found, "dbatk_plan_window_end_timestamp_seconds") == (BEGAN + timedelta(hours=8)).timestamp()


def test_what_is_not_known_is_left_out_never_zero() -> None:
    found = read(run(step("waiting", began_at=None, ended_at=None), window_end=None, ended_at=None))
    assert value(found, "dbatk_plan_last_success_timestamp_seconds") is None
    assert value(found, "dbatk_plan_window_end_timestamp_seconds") is None
    assert value(found, "dbatk_step_last_duration_seconds", **STATISTICS) is None
    assert exposition([], NOW) == ""


@for_each("odd", ['a "b"', "a\\b", "a\nb", "{}=,", "ü\u2028", "\ud800"])
def test_labels_carry_any_name(odd: str) -> None:
    found = read(run(step(name=odd, target=odd)))
    shown = odd.encode("utf-8", "replace").decode()
    assert value(found, "dbatk_step_last_duration_seconds", step=shown, target=shown) == 61.5


def test_names_follow_the_rules() -> None:
    names = {name for name, _ in read(run(step(expected_seconds=3.0)))}
    assert all(re.fullmatch(r"dbatk_(plan|step)_[a-z_]+", name) for name in names)
    timed = {name for name in names if "timestamp" in name or "duration" in name}
    assert all(name.endswith("_seconds") for name in timed)


def test_the_file_is_readable_by_the_collector_and_replaced_at_once(tmp_path: Path) -> None:
    notices = Notices(metrics_folder=tmp_path)
    assert tell([run(step())], notices) == ()
    first = (tmp_path / "dbatk_nightly.prom").stat()
    assert stat.S_IMODE(first.st_mode) == 0o644
    assert tell([run(step("failed"))], notices) == ()
    assert (tmp_path / "dbatk_nightly.prom").stat().st_ino != first.st_ino
    assert [path.name for path in tmp_path.iterdir()] == ["dbatk_nightly.prom"]


def test_a_folder_that_is_not_there_is_a_warning(tmp_path: Path) -> None:
    (problem,) = tell([run(step())], Notices(metrics_folder=tmp_path / "none"))
    assert "no folder" in problem
