"""How much the tests do: the fast tier of `make test`, or more (`DBATK_TESTS`).

The fast tier leaves out what is marked `full`, runs one of so many values of what is marked `thin`, and
draws fewer examples. Every command, every engine and every kind of failure stays in it; docs/testing.md says
what each tier holds.
"""

from __future__ import annotations

import os
import zlib
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import pytest
from _pytest.mark.structures import ParameterSet
from hypothesis import HealthCheck, is_hypothesis_test, settings
from xdist.scheduler import LoadScopeScheduling
from xdist.workermanage import WorkerController

TIER = os.environ.get("DBATK_TESTS", "fast")
"""`fast`, `extra` (what `fast` leaves out, and every property at full strength), or `full` (both at once)."""
FULL = TIER in ("extra", "full")
_NAMED = pytest.StashKey[frozenset[str]]()
"""Tests that were named by their ids: these run in any tier."""
_FAST_EXAMPLES = 15
_TOGETHER = (
    ("app/maintenance/on_cluster/test_cluster.py", "app/maintenance/on_cluster/test_dispatch.py"),
    ("app/hosts/test_users_on_hosts.py", "app/hosts/test_jobs_on_hosts.py", "app/hosts/test_loads_on_hosts.py"),
    ("report/test_page_in_browser.py",),
    ("report/test_interval_pages.py",),
    ("report/test_site.py",),
    ("restoring/test_basebackup.py", "restoring/test_in_a_plan.py", "restoring/test_killed.py",
     "restoring/test_planted.py"),
    ("restoring/test_hostile.py",),
    ("restoring/test_pgbackrest.py",),
    ("bundle/test_refusals.py",),
    ("oracle/test_statistics_texts.py",),
    ("postgresql/test_backup_pgbackrest.py",),
    ("postgresql/test_parallel.py",),
    ("postgresql/test_repack.py",),
    ("postgresql/test_sql_files.py",),
    ("postgresql/test_restarts.py",),
    ("project/test_wheel.py",),
    ("series/test_checks.py",),
)  # fmt: skip
"""Files whose tests share what is costly to make (servers, a browser, large tables): one worker runs a row."""
_SCOPES = {f"tests/{file}": f"row {number}" for number, files in enumerate(_TOGETHER) for file in files}
_GRAMMARS = "before_two_grammars"
"""Tests with this in their names share two grammars of Oracle, slow to begin: one worker runs them all."""
_LONGEST = (
    "tests/chaos/test_chaos.py",
    "tests/app/maintenance/on_cluster/test_cluster.py", "tests/app/maintenance/on_cluster/test_dispatch.py",
    "tests/restoring/test_basebackup.py", "tests/restoring/test_in_a_plan.py", "tests/restoring/test_killed.py",
    "tests/restoring/test_planted.py",
    "tests/postgresql/test_backup_pgbackrest.py", "tests/postgresql/test_parallel.py", "tests/bundle/test_run.py",
    "tests/project/test_tidy.py", "tests/project/test_cookbook.py", "tests/project/test_readme.py",
    "tests/cli/test_plans.py", "tests/store/test_together.py", "tests/store/test_hosts.py",
    "tests/series/test_series.py", "tests/series/test_checks.py",
)  # fmt: skip
"""Files that take longest, alone or as a row: they begin first, so that no worker is left with one at the end."""
_WAITING = (
    "tests/oracle/test_cut_network.py", "tests/oracle/test_unkind.py", "tests/oracle/test_unkind_phases.py",
    "tests/postgresql/test_backup_basebackup.py", "tests/postgresql/test_cut_network.py",
    "tests/runner/test_kill_and_resume.py", "tests/runner/test_kill_in_backup.py",
    "tests/schedule/test_environment.py",
)  # fmt: skip
"""Files whose tests mostly wait: they are spread among the others, or all workers would wait at once."""
_SLOW = [HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.function_scoped_fixture]

# No deadlines: how long an example takes is the machine's business.
settings.register_profile(
    "fast",
    deadline=None,
    max_examples=_FAST_EXAMPLES,
    derandomize=True,
    database=None,
    suppress_health_check=_SLOW,
)
settings.register_profile("full", deadline=None, max_examples=100, database=None, suppress_health_check=_SLOW)
settings.load_profile("full" if FULL else "fast")


