"""What whoever asks a copy, and functions of the backup with him, cannot read there or reach from it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.restoring.conftest import Place, reason, target_of, trial
from tests.restoring.test_hostile import base_backup
from tests.servers.postgresql import Server

pytestmark = pytest.mark.postgresql

MADE = """
    CREATE EXTENSION dblink;
    CREATE EXTENSION postgres_fdw;
    CREATE EXTENSION file_fdw;
    CREATE FUNCTION public.said(statement text) RETURNS text LANGUAGE plpgsql AS $f$
      BEGIN EXECUTE statement; RETURN 'done'; EXCEPTION WHEN OTHERS THEN RETURN SQLERRM; END $f$;
    CREATE SERVER other FOREIGN DATA WRAPPER postgres_fdw OPTIONS (host '127.0.0.1', port 'PORT', dbname 'closed');
    CREATE USER MAPPING FOR PUBLIC SERVER other OPTIONS (user 'with_password', password 'not the one');
    CREATE FOREIGN TABLE public.remote (i int) SERVER other;
    CREATE VIEW public.dialled AS SELECT * FROM public.dblink('host=127.0.0.1 password=x', 'SELECT 1') AS d(i int);
"""
OF_THE_CLUSTER = """
    CREATE SERVER files FOREIGN DATA WRAPPER file_fdw;
    CREATE FOREIGN TABLE public.program (t text) SERVER files OPTIONS (program 'cat >FOLDER/by-program; echo a');
    CREATE SUBSCRIPTION closed CONNECTION 'host=127.0.0.1 password=x' PUBLICATION p
      WITH (connect = false, enabled = false, create_slot = false, slot_name = NONE);
    SELECT lo_from_bytea(4711, 'x');
"""
REACHES_OUT = {
    "table of another server": "SELECT public.said('SELECT * FROM public.remote') LIKE '%has no handler'",
    "dblink": "SELECT public.said('SELECT * FROM public.dialled') LIKE 'permission denied for function dblink'",
    "connection": "SELECT public.said($$SELECT dblink_connect('host=other')$$) LIKE 'permission denied%'",
}
SECRET = {
    "passwords": "SELECT count(*) = 0 FROM pg_authid WHERE rolpassword IS NOT NULL",
    "passwords of mappings": "SELECT count(*) = 0 FROM pg_user_mapping WHERE umoptions IS NOT NULL",
    "passwords of subscriptions": "SELECT count(*) = 0 FROM pg_subscription WHERE subconninfo <> ''",
    "program": "SELECT public.said('SELECT * FROM public.program') LIKE '%has no handler'",
    "large object": "SELECT lo_get(4711) = 'x'",
}


@pytest.fixture
def closed(loaded: Server) -> Iterator[Server]:
    own = Server(loaded.host, loaded.port, "closed", loaded.user, bin_dir=loaded.bin_dir)
    with loaded.connect() as session:
        session.execute("CREATE DATABASE closed")
    try:
        with own.connect() as session:
            session.execute(MADE.replace("PORT", str(own.port)))  # type: ignore[arg-type]
        yield own
        with own.connect() as session:
            session.execute("DROP SUBSCRIPTION IF EXISTS closed")
    finally:
        with loaded.connect() as session:
            session.execute("DROP DATABASE closed")


@pytest.mark.parametrize("form", ["base", "dump"])
def test_nothing_of_a_copy_reaches_out_or_shows_a_password(
    place_of: Callable[..., Place], closed: Server, tmp_path: Path, form: str
) -> None:
    place = place_of(*target_of(closed))
    asked = {**REACHES_OUT, **SECRET} if form == "base" else REACHES_OUT
    check = tmp_path / "check.sql"
    check.write_text(" UNION ALL ".join(f"SELECT '{name}', ({query})" for name, query in asked.items()))
    reached = place.folder / "reached"
    reached.mkdir()
    reached.chmod(0o777)
    if form == "base":
        with closed.connect() as session:
            session.execute(OF_THE_CLUSTER.replace("FOLDER", str(reached)))  # type: ignore[arg-type]
        status, document = place.restore(base_backup(closed, place.folder), "--check", str(check))
    else:
        where = ("--destination", str(place.folder), "--tag", "dump")
        status, document = place.run("backup", "run", "--method", "pg_dump", *where)
        assert status == 0, reason(document)
        status, document = place.restore(place.folder / "dump", "--method", "pg_dump", "--check", str(check))
    assert list(reached.iterdir()) == []
    assert status == 0, reason(document)
    labels = [item["label"] for item in trial(document)["items"]]  # type: ignore[attr-defined]
    assert {f"check {name}: true" for name in asked} <= set(labels)
