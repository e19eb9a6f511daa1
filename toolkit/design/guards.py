"""Guards of a plan file: the table `[plan.guards]`, and `guards` of a step laid over it.

```toml
[plan.guards]
max_active_sessions = 40
max_lag = "30s"
min_free = {tablespace = "10GiB", temp = "5GiB", recovery_area = "20GiB"}
max_load = 0.9
max_lock_waiters = 5
max_blocking = "20s"
on_breach = "stop"
wait_at_most = "1h"
```
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext, suppress
from dataclasses import replace
from typing import TypeVar

from toolkit.design.head import read_between, read_duration, read_text, read_whole, read_word
from toolkit.documents import did_you_mean
from toolkit.errors import ToolkitError
from toolkit.model.plan import Guard, Guards, OnBreach, Unreadable
from toolkit.units import parse_bytes

_T = TypeVar("_T")
_PLACES = ("tablespace", "temp", "recovery_area")
_OF_PLAN = ("every",)
_OTHERS = ("on_breach", "unreadable", "wait_at_most", "looks", *_OF_PLAN)
_MOST_LOAD = 1000
_MOST_LOOKS = 1000
_LEAST_EVERY, _MOST_EVERY = 1.0, 600.0


At = Callable[[str], AbstractContextManager[None]]


def read_guards(value: object, *, over: Guards | None = None, at: At = lambda _: nullcontext()) -> Guards:
    """Read a table of guards.

    Args:
        value: the table; of a step also `false`, which switches all guards off.
        over: the plan's, when the table is a step's: what it does not say is theirs.
        at: returns a block whose errors name the line of a key.

    Raises:
        ToolkitError: TK-0101, TK-0102 or TK-0107.
    """
    if over is not None and value is False:
        return replace(over, limits={})
    if not isinstance(value, Mapping):
        with at("guards"):
            raise ToolkitError("`guards` must be a table", code="TK-0102", hint='such as {max_lag = "30s"}')
    known = [*_LIMITS, "min_free", *(each for each in _OTHERS if over is None or each not in _OF_PLAN)]
    for name in value:
        if name not in known:
            with at(name):
                raise ToolkitError(f"unknown guard `{name}`", code="TK-0101", hint=did_you_mean(name, known))
    base = over or Guards()
    limits = dict(base.limits)
    for name, given in value.items():
        with at(name):
            found = _limits_of(name, given)
        limits = {guard: limit for guard, limit in limits.items() if guard not in dict(found)}
        limits |= {guard: limit for guard, limit in found if limit is not None}
    if over is None and not limits:
        with at("guards"):
            raise ToolkitError("no guard was given", code="TK-0107", hint='such as `max_lag = "30s"`')

    def read(name: str, how: Callable[[str, object], _T], otherwise: _T) -> _T:
        with at(name):
            return how(name, value[name]) if name in value else otherwise

    return Guards(
        limits=limits,
        on_breach=read("on_breach", lambda name, given: read_word(OnBreach, name, given), base.on_breach),
        unreadable=read("unreadable", lambda name, given: read_word(Unreadable, name, given), base.unreadable),
        wait_at_most_seconds=read("wait_at_most", _wait, base.wait_at_most_seconds),
        every_seconds=read("every", _every, base.every_seconds),
        looks=read("looks", lambda name, given: _count(name, given, 1, _MOST_LOOKS), base.looks),
    )


def guards_of(texts: Sequence[str]) -> Guards:
    """Read guards as typed, one a text, by the rules of a plan's table: `max_lag=30s`, `min_free.temp=5GiB`.

    Raises:
        ToolkitError: TK-0102 for a text without a value, TK-0107 for a name given twice; as `read_guards`.
    """
    table: dict[str, object] = {}
    for text in texts:
        name, _, value = (part.strip() for part in text.partition("="))
        above, _, place = name.replace("-", "_").partition(".")
        if not above or not value:
            raise ToolkitError(
                f"`{text}` is not a guard", code="TK-0102", hint="give NAME=VALUE, such as `max_lag=30s`"
            )
        places = table.setdefault(above, {}) if place else table
        if not isinstance(places, dict) or (place or above) in places:
            raise ToolkitError(f"the guard `{name}` is given twice", code="TK-0107", hint="give it once")
        places[place or above] = _typed(value)
    return read_guards(table)


def _typed(value: str) -> object:
    for kind in (int, float):
        with suppress(ValueError):
            return kind(value)
    return value


def _limits_of(name: str, given: object) -> list[tuple[Guard, float | None]]:
    """Return the limits that a key sets; None switches a guard off."""
    if name == "min_free":
        return _free(given)
    if name not in _LIMITS:
        return []
    return [(Guard(name), None if given is False else _LIMITS[name](name, given))]


def _free(given: object) -> list[tuple[Guard, float | None]]:
    """Read one size for every place, or a table with one for each."""
    if given is False or isinstance(given, str):
        given = dict.fromkeys(_PLACES, given)
    if not isinstance(given, Mapping) or not given:
        raise ToolkitError(
            "`min_free` must be a size or a table of sizes",
            code="TK-0102",
            hint='`min_free = "10GiB"`, or {tablespace = "10GiB", temp = "5GiB", recovery_area = "20GiB"}',
        )
    found: list[tuple[Guard, float | None]] = []
    for place, size in given.items():
        if place not in _PLACES:
            raise ToolkitError(
                f"`min_free` has no `{place}`", code="TK-0101", hint=did_you_mean(str(place), _PLACES)
            )
        limit = None if size is False else float(parse_bytes(read_text(f"min_free.{place}", size)))
        found.append((Guard(f"min_free.{place}"), limit))
    return found


def _wait(name: str, given: object) -> float:
    """Read how long to wait; 0 is not to wait at all."""
    if given == 0 and not isinstance(given, bool):
        return 0.0
    return read_duration(name, given)


def _every(name: str, given: object) -> float:
    seconds = read_duration(name, given)
    if not _LEAST_EVERY <= seconds <= _MOST_EVERY:
        raise ToolkitError(f"`{name}` must be between 1s and 10m", code="TK-0102", hint='such as `every = "10s"`')
    return seconds


def _count(name: str, given: object, low: int = 0, high: int = 1_000_000) -> int:
    return read_between(name, read_whole(name, given), low, high)


def _load(name: str, given: object) -> float:
    if isinstance(given, bool) or not isinstance(given, int | float) or not 0 < given <= _MOST_LOAD:
        raise ToolkitError(
            f"`{name}` must be a load per CPU",
            code="TK-0102",
            hint="0.9 means nine of ten CPUs busy: `max_load = 0.9`",
        )
    return float(given)


_LIMITS: Mapping[str, Callable[[str, object], float]] = {
    Guard.ACTIVE_SESSIONS.value: _count,
    Guard.LAG.value: read_duration,
    Guard.LOAD.value: _load,
    Guard.LOCK_WAITERS.value: _count,
    Guard.BLOCKING.value: read_duration,
}
