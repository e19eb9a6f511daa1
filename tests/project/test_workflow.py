"""The workflow for a hosted runner: what such a file may say, and what a cautious reader asks of it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pytest
import yaml  # type: ignore[import-untyped]

from tests.for_each import for_each
from tests.live import database
from tests.project.tree import ROOT

FOLDER = ROOT / ".github/workflows"
FILES = sorted(FOLDER.glob("*.y*ml"))

# Workflow syntax: what may stand at each level, as far as we use it.
_WORKFLOW = {"name", "on", "permissions", "concurrency", "jobs", "env", "defaults", "run-name"}
_JOB = {"name", "runs-on", "needs", "if", "permissions", "timeout-minutes", "services", "env", "steps", "strategy"}
_STEP = {"name", "id", "if", "uses", "with", "run", "env", "shell", "working-directory", "timeout-minutes"}
_SERVICE = {"image", "env", "ports", "options", "volumes", "credentials"}
_CONTEXTS = {"github", "inputs", "job", "env", "steps", "matrix", "runner", "secrets", "needs"}


class OneOfEach(yaml.SafeLoader):  # type: ignore[misc]
    """Refuses a key that stands twice: YAML takes the last one without a word."""

    def construct_mapping(self, node: Any, deep: bool = False) -> dict[Any, Any]:
        keys = [self.construct_object(key, deep=deep) for key, _ in node.value]
        assert len(keys) == len(set(keys)), f"a key stands twice {node.start_mark}"
        return dict(super().construct_mapping(node, deep=deep))


def faults(text: str) -> Iterator[str]:
    """Say what is wrong with a workflow."""
    found = yaml.load(text, OneOfEach)
    yield from _unknown("workflow", found, _WORKFLOW)
    if "on" not in found:
        yield "no `on` (an unquoted one is read as `true`)"
    if found.get("permissions") != {"contents": "read"}:
        yield "it has more rights than to read the source"
    for name, job in found.get("jobs", {}).items():
        yield from _unknown(name, job, _JOB)
        if "timeout-minutes" not in job:
            yield f"{name}: no limit of its time"
        for service, said in job.get("services", {}).items():
            yield from _unknown(service, said, _SERVICE)
        for number, step in enumerate(job.get("steps", ()), 1):
            yield from (f"{name}, step {number}: {fault}" for fault in _of_step(step))
    for context in re.findall(r"\$\{\{\s*(\w+)", text):
        if context not in _CONTEXTS:
            yield f"no context `{context}`"
    if text.count("${{") != len(re.findall(r"\$\{\{[^{}]*\}\}", text)):
        yield "an expression is not closed"


def _of_step(step: dict[str, Any]) -> Iterator[str]:
    yield from _unknown("step", step, _STEP)
    if ("uses" in step) == ("run" in step):
        yield "a step uses an action, or runs something"
    if "uses" in step and not re.fullmatch(r"[\w.-]+/[\w./-]+@[0-9a-f]{40}", step["uses"]):
        yield "an action is named by its whole commit"
    if "${{" in step.get("run", ""):
        yield "an expression inside a script could be a script: hand it over in `env`"


def _unknown(where: str, found: dict[str, Any], known: set[str]) -> Iterator[str]:
    yield from (f"{where}: unknown key `{key}`" for key in set(found) - known)


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_a_workflow_is_in_order(path: Any) -> None:
    assert list(faults(path.read_text(encoding="utf-8"))) == []


_GOOD = """
"on": {push: }
permissions: {contents: read}
jobs:
  a: {runs-on: x, timeout-minutes: 5, steps: [{run: "make"}]}
"""


@for_each(
    ("old", "new", "fault"),
    [
        ('"on"', "on", "no `on`"),
        ("contents: read", "contents: write", "more rights"),
        (", timeout-minutes: 5", "", "no limit"),
        ('run: "make"', 'uses: "actions/checkout@v4"', "whole commit"),
        ('run: "make"', 'run: "echo ${{ github.head_ref }}"', "could be a script"),
        ('run: "make"', 'runs: "make"', "unknown key `runs`"),
        ('run: "make"', 'name: "make"', "uses an action, or runs"),
        ("runs-on: x", "runs-on: '${{ gihub.ref }}'", "no context `gihub`"),
    ],
)
def test_what_is_wrong_with_one_is_found(old: str, new: str, fault: str) -> None:
    assert list(faults(_GOOD)) == []
    assert any(fault in found for found in faults(_GOOD.replace(old, new)))


def test_the_live_suite_is_run_on_a_database_of_the_runner_s_own() -> None:
    (path,) = FILES
    text = path.read_text(encoding="utf-8")
    job = yaml.safe_load(text)["jobs"]["live"]
    assert job["services"]["oracle"]["image"] == "gvenzl/oracle-free:23-slim"
    assert {database.URL, database.PASSWORD, database.ROWS, "DBATK_VERIFIED_PAGE"} <= set(job["env"])
    assert job["services"]["oracle"]["env"]["APP_USER_PASSWORD"] == job["env"][database.PASSWORD]
    run = "\n".join(step.get("run", "") for step in job["steps"])
    assert "-m oracle_live tests/live" in run and "make .venv/.test" in run
    assert not re.search(r"https?://|\b[\w-]+\.(?:com|org|io)\b", text), "no host is named"
