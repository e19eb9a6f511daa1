"""An approval names every file that a run then uses, and knows the database it was made for, on each engine."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import duckdb
import pytest

from tests.engines.arena import Heard
from tests.oracle.standin import Scenario, running_standin
from tests.servers.postgresql import Server
from toolkit import resources
from toolkit.app.approvals import Approvals
from toolkit.app.approving import approve, check, subject_of_plan
from toolkit.app.approving.checking import admitted
from toolkit.app.maintenance import PlanTarget, plan_targets_of, run_plan
from toolkit.design.approval import dump_approval
from toolkit.design.plan_file import read_plan
from toolkit.documents import parse_document
from toolkit.errors import ToolkitError
from toolkit.model.audit import Approval
from toolkit.model.plan import MaintenancePlan
from toolkit.store import Store

STEPS = """
[[step]]
name = "stats"
operation = "stats-gather"
table = "{table}"

[[step]]
name = "rebuild"
operation = "index-rebuild"
table = "{table}"

[[step]]
name = "copy"
operation = "ctas"
source = "{table}"
table = "{table}_c"

[[step]]
name = "index"
operation = "index-build"
table = "{table}_c"
columns = "{column}"
needs = ["copy"]

[[step]]
name = "load"
operation = "insert"
source = "{table}"
table = "{table}_c"
needs = ["index"]
"""
ALLOWED = Approvals(not_production=True)


def made(url: str, steps: str, store: Store, folder: Path) -> tuple[MaintenancePlan, tuple[PlanTarget, ...]]:
    text = f'[plan]\nname = "n"\ntarget = "{url}"\n{steps}'
    (folder / "n.toml").write_text(text)
    plan = read_plan(parse_document(text, "n.toml"), folder)
    return plan, plan_targets_of(plan, store, ALLOWED)


def approved_and_run(url: str, steps: str, store: Store, folder: Path) -> Approval:
    """Approve a plan, run it, and hold that it used nothing else."""
    plan, places = made(url, steps, store, folder)
    approval = approve(subject_of_plan(folder / "n.toml", plan, places), store)
    assert all("are not shown to this user" in note for note in approval.notes), "every script could be made"
    assert check(subject_of_plan(folder / "n.toml", plan, places), store).approval == approval
    allowed = replace(ALLOWED, approval=approval.hash)
    with resources.noting() as used:
        record = run_plan(plan, places, store=store, approvals=allowed, events=Heard())
    assert {step.state for step in record.steps} == {"done"}, [step.reason for step in record.steps]
    known = {**approval.approved.files, **approval.approved.other_files}
    missed = {path for path in used if path in known} - set(approval.approved.files)
    assert missed == set(), "what a run always uses stands in `_AROUND` of app/approving/making.py"
    assert approval.approved.other_files, "not every file of the engine"
    return approval


def test_on_duckdb(store: Store, tmp_path: Path) -> None:
    with duckdb.connect(str(tmp_path / "x.duckdb")) as session:
        session.execute("CREATE TABLE g AS SELECT range AS id FROM range(1000)")
        session.execute("CREATE INDEX g_ix ON g (id)")
    steps = STEPS.format(table="g", column="id")
    approval = approved_and_run(f"duckdb:///{tmp_path}/x.duckdb", steps, store, tmp_path)
    (parts,) = approval.approved.databases.values()
    assert parts["file"] == str(tmp_path / "x.duckdb") and len(parts["id"]) == 32


@pytest.mark.postgresql
def test_on_postgresql(store: Store, tmp_path: Path, postgresql_server: Server, postgresql_schema: str) -> None:
    with postgresql_server.connect() as session:
        session.execute(f'CREATE TABLE "{postgresql_schema}".a AS SELECT i AS id FROM generate_series(1, 1000) i')
        session.execute(f'CREATE INDEX a_ix ON "{postgresql_schema}".a (id)')
        row = session.execute("SELECT system_identifier::text FROM pg_control_system()").fetchone()
    steps = STEPS.format(table=f"{postgresql_schema}.a", column="id")
    approval = approved_and_run(postgresql_server.url, steps, store, tmp_path)
    (parts,) = approval.approved.databases.values()
    assert row is not None and parts["oid and system identifier"].endswith(f"@{row[0]}") and parts["user"]


@pytest.mark.full
@pytest.mark.postgresql
def test_a_data_directory_that_is_not_shown_is_said_since_a_clone_may_differ_in_nothing_else(
    store: Store, tmp_path: Path, postgresql_server: Server, postgresql_schema: str
) -> None:
    with postgresql_server.connect() as session:
        session.execute(f'CREATE TABLE "{postgresql_schema}".a (id int)')
        session.execute("CREATE ROLE sees_little LOGIN")
        session.execute(f'GRANT USAGE ON SCHEMA "{postgresql_schema}" TO sees_little')
        session.execute(f'GRANT SELECT ON "{postgresql_schema}".a TO sees_little')
    try:
        url = postgresql_server.url.replace(f"//{postgresql_server.user}@", "//sees_little@")
        steps = f'[[step]]\noperation = "stats-gather"\ntable = "{postgresql_schema}.a"\n'
        plan, places = made(url, steps, store, tmp_path)
        approval = approve(subject_of_plan(tmp_path / "n.toml", plan, places), store)
        assert any("the data directory is not shown to this user" in note for note in approval.notes)
    finally:
        with postgresql_server.connect() as session:
            session.execute("DROP OWNED BY sees_little")
            session.execute("DROP ROLE sees_little")


def test_on_oracle(store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with running_standin() as standin:
        monkeypatch.setenv("DBATK_PASSWORD", standin.password)
        approval = approved_and_run(standin.url, STEPS.format(table="GTEST", column="ID"), store, tmp_path)
        (parts,) = approval.approved.databases.values()
        assert (parts["DBID"], parts["container"]) == ("1405", "FREEPDB1")
        assert standin.password not in dump_approval(approval)


@pytest.mark.full
def test_another_dbid_or_container_behind_the_same_address_is_refused(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    steps = STEPS.partition('[[step]]\nname = "copy"')[0].format(table="GTEST")
    with running_standin() as standin:
        monkeypatch.setenv("DBATK_PASSWORD", standin.password)
        plan, places = made(standin.url, steps, store, tmp_path)
        approve(subject_of_plan(tmp_path / "n.toml", plan, places), store)
        before = len(standin.statements)
        monkeypatch.setattr("toolkit.app.approving.checking.identity_of", lambda *_: ({"DBID": "7"}, ()))
        with pytest.raises(ToolkitError, match=r"DBID of .* was `1405` and is `7`") as caught:
            check(subject_of_plan(tmp_path / "n.toml", plan, places), store)
        assert caught.value.code == "TK-0313" and len(standin.statements) == before


def test_a_dbid_that_may_not_be_read_is_said_and_the_rest_still_counts(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with running_standin(Scenario(denied=frozenset({"V$DATABASE"}))) as standin:
        monkeypatch.setenv("DBATK_PASSWORD", standin.password)
        steps = '[[step]]\noperation = "stats-gather"\ntable = "GTEST"\n'
        plan, places = made(standin.url, steps, store, tmp_path)
        approval = approve(subject_of_plan(tmp_path / "n.toml", plan, places), store)
        (parts,) = approval.approved.databases.values()
        assert "DBID" not in parts and parts["container"] == "FREEPDB1"
        assert "the DBID could not be read (ORA-" in approval.notes[0]


def test_a_worker_holds_itself_against_the_approval_that_came_with_its_order(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with duckdb.connect(str(tmp_path / "x.duckdb")) as session:
        session.execute("CREATE TABLE g AS SELECT range AS id FROM range(10)")
    url = f"duckdb:///{tmp_path}/x.duckdb"
    plan, places = made(url, '[[step]]\noperation = "stats-gather"\ntable = "g"\n', store, tmp_path)
    approval = approve(subject_of_plan(tmp_path / "n.toml", plan, places), store)
    sent = Approvals(approval=approval.hash, approval_text=dump_approval(approval))
    with admitted(sent, places[0]):
        pass
    with (
        pytest.raises(ToolkitError, match="its order carries a different approval"),
        admitted(Approvals(approval="sha256:x", approval_text=dump_approval(approval)), places[0]),
    ):
        pass
    monkeypatch.setattr(resources, "program_hash", lambda: "sha256:other")
    with pytest.raises(ToolkitError, match=r"the worker on .* is not as approved"), admitted(sent, places[0]):
        pass


def test_sending_what_no_licence_check_can_see_is_approved_or_refused(store: Store, tmp_path: Path) -> None:
    with duckdb.connect(str(tmp_path / "x.duckdb")) as session:
        session.execute("CREATE TABLE g AS SELECT range AS id FROM range(10)")
    step = '[[step]]\noperation = "stats-gather"\ntable = "g"\n'
    plan, places = made(f"duckdb:///{tmp_path}/x.duckdb", step, store, tmp_path)
    subject, unseen = (
        subject_of_plan(tmp_path / "n.toml", plan, places, given) for given in ({}, {"unseen_ok": True})
    )
    approval = approve(subject, store)
    with pytest.raises(ToolkitError, match="`--allow-unchecked` was not set and is true"):
        check(unseen, store)
    sent = Approvals(approval=approval.hash, approval_text=dump_approval(approval), unseen_ok=True)
    with (
        pytest.raises(ToolkitError, match="`--allow-unchecked` was not set and is true"),
        admitted(sent, places[0]),
    ):
        pass
    assert approve(unseen, store).hash != approval.hash
    assert check(unseen, store).approval.approved.values["run unseen_ok"] is True


@pytest.mark.full
def test_a_target_that_cannot_be_reached_keeps_only_itself_from_running(store: Store, tmp_path: Path) -> None:
    for name in ("a", "b"):
        with duckdb.connect(str(tmp_path / f"{name}.duckdb")) as session:
            session.execute("CREATE TABLE g AS SELECT range AS id FROM range(10)")
    urls = [f"duckdb:///{tmp_path}/{name}.duckdb" for name in ("a", "b")]
    text = f'[plan]\nname = "n"\ntargets = {urls!r}\n[[step]]\noperation = "stats-gather"\ntable = "g"\n'
    plan = read_plan(parse_document(text, "n.toml"), tmp_path)
    places = plan_targets_of(plan, store, ALLOWED)
    approve(subject_of_plan(tmp_path / "n.toml", plan, places), store)
    (tmp_path / "b.duckdb").unlink()
    held = check(subject_of_plan(tmp_path / "n.toml", plan, places), store)
    assert list(held.unresolved) == [urls[1]]
    (tmp_path / "a.duckdb").unlink()
    with pytest.raises(ToolkitError) as caught:
        check(subject_of_plan(tmp_path / "n.toml", plan, places), store)
    assert caught.value.code == "TK-0201"
