"""What people type out of habit: each is answered by what it is called here."""

from __future__ import annotations

import re
import socket
import subprocess
import sys
from itertools import product
from pathlib import Path

import duckdb
import pytest

from tests.cli.conftest import Dbatk
from tests.cli.test_help import COMMANDS
from tests.for_each import for_each
from tests.tiers import thinned
from toolkit.cli.habits import HABITS, HABITS_OF, HABITS_WITH, RENAMED, renamed
from toolkit.cli.usage import _REPLACED

FLAGS = {
    path: {flag for one in command.params for flag in one.opts if flag.startswith("--")}  # type: ignore[attr-defined]
    for path, command in COMMANDS
}


@for_each("typed", HABITS)
def test_a_habit_is_answered_by_an_option_that_the_command_has(typed: str, dbatk: Dbatk) -> None:
    meant = HABITS[typed]
    options = meant.split() if meant.startswith("--") else []
    met = 0
    for path, flags in FLAGS.items():
        if typed in flags or (options and not flags.intersection(options)):
            continue
        if any(flag in flags and typed in own for flag, own in HABITS_WITH.items()):
            continue
        if any(typed in one.opts for one in dict(COMMANDS)[path].params):  # type: ignore[attr-defined]
            continue
        answer = dbatk(*path, typed, "4")
        assert answer.status == 2, path
        first = next((one for one in options if one in flags), meant)
        assert first in answer.err, (path, answer.err)
        met += 1
        if met == 3:
            break
    assert met, "no command has what is meant"


@for_each("of", HABITS_WITH)
def test_a_habit_of_one_tool_is_answered_by_the_command_that_does_the_same(of: str, dbatk: Dbatk) -> None:
    having = {path: flags for path, flags in FLAGS.items() if of in flags}
    assert having
    for (path, flags), (typed, meant) in product(having.items(), HABITS_WITH[of].items()):
        answer = dbatk(*path, typed, "4")
        said = next((f"use `{one}`" for one in meant.split() if one in flags), meant)
        assert (answer.status, said in " ".join(answer.err.split())) == (2, True), (path, typed, answer.err)
    named = {one for meant in HABITS_WITH[of].values() if meant.startswith("--") for one in meant.split()}
    assert all(named <= flags for flags in having.values())


@for_each("of", HABITS_OF)
def test_a_habit_of_some_commands_is_answered_there(of: str, dbatk: Dbatk) -> None:
    assert tuple(of.split()) in FLAGS
    for typed, meant in HABITS_OF[of].items():
        answer = dbatk(*of.split(), typed, "x")
        assert (answer.status, f"hint: {meant}; see" in " ".join(answer.err.split())) == (2, True), answer.err


@for_each("line", ["index build --format x", "datapump export --type x", "runs list --tool x"])
def test_a_command_that_reads_no_files_says_nothing_of_their_content(line: str, dbatk: Dbatk) -> None:
    answer = dbatk(*line.split())
    assert answer.status == 2
    assert "there is no option" in answer.err
    assert "import" not in answer.err and "content" not in answer.err


