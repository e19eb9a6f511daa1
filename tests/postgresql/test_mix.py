"""Operations of a mix at once on one PostgreSQL server: runs of their own under the lease of the mix."""

from __future__ import annotations

import os
import subprocess
import time
from pathlib import Path

import psutil
import pytest

from tests.servers.forks import Forked
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


def begun(folder: Path, *words: str) -> Forked:
    own = {"DBATK_STORE": str(folder / "store.sqlite"), "DBATK_CONFIG": str(folder / "config")}
    return Forked("toolkit", *words, env={**os.environ, **own})


def dbatk(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    process = begun(folder, *words)
    out, err = process.communicate()
    return subprocess.CompletedProcess(process.args, process.wait(), out, err)


@pytest.mark.full
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


LOCK = 15_077
_SECONDS = 300


def test_a_job_that_was_killed_goes_on_with_the_run_that_it_began(
    tmp_path: Path, postgresql_server: Server
) -> None:
    """Killed with all it began, within a statement: what that run left is put in order by the same run."""
    (tmp_path / "mix.toml").write_text(
        f'[[job]]\nname = "copied"\noperation = "ctas"\ntarget = "{postgresql_server.url}"\n'
        f'not_production = true\ntable = "{SCHEMA}.made"\n'
        f'source = "{SCHEMA}.held"\n',
        encoding="utf-8",
    )
    held = f"CREATE VIEW {SCHEMA}.held AS SELECT id, pg_advisory_xact_lock_shared({LOCK})::text FROM {SCHEMA}.t"
    with postgresql_server.schema(SCHEMA, TABLE, held), postgresql_server.connect() as session:
        session.execute("SELECT pg_advisory_lock(%s)", [LOCK])
        process = begun(tmp_path, "mix", str(tmp_path / "mix.toml"))
        until = time.monotonic() + _SECONDS
        while not session.execute("SELECT FROM pg_locks WHERE objid = %s AND NOT granted", [LOCK]).fetchall():
            assert process.poll() is None and time.monotonic() < until, process.communicate()
        for each in (*psutil.Process(process.pid).children(recursive=True), process):
            each.kill()
        process.communicate()
        session.execute("SELECT pg_advisory_unlock(%s)", [LOCK])
        done = dbatk(tmp_path, "runs", "resume", "last:mix", "--allow-commands")
        assert done.returncode == 0, done.stdout + done.stderr
        assert session.execute(f"SELECT count(*) FROM {SCHEMA}.made").fetchall() == [(20000,)]  # type: ignore[call-overload]
    with open_store(tmp_path / "store.sqlite") as store:
        assert [(head.label, head.state) for head in store.list_runs() if head.parent is not None] == [
            ("copied", RunState.DONE)
        ]
        assert store.open_entries_all() == ()
