"""Settings of a plan's step on a PostgreSQL server: of its sessions, and never of the whole server."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.conftest import Dbatk, dbatk, home
from tests.servers.postgresql import Server

__all__ = ["dbatk", "home"]

pytestmark = pytest.mark.postgresql

PLAN = """
[plan]
name = "nightly"
target = "{url}"

[[step]]
name = "copy"
operation = "ctas"
query = "SELECT current_setting('work_mem') AS allowed"
table = "{schema}.copied"
setting = {{{setting}}}
"""


def test_a_step_has_its_setting_and_one_of_the_whole_server_is_refused(
    dbatk: Dbatk, postgresql_server: Server, postgresql_url: str, postgresql_schema: str, tmp_path: Path
) -> None:
    def ran(setting: str) -> tuple[int, str]:
        (tmp_path / "p.toml").write_text(
            PLAN.format(url=postgresql_url, schema=postgresql_schema, setting=setting)
        )
        done = dbatk("run", str(tmp_path / "p.toml"), "--not-production", "-q")
        return done.status, " ".join((done.out + done.err).split())

    status, said = ran('checkpoint_timeout = "7min"')
    assert status != 0
    assert "`checkpoint_timeout` is set for the whole server, where others of the plan or mix work" in said
    assert ran('work_mem = "77MB"')[0] == 0
    with postgresql_server.connect() as session:
        assert session.execute(f"SELECT allowed FROM {postgresql_schema}.copied").fetchone() == ("77MB",)
        assert session.execute("SHOW checkpoint_timeout").fetchone() == ("5min",)