def examples(count: int, **more: Any) -> settings:
    """Draw this many examples at full strength, a tenth of them in the fast tier."""
    return settings(max_examples=count if FULL else max(_FAST_EXAMPLES, count // 10), **more)


def thinned(values: Iterable[Any], every: int) -> list[Any]:
    """Keep every n-th value in the fast tier, beginning with the first, and all of them in the others."""
    return [value if number % every == 0 else _only_full(value) for number, value in enumerate(values)]


def _only_full(value: Any) -> Any:
    if isinstance(value, ParameterSet):
        return pytest.param(*value.values, marks=[*value.marks, pytest.mark.full], id=value.id)
    values = value if isinstance(value, tuple) and len(value) > 1 else (value,)
    return pytest.param(*values, marks=pytest.mark.full)


def pytest_configure(config: pytest.Config) -> None:
    config.stash[_NAMED] = frozenset(word for word in config.args if "::" in word)


@pytest.hookimpl(tryfirst=True)
def pytest_pycollect_makeitem(collector: pytest.Collector, name: str, obj: object) -> list[pytest.Item] | None:
    """Make no items at all of a test of the full tier, which in the fast one would be left out one by one."""
    left_out = TIER == "fast" and name.startswith("test_") and not collector.config.stash[_NAMED]
    return [] if left_out and any(mark.name == "full" for mark in getattr(obj, "pytestmark", ())) else None


@pytest.hookimpl(trylast=True)
def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Likewise of values of the full tier; where nothing else is left, one item stays and is left out later.

    Tests that are thinned begin at different values, so that all engines have their turn.
    """
    marks = list(metafunc.definition.iter_markers())
    fast = [call for call in metafunc._calls if not _only_in_full([*marks, *call.marks], call.params)]
    for every in (mark.args[0] for mark in marks if mark.name == "thin"):
        first = zlib.crc32(metafunc.definition.name.encode()) % min(every, max(len(fast), 1))
        for number, call in enumerate(fast):
            if number % every != first:
                call.marks.append(pytest.mark.full.mark)
    if TIER == "fast" and not metafunc.config.stash[_NAMED]:
        kept = [call for call in metafunc._calls if not _only_in_full([*marks, *call.marks], call.params)]
        metafunc._calls[:] = kept or metafunc._calls[:1]


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out what another tier runs; a test named by its id always runs."""
    named = config.stash[_NAMED]
    taken, left_out = [], []
    for item in items:
        asked = _in_tier(item) or any(item.nodeid.startswith(word) for word in named)
        (taken if asked else left_out).append(item)
    if left_out:
        config.hook.pytest_deselected(items=left_out)
    items[:] = _in_order(taken)


def _in_order(items: Sequence[pytest.Item]) -> list[pytest.Item]:
    """Return the longest tests first, and those that wait at equal distances between the files of the rest."""
    rest = [item for item in items if _file(item) not in _LONGEST]
    waiting = [item for item in rest if _file(item) in _WAITING]
    files = list(dict.fromkeys(_file(item) for item in rest if _file(item) not in _WAITING))
    places = {file: float(number) for number, file in enumerate(files)}
    distance = len(files) / (len(waiting) + 1)
    between = {item.nodeid: distance * (number + 0.5) for number, item in enumerate(waiting)}
    return sorted(items, key=lambda item: between.get(item.nodeid, places.get(_file(item), -1.0)))


class _Scheduling(LoadScopeScheduling):
    """Gives tests out one by one, and those of `_TOGETHER` row by row.

    By files, not by `xdist_group`, which pytest 9.2 and pytest-xdist 3.8 silently ignore: the one no longer reads
    the id that the other changes.
    """

    def _split_scope(self, nodeid: str) -> str:
        if _GRAMMARS in nodeid:
            return _GRAMMARS
        return _SCOPES.get(nodeid.partition("::")[0], nodeid)

    def schedule(self) -> None:
        """Give a worker that replaces another two rows at once: it begins the first when it knows the next."""
        collected = next(iter(self.registered_collections.values()))
        self._places = {nodeid: place for place, nodeid in enumerate(collected)}
        times = 1 if self.collection is None else 2
        for _ in range(times):
            super().schedule()

    def mark_test_complete(self, node: WorkerController, item_index: int, duration: float = 0) -> None:
        """Forget the test: after each one xdist counts anew all that the worker was ever given."""
        nodeid = self.registered_collections[node][item_index]
        scope, given = self._split_scope(nodeid), self.assigned_work[node]
        del given[scope][nodeid]
        if not given[scope]:
            del given[scope]
        self._reschedule(node)

    def remove_node(self, node: WorkerController) -> str | None:
        """Forget the test in which a worker crashed; xdist would give it to the next, which crashes, too."""
        given, crashed = self.assigned_work[node], None
        scope = next(iter(given), None)
        if scope is not None:
            crashed = next(iter(given[scope]))
            del given[scope][crashed]
            if not given[scope]:
                del given[scope]
        super().remove_node(node)
        return crashed

    def _assign_work_unit(self, node: WorkerController) -> None:
        """Give out the next row; xdist would look for each of its tests from the first one on."""
        scope, unit = self.workqueue.popitem(last=False)
        self.assigned_work[node][scope] = unit
        node.send_runtest_some([self._places[nodeid] for nodeid in unit])


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> LoadScopeScheduling | None:
    """Distribute the tests where xdist was asked to keep some together."""
    return _Scheduling(config, log) if config.getoption("dist") == "loadscope" else None


def _file(item: pytest.Item) -> str:
    return item.nodeid.partition("::")[0]


def _in_tier(item: pytest.Item) -> bool:
    params = item.callspec.params if isinstance(item, pytest.Function) and hasattr(item, "callspec") else {}
    only_full = _only_in_full(item.iter_markers(), params)
    if TIER == "fast":
        return not only_full
    return TIER == "full" or only_full or is_property(item)


def _only_in_full(marks: Iterable[pytest.Mark], params: Mapping[str, object]) -> bool:
    """Whether a test is marked `full`, or is one with a value that its mark `full_on` names."""
    names: set[object] = set()
    for mark in marks:
        if mark.name == "full":
            return True
        if mark.name == "full_on":
            names.update(mark.args)
    return any(isinstance(value, str) and value in names for value in params.values())


def is_property(item: pytest.Item) -> bool:
    """Whether Hypothesis draws the examples of a test."""
    made = getattr(item, "obj", None)
    return is_hypothesis_test(made) or hasattr(getattr(item, "cls", None), "settings")
