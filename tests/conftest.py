"""What all tests share."""

import atexit
import gc
import importlib
import os
import signal
import sys
from contextlib import suppress
from pathlib import Path

import pytest

# What is imported and collected lives as long as the run: to look for cycles in it again and again costs a tenth
# of the time.
gc.disable()
gc.set_threshold(50_000)


def pytest_collection(session: pytest.Session) -> None:
    """Let each worker begin with another share of the files: else all compile all of them in a fresh clone."""
    workers, here = int(os.environ.get("PYTEST_XDIST_WORKER_COUNT", "1")), Path(__file__).parent
    if workers == 1 or sys.dont_write_bytecode:
        return
    asked = [Path(word.partition("::")[0]).resolve() for word in session.config.args]
    files = sorted(file for file in here.rglob("test_*.py") if not {file, *file.parents}.isdisjoint(asked))
    for file in files[int(os.environ["PYTEST_XDIST_WORKER"].removeprefix("gw")) :: workers]:
        with suppress(Exception, pytest.skip.Exception):  # it is collected, and reported, later
            importlib.import_module(".".join(file.relative_to(here.parent).with_suffix("").parts))


def pytest_collection_finish() -> None:
    """Leave out of later searches for cycles what stands before the first test."""
    gc.freeze()
    gc.enable()
    atexit.register(gc.unfreeze)  # or nanobind takes DuckDB's objects for leaks when the interpreter ends


def _say_nothing_more() -> None:
    """Keep from the terminal what nanobind says when a worker is gone: threads still hold sessions of DuckDB."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), 2)


if "PYTEST_XDIST_WORKER" in os.environ:
    atexit.register(_say_nothing_more)  # registered first, it is called last

# A shell's background job ignores SIGINT, what `nohup` begins SIGHUP, and so would every process begun from it:
# tests that interrupt one could only fail there.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)
if signal.getsignal(signal.SIGHUP) is signal.SIG_IGN:
    signal.signal(signal.SIGHUP, signal.SIG_DFL)

pytest_plugins = ["tests.tidy", "tests.tiers", "tests.guards", "tests.servers.fixtures"]
