"""Programs that begin in the folder of dbatk are approved for it, however they name what they run there."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import duckdb
import pytest

from toolkit.app.approvals import Approvals
from toolkit.app.approving import approve, check, subject_of_experiment, subject_of_plan
from toolkit.app.approving.checking import admitted
from toolkit.app.approving.making import Subject
from toolkit.app.maintenance import plan_targets_of
from toolkit.app.maintenance.plan_targets import PlanTarget
from toolkit.app.targets import find_target
from toolkit.design.approval import dump_approval
from toolkit.design.file import parse_experiment
from toolkit.design.plan_file import read_plan
from toolkit.documents import parse_document
from toolkit.errors import ToolkitError
from toolkit.store import Store

HEAD = '[experiment]\nname = "e"\nrepeat = 1\n'
PROGRAM = f'{HEAD}target = "host://"\noperation = "command"\n'
MIX = f'{HEAD}target = "host://"\noperation = "mix"\n'
CTAS = f'{HEAD}target = "duckdb:///here.duckdb"\noperation = "ctas"\nsource = "small"\ntable = "made"\n'
HERE = {
    "a file": f'{PROGRAM}command = ["./go.sh"]',
    "a shell": f'{PROGRAM}command = ["sh", "-c", "./go.sh;true"]',
    "a level": f'{PROGRAM}command = ["sh", "{{file}}"]\n[factors]\nfile = ["go.sh", "other.sh"]',
    "a file that is made later": f'{PROGRAM}command = ["sh", "later.sh"]',
    "a folder here": f'{PROGRAM}command = ["true"]\ncwd = "sub"',
    "a folder by level": f'{PROGRAM}command = ["true"]\ncwd = "{{place}}"\n[factors]\nplace = ["a", "b"]',
    "a job of a mix": f'{MIX}[mix]\ncwd = "/"\n[[job]]\nname = "j"\ncommand = "true"\ncwd = "sub"',
    "what is around a mix": f'{MIX}[mix]\nsetup = ["true"]\n[[job]]\nname = "j"\ncommand = "true"\ncwd = "/"',
    "a factor": f'{CTAS}[[factor]]\nname = "governor"\nlevels = [1, 2]\nread = ["sh", "./set.sh"]\n'
    'apply = ["sh", "./set.sh", "{level}"]\nundo = ["sh", "./set.sh", "{before}"]',
}
ELSEWHERE = {
    "a command": f'{PROGRAM}command = ["sh", "-c", "./go.sh"]\ncwd = "/"',
    "a mix": f'{MIX}[mix]\ncwd = "/"\n[[job]]\nname = "j"\ncommand = "true"',
    "each job of a mix": f'{MIX}[[job]]\nname = "j"\ncommand = "true"\ncwd = "/"',
}


@pytest.fixture
def folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[Path, Path]:
    first, other = tmp_path / "first", tmp_path / "other"
    for each in (first, other):
        each.mkdir()
        (each / "go.sh").write_text("#!/bin/sh\n")
    with duckdb.connect(str(tmp_path / "here.duckdb")) as made:
        made.execute("CREATE TABLE small AS SELECT 1 AS i")
    monkeypatch.chdir(first)
    return first, other


def experiment(text: str, folder: Path) -> Subject:
    written = text.replace("duckdb:///", f"duckdb:///{folder}/")
    read = parse_experiment(written)
    return subject_of_experiment(folder / "e.toml", read, find_target(read.target))


@pytest.mark.thin(3)
@pytest.mark.parametrize("text", HERE.values(), ids=HERE)
def test_an_experiment_that_runs_a_program_here_runs_nowhere_else(
    text: str, store: Store, tmp_path: Path, folders: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    approve(experiment(text, tmp_path), store)
    check(experiment(text, tmp_path), store)
    for folder in (folders[1], tmp_path):
        monkeypatch.chdir(folder)
        with pytest.raises(ToolkitError, match=r"`cwd` .* was `/.* and is `/") as refused:
            check(experiment(text, tmp_path), store)
        assert refused.value.code == "TK-0313"


@pytest.mark.parametrize("text", ELSEWHERE.values(), ids=ELSEWHERE)
def test_programs_that_begin_in_a_folder_of_their_own_run_from_anywhere(
    text: str, store: Store, tmp_path: Path, folders: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    approve(experiment(text, tmp_path), store)
    monkeypatch.chdir(folders[1])
    check(experiment(text, tmp_path), store)


PLAN = """
[plan]
name = "n"
target = "host://"
[[step]]
name = "report"
operation = "command"
command = ["sh", "-c", "./go.sh;true"]
"""
ALLOWED = Approvals(allow_commands=True)


def planned(store: Store, folder: Path) -> tuple[Subject, PlanTarget]:
    plan = read_plan(parse_document(PLAN, "n.toml"), folder)
    targets = plan_targets_of(plan, store, ALLOWED)
    return subject_of_plan(folder / "n.toml", plan, targets, ALLOWED.consents()), targets[0]


def test_a_step_that_runs_a_program_here_runs_nowhere_else(
    store: Store, tmp_path: Path, folders: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    approve(planned(store, tmp_path)[0], store)
    check(planned(store, tmp_path)[0], store)
    for folder in (folders[1], tmp_path):
        monkeypatch.chdir(folder)
        with pytest.raises(ToolkitError, match=r"`cwd` of step `report` on `host://` was `/"):
            check(planned(store, tmp_path)[0], store)


def test_a_worker_in_another_folder_runs_no_program_of_it(
    store: Store, tmp_path: Path, folders: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    subject, target = planned(store, tmp_path)
    approval = approve(subject, store)
    sent = replace(ALLOWED, approval=approval.hash, approval_text=dump_approval(approval))
    with admitted(sent, target):
        pass
    monkeypatch.chdir(folders[1])
    with pytest.raises(ToolkitError, match=r"the worker on .* `cwd` of step `report`"), admitted(sent, target):
        pass
