"""What a new user types who has read the README and `--help`, and what is answered."""

from __future__ import annotations

import io
import re
import shutil
import sys
import tomllib
from pathlib import Path

import pytest

from tests.cli.conftest import Dbatk
from tests.project.tree import ROOT
from toolkit.config.notices import load_notices, notices_file
from toolkit.schedule import read_at


@pytest.mark.thin(3)
@pytest.mark.parametrize(
    ("typed", "says"),
    [
        (("report", "monday", "--out", "boss.pdf"), "print it from a browser"),
        (("report", "monday", "--out", "boss.xlsx"), "or give `--format`"),
        (("compare", "lastweek", "thisweek"), "`dbatk runs list` lists them"),
        (("backup", "read", "."), "pg_verifybackup"),
        (("plan", "notify", "test"), "mailto://"),
        (("doctor", "-t", "shop"), "dbatk target add shop URL"),
        (
            ("ctas", "--assume", "19-ee", "--source", "A.B", "--table", "A.C", "--save-as", "x.toml"),
            "`--save-as` needs `-t`",
        ),
        (("plan", "schedule", "README.plan.toml", "--at", "every night"), '"22:00" for every day'),
    ],
)
def test_a_first_try_that_cannot_work_is_answered_with_one_that_does(
    dbatk: Dbatk, home: Path, url: str, typed: tuple[str, ...], says: str
) -> None:
    assert dbatk("stats", "gather", "-t", url, "--table", "small", "--label", "monday").status == 0
    (home / "README.plan.toml").write_text(_blocks()[0], encoding="utf-8")
    answer = dbatk(*typed)
    assert answer.status != 0
    assert says in answer.err + answer.out
    assert not (home / "boss.pdf").exists()


@pytest.mark.parametrize("given", ["-", "empty.sql"])
def test_a_query_without_text_is_told_by_where_it_should_come_from(
    dbatk: Dbatk, home: Path, url: str, given: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "stdin", io.StringIO(""))
    (home / "empty.sql").write_text("\n", encoding="utf-8")
    answer = dbatk("ctas", "-t", url, "--query", given, "--table", "t")
    assert answer.status == 2
    assert ("standard input is empty" if given == "-" else "empty.sql` is empty") in " ".join(answer.err.split())


def test_an_operation_that_an_engine_lacks_is_no_matter_of_options(dbatk: Dbatk) -> None:
    line = ("restore", "try", "-t", "oracle://dba@127.0.0.1:1/x", "--backup", "/b", "--dry-run")
    answer = dbatk(*line, "--assume", "19-ee")
    said = " ".join(answer.err.split())
    assert answer.status == 5
    assert "dbatk restore script" in said
    assert "`dbatk doctor` lists what this target does not support" in said
    assert "leave out" not in said


@pytest.mark.full
def test_two_runs_of_one_label_are_told_apart_by_their_times(dbatk: Dbatk, url: str) -> None:
    line = ("ctas", "-t", url, "--source", "small", "--table", "u", "--repeat", "2", "--warmup", "0")
    for levels in ("1,2", "1,2", "1"):
        dbatk(*line, "--degree", levels, "--label", "w")

    def title(a: str, b: str) -> str:
        return " ".join(dbatk("compare", a, b).out.partition("\n==")[0].split())

    same = re.fullmatch(
        r"ctas u on small\.duckdb: degree 1, 2: B w \((.*)\) against A w \((.*)\)",
        title("w~2", "w~1"),
    )
    assert same and same[1] != same[2]
    assert re.fullmatch(r"ctas u .*: degree=1: B w \(.*\) against A w \(.*\)", title("w~1", "w"))
    assert re.fullmatch(
        r"ctas u .*: B w \(.*\) with degree=2 against A w \(.*\) with degree=1",
        title("w/degree=1", "w~1/degree=2"),
    )
    assert re.fullmatch(
        r"ctas u .*: B degree=2 against A degree=1, in w \(.*\)", title("w~1/degree=1", "w~1/degree=2")
    )


def test_a_measurement_without_factors_names_no_empty_configuration(dbatk: Dbatk) -> None:
    shown = dbatk("command", "--repeat", "2", "--warmup", "0", "--", "true").out
    assert "the only configuration takes" in " ".join(shown.split())
    assert "``" not in shown


def test_daily_is_every_day() -> None:
    assert read_at("daily 22:00", "UTC") == read_at("22:00", "UTC")


def test_the_plan_and_the_recipients_of_the_readme_are_taken_as_they_stand(
    dbatk: Dbatk, home: Path, url: str
) -> None:
    plan, notices = _blocks()
    for name in tomllib.loads(plan)["plan"]["targets"]:
        shutil.copy("small.duckdb", f"{name}.duckdb")
        dbatk("target", "add", name, f"duckdb:///{name}.duckdb")
    (home / "nightly.toml").write_text(plan, encoding="utf-8")
    shown = dbatk("plan", "nightly.toml")
    assert shown.status == 0, shown.err
    notices_file().parent.mkdir(parents=True, exist_ok=True)
    notices_file().write_text(notices, encoding="utf-8")
    assert [one.name for one in load_notices().to] == ["dba"]


def _blocks() -> list[str]:
    return re.findall(r"```toml\n(.*?)```", (ROOT / "README.md").read_text(encoding="utf-8"), re.DOTALL)
