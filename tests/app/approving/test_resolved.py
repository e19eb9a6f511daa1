"""What a name means where it runs is approved with it: schemas, settings and the place of the database."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import duckdb
import pytest

from tests.app.approving.test_complete import ALLOWED, made
from tests.engines.arena import Heard
from tests.oracle.standin import Scenario, running_standin
from tests.servers.postgresql import Server, as_user, serving, unprivileged
from tests.tidy import short_folder
from tests.tiers import thinned
from toolkit.app.approving import approve, check, subject_of_plan
from toolkit.app.approving.identity import identity_of
from toolkit.app.approving.making import Subject
from toolkit.app.maintenance import run_plan
from toolkit.app.targets import find_target
from toolkit.errors import ToolkitError
from toolkit.model.words import Role
from toolkit.store import Store
from toolkit.targets.base import SessionTag

COPY = """
[[step]]
name = "copy"
operation = "ctas"
source = "a"
table = "a_copy"
"""


@pytest.mark.postgresql
def test_another_search_path_is_refused_and_what_each_name_would_mean_is_said(
    store: Store,
    tmp_path: Path,
    postgresql_server: Server,
    postgresql_schema: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with (
        postgresql_server.connect() as session,
        postgresql_server.schema("g_evil", "CREATE TABLE g_evil.a (i int)"),
    ):
        session.execute(f'CREATE TABLE "{postgresql_schema}".a AS SELECT 1 AS id')
        monkeypatch.setenv("PGOPTIONS", f"-c search_path={postgresql_schema}")
        plan, places = made(postgresql_server.url, COPY, store, tmp_path)
        approval = approve(subject_of_plan(tmp_path / "n.toml", plan, places), store)
        full = approval.approved.values[f"on {postgresql_server.url} copy source"]
        assert full == f"{postgresql_schema}.a"
        (parts,) = approval.approved.databases.values()
        assert parts["port"] == str(postgresql_server.port) and parts["host"] == "127.0.0.1"
        assert parts["data directory"]
        monkeypatch.setenv("PGOPTIONS", "-c search_path=g_evil -c default_tablespace=pg_default")
        plan, places = made(postgresql_server.url, COPY, store, tmp_path)
        with pytest.raises(ToolkitError) as caught:
            check(subject_of_plan(tmp_path / "n.toml", plan, places), store)
        assert caught.value.code == "TK-0313"
        said = caught.value.message
        assert (
            f"`source` of step `copy` on `{postgresql_server.url}` was `{postgresql_schema}.a` and is `g_evil.a`"
            in said
        )
        assert f"search_path of `{postgresql_server.url}` was" in said
        assert f"default_tablespace of `{postgresql_server.url}` was not set" in said


@pytest.mark.postgresql
def test_a_role_that_gets_another_search_path_after_the_check_does_not_lead_elsewhere(
    store: Store, tmp_path: Path, postgresql_server: Server, postgresql_schema: str
) -> None:
    role = f"g_{postgresql_schema}"
    with (
        postgresql_server.connect() as session,
        postgresql_server.schema("g_evil", "CREATE TABLE g_evil.a (i int)"),
    ):
        session.execute(f"CREATE ROLE {role} LOGIN SUPERUSER")
        session.execute(f'CREATE TABLE "{postgresql_schema}".a AS SELECT 1 AS id')
        session.execute(f'ALTER ROLE {role} SET search_path = "{postgresql_schema}"')
        try:
            url = postgresql_server.url.replace(f"{postgresql_server.user}@", f"{role}@")
            plan, places = made(url, COPY, store, tmp_path)
            approval = approve(subject_of_plan(tmp_path / "n.toml", plan, places), store)
            check(subject_of_plan(tmp_path / "n.toml", plan, places), store)
            session.execute(f"ALTER ROLE {role} SET search_path = g_evil")
            allowed = replace(ALLOWED, approval=approval.hash)
            record = run_plan(plan, places, store=store, approvals=allowed, events=Heard())
            assert {step.state for step in record.steps} == {"done"}, [step.reason for step in record.steps]
            found = session.execute("SELECT schemaname FROM pg_tables WHERE tablename = 'a_copy'").fetchall()
            assert found == [(postgresql_schema,)]
        finally:
            session.execute(f"DROP OWNED BY {role} CASCADE")
            session.execute(f"DROP ROLE {role}")


QUERY = """
[[step]]
name = "copy"
operation = "ctas"
query = "SELECT id, twice(id) AS word FROM a WHERE id < 5"
table = "a_copy"
only_if = {sql = "SELECT count(*) FROM due", at_least = 0}
"""


@pytest.mark.postgresql
@pytest.mark.parametrize(
    ("evil", "said"),
    [
        (
            "CREATE TABLE {first}.a AS SELECT 7 AS id",
            "name `a` of `{url}` was `table {last}.a` and is `table {first}.a`",
        ),
        (
            "CREATE VIEW {first}.due AS SELECT 1",
            "name `due` of `{url}` was `table {last}.due` and is `view {first}.due, behind it ",
        ),
        (
            "CREATE FUNCTION {first}.twice(int) RETURNS int LANGUAGE sql AS 'SELECT 0'",
            "name `twice` of `{url}` was `function {last}.twice(integer), body ",
        ),
        (
            "DROP TABLE {last}.due; CREATE VIEW {last}.due AS SELECT 2",
            "was `table {last}.due` and is `view {last}.due, behind it ",
        ),
    ],
    ids=["table", "condition", "function", "view"],
)
def test_what_stands_before_a_name_in_a_query_is_refused(
    store: Store,
    tmp_path: Path,
    postgresql_server: Server,
    postgresql_schema: str,
    monkeypatch: pytest.MonkeyPatch,
    evil: str,
    said: str,
) -> None:
    last, first = postgresql_schema, "g_first"
    with postgresql_server.connect() as session, postgresql_server.schema(first):
        for text in (
            f"CREATE TABLE {last}.a AS SELECT 1 AS id",
            f"CREATE TABLE {last}.due AS SELECT 1 AS id",
            f"CREATE FUNCTION {last}.twice(int) RETURNS int LANGUAGE sql AS 'SELECT 2 * $1'",
        ):
            session.execute(text.encode())
        monkeypatch.setenv("PGOPTIONS", f"-c search_path={first},{last}")
        plan, places = made(postgresql_server.url, QUERY, store, tmp_path)
        subject = subject_of_plan(tmp_path / "n.toml", plan, places)
        approval = approve(subject, store)
        check(subject, store)
        allowed = replace(ALLOWED, approval=approval.hash)
        record = run_plan(plan, places, store=store, approvals=allowed, events=Heard())
        assert {step.state for step in record.steps} == {"done"}, [step.reason for step in record.steps]
        check(subject, store)
        session.execute(evil.format(first=first, last=last).encode())
        with pytest.raises(ToolkitError) as caught:
            check(subject, store)
        assert caught.value.code == "TK-0313"
        assert said.format(first=first, last=last, url=postgresql_server.url) in caught.value.message


@pytest.mark.parametrize(
    ("evil", "difference"),
    thinned(
        [
            (
                "ALTER TABLE a RENAME TO b; CREATE VIEW a AS SELECT 7 AS id",
                "name `a` of `{url}` was `table main.a` and is `view main.a, text ",
            ),
            ("CREATE MACRO Abs(x) AS 0", "name `Abs` of `{url}` was not set and is `macro main.Abs, text "),
            (
                "CREATE MACRO range(x) AS TABLE SELECT 7 AS range",
                "name `range` of `{url}` was not set and is `table macro main.range, text ",
            ),
            ("DROP TABLE due; CREATE VIEW due AS SELECT 1", "was `table main.due` and is `view main.due, text "),
            (
                "ALTER TABLE more RENAME TO less; CREATE VIEW more AS SELECT 7 AS id",
                "name `more` of `{url}` was `table main.more` and is `view main.more, text ",
            ),
        ],
        3,
    ),
    ids=["view", "macro", "table macro", "condition", "source"],
)
def test_what_takes_the_place_of_a_name_in_a_duckdb_file_is_refused(
    store: Store, tmp_path: Path, evil: str, difference: str
) -> None:
    """A macro goes before a function of DuckDB of its name."""
    file = tmp_path / "x.duckdb"
    url = f"duckdb:///{file}"
    with duckdb.connect(str(file)) as session:
        session.execute("CREATE TABLE a AS SELECT 1 AS id; CREATE TABLE due (i INT); CREATE TABLE more AS FROM a")
    steps = (
        '[[step]]\nname = "copy"\noperation = "ctas"\ntable = "made"\n'
        'query = "SELECT abs(id) AS id FROM A, range(2)"\n'
        'only_if = {sql = "SELECT count(*) FROM due", at_least = 0}\n'
        '[[step]]\nname = "load"\noperation = "insert"\nsource = "more"\ntable = "a"\n'
    )
    approve(subject_of_plan(tmp_path / "n.toml", *made(url, steps, store, tmp_path)), store)
    check(subject_of_plan(tmp_path / "n.toml", *made(url, steps, store, tmp_path)), store)
    with duckdb.connect(str(file)) as session:
        session.execute(evil)
    with pytest.raises(ToolkitError) as caught:
        check(subject_of_plan(tmp_path / "n.toml", *made(url, steps, store, tmp_path)), store)
    assert caught.value.code == "TK-0313"
    assert difference.format(url=url) in caught.value.message


@pytest.mark.parametrize(
    ("more", "reached"),
    [("external=yes", "everything that DuckDB can reach"), ("files=/etc&files=/etc/passwd", "/etc/, /etc/passwd")],
)
def test_what_sql_may_reach_beside_a_duckdb_file_is_approved_where_a_profile_says_it(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, more: str, reached: str
) -> None:
    file, profiles = tmp_path / "x.duckdb", tmp_path / "targets.toml"
    monkeypatch.setenv("DBATK_CONFIG", str(tmp_path))
    with duckdb.connect(str(file)) as session:
        session.execute("CREATE TABLE a AS SELECT 1 AS id")
    step = f'[[step]]\nname = "save"\noperation = "backup"\ndestination = "{tmp_path}/backups"\n'

    def subject(url: str) -> Subject:
        profiles.write_text(f'[targets.dwh]\nurl = "{url}"\n')
        profiles.chmod(0o600)
        return subject_of_plan(tmp_path / "n.toml", *made("dwh", step, store, tmp_path))

    approve(subject(f"duckdb:///{file}"), store)
    check(subject(f"duckdb:///{file}"), store)
    with pytest.raises(ToolkitError, match="SQL also reaches of `dwh`") as caught:
        check(subject(f"duckdb:///{file}?{more}"), store)
    assert reached in caught.value.message


@pytest.mark.full
@pytest.mark.postgresql
def test_a_base_backup_on_another_port_is_another_database(
    store: Store,
    tmp_path: Path,
    postgresql_server: Server,
    postgresql_schema: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    server = postgresql_server
    if server.bin_dir is None:
        pytest.skip("the programs of a server of yours are not known")
    monkeypatch.setenv("DBATK_CONFIG", str(tmp_path))

    def profile(port: int) -> None:
        url = server.url.replace(f":{server.port}/", f":{port}/")
        (tmp_path / "targets.toml").write_text(f'[targets.dwh]\nurl = "{url}"\nproduction = false\n')

    with server.connect() as session:
        session.execute(f"CREATE TABLE {postgresql_schema}.a AS SELECT 1 AS id".encode())
    steps = f'[[step]]\nname = "s"\noperation = "stats-gather"\ntable = "{postgresql_schema}.a"\n'
    profile(server.port)
    plan, places = made("dwh", steps, store, tmp_path)
    approve(subject_of_plan(tmp_path / "n.toml", plan, places), store)
    with cloned(server) as clone:
        profile(clone.port)
        plan, places = made("dwh", steps, store, tmp_path)
        with pytest.raises(ToolkitError) as caught:
            check(subject_of_plan(tmp_path / "n.toml", plan, places), store)
        said = caught.value.message
        assert f"port of `dwh` was `{server.port}` and is `{clone.port}`" in said
        assert f"data directory of `dwh` was `{server.data}` and is" in said
        assert "system identifier" not in said, "it is a clone"
    profile(server.port)
    plan, places = made("dwh", steps, store, tmp_path)
    check(subject_of_plan(tmp_path / "n.toml", plan, places), store)


@pytest.mark.postgresql
@pytest.mark.parametrize(
    "setting", ["standard_conforming_strings=off", "transform_null_equals=on", "array_nulls=off"]
)
def test_a_setting_that_changes_what_a_text_means_is_refused(
    store: Store,
    tmp_path: Path,
    postgresql_server: Server,
    postgresql_schema: str,
    monkeypatch: pytest.MonkeyPatch,
    setting: str,
) -> None:
    with postgresql_server.connect() as session:
        session.execute(f"CREATE TABLE {postgresql_schema}.a AS SELECT 1 AS id".encode())
    steps = f'[[step]]\nname = "s"\noperation = "stats-gather"\ntable = "{postgresql_schema}.a"\n'
    plan, places = made(postgresql_server.url, steps, store, tmp_path)
    approve(subject_of_plan(tmp_path / "n.toml", plan, places), store)
    monkeypatch.setenv("PGOPTIONS", f"-c {setting}")
    plan, places = made(postgresql_server.url, steps, store, tmp_path)
    with pytest.raises(ToolkitError) as caught:
        check(subject_of_plan(tmp_path / "n.toml", plan, places), store)
    assert f"set_for_it of `{postgresql_server.url}` was not set and is `{setting}`" in caught.value.message


@pytest.mark.full
@pytest.mark.postgresql
@pytest.mark.parametrize("way", ["-c shop.most=777", r"-c shop\.most=777", "--shop.most=777", "role", "database"])
def test_a_setting_that_no_extension_declares_is_held_and_its_value_not_shown(
    store: Store, tmp_path: Path, postgresql_server: Server, postgresql_schema: str,
    monkeypatch: pytest.MonkeyPatch, way: str,
) -> None:  # fmt: skip
    """A view or a row policy may read it: whoever sets it decides which rows an approved plan copies."""
    server, name = postgresql_server, f"shop_{postgresql_schema}"
    owner = f"ROLE {server.user} IN DATABASE {server.database}" if way == "role" else f"DATABASE {server.database}"
    with server.connect() as session:
        session.execute(f"CREATE TABLE {postgresql_schema}.a AS SELECT 1 AS id".encode())
    steps = f'[[step]]\nname = "s"\noperation = "stats-gather"\ntable = "{postgresql_schema}.a"\n'
    plan, places = made(server.url, steps, store, tmp_path)
    approve(subject_of_plan(tmp_path / "n.toml", plan, places), store)
    set_by_server = way in ("role", "database")
    if set_by_server:
        with server.connect() as session:
            session.execute(f"ALTER {owner} SET {name}.most = '777'".encode())
    else:
        monkeypatch.setenv("PGOPTIONS", way)
    try:
        plan, places = made(server.url, steps, store, tmp_path)
        with pytest.raises(ToolkitError) as caught:
            check(subject_of_plan(tmp_path / "n.toml", plan, places), store)
    finally:
        if set_by_server:
            with server.connect() as session:
                session.execute(f"ALTER {owner} RESET {name}.most".encode())
    assert f"own_settings of `{server.url}` was not set and is" in caught.value.message
    assert "777" not in caught.value.message


@contextmanager
def cloned(server: Server) -> Iterator[Server]:
    """Run a base backup of a server on another port."""
    assert server.bin_dir is not None
    folder = short_folder("clone-")
    user = unprivileged()
    try:
        folder.chmod(0o711)
        if user is not None:
            os.chown(folder, user.pw_uid, user.pw_gid)
        command = [
            server.bin_dir / "pg_basebackup", "-D", folder / "data", "-h", server.host, "-p", str(server.port),
            "-U", server.user, "-c", "fast", "--no-sync", "-X", "stream",
        ]  # fmt: skip
        subprocess.run(command, check=True, capture_output=True, **as_user(user))  # type: ignore[call-overload]
        with serving(server.bin_dir, folder / "data", folder) as clone:
            yield clone
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def test_a_synonym_that_stands_before_a_name_in_a_query_of_oracle_is_refused(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DBATK_CONFIG", str(tmp_path))
    public = {"OWNER": "PUBLIC", "SYNONYM_NAME": "SALES", "TABLE_OWNER": "APP", "TABLE_NAME": "SALES"}
    with running_standin(Scenario(views={"ALL_SYNONYMS": [public]})) as standin:
        monkeypatch.setenv("DBATK_PASSWORD", standin.password)
        steps = '[[step]]\nname = "c"\noperation = "ctas"\nquery = "SELECT id FROM sales, gtest"\ntable = "x"\n'
        plan, places = made(standin.url, steps, store, tmp_path)
        subject = subject_of_plan(tmp_path / "n.toml", plan, places)
        (parts,) = approve(subject, store).approved.databases.values()
        assert parts["name `SALES`"] == "synonym PUBLIC.SALES for APP.SALES"
        assert parts["name `GTEST`"] == "table DBATK.GTEST"
        check(subject, store)
        private = {**public, "OWNER": "DBATK", "TABLE_OWNER": "EVIL"}
        standin.engine.scenario = replace(standin.engine.scenario, views={"ALL_SYNONYMS": [public, private]})
        with pytest.raises(ToolkitError, match=r"synonym DBATK\.SALES for EVIL\.SALES"):
            check(subject, store)


@pytest.mark.parametrize(
    ("view", "was", "now"),
    [
        (
            "ALL_DIRECTORIES",
            {"OWNER": "SYS", "DIRECTORY_NAME": "INBOX", "DIRECTORY_PATH": "/in"},
            {"DIRECTORY_PATH": "/evil"},
        ),
        (
            "ALL_DB_LINKS",
            {"OWNER": "PUBLIC", "DB_LINK": "FAR.EXAMPLE.COM", "USERNAME": "APP", "HOST": "far"},
            {"HOST": "evil"},
        ),
    ],
)
def test_a_directory_or_a_database_link_of_oracle_that_leads_elsewhere_is_refused(
    store: Store,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    view: str,
    was: dict[str, str],
    now: dict[str, str],
) -> None:
    monkeypatch.setenv("DBATK_CONFIG", str(tmp_path))
    with running_standin(Scenario(views={view: [was]})) as standin:
        monkeypatch.setenv("DBATK_PASSWORD", standin.password)
        steps = (
            '[[step]]\nname = "d"\noperation = "datapump-export"\nschema = "DBATK"\ndirectory = "INBOX"\n'
            if view == "ALL_DIRECTORIES"
            else '[[step]]\nname = "c"\noperation = "ctas"\nquery = "SELECT id FROM sales@far"\ntable = "x"\n'
        )
        plan, places = made(standin.url, steps, store, tmp_path)
        subject = subject_of_plan(tmp_path / "n.toml", plan, places)
        approve(subject, store)
        check(subject, store)
        standin.engine.scenario = replace(standin.engine.scenario, views={view: [{**was, **now}]})
        with pytest.raises(ToolkitError, match="evil"):
            check(subject, store)


@pytest.mark.postgresql
def test_a_role_that_becomes_another_one_is_noticed(postgresql_server: Server) -> None:
    with postgresql_server.connect() as session:
        session.execute("CREATE ROLE g_login LOGIN")
        session.execute("CREATE ROLE g_power")
        session.execute("GRANT g_power TO g_login")
        try:
            target = find_target(postgresql_server.url.replace(f"{postgresql_server.user}@", "g_login@")).target
            target.connect(Role.CONTROL, SessionTag("r")).close()
            session.execute("ALTER ROLE g_login SET role = g_power")
            with pytest.raises(ToolkitError, match="works as `g_power`, the first one did as `g_login`"):
                target.connect(Role.CONTROL, SessionTag("r"))
        finally:
            session.execute("DROP ROLE g_login, g_power")


def test_another_schema_host_or_nls_of_oracle_is_refused(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    steps = '[[step]]\nname = "stats"\noperation = "stats-gather"\ntable = "GTEST"\n'
    monkeypatch.setenv("DBATK_CONFIG", str(tmp_path))

    def profile(url: str) -> None:
        (tmp_path / "targets.toml").write_text(f'[targets.dwh]\nurl = "{url}"\nproduction = false\n')
        (tmp_path / "targets.toml").chmod(0o600)

    with running_standin() as standin:
        monkeypatch.setenv("DBATK_PASSWORD", standin.password)
        profile(standin.url)
        plan, places = made("dwh", steps, store, tmp_path)
        approval = approve(subject_of_plan(tmp_path / "n.toml", plan, places), store)
        (parts,) = approval.approved.databases.values()
        assert parts["host"] == "standin" and parts["service"] == "FREEPDB1"
        assert parts["first data file"] == "/u01/oradata/FREE/users01.dbf"
        assert approval.approved.values["on dwh stats table"] == "DBATK.GTEST"
    clone = Scenario(
        context={"CURRENT_SCHEMA": "APP", "NLS_SORT": "GERMAN", "CURRENT_EDITION_NAME": "E2"},
        parameters={"parallel_degree_policy": "AUTO"},
        views={"V$DATAFILE": [{"FILE#": 7, "NAME": "/u09/clone/users01.dbf"}]},
    )
    with running_standin(clone) as standin:
        profile(standin.url)
        plan, places = made("dwh", steps, store, tmp_path)
        with pytest.raises(ToolkitError) as caught:
            check(subject_of_plan(tmp_path / "n.toml", plan, places), store)
        for sentence in (
            "`table` of step `stats` on `dwh` was `DBATK.GTEST` and is `APP.GTEST`",
            "first data file of `dwh` was `/u01/oradata/FREE/users01.dbf` and is `/u09/clone/users01.dbf`",
            "nls_sort of `dwh` was `BINARY` and is `GERMAN`",
            "edition of `dwh`",
            "parallel_degree_policy of `dwh` was `MANUAL` and is `AUTO`",
        ):
            assert sentence in caught.value.message


def test_later_sessions_of_oracle_have_the_schema_that_was_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    with running_standin() as standin:
        monkeypatch.setenv("DBATK_PASSWORD", standin.password)
        target = find_target(standin.url).target
        identity_of(target)
        standin.engine.scenario = replace(standin.engine.scenario, context={"CURRENT_SCHEMA": "EVIL"})
        session = target.connect(Role.CONTROL, SessionTag("r"))
        asked = "SELECT SYS_CONTEXT('USERENV', 'CURRENT_SCHEMA') AS s FROM dual"
        assert session.execute(asked).rows[0]["s"] == "DBATK"
        session.close()
