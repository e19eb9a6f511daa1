"""The commands at work on a small DuckDB file: jobs, measurements, files, the store."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import sys
from pathlib import Path

import duckdb
import pytest

from tests.cli.conftest import Dbatk
from tests.for_each import for_each
from toolkit.cli.main import main

SWEEP = ("--degree", "1,2", "--repeat", "1", "--warmup", "0")


def tables(home: Path) -> set[str]:
    with duckdb.connect(str(home / "small.duckdb"), read_only=True) as connection:
        return {row[0] for row in connection.execute("select table_name from duckdb_tables()").fetchall()}


def test_a_job_makes_the_table_and_suggests_what_comes_next(dbatk: Dbatk, url: str, home: Path) -> None:
    answer = dbatk("ctas", "-t", url, "--source", "small", "--table", "s2", "--label", "mine")
    assert answer.status == 0
    assert tables(home) == {"small", "s2"}
    assert "s2" in answer.out
    assert all(len(line) <= 80 for line in answer.out.splitlines())
    assert "a job: what it creates is kept" in answer.err
    assert "`dbatk report mine --out report.html`" in answer.err


def test_a_measurement_leaves_nothing_and_prints_one_document(dbatk: Dbatk, url: str, home: Path) -> None:
    answer = dbatk("ctas", "-t", url, "--source", "small", "--table", "s2", *SWEEP, "--json", "--seed", "7", "-q")
    assert (answer.status, answer.err) == (0, "")
    document = json.loads(answer.out)
    assert (document["mode"], document["state"], document["seed"]) == ("measurement", "done", 7)
    assert sorted(cell["factors"]["degree"] for cell in document["cells"]) == [1, 2]
    assert tables(home) == {"small"}


def test_a_cell_without_a_good_repetition_exits_3_and_is_named(dbatk: Dbatk, url: str) -> None:
    line = ("ctas", "-t", url, "--source", "small", "--table", "s2", "--concurrency", "1,2", "--repeat", "1")
    answer = dbatk(*line)
    assert answer.status == 3
    assert "warning: degree=1,concurrency=2: unsupported" in answer.err
    listed, shown = dbatk("runs", "list"), dbatk("runs", "show", "last")
    assert "  warning  " in listed.out and re.search(r"^state +warning, \d of \d trials ended$", shown.out, re.M)
    assert json.loads(dbatk("runs", "list", "--json").out)["runs"][0]["state"] == "done"


@pytest.mark.full
def test_an_error_of_several_trials_is_named_once_with_their_number(dbatk: Dbatk, url: str) -> None:
    line = ("ctas", "-t", url, "--source", "small", "--table", "s2", "--concurrency", "1,2,3", "--repeat", "2")
    named = [text for text in dbatk(*line).err.splitlines() if text.startswith("warning: degree=1,")]
    assert len(named) == 1
    assert "degree=1,concurrency=2" in named[0] and "degree=1,concurrency=3" in named[0]
    assert ": unsupported, 2 trials (" in named[0]


def test_a_dry_run_in_a_pipe_is_whole_and_full_needs_it(dbatk: Dbatk, url: str) -> None:
    line = ("ctas", "-t", url, "--source", "small", "--table", "s2", "--degree", "1,2")
    whole = dbatk(*line, "--dry-run").out
    assert whole == dbatk(*line, "--dry-run", "--full").out
    assert whole.count("CREATE TABLE") == 2
    answer = dbatk(*line, "--full")
    assert (answer.status, "only valid with `--dry-run`" in answer.err) == (2, True)


@pytest.mark.full
def test_a_job_that_failed_is_listed_as_failed(dbatk: Dbatk, url: str, home: Path) -> None:
    (home / "query.sql").write_text("select cast('x' || i as integer) as i from small")
    assert dbatk("ctas", "-t", url, "--query", "query.sql", "--table", "no").status == 3
    assert dbatk("ctas", "-t", url, "--source", "small", "--table", "yes").status == 0
    runs = json.loads(dbatk("runs", "list", "--json").out)["runs"]
    assert [run["state"] for run in runs] == ["done", "failed"]
    shown = [json.loads(dbatk("runs", "show", run["run"], "--json").out)["state"] for run in runs]
    assert shown == ["done", "failed"]
    lines = dbatk("runs", "list").out.splitlines()[-2:]
    assert [re.split(r" {2,}", line)[-2] for line in lines] == ["ok", "failed"]


def test_the_list_says_when_each_run_began(dbatk: Dbatk, url: str) -> None:
    assert dbatk("ctas", "-t", url, "--source", "small", "--table", "yes").status == 0
    began = json.loads(dbatk("runs", "list", "--json").out)["runs"][0]["began_at"]
    titles, *_, line = (re.split(r" {2,}", line) for line in dbatk("runs", "list").out.splitlines())
    assert line[titles.index("began (UTC)")] == began[:16].replace("T", " ")


def test_what_the_engine_lacks_is_refused_with_5(dbatk: Dbatk, url: str, home: Path) -> None:
    answer = dbatk("ctas", "-t", url, "--source", "small", "--table", "s2", "--nologging")
    assert answer.status == 5
    assert "`--logging` does not exist on duckdb" in answer.err
    assert tables(home) == {"small"}


def test_logging_and_its_short_form_exclude_each_other(dbatk: Dbatk, url: str) -> None:
    answer = dbatk("ctas", "-t", url, "--source", "s", "--table", "t", "--logging", "logging", "--nologging")
    assert (answer.status, "are mutually exclusive" in answer.err) == (2, True)


def test_a_query_comes_from_a_file_or_from_standard_input(
    dbatk: Dbatk, url: str, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import io
    import sys

    (home / "q.sql").write_text("select k, count(*) as n from small group by k; -- per k\n")
    assert dbatk("ctas", "-t", url, "--query", "q.sql", "--table", "s2").status == 0
    monkeypatch.setattr(sys, "stdin", io.StringIO("drop table small"))
    refused = dbatk("ctas", "-t", url, "--query", "-", "--table", "s3")
    assert (refused.status, "[TK-0105]" in refused.err) == (2, True)
    assert tables(home) == {"small", "s2"}


def test_a_dry_run_prints_the_script_alone_and_changes_nothing(dbatk: Dbatk, url: str, home: Path) -> None:
    answer = dbatk("ctas", "-t", url, "--source", "small", "--table", "s2", "--dry-run")
    assert (answer.status, answer.err) == (0, "")
    assert "CREATE TABLE" in answer.out
    assert tables(home) == {"small"}
    assert not (home / "store.sqlite").exists()
    document = dbatk("ctas", "-t", url, "--source", "small", "--table", "s2", "--dry-run", "--json")
    assert json.loads(document.out) == {"script": answer.out, "licences": None}


def test_an_assumed_oracle_needs_no_target(dbatk: Dbatk) -> None:
    answer = dbatk("ctas", "--assume", "19-ee", "--dry-run", "--source", "A", "--table", "B", "--degree", "4")
    assert answer.status == 0
    assert "PARALLEL 4" in answer.out


@for_each(
    ("options", "status", "hint"),
    [
        (("--table", "B", "--columns", "UPPER(ID)"), 2, "the SELECT of --query"),
        (("--table", "SYS.B"), 5, "use your own schema"),
        (("--table", "B", "--compression", "oltp"), 5, "BASIC table compression"),
        (("--table", "B", "--compression", "oltp,advanced"), 5, "none of the 2 configurations is available"),
    ],
)
def test_a_refusal_on_an_assumed_oracle_says_what_to_do_instead(
    options: tuple[str, ...], status: int, hint: str, dbatk: Dbatk
) -> None:
    answer = dbatk("ctas", "--assume", "19-ee", "--dry-run", "--source", "A", *options)
    assert (answer.status, answer.out) == (status, "")
    assert hint in answer.err.partition("hint: ")[2]


@pytest.mark.thin(2)
@pytest.mark.parametrize(
    ("keep", "words"),
    [
        ("best", ("is run once more and kept", "kept the best configuration")),
        ("all", ("is a scratch object and is kept",)),
    ],
)
def test_a_measurement_says_beforehand_what_stays(
    keep: str, words: tuple[str, ...], dbatk: Dbatk, url: str
) -> None:
    answer = dbatk("ctas", "-t", url, "--source", "small", "--table", "s2", *SWEEP, "--keep", keep)
    assert answer.status == 0
    assert all(each in answer.err for each in words)
    assert "is a scratch object and is dropped\n" not in answer.err


def test_a_licence_whose_last_day_is_over_is_not_declared(dbatk: Dbatk, home: Path) -> None:
    words = ("--license", "partitioning", "--licensed-by", "J. Doe", "--licensed-until")
    answer = dbatk("target", "add", "dwh", "oracle://dba@db1:1521/dwh", *words, "2020-01-01")
    assert (answer.status, "is in the past" in answer.err) == (2, True)


def test_a_saved_experiment_runs_as_the_command_would(dbatk: Dbatk, url: str, home: Path) -> None:
    line = ("ctas", "-t", url, "--source", "small", "--table", "s2", *SWEEP)
    assert dbatk(*line, "--save-as", "exp.toml").status == 0
    assert not (home / "store.sqlite").exists()
    again = dbatk(*line, "--save-as", "exp.toml")
    assert (again.status, "[TK-0405]" in again.err) == (1, True)
    assert dbatk("run", "exp.toml", "--label", "filed").status == 0
    shown = json.loads(dbatk("runs", "show", "filed", "--json").out)
    assert [trial["factors"] for trial in shown["trials"]] != []
    assert shown["label"] == "filed"


def test_a_plan_shows_cells_and_order_without_touching_anything(dbatk: Dbatk, url: str, home: Path) -> None:
    dbatk("ctas", "-t", url, "--source", "small", "--table", "s2", "--degree", "1,2", "--save-as", "exp.toml")
    answer = dbatk("plan", "exp.toml", "--json")
    document = json.loads(answer.out)
    assert (answer.status, document["mode"], len(document["trials"])) == (0, "measurement", 8)
    assert [trial["warmup"] for trial in document["trials"]] == [True] * 2 + [False] * 6
    assert "degree=2" in dbatk("plan", "exp.toml").out
    assert tables(home) == {"small"}


def test_runs_are_listed_shown_exported_and_deleted(dbatk: Dbatk, url: str, home: Path) -> None:
    assert "no runs yet" in dbatk("runs", "list").err
    dbatk("stats", "gather", "-t", url, "--table", "small", "--label", "one")
    dbatk("stats", "gather", "-t", url, "--table", "small", "--label", "two")
    listed = dbatk("runs", "list")
    assert len(listed.out.splitlines()) == 4, "a head, its rule, and one line for each run"
    assert [run["label"] for run in json.loads(dbatk("runs", "list", "--json").out)["runs"]] == ["two", "one"]
    assert "[1/1] degree=1: ok" in dbatk("runs", "show", "one", "--follow").err
    assert dbatk("runs", "export", "one", "--out", "one.json").status == 0
    assert (home / "one.json").stat().st_mode & 0o077 == 0
    refused = dbatk("runs", "delete", "one")
    assert (refused.status, "--yes" in refused.err) == (2, True)
    assert dbatk("runs", "delete", "one", "--yes").status == 0
    assert dbatk("runs", "show", "one").status == 2


@pytest.mark.full
def test_a_finished_run_resumed_runs_nothing_again(dbatk: Dbatk, url: str) -> None:
    dbatk("ctas", "-t", url, "--source", "small", "--table", "s2", *SWEEP)
    before = json.loads(dbatk("runs", "show", "last", "--json").out)["trials"]
    again = dbatk("runs", "resume", "last")
    assert (again.status, "was missing" in again.err) == (0, True)
    assert json.loads(dbatk("runs", "show", "last", "--json").out)["trials"] == before


@pytest.mark.full
def test_cells_are_compared_by_name(dbatk: Dbatk, url: str) -> None:
    dbatk("ctas", "-t", url, "--source", "small", "--table", "s2", *SWEEP)
    answer = dbatk("compare", "last/degree=1", "last/degree=2", "--json")
    (pair,) = json.loads(answer.out)["pairs"]
    title = " ".join(dbatk("compare", "last/degree=1", "last/degree=2").out.partition("\n==")[0].split())
    assert title.startswith("ctas s2 on small.duckdb: B degree=2 against A degree=1, in ")
    assert (answer.status, pair["verdict"]) == (0, "inconclusive")
    limited = ("compare", "last/degree=1", "last/degree=2", "--fail-if", "elapsed_seconds > +5%")
    assert dbatk(*limited).status == 3
    assert dbatk("compare", "last/degree=1", "last/degree=2", "--strict").status == 3
    missing = dbatk("compare", "last/degree=1", "last/degree=9")
    assert (missing.status, "`degree=2`" in missing.err) == (2, True)


@pytest.mark.full
def test_unlike_work_is_compared_only_by_force(dbatk: Dbatk, url: str) -> None:
    dbatk("ctas", "-t", url, "--source", "small", "--table", "s2", "--label", "a")
    dbatk("stats", "gather", "-t", url, "--table", "small", "--label", "b")
    answer = dbatk("compare", "a", "b")
    assert (answer.status, "[TK-0110]" in answer.err) == (2, True)
    forced = dbatk("compare", "a", "b", "--allow-unlike")
    assert (forced.status, "not the same work: " in forced.out) == (0, True)
    assert dbatk("report", "a", "b").status == 0


@pytest.mark.thin(3)
@pytest.mark.parametrize(
    ("name", "begins"),
    [("r.html", "<!doctype html>"), ("r.md", "#"), ("r.json", "{"), ("r.csv", "run"), ("r.txt", "ctas")],
)
def test_reports_take_their_format_from_the_file(
    name: str, begins: str, dbatk: Dbatk, url: str, home: Path
) -> None:
    dbatk("ctas", "-t", url, "--source", "small", "--table", "s2")
    answer = dbatk("report", "last", "--out", name)
    assert (answer.status, answer.out) == (0, "")
    assert (home / name).read_text().lower().startswith(begins)


def test_profiles_give_target_and_work_schema(
    dbatk: Dbatk, url: str, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    added = dbatk("target", "add", "tiny", url, "--not-production", "--max-degree", "2", "--work-schema", "main")
    assert added.status == 0
    elsewhere = home / "elsewhere"
    elsewhere.mkdir()
    monkeypatch.chdir(elsewhere)
    assert dbatk("target", "test", "tiny").status == 0
    (kept,) = json.loads(dbatk("target", "list", "--json").out)["targets"]
    assert (kept["name"], kept["production"], kept["max_degree"]) == ("tiny", False, 2)
    refused = dbatk("ctas", "-t", "tiny", "--source", "small", "--table", "s2", "--degree", "1,4")
    assert (refused.status, "max_degree" in refused.err) == (5, True)
    assert dbatk("ctas", "-t", "tiny", "--source", "small", "--table", "s2").status == 0
    assert dbatk("target", "remove", "tiny").status == 0
    assert "no targets yet" in dbatk("target", "list").err


def test_doctor_says_what_can_be_had(dbatk: Dbatk, url: str, home: Path) -> None:
    answer = dbatk("doctor", "-t", url)
    assert answer.status == 0
    assert "index-rebuild, stats-gather, purge, vacuum, table-move in parallel available" in " ".join(
        answer.out.split()
    )
    assert all(len(line) <= 80 for line in answer.out.splitlines())
    document = json.loads(
        dbatk("doctor", "-t", url, "--source", "small", "--degree", "1,2", "--facts-out", "f.json", "--json").out
    )
    assert [check["name"] for check in document["work"]] == ["ctas degree=1", "ctas degree=2"]
    line = ("ctas", "-t", "duckdb:///none.duckdb", "--source", "small", "--table", "s2", "--dry-run")
    assert "CREATE TABLE" in dbatk(*line, "--facts", "f.json").out
    assert not (home / "none.duckdb").exists()


def test_doctor_asks_which_operation_a_table_is_meant_for(dbatk: Dbatk, url: str) -> None:
    answer = dbatk("doctor", "-t", url, "--table", "small")
    assert (answer.status, "which operation is to be checked" in answer.err) == (2, True), answer.err
    assert dbatk("doctor", "-t", url, "--table", "small", "--operation", "vacuum").status == 0


@pytest.mark.usefixtures("pipe")
def test_a_note_of_doctor_is_whole_in_a_pipe(dbatk: Dbatk, url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("toolkit.cli.doctor._NOTE", 40)
    notes = [line for line in dbatk("doctor", "-t", url).out.splitlines() if line.startswith("note ")]
    assert any(len(line) > 80 for line in notes) and not any(line.endswith("...") for line in notes)


def test_clean_of_a_clean_target_says_so(dbatk: Dbatk, url: str) -> None:
    answer = dbatk("clean", "-t", url)
    assert (answer.status, answer.out, answer.err) == (0, "", "nothing to clean up\n")


@pytest.mark.parametrize(
    ("code", "said"),
    [("tk-0104", "bad name"), ("ORA-01652", "temporary segment"), ("ora-1652", "temporary segment")],
)
def test_codes_are_explained(code: str, said: str, dbatk: Dbatk) -> None:
    answer = dbatk("error", code)
    assert (answer.status, said in answer.out, "action: " in answer.out) == (0, True, True)


def test_the_version_is_shown(dbatk: Dbatk) -> None:
    from toolkit import __version__

    assert dbatk("--version").out == f"dbatk {__version__}\n"


def test_a_terminal_is_asked_before_a_run_is_deleted(
    dbatk: Dbatk, url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    dbatk("stats", "gather", "-t", url, "--table", "small", "--label", "one")
    monkeypatch.setattr("toolkit.cli.approving._can_ask", lambda: True)
    asked: list[str] = []
    monkeypatch.setattr("toolkit.cli.approving._ask", lambda question: bool(asked.append(question)))
    assert dbatk("runs", "delete", "one").status == 130
    assert len(asked) == 1
    monkeypatch.setattr("toolkit.cli.approving._ask", lambda question: True)
    assert main(["runs", "delete", "one"]) == 0


def test_debug_shows_every_statement(dbatk: Dbatk, url: str) -> None:
    answer = dbatk("ctas", "-t", url, "--source", "small", "--table", "s2", "--debug")
    assert 'sql: CREATE TABLE "main"."s2"' in answer.err


def test_an_interrupted_sweep_exits_130_and_is_resumed(dbatk: Dbatk, url: str, home: Path) -> None:
    line = ["ctas", "-t", url, "--source", "small", "--table", "s2", "--repeat", "400", "--seed", "1"]
    process = subprocess.Popen(
        [sys.executable, "-m", "toolkit", *line], stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert process.stderr is not None
    for shown in process.stderr:
        if shown.startswith("[1/"):
            break
    process.send_signal(signal.SIGINT)
    _, rest = process.communicate(timeout=300)
    assert process.returncode == 130
    assert "Traceback" not in rest
    assert "`dbatk runs resume " in rest
    (head,) = json.loads(dbatk("runs", "list", "--json").out)["runs"]
    assert (head["state"], head["trials_ended"] < 401) == ("interrupted", True)
    assert tables(home) == {"small"}


@pytest.mark.full
def test_under_nohup_a_sweep_outlives_its_terminal(url: str) -> None:
    line = ["nohup", sys.executable, "-m", "toolkit", "ctas", "-t", url, "--source", "small", "--table", "s2"]
    process = subprocess.Popen(
        [*line, "--repeat", "20"], stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert process.stderr is not None
    for shown in process.stderr:
        if shown.startswith("[1/"):
            break
    process.send_signal(signal.SIGHUP)
    process.communicate(timeout=300)
    assert process.returncode == 0


@pytest.mark.full
def test_a_job_that_failed_is_done_by_resume(dbatk: Dbatk, url: str, home: Path) -> None:
    (home / "query.sql").write_text("select i from later")
    assert dbatk("ctas", "-t", url, "--query", "query.sql", "--table", "s2").status == 3
    assert dbatk("runs", "resume", "last").status == 3
    with duckdb.connect(str(home / "small.duckdb")) as connection:
        connection.execute("create table later as select 1 as i")
    assert dbatk("runs", "resume", "last").status == 0
    assert tables(home) == {"small", "later", "s2"}


@pytest.mark.full
def test_a_failed_trial_of_a_measurement_is_a_result_and_is_not_done_again(
    dbatk: Dbatk, url: str, home: Path
) -> None:
    (home / "query.sql").write_text("select error('no') as i")
    assert dbatk("ctas", "-t", url, "--query", "query.sql", "--table", "s2", "--repeat", "2").status == 3
    before = json.loads(dbatk("runs", "show", "last", "--json").out)["trials"]
    assert dbatk("runs", "resume", "last").status == 3
    assert json.loads(dbatk("runs", "show", "last", "--json").out)["trials"] == before


@pytest.mark.full
def test_a_run_that_no_cell_can_help_ends_early_and_goes_on_when_that_is_mended(
    dbatk: Dbatk, url: str, home: Path
) -> None:
    (home / "query.sql").write_text("select i from later")
    line = ("ctas", "-t", url, "--query", "query.sql", "--table", "s2", "--degree", "1,2", "--repeat", "3")
    assert dbatk(*line, "--warmup", "0").status == 3
    run = json.loads(dbatk("runs", "show", "last", "--json").out)
    assert (run["state"], len(run["trials"])) == ("failed", 2)
    with duckdb.connect(str(home / "small.duckdb")) as connection:
        connection.execute("create table later as select 1 as i")
    assert dbatk("runs", "resume", "last").status == 0
    run = json.loads(dbatk("runs", "show", "last", "--json").out)
    assert [trial["outcome"] for trial in run["trials"]] == ["failed", "ok"] * 2 + ["ok"] * 4


def test_a_listed_run_can_be_copied_whole(dbatk: Dbatk, url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    label = "a-label-that-is-rather-long-and-would-take-the-place"
    assert dbatk("ctas", "-t", url, "--source", "small", "--table", "s2", "--label", label).status == 0
    run = json.loads(dbatk("runs", "list", "--json").out)["runs"][0]["run"]
    lines = dbatk("runs", "list").out.splitlines()
    assert any(line.startswith(f"{run} ") and label in line for line in lines)
    monkeypatch.setattr("toolkit.cli.results.columns_of", lambda _: 80)
    lines = dbatk("runs", "list").out.splitlines()
    assert any(line.startswith(f"{run} ") for line in lines)
    assert max(map(len, lines)) <= 80


@pytest.mark.full
def test_a_run_that_ended_early_is_not_listed_as_half_done(dbatk: Dbatk, url: str) -> None:
    words = ("ctas", "-t", url, "--source", "small", "--table", "early", "--degree", "1,2", "--budget", "1s")
    assert dbatk(*words).status in (0, 3)
    dbatk("ctas", "-t", url, "--source", "small", "--table", "fixed", "--degree", "1", "--repeat", "1")
    fixed, early = (line.split()[-1] for line in dbatk("runs", "list").out.splitlines()[-2:])
    assert "/" in fixed and early.isdecimal()
