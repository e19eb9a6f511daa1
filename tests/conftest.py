"""What all tests share."""

import atexit
import gc
import os
import signal

# What is imported and collected lives as long as the run: to look for cycles in it again and again costs a tenth
# of the time.
gc.disable()
gc.set_threshold(50_000)


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

pytest_plugins = ["tests.tidy", "tests.tiers", "tests.guards", "tests.servers.fixtures", "tests.servers.workers"]
