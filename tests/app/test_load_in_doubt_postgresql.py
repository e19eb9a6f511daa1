"""An answer counts only when nothing of the load was at work any more: its rows may have changed since."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.engines.arena import Heard
from tests.servers.postgresql import Server
from toolkit.app.approvals import Approvals
from toolkit.app.runs.doubt import load_in_doubt
from toolkit.app.runs.execute import resume, start
from toolkit.app.targets import find_target
from toolkit.dialects.postgresql.dialect import PostgresqlDialect
from toolkit.errors import ToolkitError
from toolkit.model.experiment import Experiment
from toolkit.model.words import CountedRows, Mode
from toolkit.runner import trial
from toolkit.store import Store

pytestmark = pytest.mark.postgresql
MAY = Approvals(not_production=True)


class Killed(BaseException):
    """What ends a process without anything being told."""


@pytest.fixture
def server(postgresql_server: Server) -> Iterator[Server]:
    with postgresql_server.schema(
        "doubt",
        "CREATE TABLE doubt.a AS SELECT i AS id FROM generate_series(1, 100) i",
        "CREATE TABLE doubt.b (id int)",
    ):
        yield postgresql_server


@pytest.fixture
def killed(server: Server, store: Store, monkeypatch: pytest.MonkeyPatch) -> str:
    """A load whose process ended after its COMMIT, before that was told."""

    def dies(*_: object) -> None:
        raise Killed

    options = {"source": "doubt.a", "table": "doubt.b"}
    load = Experiment(server.url, "insert", options, (), Mode.JOB)
    with monkeypatch.context() as broken:
        broken.setattr(PostgresqlDialect, "transaction", lambda _: ())  # such as one too old to be known
        broken.setattr(trial, "_read_evidence", dies)
        broken.setattr(Store, "add_items", lambda *_: None)
        with pytest.raises(Killed):
            start(load, find_target(server.url).target, store=store, approvals=MAY, events=Heard())
    return store.list_runs()[0].run


def answer(server: Server, store: Store, run: str, rows: CountedRows) -> str:
    target = find_target(server.url).target
    return resume(run, target, store=store, approvals=MAY, events=Heard(), rows=rows)


@pytest.mark.thin(2)
@pytest.mark.parametrize("rows", list(CountedRows))
def test_an_answer_given_while_a_session_was_still_at_work_is_asked_again(
    server: Server, store: Store, killed: str, rows: CountedRows
) -> None:
    with (
        server.connect(application_name=killed),
        pytest.raises(ToolkitError, match="was still active") as refused,
    ):
        answer(server, store, killed, rows)
    assert refused.value.code == "TK-0209" and load_in_doubt(killed, store)
    assert answer(server, store, killed, rows) == killed
    assert not load_in_doubt(killed, store)
    with server.connect() as session:
        (count,) = session.execute("SELECT count(*) FROM doubt.b").fetchone() or (None,)
    assert count == (100 if rows is CountedRows.THERE else 200)
