"""Jobs for the tests of schedulers."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from toolkit.schedule import Opening, SchedulerJob

NIGHT = Opening(22 * 60, "Europe/Berlin", frozenset({2, 6}))

PLAN = """
[plan]
name = "nightly"
targets = ["{target}"]
window = {{time = "22:00-06:00", zone = "Europe/Berlin", days = ["wed", "sun"]}}

[[step]]
name = "statistics"
operation = "stats-gather"
schema = "main"
"""


def job(**changes: object) -> SchedulerJob:
    """Make a job with changes laid over a plain one."""
    plain = SchedulerJob(
        "nightly",
        "/srv/jobs/nightly.toml",
        ("/opt/dbatk/bin/dbatk", "run", "/srv/jobs/nightly.toml", "--quiet"),
        (NIGHT,),
        (("DBATK_CONFIG", "/etc/dbatk"), ("DBATK_STORE", "/srv/dbatk/store.sqlite")),
        windowed=True,
        writes=("/srv/dbatk",),
    )
    return replace(plain, **changes)  # type: ignore[arg-type]


def write_plan(folder: Path, *, target: str | None = None, text: str = PLAN) -> Path:
    """Write a plan file on an absolute DuckDB file beside it."""
    path = folder / "nightly.toml"
    path.write_text(text.format(target=target or f"duckdb:///{folder}/small.duckdb"), encoding="utf-8")
    return path
