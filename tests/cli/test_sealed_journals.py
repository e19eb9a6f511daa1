"""What a store says is undone on a target for approved work only where the key of approvals sealed it."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import duckdb
import pytest
from sqlalchemy import update

from tests.cli.conftest import Dbatk
from tests.cli.test_approvals import EXPERIMENT, tables
from toolkit.app.approvals import seal_for
from toolkit.errors import ToolkitError
from toolkit.model.steps import ObjectRef, Step
from toolkit.model.values import QualifiedName, Scalar
from toolkit.model.words import Effect, ObjectKind
from toolkit.runner import Changes
from toolkit.runner.undoing import Undoing
from toolkit.store import open_store, schema

UNSEALED = "its entry in the journal has no seal of approved work"


@pytest.fixture
def key(home: Path, url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Approvals are signed, and only approved work may run on `dwh`."""
    assert url
    (home / "config").mkdir(exist_ok=True)
    (home / "config/approvals.toml").write_text('key = {env = "APPROVAL_KEY"}\n')
    monkeypatch.setenv("APPROVAL_KEY", "k" * 32)


def only_approved_work(home: Path) -> None:
    (home / "config").mkdir(exist_ok=True)
    profile = f'[targets.dwh]\nurl = "duckdb:///{home}/small.duckdb"\napproved_only = true\n'
    (home / "config/targets.toml").write_text(profile)


def plant(home: Path, step: Step, proof: dict[str, Scalar], identity: dict[str, Scalar] | None = None) -> str:
    """Write an entry into the journal of the newest run, as somebody can who may write the store."""
    with open_store(home / "store.sqlite") as store:
        run = store.list_runs()[0].run
        entry = store.journal(run).intend(step, trial=1, proof=proof)
        if identity is not None:
            store.journal(run).made(entry, identity)
    return run


def setting(*undo: str) -> Step:
    ref = ObjectRef(ObjectKind.SETTING, QualifiedName("threads"))
    return Step("set", "", effect=Effect.CHANGES, object=ref, undo=undo)


