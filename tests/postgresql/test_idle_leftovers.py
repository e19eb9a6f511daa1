"""Sessions of a run that was cut off, and changed nothing that its journal holds, are ended by `clean`."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import psycopg
import pytest

from tests.engines.arena import Heard
from tests.postgresql.helpers import target_of
from tests.servers.postgresql import Server
from toolkit.app.approvals import Approvals
from toolkit.app.runs.execute import start
from toolkit.app.runs.repair import clean
from toolkit.model.experiment import Experiment
from toolkit.model.values import Factor
from toolkit.model.words import Mode, RunState
from toolkit.store import open_store

pytestmark = pytest.mark.postgresql


@pytest.mark.parametrize(("state", "ended"), [(RunState.FAILED, True), (RunState.DONE, False)])
def test_clean_ends_the_idle_sessions_of_a_run_without_open_entries(
    postgresql_server: Server, postgresql_schema: str, tmp_path: Path, state: RunState, ended: bool
) -> None:
    with postgresql_server.connect() as session:
        session.execute(f'CREATE TABLE "{postgresql_schema}".t AS SELECT 1 AS id'.encode())
    options = {"table": f"{postgresql_schema}.t"}
    gather = Experiment(postgresql_server.url, "stats-gather", options, (Factor("degree", (1,)),), Mode.JOB)
    with open_store(tmp_path / "store.sqlite") as store:
        approvals, target = Approvals(not_production=True), target_of(postgresql_server)
        run = start(gather, target, store=store, approvals=approvals, events=Heard())
        store.end_run(run, state, datetime.now(UTC))
        with postgresql_server.connect() as left:
            left.execute("SELECT set_config('application_name', %s, false)", [run])
            report = clean(target, run=None, store=store, events=Heard())
            assert report.left == ()
            if ended:
                with pytest.raises(psycopg.OperationalError):
                    left.execute("SELECT 1")
            else:
                left.execute("SELECT 1")
