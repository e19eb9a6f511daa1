"""Operations of a mix at once on one PostgreSQL server: runs of their own under the lease of the mix."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.servers.postgresql import Server
from toolkit.analysis.mixes import mix_trial
from toolkit.model.words import RunState
from toolkit.store import open_store

pytestmark = pytest.mark.postgresql
SCHEMA = "dbatk_mix"
TABLE = f"CREATE TABLE {SCHEMA}.t AS SELECT g AS id, md5(g::text) AS name FROM generate_series(1, 20000) g"


def jobs(server: Server) -> str:
    """Two copies of a table at once, then its statistics."""
    head = f'target = "{server.url}"\nnot_production = true\n'
    copied = f'operation = "ctas"\n{head}source = "{SCHEMA}.t"\ntable = "{SCHEMA}.made_'
    made = "".join(f'[[job]]\nname = "{name}"\n{copied}{name}"\n' for name in ("a", "b"))
    gather = f'operation = "stats-gather"\n{head}table = "{SCHEMA}.t"\nafter = ["a", "b"]\n'
    return f'{made}[[job]]\nname = "gather"\n{gather}'


def dbatk(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    own = {"DBATK_STORE": str(folder / "store.sqlite"), "DBATK_CONFIG": str(folder / "config")}
    line = [sys.executable, "-m", "toolkit", *words]
    return subprocess.run(line, env={**os.environ, **own}, capture_output=True, text=True, check=False)


def test_operations_at_once_share_the_lease_of_their_mix(tmp_path: Path, postgresql_server: Server) -> None:
    with postgresql_server.schema(SCHEMA, TABLE):
        (tmp_path / "mix.toml").write_text(jobs(postgresql_server), encoding="utf-8")
        done = dbatk(tmp_path, "mix", str(tmp_path / "mix.toml"))
        assert done.returncode == 0, done.stdout + done.stderr
        with open_store(tmp_path / "store.sqlite") as store:
            mix = store.load_run(store.resolve("last"))
            own = [head for head in store.list_runs() if head.parent == mix.head.run]
            found = mix_trial(mix)
        assert {(head.label, head.state) for head in own} == {
            ("a", RunState.DONE), ("b", RunState.DONE), ("gather", RunState.DONE),
        }  # fmt: skip
        assert found is not None
        begun = {each.started.label: each.item.begin_seconds or 0.0 for each in found.jobs}
        ended = {name: begun[name] + (each.item.elapsed_seconds or 0.0) for each in found.jobs
                 for name in (each.started.label,)}  # fmt: skip
        assert max(begun["a"], begun["b"]) < min(ended["a"], ended["b"])
        assert begun["gather"] >= max(ended["a"], ended["b"])
        with postgresql_server.connect() as session:
            both = session.execute(f"SELECT count(*) FROM {SCHEMA}.made_a JOIN {SCHEMA}.made_b USING (id)")  # type: ignore[call-overload]
            assert both.fetchall() == [(20000,)]