@for_each(
    ("line", "hint"),
    [
        ("index build --paralel 4", "use `--degree`"),
        ("ctas --channels 4", "use `--degree`"),
        ("backup run --degree 4", "use `--channels`"),
        ("ctas --sorce T", "did you mean `--source`?"),
        ("ctas --tread 4", "use `--degree`"),
        ("runs list --threads 4", "see `dbatk runs list --help`"),
        ("workload -c 4", "use `--users`"),
        ("workload -T 60", "use `--measure-for`"),
        ("vacuum -j 4", "use `--concurrency`"),
        ("vacuum --table t -t x --full", "`dbatk table move`"),
        ("restore try -j 4", "use `--channels`"),
        ("purge --limit 100", "use `--chunk`"),
        ("load --errors 10", "use `--max-rejects`"),
        ("ctas tables=orders parallel=4", "use `--table`"),
        ("restore try DUMPFILE=exp.dmp", "use `--backup`"),
        ("restore try remap_schema=a:b", "never changes the database"),
        ("stats gather block_sample=yes", "`--block-sample ...`"),
        ("restore try --clean", "never changes the database"),
        ("load --content data_only x.csv", "a table that exists"),
        ("purge --dest h=x,t=y", "use `--archive-to`"),
        ("purge --sleep 1", "use `--guard`"),
        ("workload -S -c 8", "use `--transactions`"),
        ("workload -i", "`--builtin` makes its tables"),
        ("workload --warmup-time 10", "use `--ramp-up`"),
        ("workload --latency-limit 100", "percentiles of the latency"),
        ("command -p x -- y", "use `--prepare`"),
        ("command -c x -- y", "use `--cleanup`"),
        ("command -L threads 1,2 -- y", "use `--factor`"),
        ("command --parameter-scan threads 1 8 -- y", "use `--factor`"),
        ("table move --only-indexes", "`dbatk index rebuild`"),
        ("table move --wait-timeout 60", "use `--lock-wait`"),
        ("table move --no-kill-backend", "never ends sessions of others"),
        ("command gzip -kf x", "`dbatk command -- PROGRAM ...`"),
        ("backup run --dest /b", "did you mean `--destination`?"),
        ("schedule x.toml --cron 5", "use `--at`"),
        ("schedule x.toml --evry day", "use `--at`"),
        ("import --tool pgbench x", "recognised by its content"),
        ("ctas --set work_mem=4MB", "use `--setting`"),
        ("run x.toml --degree 8", "hint: see `dbatk run --help`"),
        ("ctas --query a.sql b.sql", "separated by commas"),
        ("environment show shop", "named with `-t`"),
        ("environment diff shop crm", "`dbatk target list`"),
        ("report last --out", "see `dbatk report --help`"),
        ("report last --pdf x.pdf", "print it from a browser"),
        ("workload --script x.sql", "use `--transactions`"),
        ("-V", "`dbatk --version`"),
        ("help", "use `dbatk --help`"),
        ("version", "use `dbatk --version`"),
        ("resume last", "use `dbatk runs resume`"),
        ("take x", "use `dbatk snapshot take`"),
        ("list", "`dbatk runs list`"),
        ("RMAN target /", "use `dbatk backup run`"),
        ("scott@orcl", "a command comes first"),
        ("-t shop doctor", "options of a command stand behind it"),
        ("backup -t shop", "options of a command stand behind it: `dbatk backup run -t ...`"),
        ("awr report 101 104", "`dbatk awr fetch 101-104`"),
        ("index rebuild sales_ix", "`--table sales_ix` or `--index sales_ix` or `--schema sales_ix`"),
        ("stats gather sales", "a name stands behind its option: `--table sales`"),
        ("ctas --hint full(t)", "by `--query FILE`"),
        ("load --file x.csv", "data files are arguments"),
        ("runs list --all", "`--limit N`"),
        ("purge --older-than 30d", "use `--where`"),
        ("report last --html", "use `--format`"),
        ("index build --on sales --columns id", "use `--table`"),
        ("ctas -s sales", "use `--source`"),
        ("workload --measure 2s", "`--measure` takes no value: did you mean `--measure-for 2s`?"),
        ("index rebuild --online yes", "`--online` takes no value"),
        ("runs show last --format html", "`dbatk report RUN --out FILE.html`"),
        ("ctas system/manager@orcl", "`...` is not expected here"),
        ("backup run userid=system/manager@orcl", "`userid=...` is not expected here"),
        ("ctas system/manager", "`...` is not expected here"),
        ("ctas jdbc:oracle:thin:scott/tiger@h:1/x", "`...` is not expected here"),
        ("stats gather host=db password=geheim", "`host=... password=...` is not expected here"),
        ("runs show last /out/of/place.html", "`/out/of/place.html` is not expected here"),
        ("ctas --degree 2 --repeat many", "is not a whole number"),
        ("ctas -t password=manager --source a --table b", "unknown target `...`"),
        ("ctas -t x --source a --table b --setting m=1 --setting m=2", "`m=A,B`"),
    ],
)
def test_a_misspelt_habit_is_understood_too(line: str, hint: str, dbatk: Dbatk) -> None:
    answer = dbatk(*line.split())
    assert answer.status == 2
    assert hint in answer.err


