"""What limits the workers of a statement: said before, set for a run, put back after it (a real server)."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from tests.cli.conftest import Dbatk
from tests.servers.postgresql import Server
from tests.tiers import thinned
from toolkit.runner.sweep import Sweep

pytestmark = pytest.mark.postgresql


@pytest.fixture
def table(postgresql_server: Server, postgresql_schema: str) -> str:
    """A table of 10 to 24 MB: one worker by its size."""
    with postgresql_server.connect() as session:
        session.execute(
            f'CREATE TABLE "{postgresql_schema}".t AS SELECT g AS i, repeat(md5(g::text), 4) AS x'
            " FROM generate_series(1, 90000) g"
        )
    return f"{postgresql_schema}.t"


def parameters(server: Server, schema: str) -> str | None:
    with server.connect() as session:
        row = session.execute(
            "SELECT array_to_string(reloptions, ',') FROM pg_class WHERE oid = %s::regclass", [f'"{schema}".t']
        ).fetchone()
    return None if row is None else row[0]


def statements(answer: str, begin: str) -> list[str]:
    return [line for line in answer.splitlines() if line.startswith(begin)]


def test_memory_is_an_option_and_a_factor_and_is_put_back(
    dbatk: Dbatk, postgresql_url: str, postgresql_schema: str, table: str
) -> None:
    build = ("index", "build", "-t", postgresql_url, "--table", table, "--columns", "i", "--not-production")
    memory = ("--maintenance-work-mem", "64M,1G", "--degree", "4")
    script = dbatk(*build, *memory, "--dry-run").out
    for size in ("65536kB", "1048576kB"):
        assert f"SET \"maintenance_work_mem\" = '{size}'" in script
    answer = dbatk(*build, *memory, "--parallel-workers", "3", "--repeat", "1", "--warmup", "0", "--json")
    assert len(json.loads(answer.out)["trials"]) == 2, answer.out
    assert "maintenance_work_mem" in json.loads(answer.out)["trials"][0]["factors"]
    made = ("ctas", "-t", postgresql_url, "--source", table, "--table", f"{postgresql_schema}.made")
    script = dbatk(*made, "--work-mem", "8M", "--not-production", "--dry-run").out
    assert "SET \"work_mem\" = '8192kB'" in script
    assert dbatk(*made, "--work-mem", "8M", "--not-production").status == 0
    refused = dbatk(*build, "--maintenance-work-mem", "64")
    assert (refused.status, "with a unit" in refused.err) == (5, True)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--degree", "2"), False),
        (("--degree", "2,4"), True),
        (("--degree", "4", "--maintenance-work-mem", "128M"), False),
        (("--degree", "4", "--maintenance-work-mem", "127M"), True),
        (("--degree", "4", "--method", "hash"), False),
        (("--degree", "4", "--parallel-workers", "3"), False),
    ],
)
def test_memory_that_caps_a_build_is_said_before_it(
    dbatk: Dbatk, postgresql_url: str, table: str, options: tuple[str, ...], said: bool
) -> None:
    build = ("index", "build", "-t", postgresql_url, "--table", table, "--columns", "i", "--not-production")
    answer = dbatk(*build, *options, "--dry-run")
    assert answer.status == 0, answer.err
    assert ("limits an index build to degree" in " ".join(answer.out.split())) is said, answer.out


def test_the_report_says_what_capped_the_build(dbatk: Dbatk, postgresql_url: str, table: str) -> None:
    build = ("index", "build", "-t", postgresql_url, "--table", table, "--columns", "i", "--not-production")
    dbatk(*build, "--degree", "4", "--repeat", "1", "--warmup", "0")
    for line in (("runs", "show", "last", "--json"), ("report", "last")):
        assert "limits an index build to degree 2" in " ".join(dbatk(*line).out.split()), line


def test_the_size_of_the_table_is_said_with_the_statement_that_overrides_it(
    dbatk: Dbatk, postgresql_url: str, postgresql_schema: str, table: str
) -> None:
    made = ("ctas", "-t", postgresql_url, "--source", table, "--table", f"{postgresql_schema}.made", "--dry-run")
    said = " ".join(dbatk(*made, "--not-production", "--degree", "4").out.replace("--", " ").split())
    assert f'ALTER TABLE "{postgresql_schema}"."t" SET (parallel_workers = N)' in said
    assert "gets at most 1 worker " in said
    assert "gets at most" not in dbatk(*made, "--not-production", "--degree", "2").out


@pytest.mark.full
@pytest.mark.parametrize("before", thinned([None, 1], 2))
def test_parallel_workers_is_set_for_the_run_and_put_back(
    dbatk: Dbatk, postgresql_server: Server, postgresql_url: str, postgresql_schema: str, table: str,
    before: int | None,
) -> None:  # fmt: skip
    if before is not None:
        with postgresql_server.connect() as session:
            session.execute(f'ALTER TABLE "{postgresql_schema}".t SET (parallel_workers = {before})')
    was = parameters(postgresql_server, postgresql_schema)
    made = ("ctas", "-t", postgresql_url, "--source", table, "--table", f"{postgresql_schema}.made")
    made += ("--restore", "found")
    # the planner shuns workers that hand over every row, or that have little to compute
    made += ("--where", "md5(x) > '0' and md5(x || i) > '0' and md5(i || x) > '0' and i % 1000 = 0")
    answer = dbatk(
        *made, "--not-production", "--degree", "4", "--parallel-workers", "3", "--repeat", "1", "--warmup", "0",
        "--json",
    )  # fmt: skip
    assert [trial["outcome"] for trial in json.loads(answer.out)["trials"]] in (["ok"], ["downgraded"])
    back = "reset when" if before is None else f"set back to {before} when"
    shown = " ".join(dbatk("report", "last").out.split())
    assert f"parallel_workers of `t` is 3 during the run, and {back} it ends" in shown
    dbatk("report", "last", "--out", "page.html")
    assert re.search(r"Workers Planned: 3", Path("page.html").read_text()), "the plan of the statement is kept"
    assert parameters(postgresql_server, postgresql_schema) == was
    assert dbatk(*made, "--not-production", "--degree", "4", "--parallel-workers", "3").status in (
        0,
        3,
    )  # as above
    assert parameters(postgresql_server, postgresql_schema) == was


def test_what_somebody_else_set_meanwhile_stays_and_is_said(
    dbatk: Dbatk, postgresql_server: Server, postgresql_url: str, postgresql_schema: str, table: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    real = Sweep._cleanup

    def meanwhile(self: Sweep) -> object:
        with postgresql_server.connect() as session:
            session.execute(f'ALTER TABLE "{postgresql_schema}".t SET (parallel_workers = 7)')
        return real(self)

    monkeypatch.setattr(Sweep, "_cleanup", meanwhile)
    made = ("ctas", "-t", postgresql_url, "--source", table, "--table", f"{postgresql_schema}.made")
    answer = dbatk(*made, "--not-production", "--degree", "2", "--parallel-workers", "3")
    assert "somebody else set meanwhile" in answer.out + answer.err
    assert parameters(postgresql_server, postgresql_schema) == "parallel_workers=7"


def test_what_somebody_set_since_the_facts_were_read_is_not_overwritten(
    dbatk: Dbatk, postgresql_server: Server, postgresql_url: str, postgresql_schema: str, table: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    real = Sweep.run

    def before_the_run(self: Sweep) -> object:
        with postgresql_server.connect() as session:
            session.execute(f'ALTER TABLE "{postgresql_schema}".t SET (parallel_workers = 7)')
        return real(self)

    monkeypatch.setattr(Sweep, "run", before_the_run)
    made = ("ctas", "-t", postgresql_url, "--source", table, "--table", f"{postgresql_schema}.made")
    answer = dbatk(*made, "--not-production", "--degree", "2", "--parallel-workers", "3")
    assert answer.status != 0
    assert "parallel_workers is `7`, which somebody else set" in " ".join((answer.out + answer.err).split())
    assert parameters(postgresql_server, postgresql_schema) == "parallel_workers=7"


@pytest.mark.parametrize("words", [("ctas",), ("index", "build"), ("index", "rebuild")], ids=" ".join)
def test_what_a_killed_run_of_another_store_may_have_left_is_not_restored_unasked(
    dbatk: Dbatk, postgresql_server: Server, postgresql_url: str, postgresql_schema: str, table: str,
    words: tuple[str, ...],
) -> None:  # fmt: skip
    with postgresql_server.connect() as session:
        session.execute(f'CREATE INDEX t_i ON "{postgresql_schema}".t (i)')
        session.execute(f'ALTER TABLE "{postgresql_schema}".t SET (parallel_workers = 3)')
    what = {
        ("ctas",): ("--source", table, "--table", f"{postgresql_schema}.made"),
        ("index", "build"): ("--table", table, "--columns", "x", "--name", "made"),
        ("index", "rebuild"): ("--table", table),
    }[words]
    line = (*words, "-t", postgresql_url, *what, "--not-production", "--degree", "3", "--parallel-workers", "2")
    for more in ((), ("--dry-run",)):
        refused = dbatk(*line, *more)
        assert refused.status == 2 and "[TK-0118]" in refused.err, refused.err
        assert f"{postgresql_schema}.t` has parallel_workers 3" in refused.err
        assert "`--restore default` for parallel_workers unset" in " ".join(refused.err.split())
    assert parameters(postgresql_server, postgresql_schema) == "parallel_workers=3"
    answer = dbatk(*line, "--restore", "default", "--json")
    assert answer.status in (0, 3), answer.err
    assert parameters(postgresql_server, postgresql_schema) in (None, "")
    assert dbatk("clean", "-t", postgresql_url).status == 0


class Killed(BaseException):
    """What ends a process without anything being put back."""


def test_after_a_kill_clean_puts_the_parameter_back(
    dbatk: Dbatk, postgresql_server: Server, postgresql_url: str, postgresql_schema: str, table: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    def dies(_: object) -> None:
        raise Killed

    made = ("ctas", "-t", postgresql_url, "--source", table, "--table", f"{postgresql_schema}.made")
    with monkeypatch.context() as broken:
        broken.setattr(Sweep, "_cleanup", dies)
        with pytest.raises(Killed):
            dbatk(*made, "--not-production", "--parallel-workers", "3")
    assert parameters(postgresql_server, postgresql_schema) == "parallel_workers=3"
    cleaned = dbatk("clean", "-t", postgresql_url)
    assert cleaned.status == 0, cleaned.out + cleaned.err
    assert parameters(postgresql_server, postgresql_schema) in (None, "")


def test_a_copy_is_given_the_parameter_and_the_users_table_is_left_alone(
    dbatk: Dbatk, postgresql_url: str, table: str
) -> None:
    build = ("index", "build", "-t", postgresql_url, "--table", table, "--columns", "i", "--not-production")
    script = dbatk(*build, "--degree", "4", "--parallel-workers", "3", "--repeat", "1", "--dry-run").out
    (change,) = statements(script, "ALTER TABLE")
    assert "during the run" not in script
    assert "dbatk_" in change and "SET (parallel_workers = 3)" in change


def test_who_does_not_own_the_table_is_told_so(
    dbatk: Dbatk, postgresql_server: Server, postgresql_schema: str, table: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    user = postgresql_server.password_user
    with postgresql_server.connect() as session:
        session.execute(f'GRANT USAGE, CREATE ON SCHEMA "{postgresql_schema}" TO {user}')
        session.execute(f'GRANT SELECT ON ALL TABLES IN SCHEMA "{postgresql_schema}" TO {user}')
    monkeypatch.setenv("DBATK_PASSWORD", str(postgresql_server.password))
    url = f"postgresql://{user}@{postgresql_server.host}:{postgresql_server.port}/{postgresql_server.database}"
    made = ("ctas", "-t", url, "--source", table, "--table", f"{postgresql_schema}.made", "--not-production")
    answer = dbatk(*made, "--parallel-workers", "3")
    assert (answer.status, "only the owner" in answer.err) == (5, True), answer.err


@pytest.mark.full
def test_the_plan_of_each_timed_statement_is_kept_with_its_first_trial(
    dbatk: Dbatk, postgresql_server: Server, postgresql_url: str, postgresql_schema: str, table: str
) -> None:
    with postgresql_server.connect() as session:
        session.execute(f'CREATE TABLE "{postgresql_schema}".filled (i int, x text)')
    at = ("-t", postgresql_url, "--source", table, "--not-production", "--repeat", "2", "--warmup", "1")
    for line, plans, words in (
        (("ctas", *at, "--table", f"{postgresql_schema}.made", "--work-mem", "4M,8M"), 2, ("Seq Scan on t",)),
        (("insert", *at, "--table", f"{postgresql_schema}.filled"), 1, ("Insert on dbatk_", "Seq Scan on t")),
    ):
        answer = dbatk(*line, "--json")
        assert answer.status == 0, answer.out
        dbatk("report", "last", "--out", "page.html")
        page = Path("page.html").read_text()
        assert page.count("plan-") == plans
        assert all(word in page for word in words)
