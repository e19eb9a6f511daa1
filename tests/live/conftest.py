"""One database for the whole suite, and the page that says what was found on it."""

from __future__ import annotations

import os
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from tests.live.database import Live, any_database, drop, make_source
from tests.live.page import Finding, write_findings

_PAGE = Path(__file__).resolve().parents[2] / "docs/verified.md"
_SERVER = pytest.StashKey[str]()


@pytest.fixture(scope="session", name="live")
def _live(tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest) -> Iterator[Live]:
    with any_database(tmp_path_factory.mktemp("live")) as live:
        drop(live, _TABLES)
        status, doctor = live.dbatk("doctor")
        assert status == 0, doctor
        request.config.stash[_SERVER] = str(doctor["release"])
        make_source(live)
        yield live
        drop(live, _TABLES)


_TABLES = ("DBATK_LIVE_SOURCE", "DBATK_LIVE_TARGET", "DBATK_LIVE_JOB", "DBATK_LIVE_SLOW")


@pytest.fixture
def observe(request: pytest.FixtureRequest) -> Iterator[list[str]]:
    """Take sentences about what no documentation says for sure; they go to the page."""
    seen: list[str] = []
    yield seen
    request.node.user_properties.extend(("observed", sentence) for sentence in seen)


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    if report.when == "call" or report.skipped:
        observed = [str(text) for name, text in report.user_properties if name == "observed"]
        _REPORTS.append(Finding(report.nodeid.rpartition("::")[2], report.outcome, tuple(observed)))
    elif report.when == "teardown":
        observed = [str(text) for name, text in report.user_properties if name == "observed"]
        if observed and _REPORTS:
            _REPORTS[-1] = Finding(_REPORTS[-1].test, _REPORTS[-1].outcome, tuple(observed))


_REPORTS: list[Finding] = []


def pytest_sessionfinish(session: pytest.Session) -> None:
    server = session.config.stash.get(_SERVER, None)
    if server is not None and _REPORTS:
        page = Path(os.environ.get("DBATK_VERIFIED_PAGE", _PAGE))
        write_findings(page, server, datetime.now(UTC).date(), _REPORTS)
