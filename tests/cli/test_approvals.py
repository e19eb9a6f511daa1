"""Approving by the command line: what was approved runs; anything else is refused before it is sent, and said."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Iterator
from datetime import datetime, timedelta, tzinfo
from pathlib import Path

import duckdb
import pytest

from tests.cli.conftest import TWO_STEPS, Answer, Dbatk
from tests.tiers import thinned
from toolkit import rendering, resources
from toolkit.model.audit import AuditEvent, AuditKind
from toolkit.store import open_store
from toolkit.store.audit import AuditFile

EXPERIMENT = """
[experiment]
name = "sweep"
target = "duckdb:///small.duckdb"
operation = "ctas"
source = "small"
table = "swept"
[factors]
degree = [1, 2]
"""


@pytest.fixture
def plan(home: Path, url: str) -> str:
    assert url
    (home / "nightly.toml").write_text(TWO_STEPS)
    return "nightly.toml"


@pytest.fixture
def approved(dbatk: Dbatk, plan: str) -> str:
    answer = dbatk("plan", plan, "--approve", "--approved-by", "J. Doe", "--reason", "CHG-1")
    assert answer.status == 0, answer.err
    return plan


@pytest.fixture
def scripts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A copy of our scripts and templates that a test may change."""
    folder = tmp_path / "scripts"
    for name in ("sql", "templates"):
        shutil.copytree(resources._root(name), folder / name)
    monkeypatch.setattr(resources, "_root", lambda name: folder / name)
    forget()
    yield folder
    monkeypatch.undo()
    forget()


def forget() -> None:
    """Let a new process begin, as far as files are concerned."""
    resources._read.cache_clear()
    rendering._ENVIRONMENTS.clear()


def change(path: Path) -> None:
    path.write_text(path.read_text() + "\n-- changed\n")
    forget()


def tables() -> set[str]:
    with duckdb.connect("small.duckdb", read_only=True) as looked:
        return {name for (name,) in looked.execute("SELECT table_name FROM duckdb_tables()").fetchall()}


def refused(answer: Answer, *sentences: str) -> None:
    """Hold that nothing ran, and that it was said why."""
    assert answer.status == 5, (answer.status, answer.err)
    for sentence in sentences:
        assert sentence in answer.err
    assert "hint:" in answer.err and tables() <= {"small"}


@pytest.mark.full
def test_what_was_approved_runs_as_often_as_one_likes(dbatk: Dbatk, approved: str, home: Path) -> None:
    text = (home / "nightly.approval.toml").read_text()
    assert (
        'by = "J. Doe"' in text and '"step index retries" = 0' in text and "templates/duckdb/ctas.sql.j2" in text
    )
    for _ in range(2):
        answer = dbatk("run", approved, "--approved-only")
        assert answer.status == 0, answer.err
        with duckdb.connect("small.duckdb") as made:
            made.execute("DROP TABLE copied")
    (line,) = json.loads(dbatk("audit", "--kind", "approve", "--json").out)["lines"]
    assert line["reason"] == "CHG-1" and "by J. Doe" in line["details"]
    nights = json.loads(dbatk("audit", "--kind", "plan-begin", "--json").out)["lines"]
    assert [f"approved as {line['hash']}" in night["details"] for night in nights] == [True, True]


@pytest.mark.full
@pytest.mark.parametrize(("old", "new"), [('by = "J. Doe"', 'by = "A. Nother"'), ("CHG-1", "CHG-2")])
def test_an_approval_that_names_another_approver_or_reason_than_the_log_is_refused(
    dbatk: Dbatk, approved: str, home: Path, old: str, new: str
) -> None:
    path = home / "nightly.approval.toml"
    path.write_text(path.read_text().replace(old, new))
    refused(
        dbatk("run", approved, "--approved-only"),
        "the audit log says that `J. Doe` approved it, because of `CHG-1`",
    )


def test_what_nobody_approved_is_refused(dbatk: Dbatk, plan: str) -> None:
    refused(dbatk("run", plan, "--approved-only"), "`nightly.toml` is not approved", "plan approve nightly.toml")


