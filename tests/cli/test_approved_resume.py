"""A run of an approved experiment goes on where only approved work may run: as it was approved, or not at all."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

import pytest
from sqlalchemy import update

from tests.cli.conftest import Dbatk
from tests.cli.test_approvals import EXPERIMENT
from tests.cli.test_sealed_journals import left_by_an_approved_run, only_approved_work
from toolkit.model.words import RunState
from toolkit.store import codec, open_store, schema

WAY = ("runs", "resume", "last", "--approved", "sweep.toml")


@pytest.fixture
def left(dbatk: Dbatk, home: Path, url: str, monkeypatch: pytest.MonkeyPatch) -> str:
    assert url
    run = left_by_an_approved_run(dbatk, home, monkeypatch)
    only_approved_work(home)
    return run


def test_it_goes_on_with_the_approval_that_it_was_begun_with(dbatk: Dbatk, left: str, home: Path) -> None:
    bare = dbatk("runs", "resume", "last")
    assert bare.status == 5 and "--approved FILE`" in " ".join(bare.err.split())
    answer = dbatk(*WAY)
    assert answer.status == 0, answer.err
    with open_store(home / "store.sqlite") as store:
        assert not store.journal(left).open_entries() and not store.unended_trials(left)
        assert store.load_head(left).state is RunState.DONE


@pytest.mark.usefixtures("left")
def test_it_does_not_go_on_without_an_approval_in_force(dbatk: Dbatk, home: Path) -> None:
    missing = dbatk("runs", "resume", "last", "--approved", "other.toml")
    assert missing.status == 5 and "`other.toml` is not approved" in missing.err
    os.mkfifo(home / "pipe.approval.toml")
    pipe = dbatk("runs", "resume", "last", "--approved", "pipe.toml")
    assert pipe.status == 5 and "it is a pipe or a device" in " ".join(pipe.err.split())
    assert dbatk("plan", "revoke", "sweep.toml").status == 0
    answer = dbatk(*WAY)
    assert answer.status == 5 and "was revoked" in answer.err


def test_what_somebody_changed_in_the_store_is_not_what_was_approved(dbatk: Dbatk, left: str, home: Path) -> None:
    with open_store(home / "store.sqlite") as store:
        other = replace(store.load_head(left).experiment, options={"source": "small", "table": "sneaked"})
        with store._database.write("a run that was altered") as connection:
            altered = update(schema.run).values(experiment=codec.experiment_to_json(other))
            connection.execute(altered.where(schema.run.c.run == left))
    answer = dbatk(*WAY)
    assert answer.status == 5 and "`table` was `swept` and is `sneaked`" in " ".join(answer.err.split())


def test_another_experiments_approval_is_none(dbatk: Dbatk, left: str, home: Path) -> None:
    (home / "other.toml").write_text(EXPERIMENT.replace('"swept"', '"elsewhere"'))
    assert dbatk("plan", "approve", "other.toml").status == 0
    answer = dbatk("runs", "resume", left, "--approved", "other.toml")
    assert answer.status == 5 and "`table` was `elsewhere` and is `swept`" in " ".join(answer.err.split())
