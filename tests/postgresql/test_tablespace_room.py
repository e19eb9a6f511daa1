"""Room on PostgreSQL: each object in its tablespace, whose folder is asked where the server is on this host."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.engines.arena import Heard
from tests.oracle.make import missing
from tests.postgresql.helpers import target_of
from tests.servers.postgresql import Server, unprivileged
from toolkit.app.approvals import Approvals
from toolkit.app.runs import space
from toolkit.app.runs.execute import start
from toolkit.app.runs.preview import describe
from toolkit.errors import ToolkitError
from toolkit.model.experiment import Experiment, OptionValue
from toolkit.model.values import Factor
from toolkit.model.words import Mode, OperationName
from toolkit.store import Store, open_store

pytestmark = pytest.mark.postgresql
MAY = Approvals(not_production=True)


@pytest.fixture
def server(postgresql_server: Server) -> Iterator[Server]:
    if postgresql_server.data is None:
        missing("postgresql", "the folders of this PostgreSQL are not known")
    with tempfile.TemporaryDirectory() as folder, postgresql_server.connect() as session:
        user = unprivileged()
        if user is not None and os.geteuid() == 0:
            os.chown(folder, user.pw_uid, user.pw_gid)
        session.execute(f"CREATE TABLESPACE roomy LOCATION '{folder}'".encode())
        try:
            with postgresql_server.schema(
                "roomed",
                "CREATE TABLE roomed.src AS SELECT g AS id, repeat('x', 90) AS x FROM generate_series(1, 20000) g",
                "CREATE INDEX src_x ON roomed.src (x) TABLESPACE roomy",
                "ANALYZE roomed.src",
            ):
                yield postgresql_server
        finally:
            session.execute("DROP TABLESPACE roomy")


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with open_store(tmp_path / "store.sqlite") as opened:
        yield opened


def experiment(
    server: Server, operation: OperationName, mode: Mode = Mode.JOB, **options: OptionValue
) -> Experiment:
    return Experiment(server.url, operation, options, (Factor("degree", (1,)),), mode, repeat=1, warmup=0)


def notes(server: Server, operation: OperationName, mode: Mode = Mode.JOB, **options: OptionValue) -> str:
    plan = describe(experiment(server, operation, mode, **options), target_of(server))
    return "\n".join(note for note in plan.notes if "need" in note)


def test_a_load_goes_where_it_was_asked_to_else_to_the_default_tablespace(server: Server) -> None:
    asked = notes(server, "ctas", source="roomed.src", table="roomed.c", tablespace="roomy")
    assert "in tablespace `roomy`, where" in asked and "are free" in asked and "pg_default" not in asked
    assert "in tablespace `pg_default`" in notes(server, "ctas", source="roomed.src", table="roomed.c")


def test_an_index_is_rebuilt_where_it_is_and_sorted_in_the_databases_own_tablespace(server: Server) -> None:
    said = notes(server, "index-rebuild", index="roomed.src_x")
    assert "tablespace `roomy`" in said and "tablespace `pg_default`" in said


def test_the_indexes_of_a_copy_go_to_the_tablespaces_of_their_originals_and_so_says_the_estimate(
    server: Server,
) -> None:
    said = notes(server, "insert", Mode.MEASUREMENT, source="roomed.src", table="roomed.src")
    assert "tablespace `roomy`" in said and "tablespace `pg_default`" in said
    with server.connect() as session:
        session.execute("CREATE TABLE roomed.twin (LIKE roomed.src INCLUDING ALL)")
        rows = session.execute("SELECT tablespace FROM pg_indexes WHERE tablename = 'twin'").fetchall()
    assert rows == [("roomy",)]


def test_a_tablespace_too_small_is_refused_by_name_and_one_that_is_not_there_too(
    server: Server, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Usage:
        free = 1000

    monkeypatch.setattr(space.shutil, "disk_usage", lambda _: Usage)  # type: ignore[attr-defined]
    options: dict[str, OptionValue] = {"source": "roomed.src", "table": "roomed.c", "tablespace": "roomy"}
    with pytest.raises(ToolkitError, match=r"tablespace `roomy`, where only 1,000 B") as caught:
        start(experiment(server, "ctas", **options), target_of(server), store=store, approvals=MAY, events=Heard())
    assert caught.value.code == "TK-0305"
    options["tablespace"] = "romy"
    with pytest.raises(ToolkitError, match="tablespace `romy` does not exist") as caught:
        start(experiment(server, "ctas", **options), target_of(server), store=store, approvals=MAY, events=Heard())
    assert caught.value.code == "TK-0204" and "roomy" in str(caught.value.hint)


def test_of_a_server_on_another_host_it_is_unknown_what_is_free(
    server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(space, "host_is_ours", lambda _: False)
    said = notes(server, "ctas", source="roomed.src", table="roomed.c")
    assert "it is unknown what is free there: PostgreSQL does not report it" in said
