"""Runs the program against a stand-in, wrecks it at a statement, and tells what the database then looks like."""

from __future__ import annotations

import json
import os
import signal
from pathlib import Path

from tests.oracle.standin import Standin
from tests.oracle.standin.faults import AFTER, Act, Fault, kill_client
from tests.servers.forks import Forked

OPERATIONS: dict[str, tuple[str, ...]] = {
    "ctas-job": ("ctas", "--source", "GTEST", "--table", "MADE", "--degree", "4", "--nologging"),
    "ctas-sweep": ("ctas", "--source", "GTEST", "--table", "MADE", "--degree", "1,4", "--repeat", "1"),
    "insert-job": ("insert", "--source", "GTEST", "--table", "APP.ORDERS", "--degree", "4", "--nologging"),
    "insert-sweep": ("insert", "--source", "GTEST", "--table", "GTEST", "--degree", "1,4", "--repeat", "1"),
    "index-build-job": (
        "index", "build", "--table", "GTEST", "--columns", "ID,AMOUNT", "--name", "NEW_IX", "--degree", "4",
        "--nologging",
    ),
    "index-build-sweep": (
        "index", "build", "--table", "GTEST", "--columns", "ID,AMOUNT", "--degree", "1,4", "--repeat", "1",
    ),
    "index-rebuild-job": (
        "index", "rebuild", "--index", "GTEST_IX", "--degree", "4", "--nologging", "--restore", "found",
    ),
    "index-rebuild-sweep": ("index", "rebuild", "--table", "GTEST", "--degree", "1,4", "--repeat", "1"),
    "stats-job": ("stats", "gather", "--table", "GTEST", "--degree", "4"),
}  # fmt: skip


def look(standin: Standin) -> dict[str, tuple[object, ...]]:
    """Return every object with all that a run may change of it; rows are the job's own business."""
    return {
        f"{kind} {'.'.join(name)}": (made.object_id, made.degree, made.logging, made.status, made.visibility)
        for (kind, name), made in sorted(standin.engine.state.objects.items())
    }


def prepare(standin: Standin) -> None:
    """Give the user's index a degree and the user's table none: what must be found again afterwards."""
    standin.engine.state.objects["INDEX", ("DBATK", "GTEST_IX")].degree = "2"


def environment(standin: Standin, folder: Path) -> dict[str, str]:
    return {
        **os.environ,
        "DBATK_STORE": str(folder / "store.db"),
        "DBATK_CONFIG": str(folder / "config"),
        "DBATK_PASSWORD": standin.password,
    }


def begin(standin: Standin, folder: Path, *arguments: str, json: bool = True) -> Forked:
    """Begin a command in a process of its own."""
    return Forked("toolkit", *arguments, *(("--json",) if json else ()), env=environment(standin, folder))


def run(standin: Standin, folder: Path, *arguments: str) -> tuple[int, dict[str, object]]:
    """Run a command to its end; return its exit status and its JSON document."""
    process = begin(standin, folder, *arguments)
    out, err = process.communicate(timeout=300)
    assert standin.password not in out + err
    assert out or process.returncode, err
    return process.returncode, json.loads(out) if out else {"said": err}


def kill(
    standin: Standin, folder: Path, fault: Fault, *arguments: str, after: Act | None = None, url: bool = True
) -> bool:
    """Run a command whose process is killed at a statement; tell whether it was.

    `after` is what becomes of the session then; without it the server notices at once that its client is gone.
    Without `url` the arguments name the target.
    """
    processes: list[Forked] = []
    fault.act = kill_client(lambda: processes[0].pid, after)
    standin.engine.faults.append(fault)
    target = ("-t", standin.url, "--not-production") if url else ()
    processes.append(begin(standin, folder, *arguments, *target))
    out, err = processes[0].communicate(timeout=300)
    standin.engine.faults.clear()
    assert processes[0].returncode == -signal.SIGKILL or fault.struck is None, (out[-500:], err)
    return fault.struck is not None


def clean(standin: Standin, folder: Path) -> tuple[int, dict[str, object]]:
    return run(standin, folder, "clean", "-t", standin.url)


def undo_scripts(folder: Path) -> list[Path]:
    return sorted((folder / "undo").glob("*")) if (folder / "undo").is_dir() else []


__all__ = ["AFTER", "OPERATIONS", "Fault", "begin", "clean", "kill", "look", "prepare", "run", "undo_scripts"]