def left_by_an_approved_run(dbatk: Dbatk, home: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """Leave what an approved run does whose process ends before it undoes anything."""

    def dies(*_: object, **__: object) -> None:
        raise ToolkitError("killed", code="TK-0203")

    (home / "sweep.toml").write_text(EXPERIMENT.replace("[factors]", "repeat = 1\nwarmup = 0\n[factors]"))
    assert dbatk("plan", "approve", "sweep.toml").status == 0
    with monkeypatch.context() as killed:
        killed.setattr(Undoing, "run", dies)
        killed.setattr(Changes, "_drop", dies)
        dbatk("run", "sweep.toml", "--approved-only")
    with open_store(home / "store.sqlite") as store:
        run = store.list_runs()[0].run
        assert store.journal(run).open_entries()
    return run


@pytest.mark.usefixtures("key")
@pytest.mark.parametrize(
    ("step", "proof"),
    [
        (setting("CREATE TABLE planted AS SELECT 1 AS a"), {}),
        (setting("SET threads = 1", "DROP TABLE small"), {"restart": True}),
        (setting(), {"command": json.dumps(["touch", "planted"])}),
    ],
)
def test_what_somebody_wrote_into_a_store_does_not_run_where_only_approved_work_may(
    dbatk: Dbatk, url: str, home: Path, step: Step, proof: dict[str, Scalar]
) -> None:
    assert dbatk("ctas", "-t", url, "--source", "small", "--table", "made").status == 0
    only_approved_work(home)
    run = plant(home, step, proof)
    before = tables()
    for extra in ((), ("--run", run), ("--allow-commands", "--run", run)):
        answer = dbatk("clean", "-t", url, *extra)
        assert answer.status in (3, 5) and tables() == before and not (home / "planted").exists()
        assert (UNSEALED in answer.out) is (answer.status == 3), answer.out
    shown = dbatk("clean", "-t", url, "--run", run, "--dry-run")
    assert shown.status == 0 and all(text in shown.out for text in step.undo)


@pytest.mark.usefixtures("key")
def test_no_table_of_the_users_is_dropped_because_a_store_says_that_it_is_a_runs(
    dbatk: Dbatk, url: str, home: Path
) -> None:
    assert dbatk("ctas", "-t", url, "--source", "small", "--table", "made").status == 0
    with duckdb.connect("small.duckdb") as session:
        session.execute("COMMENT ON TABLE small IS 'of the shop'")
    only_approved_work(home)
    ref = ObjectRef(ObjectKind.TABLE, QualifiedName("small", "main"), scratch=True)
    plant(home, Step("ctas", "", effect=Effect.CREATES, object=ref), {}, {"identity": "of the shop"})
    answer = dbatk("clean", "-t", "dwh")
    assert answer.status == 3 and UNSEALED in answer.out and "small" in tables()


@pytest.mark.usefixtures("key")
def test_what_an_approved_run_left_is_cleaned(dbatk: Dbatk, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run = left_by_an_approved_run(dbatk, home, monkeypatch)
    only_approved_work(home)
    assert tables() > {"small"}
    monkeypatch.setenv("APPROVAL_KEY", "x" * 32)
    answer = dbatk("clean", "-t", "dwh")
    assert answer.status == 3 and UNSEALED in answer.out and tables() > {"small"}
    monkeypatch.setenv("APPROVAL_KEY", "k" * 32)
    answer = dbatk("clean", "-t", "dwh", "--run", run)
    assert answer.status == 0 and tables() == {"small"}, answer.out + answer.err


def of_an_entry(**values: object) -> Callable[[str], object]:
    table = schema.journal
    return lambda run: update(table).where(table.c.run == run).values(**values)


@pytest.mark.full
@pytest.mark.usefixtures("key")
@pytest.mark.parametrize(
    "altered",
    [
        of_an_entry(name="small"),
        of_an_entry(scratch=True, object_kind="setting", undo='["DROP TABLE small"]'),
        of_an_entry(identity='{"identity": "another"}'),
        of_an_entry(proof="{}"),
        lambda run: update(schema.run).where(schema.run.c.run == run).values(engine="duckdb", experiment="{}"),
        lambda run: schema.artifact.delete().where(schema.artifact.c.name == "approval.seal"),
    ],
)
def test_an_entry_that_was_altered_is_not_undone(
    dbatk: Dbatk, home: Path, monkeypatch: pytest.MonkeyPatch, altered: Callable[[str], object]
) -> None:
    run = left_by_an_approved_run(dbatk, home, monkeypatch)
    only_approved_work(home)
    before = tables()
    with open_store(home / "store.sqlite") as store, store._database.write("x") as connection:
        connection.execute(altered(run))  # type: ignore[call-overload]
    answer = dbatk("clean", "-t", "dwh", "--run", run)
    assert answer.status != 0 and "small" in tables()
    assert tables() == before or UNSEALED in answer.out, (answer.out, answer.err)


@pytest.mark.full
@pytest.mark.usefixtures("key")
def test_what_a_run_of_before_left_is_closed_once_it_was_undone_by_hand(
    dbatk: Dbatk, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (home / "config/approvals.toml").rename(home / "later.toml")
    run = left_by_an_approved_run(dbatk, home, monkeypatch)
    (home / "later.toml").rename(home / "config/approvals.toml")
    only_approved_work(home)
    answer = dbatk("clean", "-t", "dwh")
    assert answer.status == 3 and UNSEALED in answer.out and f"--run {run} --dry-run" in answer.out
    left = tables() - {"small"}
    with duckdb.connect("small.duckdb") as session:
        for name in left:
            session.execute(f'DROP TABLE "{name}"')
    assert dbatk("clean", "-t", "dwh").status == 0
    with open_store(home / "store.sqlite") as store:
        assert not store.open_entries_all()


def test_an_entry_that_nobody_sealed_is_not_sealed_by_moving_it_on(
    key: None, dbatk: Dbatk, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = left_by_an_approved_run(dbatk, home, monkeypatch)
    seal = seal_for(approved=True)
    planted = setting("DROP TABLE orders")
    with open_store(home / "store.sqlite") as store:
        own = {each.entry for each in store.journal(run, seal).open_entries()}
        entry = store.journal(run).intend(planted, trial=1, proof={})
        later = store.journal(run, seal).intend(planted, trial=1, proof={})
        for each in (entry, later):
            store.journal(run, seal).made(each, {"identity": "1"})
        found = {each.entry: each.sealed for each in store.journal(run, seal).open_entries()}
    assert found == {**dict.fromkeys(own, True), entry: False, later: True}