@pytest.mark.thin(2)
@pytest.mark.parametrize(
    ("old", "new", "sentence"),
    thinned(
        [
            ('columns = "i"', 'columns = "k"', "`columns` of step `index` was [`i`] and is [`k`]"),
            ('name = "nightly"', 'name = "nightly"\nmax_degree = 4', "`max_degree` was not set and is 4"),
            (
                'table = "copied"\n\n',
                'table = "copied"\nretries = 2\n\n',
                "`retries` of step `copy` was 0 and is 2",
            ),
            ('name = "index"', 'name = "ix"', "step `index` is gone"),
            (
                'source = "small"',
                'query = "SELECT 1 AS i"',
                "`query` of step `copy` was not set and is `SELECT 1 AS i`",
            ),
        ],
        3,
    ),
)
def test_a_changed_plan_is_refused_and_each_change_said(
    dbatk: Dbatk, approved: str, home: Path, old: str, new: str, sentence: str
) -> None:
    (home / approved).write_text(TWO_STEPS.replace(old, new))
    refused(dbatk("run", approved, "--approved-only"), "is not what J. Doe approved on", sentence)
    assert dbatk("run", approved, "--approved-only", "--json").out.count('"TK-0313"') == 1
    (home / approved).write_text("# only a word about it\n" + TWO_STEPS)
    assert dbatk("run", approved, "--approved-only").status == 0


