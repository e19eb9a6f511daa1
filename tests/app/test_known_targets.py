"""A URL does not hide what a profile says of the same database."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.for_each import for_each
from toolkit.app.approvals import Approvals, check_production
from toolkit.app.targets import policy_of
from toolkit.errors import ToolkitError

_PROFILES = """\
[targets.live]
url = "oracle://dba@DB1.example.com:1521/SALES"
production = true
[targets.cluster]
url = "oracle://dba@SALES_TNS"
production = true
[targets.shop]
url = "postgresql://app@pg1/shop"
production = true
[targets.lab]
url = "oracle://dba@db1.example.com:1521/LAB"
production = false
"""


@pytest.fixture(autouse=True)
def _profiles(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "targets.toml"
    file.write_text(_PROFILES, encoding="utf-8")
    monkeypatch.setenv("DBATK_CONFIG", str(tmp_path))


@for_each(
    ("url", "name"),
    [
        ("oracle://other@db1.example.com:1521/sales", "live"),
        ("oracle://dba@db1.EXAMPLE.com/SALES", "live"),
        ("oracle://dba@db1.example.com:1521/sales:dedicated/S1", "live"),
        ("oracle://scott@SALES_TNS", "cluster"),
        ("postgresql://me@pg1:5432/shop", "shop"),
    ],
)
def test_not_production_is_refused_for_a_url_of_what_a_profile_calls_production(url: str, name: str) -> None:
    policy = policy_of(url)
    assert policy.production is True
    with pytest.raises(ToolkitError, match="is a production database"):
        check_production("oracle", policy, Approvals(not_production=True), frozenset({name}))
    check_production("oracle", policy, Approvals(yes_production=(name,)), frozenset({name}))


@for_each(
    "url",
    [
        "oracle://dba@db1.example.com:1521/LAB", "oracle://dba@db1.example.com:1522/SALES",
        "oracle://dba@db2.example.com:1521/SALES", "postgresql://me@pg1/other", "duckdb:///sales.duckdb",
    ],
)  # fmt: skip
def test_of_another_database_nothing_is_known(url: str) -> None:
    assert policy_of(url).production is None
