"""The audit log by the command line: every run, clean, schedule, deletion and refusal; never a secret."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from tests.cli.conftest import Dbatk
from toolkit.model.audit import AuditEvent, AuditKind
from toolkit.store import open_store


def lines(dbatk: Dbatk, *arguments: str) -> list[dict[str, object]]:
    answer = dbatk("audit", *arguments, "--json")
    assert answer.status == 0, answer.err
    found: list[dict[str, object]] = json.loads(answer.out)["lines"]
    return found


def test_a_run_is_noted_before_it_begins_and_when_it_ended_with_what_it_changed(dbatk: Dbatk, url: str) -> None:
    assert dbatk("ctas", "-t", url, "--source", "small", "--table", "made").status == 0
    end, begin = lines(dbatk)[:2]
    assert (begin["kind"], begin["outcome"], end["kind"], end["outcome"]) == (
        "run-begin",
        "begun",
        "run-end",
        "done",
    )
    assert begin["target"] == url and str(begin["hash"]).startswith("sha256:") and begin["run"] == end["run"]
    assert "creates table main.made" in end["details"]  # type: ignore[operator]
    assert begin["who"]["command"][:3] == ["ctas", "-t", url]  # type: ignore[index]


@pytest.mark.full
def test_a_run_that_did_not_all_go_well_has_the_word_of_the_list_and_the_log_keeps_its_own(
    dbatk: Dbatk, url: str, home: Path
) -> None:
    line = ("ctas", "-t", url, "--source", "small", "--table", "made", "--repeat", "1", "--degree")
    for degree, told in (("1", "ok"), ("1,2", "warning")):
        assert dbatk(*line, degree).status == 0
        with open_store(None) as store:
            newest = store.list_runs(1)[0].run
        if told == "warning":
            _downgrade_one_trial(home / "store.sqlite", newest)
        assert dbatk("runs", "list", "--limit", "1").out.splitlines()[-1].count(told) == 1
        (shown,) = dbatk("audit", "--kind", "run-end", "--limit", "1").out.splitlines()[2:]
        assert shown.endswith(f"; {newest}; {told}")
        assert lines(dbatk, "--kind", "run-end")[0]["outcome"] == "done"
    assert dbatk("runs", "delete", newest, "--yes").status == 0
    assert dbatk("audit", "--kind", "run-end", "--limit", "1").out.rstrip().endswith("; ok")


def _downgrade_one_trial(path: Path, run: str) -> None:
    with closing(sqlite3.connect(path)) as store, store:
        changed = store.execute("UPDATE trial SET outcome = 'downgraded' WHERE run = ? AND trial = 1", (run,))
        assert changed.rowcount == 1


def test_a_failed_run_says_why(dbatk: Dbatk, url: str) -> None:
    query = Path("broken.sql")
    query.write_text("SELECT 1 / (i - i) AS n, error('no such luck') FROM small")
    assert dbatk("ctas", "-t", url, "--query", str(query), "--table", "made").status == 3
    (end,) = lines(dbatk, "--kind", "run-end")
    assert end["outcome"] != "begun" and end["run"]


def test_refusals_of_guards_are_noted_and_wrong_usage_is_not(dbatk: Dbatk, url: str) -> None:
    refused = dbatk("ctas", "-t", "oracle://dba@127.0.0.1:1/x", "--source", "s", "--table", "t", "--degree", "x")
    assert refused.status == 2 and lines(dbatk) == []
    assert dbatk("run", _plan(url, "approved_only = true"), "--quiet").status == 5
    (line,) = lines(dbatk, "--kind", "refuse")
    assert line["outcome"] == "TK-0313" and line["plan"] == "p.toml" and "is not approved" in str(line["reason"])


def _plan(url: str, head: str = "") -> str:
    step = '[[step]]\noperation = "ctas"\nsource = "small"\ntable = "t"\n'
    Path("p.toml").write_text(f'[plan]\nname = "p"\ntarget = "{url}"\n{head}\n{step}')
    return "p.toml"


def test_deleted_runs_and_cleaned_ones_are_noted(dbatk: Dbatk, url: str, home: Path) -> None:
    assert dbatk("ctas", "-t", url, "--source", "small", "--table", "made").status == 0
    assert dbatk("runs", "delete", "last", "--yes").status == 0
    assert [line["outcome"] for line in lines(dbatk, "--kind", "delete")] == ["done", "begun"]
    with open_store(home / "store.sqlite") as store:
        assert store.audit.mark is not None and store.audit.mark.lines == 5


@pytest.mark.full
def test_snapshots_and_schedules_are_noted_when_they_change_something(
    dbatk: Dbatk, url: str, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert dbatk("snapshot", "take", "before", "-t", url).status == 0
    assert {line["kind"] for line in lines(dbatk)} == {"log-begin", "snapshot"}
    monkeypatch.setenv("XDG_CONFIG_HOME", str(home / "xdg"))
    plan = _plan(f"duckdb:///{home}/small.duckdb")
    assert dbatk("schedule", plan, "--at", "22:00 UTC", "--kind", "systemd").status == 0
    assert lines(dbatk, "--kind", "schedule") == [], "it was only printed"
    assert dbatk("schedule", plan, "--at", "22:00 UTC", "--kind", "systemd", "--install").status == 0
    assert dbatk("schedule", "remove", "p", "--kind", "systemd").status == 0
    found = [(line["plan"], line["outcome"]) for line in lines(dbatk, "--kind", "schedule")]
    assert found == [("p", "done"), ("p", "begun")] * 2


def test_the_list_fits_a_terminal_and_verify_names_the_line(
    dbatk: Dbatk, url: str, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("toolkit.cli.output.columns_of", lambda _: 80)
    assert "no entries in" in dbatk("audit").err
    assert dbatk("run", _plan(url), "--quiet").status == 0
    shown = dbatk("audit", "--plan", "p")
    assert max(map(len, shown.out.splitlines())) <= 80 and "plan-begin" in shown.out and "step" in shown.out
    assert "all intact" in dbatk("audit", "verify").out
    path = next(home.glob("*.audit.jsonl"))
    path.write_text(path.read_text().replace('"plan-begin"', '"plan-bogus"'))
    broken = dbatk("audit", "verify")
    assert broken.status == 1 and broken.out.startswith("line 2: it was altered")
    document = json.loads(dbatk("audit", "verify", "--json").out)
    assert document["whole"] is False and document["faults"][0]["line"] == 2


def test_of_a_log_that_is_ruined_from_end_to_end_the_first_faults_are_shown_and_the_others_counted(
    dbatk: Dbatk, url: str, home: Path
) -> None:
    assert dbatk("run", _plan(url), "--quiet").status == 0
    with open_store(None) as store:
        for number in range(30):
            store.audit.write(AuditEvent(AuditKind.LOG_ALTERED, reason=f"line {number} was altered"))
    shown = dbatk("audit", "verify")
    assert shown.status == 1
    assert len(shown.out.splitlines()) == 21 and shown.out.endswith("and 10 more faults; `--json` lists all\n")
    assert len(json.loads(dbatk("audit", "verify", "--json").out)["faults"]) == 30


@pytest.mark.full
@pytest.mark.parametrize("signed", [False, True])
def test_an_archived_log_is_shown_once_and_what_it_says_of_approvals_holds_on(
    dbatk: Dbatk, url: str, home: Path, monkeypatch: pytest.MonkeyPatch, signed: bool
) -> None:
    plan, archive = _plan(url), home / "archive.jsonl"
    if signed:
        (home / "config").mkdir(exist_ok=True)
        (home / "config/approvals.toml").write_text('key = {env = "APPROVAL_KEY"}\n')
        monkeypatch.setenv("APPROVAL_KEY", "k" * 32)
    assert dbatk("plan", "approve", plan, "--valid-until", "2999-01-01").status == 0
    kept = (home / "p.approval.toml").read_bytes()
    assert (b"signature" in kept) is signed
    assert dbatk("plan", "revoke", plan, "--reason", "CHG-2").status == 0
    assert dbatk("plan", "approve", plan, "--valid-until", "2999-01-02").status == 0
    (log,) = home.glob("*.audit.jsonl")
    log.rename(archive)
    assert "TK-0314" in dbatk("run", plan, "--approved-only").err
    shown = dbatk("audit", "verify", "--earlier", str(archive))
    assert shown.status == 0 and "took over 3 approvals and revocations" in shown.out, shown
    assert dbatk("audit", "verify").status == 0
    ran = dbatk("run", plan, "--approved-only", "--quiet")
    assert ran.status == 0, ran.err
    (home / "p.approval.toml").write_bytes(kept)
    assert "was revoked by" in dbatk("run", plan, "--approved-only").err