@pytest.mark.full
def test_a_default_that_became_another_one_is_a_change(
    dbatk: Dbatk, url: str, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert url
    (home / "sweep.toml").write_text(EXPERIMENT)
    assert dbatk("plan", "sweep.toml", "--approve").status == 0
    monkeypatch.setattr("toolkit.design.build.DETECT_PCT", 4.0)
    refused(dbatk("run", "sweep.toml", "--approved-only"), "`detect_pct` was 10.0 and is 4.0")


def test_an_experiment_is_approved_and_run_under_any_label_and_seed(dbatk: Dbatk, url: str, home: Path) -> None:
    assert url
    (home / "sweep.toml").write_text(EXPERIMENT)
    refused(dbatk("run", "sweep.toml", "--approved-only"), "is not approved")
    assert dbatk("plan", "sweep.toml", "--approve").status == 0
    answer = dbatk("run", "sweep.toml", "--approved-only", "--label", "again", "--quiet")
    assert answer.status == 0, answer.err
    (home / "sweep.toml").write_text(EXPERIMENT.replace("[1, 2]", "[1, 4]"))
    refused(dbatk("run", "sweep.toml", "--approved-only"), "`factors.degree.levels` was [1, 2] and is [1, 4]")


@pytest.mark.parametrize(
    "job", ["file = 'copy.toml'", "operation = 'ctas'\ntarget = '{url}'\nsource = 'source'\ntable = 'b'"]
)
def test_a_mix_whose_jobs_are_looked_up_later_cannot_be_approved(
    dbatk: Dbatk, url: str, home: Path, job: str
) -> None:
    (home / "copy.toml").write_text(
        f"[experiment]\ntarget = '{url}'\noperation = 'ctas'\nsource = 'source'\ntable = 'a'\n"
    )
    (home / "mix.toml").write_text(
        f"[experiment]\nname = 'many'\noperation = 'mix'\n[mix]\n[[job]]\nname = 'own'\n{job.format(url=url)}\n"
    )
    answer = dbatk("plan", "approve", "mix.toml", "--allow-commands")
    assert answer.status == 5
    assert "no approval holds what job `own` of the mix runs" in answer.err
    assert not (home / "mix.approval.toml").exists()


@pytest.mark.parametrize(
    "file", thinned(["templates/duckdb/ctas.sql.j2", "sql/duckdb/relation.sql", "sql/duckdb/instant.sql"], 3)
)
def test_a_changed_script_is_refused_by_name(dbatk: Dbatk, plan: str, scripts: Path, file: str) -> None:
    assert dbatk("plan", plan, "--approve").status == 0
    change(scripts / file)
    refused(dbatk("run", plan, "--approved-only"), f"{file} has changed")


@pytest.mark.full
def test_a_template_that_includes_another_uses_it_too(dbatk: Dbatk, plan: str, scripts: Path) -> None:
    used = scripts / "templates/duckdb/ctas.sql.j2"
    used.write_text(used.read_text() + '{% include "duckdb/more.sql.j2" %}\n')
    (scripts / "templates/duckdb/more.sql.j2").write_text("-- nothing\n")
    forget()
    assert dbatk("plan", plan, "--approve").status == 0
    change(scripts / "templates/duckdb/more.sql.j2")
    refused(dbatk("run", plan, "--approved-only"), "templates/duckdb/more.sql.j2 has changed")


@pytest.mark.full
def test_a_script_that_is_not_used_may_change_but_never_run(
    dbatk: Dbatk, plan: str, scripts: Path, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert dbatk("plan", plan, "--approve").status == 0
    other = "templates/duckdb/analyze.sql.j2"
    assert other not in (home / "nightly.approval.toml").read_text().partition("[other_files]")[0]
    change(scripts / other)

    def looks(*_: object, **__: object) -> str:
        return resources.template_text(other.removeprefix("templates/"))

    monkeypatch.setattr("toolkit.app.maintenance.attempt.look_at", looks)
    answer = dbatk("run", plan, "--approved-only")
    assert answer.status == 3 and f"{other} is needed but differs from what was approved" in answer.err


@pytest.mark.full
def test_another_version_or_program_is_refused(
    dbatk: Dbatk, approved: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patched:
        patched.setattr(resources, "program_hash", lambda: "sha256:other")
        refused(dbatk("run", approved, "--approved-only"), "the program files of dbatk", "differ from those")
    monkeypatch.setattr("toolkit.app.approving.checking.__version__", "9.9")
    refused(dbatk("run", approved, "--approved-only"), "and is 9.9")


def test_another_database_in_the_same_place_is_refused(dbatk: Dbatk, approved: str, home: Path) -> None:
    (home / "small.duckdb").unlink()
    with duckdb.connect(str(home / "small.duckdb")) as made:
        made.execute("create table small as select i, i % 3 as k from range(10) t(i)")
    refused(dbatk("run", approved, "--approved-only"), "id of `duckdb:///small.duckdb` was")


@pytest.mark.full
def test_a_copy_of_the_whole_folder_is_another_place(
    dbatk: Dbatk, approved: str, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.copytree(home, home / "copy")
    monkeypatch.chdir(home / "copy")
    refused(dbatk("run", approved, "--approved-only"), "file of `duckdb:///small.duckdb` was")


@pytest.mark.full
def test_another_target_is_refused(dbatk: Dbatk, approved: str, home: Path) -> None:
    shutil.copy(home / "small.duckdb", home / "other.duckdb")
    answer = dbatk("run", approved, "--approved-only", "-t", "duckdb:///other.duckdb")
    refused(answer, "`targets` was", "`duckdb:///other.duckdb` was not approved")


def test_an_approval_that_was_altered_or_brought_from_elsewhere_approves_nothing(
    dbatk: Dbatk, approved: str, home: Path
) -> None:
    path = home / "nightly.approval.toml"
    text = path.read_text()
    path.write_text(text.replace('"step copy retries" = 0', '"step copy retries" = 9'))
    refused(dbatk("run", approved, "--approved-only"), "it was altered")
    path.write_text(text)
    answer = dbatk("run", approved, "--approved-only", "--store", str(home / "another.sqlite"))
    refused(answer, "its audit log has no such approval")


@pytest.mark.full
def test_the_newer_approval_counts_and_the_older_may_not_be_put_back(
    dbatk: Dbatk, approved: str, home: Path
) -> None:
    older = (home / "nightly.approval.toml").read_text()
    (home / approved).write_text(TWO_STEPS.replace('columns = "i"', 'columns = "k"'))
    assert dbatk("plan", approved, "--approve").status == 0
    (home / "nightly.approval.toml").write_text(older)
    (home / approved).write_text(TWO_STEPS)
    refused(dbatk("run", approved, "--approved-only"), "was superseded by a newer one")
    (home / "elsewhere").mkdir()
    whole = TWO_STEPS.replace("duckdb:///", f"duckdb:///{home}/")
    (home / "elsewhere/nightly.toml").write_text(whole)
    assert dbatk("plan", "elsewhere/nightly.toml", "--approve").status == 0
    assert dbatk("plan", approved, "--approve").status == 0
    assert dbatk("run", approved, "--approved-only").status == 0, "a plan of this name elsewhere is another one"


@pytest.mark.full
def test_an_older_approval_may_not_be_put_back_by_another_way_to_its_folder(
    dbatk: Dbatk, plan: str, home: Path
) -> None:
    (home / "link").symlink_to(home)
    assert dbatk("plan", f"link/{plan}", "--approve").status == 0
    older = (home / "nightly.approval.toml").read_text()
    (home / plan).write_text(TWO_STEPS.replace('columns = "i"', 'columns = "k"'))
    assert dbatk("plan", plan, "--approve").status == 0
    (home / "nightly.approval.toml").write_text(older)
    (home / plan).write_text(TWO_STEPS)
    refused(dbatk("run", f"link/{plan}", "--approved-only"), "was superseded by a newer one")


def test_an_approval_expires(dbatk: Dbatk, plan: str, monkeypatch: pytest.MonkeyPatch) -> None:
    assert "is in the past" in dbatk("plan", plan, "--approve", "--valid-until", "2020-01-31").err
    assert "is not a day" in dbatk("plan", plan, "--approve", "--valid-until", "soon").err
    assert dbatk("plan", plan, "--approve").status == 0

    class Later(datetime):
        @classmethod
        def now(cls, tz: tzinfo | None = None) -> Later:
            return super().now(tz) + timedelta(91)

    monkeypatch.setattr("toolkit.app.approving.checking.datetime", Later)
    refused(dbatk("run", plan, "--approved-only"), "expired: it was valid until")


def test_a_longer_validity_cannot_be_written_into_the_file(dbatk: Dbatk, approved: str, home: Path) -> None:
    path = home / "nightly.approval.toml"
    path.write_text(re.sub('valid_until = ".*"', 'valid_until = "2999-12-31"', path.read_text()))
    refused(dbatk("run", approved, "--approved-only"), "it was altered")


def test_a_revoked_approval_runs_nothing_until_it_is_approved_again(dbatk: Dbatk, approved: str) -> None:
    assert dbatk("plan", "revoke", approved, "--reason", "CHG-2").status == 0
    refused(dbatk("run", approved, "--approved-only"), "was revoked by", "CHG-2")
    (line,) = json.loads(dbatk("audit", "--kind", "revoke", "--json").out)["lines"]
    assert line["reason"] == "CHG-2"
    assert dbatk("plan", approved, "--approve").status == 0
    assert dbatk("run", approved, "--approved-only").status == 0


@pytest.mark.thin(2)
@pytest.mark.parametrize(
    "consent",
    thinned(
        map(
            pytest.param,
            [
                ("--allow-closed-window",),
                ("--allow-commands",),
                ("--allow-unchecked",),
                ("--not-production",),
                ("--allow-production", "x"),
            ],
        ),
        3,
    ),
)
def test_a_consent_that_the_approval_lacks_is_refused(
    dbatk: Dbatk, approved: str, consent: tuple[str, ...]
) -> None:
    refused(dbatk("run", approved, "--approved-only", *consent), f"`{consent[0]}` was not set and is")
    assert dbatk("plan", approved, "--approve", *consent).status == 0
    assert dbatk("run", approved, "--approved-only", *consent).status == 0


@pytest.mark.full
def test_less_consent_than_approved_is_no_change(dbatk: Dbatk, plan: str) -> None:
    assert dbatk("plan", plan, "--approve", "--allow-closed-window", "--allow-commands").status == 0
    assert dbatk("run", plan, "--approved-only").status == 0


def test_a_key_of_the_host_cannot_be_dropped_by_other_settings(
    dbatk: Dbatk, plan: str, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    of_host = home / "etc"
    of_host.mkdir()
    (of_host / "approvals.toml").write_text('key = {env = "HOST_KEY"}\n')
    monkeypatch.setattr("toolkit.config.paths.SYSTEM_FOLDER", of_host)
    monkeypatch.setenv("HOST_KEY", "h" * 32)
    monkeypatch.setenv("DBATK_CONFIG", str(home / "mine"))
    (home / "mine").mkdir()
    (home / "mine/approvals.toml").write_text('key = {env = "MY_KEY"}\n')
    monkeypatch.setenv("MY_KEY", "m" * 32)
    assert dbatk("plan", plan, "--approve").status == 0
    text = (home / "nightly.approval.toml").read_text()
    unsigned = "\n".join(line for line in text.splitlines() if not line.startswith("signature"))
    (home / "nightly.approval.toml").write_text(unsigned)
    refused(dbatk("run", plan, "--approved-only"), "is not signed")
    (home / "nightly.approval.toml").write_text(text)
    assert dbatk("run", plan, "--approved-only").status == 0


def test_code_from_elsewhere_is_refused(
    dbatk: Dbatk, approved: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "mine").mkdir()
    with monkeypatch.context() as patched:
        patched.syspath_prepend(str(tmp_path / "mine"))
        refused(dbatk("run", approved, "--approved-only"), "Python looks for modules in", "unset PYTHONPATH")
    with monkeypatch.context() as patched:
        patched.setattr("sys.pycache_prefix", str(tmp_path / "mine"))
        refused(dbatk("run", approved, "--approved-only"), "Python takes compiled modules from")
        patched.undo()
        patched.setenv("PYTHONTZPATH", str(tmp_path / "mine"))
        refused(dbatk("run", approved, "--approved-only"), "PYTHONTZPATH says what time it is")
    with resources.added(tmp_path / "mine"):
        refused(dbatk("run", approved, "--approved-only"), "scripts and templates are taken from")


@pytest.mark.full
def test_a_link_to_a_database_may_lead_elsewhere_after_the_check(
    dbatk: Dbatk, plan: str, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What was looked at is what is used: the link is followed once."""
    shutil.copy(home / "small.duckdb", home / "other.duckdb")
    (home / "link.duckdb").symlink_to(home / "small.duckdb")
    (home / plan).write_text(TWO_STEPS.replace("small.duckdb", "link.duckdb"))
    assert dbatk("plan", plan, "--approve").status == 0
    at_end = AuditFile.write

    def swap(log: AuditFile, event: AuditEvent) -> str:
        if event.kind is AuditKind.PLAN_BEGIN:
            (home / "link.duckdb").unlink()
            (home / "link.duckdb").symlink_to(home / "other.duckdb")
        return at_end(log, event)

    monkeypatch.setattr(AuditFile, "write", swap)
    answer = dbatk("run", plan, "--approved-only")
    assert answer.status == 0, answer.err
    with duckdb.connect("other.duckdb", read_only=True) as looked:
        assert looked.execute("SELECT table_name FROM duckdb_tables()").fetchall() == [("small",)]
    assert "copied" in tables()


def test_a_database_file_that_is_replaced_after_the_check_is_not_touched(
    dbatk: Dbatk, approved: str, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.copy(home / "small.duckdb", home / "other.duckdb")
    at_end = AuditFile.write

    def swap(log: AuditFile, event: AuditEvent) -> str:
        if event.kind is AuditKind.PLAN_BEGIN:
            (home / "other.duckdb").rename(home / "small.duckdb")
        return at_end(log, event)

    monkeypatch.setattr(AuditFile, "write", swap)
    answer = dbatk("run", approved, "--approved-only")
    assert answer.status == 5 and "it was replaced meanwhile" in answer.err and tables() == {"small"}


def test_a_log_that_is_not_whole_keeps_what_must_be_approved_from_running(
    dbatk: Dbatk, approved: str, home: Path
) -> None:
    with open_store(home / "store.sqlite") as store:
        path = Path(store.audit.shown)
    kept = path.read_text()
    path.write_text(kept.replace('"reason": "CHG-1"', '"reason": "CHG-2"'))
    refused(dbatk("run", approved, "--approved-only"), "line 2 of the audit log", "TK-0314")
    path.unlink()
    answer = dbatk("run", approved, "--approved-only")
    refused(answer, "the audit log", "TK-0314")
    assert dbatk("audit", "verify").status == 1


def test_what_cannot_be_logged_does_not_run_where_approval_is_asked_and_else_says_so(
    dbatk: Dbatk, approved: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> int:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("toolkit.store.audit.os.write", full)
    refused(dbatk("run", approved, "--approved-only"), "cannot be written: no space left on device")
    answer = dbatk("run", approved)
    assert answer.status == 0 and "this entry is missing there" in answer.err and "copied" in tables()


@pytest.mark.full
def test_the_plan_itself_may_ask_for_its_approval(dbatk: Dbatk, plan: str, home: Path) -> None:
    (home / plan).write_text(TWO_STEPS.replace('name = "nightly"\n', 'name = "nightly"\napproved_only = true\n'))
    refused(dbatk("run", plan), "is not approved")
    assert dbatk("plan", plan, "--approve").status == 0
    assert dbatk("run", plan).status == 0
    (home / plan).write_text(TWO_STEPS.replace('name = "nightly"\n', 'name = "nightly"\napproved_only = "yes"\n'))
    assert "`approved_only` must be true or false" in dbatk("run", plan).err


def test_a_target_may_ask_for_approvals_of_all_that_runs_on_it(dbatk: Dbatk, url: str, home: Path) -> None:
    assert dbatk("target", "add", "dwh", url, "--approved-only").status == 0
    assert "approved_only = true" in (home / "config/targets.toml").read_text()
    refused(dbatk("ctas", "-t", "dwh", "--source", "small", "--table", "x"), "only approved work may run on `dwh`")
    (home / "p.toml").write_text(TWO_STEPS.replace("duckdb:///small.duckdb", "dwh"))
    refused(dbatk("run", "p.toml"), "`p.toml` is not approved")
    assert dbatk("plan", "p.toml", "--approve").status == 0
    assert dbatk("run", "p.toml").status == 0


def test_a_key_signs_and_then_no_log_is_needed_and_no_other_key_will_do(
    dbatk: Dbatk, plan: str, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (home / "config").mkdir(exist_ok=True)
    (home / "config/approvals.toml").write_text('key = {env = "APPROVAL_KEY"}\n')
    monkeypatch.setenv("APPROVAL_KEY", "k" * 32)
    assert dbatk("plan", plan, "--approve").status == 0
    assert "k" * 32 not in (home / "nightly.approval.toml").read_text()
    other = ("--store", str(home / "another.sqlite"))
    monkeypatch.setenv("APPROVAL_KEY", "x" * 32)
    refused(dbatk("run", plan, "--approved-only", *other), "has a signature made with a different key")
    path = home / "nightly.approval.toml"
    signed = path.read_text()
    path.write_text("\n".join(line for line in signed.splitlines() if not line.startswith("signature")))
    refused(dbatk("run", plan, "--approved-only"), "is not signed")
    path.write_text(signed.replace('by = "', 'by = "not '))
    monkeypatch.setenv("APPROVAL_KEY", "k" * 32)
    refused(dbatk("run", plan, "--approved-only", *other), "has a signature made with a different key")
    path.write_text(signed)
    assert dbatk("run", plan, "--approved-only", *other).status == 0
    monkeypatch.setenv("APPROVAL_KEY", "short")
    assert dbatk("plan", plan, "--approve").status == 2


def test_a_scheduler_passes_it_on_and_cannot_forget_it(dbatk: Dbatk, plan: str, home: Path, url: str) -> None:
    assert url
    whole = TWO_STEPS.replace("duckdb:///small.duckdb", f"duckdb:///{home}/small.duckdb")
    (home / plan).write_text(whole)
    shown = dbatk("schedule", plan, "--at", "22:00 UTC", "--kind", "cron", "--approved-only")
    assert shown.status == 0 and "--approved-only" in shown.out, shown.err
    (home / plan).write_text(whole.replace('name = "nightly"\n', 'name = "nightly"\napproved_only = true\n'))
    assert "--approved-only" in dbatk("schedule", plan, "--at", "22:00 UTC", "--kind", "cron").out


def test_options_that_do_not_go_together_are_refused(dbatk: Dbatk, plan: str) -> None:
    assert "there is no option `--reason`" in dbatk("plan", plan, "--reason", "x").err
    assert dbatk("run", plan, "--approved-only", "--dry-run").status == 2
    assert dbatk("audit", "--kind", "aprove").err.count("did you mean `approve`?") == 1