@for_each("typed", _REPLACED)
def test_a_command_of_another_program_is_answered_by_commands_that_are_there(typed: str, dbatk: Dbatk) -> None:
    words = typed.split()[1:]
    answer = dbatk(*words, "x")
    assert (answer.status, f"use {_REPLACED[typed]}" in " ".join(answer.err.split())) == (2, True), answer.err
    for line in re.findall(r"`dbatk ([^`]*)`", _REPLACED[typed]):
        known = [path for path in FLAGS if tuple(line.split()[: len(path)]) == path]
        assert line.startswith("--") or known, line
        assert {word for word in line.split() if word.startswith("--") and len(word) > 2} <= FLAGS.get(
            max(known, key=len, default=()), {"--help", "--version"}
        )


@pytest.mark.thin(3)
@pytest.mark.parametrize(
    ("given", "hint"),
    [
        (["ctas", "--query", "SELECT 1 AS a", "--table", "t"], "pipe it to `--query -`"),
        (["ctas", "--query", "with x as (select 1 a) select * from x", "--table", "t"], "`--query` takes a file"),
        (["ctas", "--source", "SELECT * FROM orders", "--table", "t"], "name that with `--query`"),
        (["ctas", "--source", "rows.csv", "--table", "t"], "echo \"SELECT * FROM 'rows.csv'\" | dbatk"),
        (["ctas", "--source", "nothere.csv", "--table", "t"], "check schema and name"),
        (["ctas", "--query", "rows.csv", "--table", "t"], "instead of `--query`"),
        (["stats", "gather", "--table", "orders,main.orders"], "give one name"),
        (["load", r"\copy orders from rows.csv csv", "--table", "orders"], "`dbatk load orders.csv"),
        (["load", "rows.csv", "--table", "nothere"], "`load` fills a table that exists"),
        (
            ["load", "rows.csv", "--table", "n", "--delimiter", ";"],
            "`dbatk table create -t duckdb:///x.duckdb rows.csv --table n --delimiter ';'` makes it",
        ),
        (["index", "build", "--table", "orders", "--columns", "Order ID"], "--columns '\"Order ID\"'"),
        (["index", "build", "--table", "orders", "--columns", "amount,Order ID"], "--columns '\"Order ID\"'"),
    ],
)
def test_a_value_that_belongs_elsewhere_is_answered_by_where(
    given: list[str], hint: str, dbatk: Dbatk, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("rows.csv").write_text("a,b\n1,2\n", encoding="utf-8")
    with duckdb.connect("x.duckdb") as database:
        database.execute('CREATE TABLE orders (amount INTEGER, "Order ID" INTEGER)')
    answer = dbatk(*given, "-t", "duckdb:///x.duckdb")
    assert answer.status == 2
    assert hint in answer.err


def test_an_option_by_its_earlier_name_still_works(url: str, dbatk: Dbatk) -> None:
    for _ in range(2):
        assert (
            dbatk("stats", "gather", "-t", url, "--table", "small", "--yes-production=x", "--unseen-ok").status
            == 0
        )
    answer = dbatk("compare", "last", "last~1", "--force")
    assert answer.status == 0
    assert "now" not in answer.err, "a note that nobody reads would be a mail every night"


@for_each("old", RENAMED)
def test_every_earlier_name_leads_to_an_option_and_is_shown_by_no_help(old: str) -> None:
    having = [flags for flags in FLAGS.values() if RENAMED[old] in flags]
    assert having
    assert not any(old in flags for flags in FLAGS.values())
    line, notes = renamed([old, "x", f"{old}=x"], having[0])
    assert line == [RENAMED[old], "x", f"{RENAMED[old]}=x"]
    assert len(notes) == 1


def test_an_earlier_name_stays_as_typed_where_the_command_never_had_it() -> None:
    assert renamed(["--force"], {"--table"}) == (["--force"], [])


@pytest.mark.full
@pytest.mark.parametrize("known", thinned([True, False], 2))
def test_a_file_given_as_source_is_answered_by_a_line_that_works(
    known: bool, url: str, dbatk: Dbatk, home: Path
) -> None:
    """Also where the database does not exist yet: the first thing a new user tries is a CSV of their own."""
    (home / "it's sales.csv").write_text("id,amount\n1,2.5\n2,3.5\n")
    target = url if known else "duckdb:///own.duckdb"
    answer = dbatk("ctas", "-t", target, "--source", "it's sales.csv", "--table", "sales")
    assert answer.status in (1, 2), answer.err
    typed = re.search(r"`(echo .*)` instead of `--source`", answer.err)
    assert typed is not None, answer.err
    dbatk_here = f"{sys.executable} -m toolkit ctas --table sales"
    line = typed[1].replace("dbatk ...", dbatk_here)
    done = subprocess.run(
        ["/bin/sh", "-c", line], check=False, cwd=home, capture_output=True, text=True, timeout=300
    )
    assert done.returncode == 0, done.stderr
    assert "2 rows" in done.stdout


@pytest.mark.full
@pytest.mark.parametrize("known", thinned([True, False], 2))
def test_a_file_given_to_load_without_a_table_is_answered_by_a_line_that_makes_it(
    known: bool, url: str, dbatk: Dbatk, home: Path
) -> None:
    (home / "it's sales.csv").write_text("id,amount\n1,2.5\n2,3.5\n")
    target = url if known else "duckdb:///own.duckdb"
    load = ("load", "-t", target, "it's sales.csv", "--table", "sales")
    answer = dbatk(*load)
    typed = re.search(r"`dbatk (table create .*)` makes it for the files", answer.err)
    assert answer.status in (1, 2) and typed is not None, answer.err
    line = f"{sys.executable} -m toolkit {typed[1]}"
    done = subprocess.run(
        ["/bin/sh", "-c", line], check=False, cwd=home, capture_output=True, text=True, timeout=300
    )
    assert done.returncode == 0, done.stderr
    answer = dbatk(*load)
    assert (answer.status, "2 rows" in answer.out) == (0, True), answer.err


def test_a_server_that_is_not_there_is_no_missing_table(dbatk: Dbatk, home: Path) -> None:
    (home / "sales.csv").write_text("id\n1\n")
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        port = closed.getsockname()[1]
        answer = dbatk("load", "-t", f"postgresql://u@127.0.0.1:{port}/x", "sales.csv", "--table", "sales")
    assert answer.status == 1 and "no server listens there" in answer.err and "table create" not in answer.err


@for_each("more", [(), ("--at", "5"), ("--at", "5", "--new-names", "a"), ("--degree", "1,,2")])
def test_what_an_engine_lacks_is_said_before_what_else_is_missing(more: tuple[str, ...], dbatk: Dbatk) -> None:
    answer = dbatk("partition", "split", "-t", "duckdb:///none.duckdb", "--table", "t", *more)
    assert answer.status == 5
    assert "dbatk does not support `partition-split` on DuckDB [TK-0304]" in answer.err


def test_what_is_missing_for_an_engine_that_has_it_is_asked_for(dbatk: Dbatk) -> None:
    answer = dbatk("partition", "split", "-t", "oracle://u@h/s", "--table", "t")
    assert answer.status == 2
    assert "`partition-split` needs `--partition`" in answer.err


@for_each(
    ("line", "meant"),
    [
        (("partition", "drop", "--table", "sales"), "--keep-rows '24 months'"),
        (("backup", "run"), "--keep-for '24 months'"),
        (("purge", "--table", "sales", "--where", "d < 1"), "`none`, `best`, `all`"),
    ],
)
def test_how_long_something_is_kept_is_not_said_with_keep(line: tuple[str, ...], meant: str, dbatk: Dbatk) -> None:
    answer = dbatk(*line, "--assume", "19-ee", "--keep", "24 months")
    assert (answer.status, meant in answer.err) == (2, True), answer.err
