"""Plan files: TOML in, a maintenance plan out.

```toml
[plan]
name = "nightly"
targets = ["dwh"]
window = "22:00-06:00 Europe/Berlin"
max_degree = 16

[[step]]
name = "statistics"
operation = "stats-gather"
schema = "SALES"
degree = {best_of = "stats-sweep"}

[[step]]
name = "indexes"
operation = "index-rebuild"
schema = "SALES"
needs = ["statistics"]
only_if = {older_than = "7d"}
```
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TypeVar

from toolkit.design.guards import read_guards
from toolkit.design.head import (
    ErrorLocation,
    read_between,
    read_duration,
    read_flag,
    read_text,
    read_texts,
    read_whole,
    read_word,
)
from toolkit.design.plan_step import PLAIN_NAME, read_step
from toolkit.design.window import read_windows
from toolkit.documents import TomlDocument, check_no_secret, did_you_mean, read_document
from toolkit.model.plan import AtDeadline, Guards, MaintenancePlan, PlanStep, SchedulerWindows
from toolkit.model.window import Windows

_T = TypeVar("_T")
_PLAN_KEYS = (
    "name", "targets", "target", "window", "max_degree", "concurrency", "at_once", "at_deadline", "guards",
    "approved_only", "scheduler_windows", "wait_for_target", "proved_within",
)  # fmt: skip
_MOST_STEPS = 1000
_MOST_AT_ONCE = 256


def is_plan(document: TomlDocument) -> bool:
    """Tell whether a file is a plan, not an experiment."""
    return "plan" in document.data or ("step" in document.data and "experiment" not in document.data)


def load_plan(path: Path, *, target: str | None = None) -> MaintenancePlan:
    """Read a plan file and check everything that needs no database.

    Args:
        path: the TOML file; a `query_file` in it is relative to its folder.
        target: used instead of the file's targets.

    Raises:
        ToolkitError: TK-0101, TK-0102, TK-0106, TK-0107 or TK-0108, with file and line.
    """
    return read_plan(read_document(path), path.parent, target=target)


def read_plan(document: TomlDocument, folder: Path, *, target: str | None = None) -> MaintenancePlan:
    """Read a plan from a parsed file; see `load_plan`."""
    check_no_secret(document)
    document.refuse_other_tables(("plan", "step"))
    head = document.data.get("plan")
    if not isinstance(head, Mapping):
        raise document.error("the table `[plan]` is missing", table="", hint="start with `[plan]`")
    given = document.data.get("step")
    if isinstance(given, Mapping):
        raise document.error("`[step]` is a single table", table="step", hint="write `[[step]]`", code="TK-0107")
    if not isinstance(given, list) or not given:
        raise document.error("a plan has no step", table="plan", hint="add `[[step]]`", code="TK-0107")
    if len(given) > _MOST_STEPS:
        raise document.error(
            f"a plan has at most {_MOST_STEPS:,} steps, and this has {len(given):,}",
            table="plan", code="TK-0102", hint="split it into several plans",
        )  # fmt: skip
    plan = _Head(document, head)
    guards = plan.guards()
    steps = tuple(read_step(document, folder, one, at, guards) for at, one in enumerate(given))
    _check_names(document, steps)
    _check_needs(document, steps)
    return MaintenancePlan(
        name=plan.name(),
        targets=(target,) if target else plan.targets(steps),
        steps=steps,
        windows=plan.windows(),
        max_degree=plan.number("max_degree", 1, 100_000),
        concurrency=plan.number("concurrency", 1, _MOST_AT_ONCE) or 1,
        at_once=plan.number("at_once", 1, _MOST_AT_ONCE) or 1,
        at_deadline=plan.read("at_deadline", lambda key, value: read_word(AtDeadline, key, value))
        or AtDeadline.STOP,
        wait_for_target_seconds=plan.read("wait_for_target", _read_wait),
        proved_within_seconds=plan.read("proved_within", read_duration),
        scheduler_windows=plan.read(
            "scheduler_windows", lambda key, value: read_word(SchedulerWindows, key, value)
        )
        or SchedulerWindows.WARN,
        guards=guards,
        approved_only=plan.read("approved_only", read_flag) or False,
        text=document.text,
    )


def _read_wait(key: str, value: object) -> float:
    """Read how long is waited: a duration, or `false` for not at all."""
    return 0.0 if value is False else read_duration(key, value)


class _Head:
    """Reads `[plan]`."""

    def __init__(self, document: TomlDocument, head: Mapping[str, object]) -> None:
        self._document, self._head = document, head
        for key in head:
            if key not in _PLAN_KEYS:
                raise document.error(
                    f"a plan has no `{key}`", table="plan", key=key, code="TK-0101",
                    hint=did_you_mean(key, _PLAN_KEYS),
                )  # fmt: skip

    def read(self, key: str, read: Callable[[str, object], _T]) -> _T | None:
        """Read a key; errors name its line."""
        if key not in self._head:
            return None
        with ErrorLocation(self._document, "plan", key):
            return read(key, self._head[key])

    def name(self) -> str:
        found = self.read("name", read_text)
        if found is None:
            raise self._document.error(
                "the plan has no name", table="plan", code="TK-0107", hint='`name = "nightly"`'
            )
        if not PLAIN_NAME.fullmatch(found):
            raise self._document.error(
                f"`{found}` is not a valid name for a plan", table="plan", key="name", code="TK-0102",
                hint="up to 60 use letters, digits, `_`, `-` and `.`",
            )  # fmt: skip
        return found

    def targets(self, steps: Sequence[PlanStep]) -> tuple[str, ...]:
        """Return the plan's targets; none are needed where every step names its own."""
        found = self.read("targets", read_texts) or ()
        one = self.read("target", read_text)
        if one and found:
            raise self._document.error(
                "`target` and `targets` are mutually exclusive", table="plan", key="target", code="TK-0107",
                hint="keep `targets`",
            )  # fmt: skip
        named = (one,) if one else found
        if not named and not all(step.target for step in steps):
            raise self._document.error(
                "no target was given", table="plan", code="TK-0107", hint='add `targets = ["dwh"]`'
            )
        twice = next((each for each in named if named.count(each) > 1), None)
        if twice:
            raise self._document.error(
                f"the target `{twice}` is listed twice", table="plan", key="targets", code="TK-0107",
                hint="list it once",
            )  # fmt: skip
        return named

    def windows(self) -> Windows:
        return self.read("window", lambda _, value: read_windows(value)) or Windows()

    def guards(self) -> Guards:
        if "guards" not in self._head:
            return Guards()
        table = "plan.guards" if "[plan.guards]" in self._document.text else "plan"
        return read_guards(self._head["guards"], at=lambda key: ErrorLocation(self._document, table, key))

    def number(self, key: str, low: int, high: int) -> int | None:
        def read(key: str, value: object) -> int:
            return read_between(key, read_whole(key, value), low, high)

        return self.read(key, read)


# -- between steps ----------------------------------------------------------------------------------------------
def _check_names(document: TomlDocument, steps: Sequence[PlanStep]) -> None:
    seen: dict[str, int] = {}
    for at, step in enumerate(steps):
        if step.name in seen:
            raise document.error(
                f"two steps are named `{step.name}`", table="step", key="name", number=at, code="TK-0107",
                hint="give each step a unique `name`",
            )  # fmt: skip
        seen[step.name] = at


def _check_needs(document: TomlDocument, steps: Sequence[PlanStep]) -> None:
    """Refuse needs that name no step, and those that go round in a circle."""
    names = [step.name for step in steps]
    known = frozenset(names)
    for at, step in enumerate(steps):
        for need in step.needs:
            if need not in known:
                raise document.error(
                    f"there is no step `{need}`", table="step", key="needs", number=at, code="TK-0101",
                    hint=did_you_mean(need, names),
                )  # fmt: skip
    circle = circle_of({step.name: step.needs for step in steps})
    if circle:
        raise document.error(
            "the steps depend on each other: " + " needs ".join((*circle, circle[0])),
            table="step", key="needs", number=names.index(circle[0]), code="TK-0107", hint="break the circle",
        )  # fmt: skip


def circle_of(needs: Mapping[str, Sequence[str]]) -> tuple[str, ...]:
    """Return names that need each other in a circle, in the order of their need; empty when there is none."""
    left = {name: {need for need in of if need in needs} for name, of in needs.items()}
    needed_by: dict[str, list[str]] = {name: [] for name in needs}
    for name, of in left.items():
        for need in of:
            needed_by[need].append(name)
    free = [name for name, of in left.items() if not of]
    while free:
        done = free.pop()
        del left[done]
        for name in needed_by[done]:
            left[name].discard(done)
            if not left[name]:
                free.append(name)
    if not left:
        return ()
    path = [next(iter(left))]
    while True:
        following = next(name for name in needs[path[-1]] if name in left)
        if following in path:
            return tuple(path[path.index(following) :])
        path.append(following)
