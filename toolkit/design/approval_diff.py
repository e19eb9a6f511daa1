"""What is not as it was approved, in sentences: which key from what to what, which file, which database."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from toolkit.model.audit import Approved, Value

_LONGEST = 60
_STEPS = "plan steps"


def differences(then: Approved, now: Approved) -> Iterator[str]:
    """Yield what changed between an approval and now, the plan first.

    Files that it does not use are no difference; they are looked at when one of them is used after all.
    """
    if (then.name, then.kind) != (now.name, now.kind):
        yield f"the approval is for {then.kind} `{then.name}`, and this is {now.kind} `{now.name}`"
        return
    yield from _values(then.values, now.values)
    yield from _files(then.files, now)
    if then.version != now.version:
        yield f"dbatk was {then.version} and is {now.version}"
    elif then.program != now.program:
        yield f"the program files of dbatk {now.version} are others than those approved"
    yield from _databases(then.databases, now.databases)


def _values(then: Mapping[str, Value], now: Mapping[str, Value]) -> Iterator[str]:
    was, is_now = _steps(then), _steps(now)
    yield from (f"step `{name}` is gone" for name in was if name not in is_now)
    yield from (f"step `{name}` is new" for name in is_now if name not in was)
    if was != is_now and sorted(was) == sorted(is_now):
        yield f"the order of the steps was {_shown(was)} and is {_shown(is_now)}"
    # of a step that only one of the two has each key differs: it was told above
    told = set(was) ^ set(is_now)
    for key in sorted({*then, *now} - {_STEPS}):
        step = key.split(" ")[-2]
        if then.get(key) != now.get(key) and step not in told:
            yield f"{_called(key)} was {_at(then, key)} and is {_at(now, key)}"


def _steps(values: Mapping[str, Value]) -> tuple[str, ...]:
    found = values.get(_STEPS)
    return tuple(map(str, found)) if isinstance(found, tuple) else ()


def _called(key: str) -> str:
    """Call a key by what it belongs to: `step copy options.table`, `on dwh copy degree`, `plan max_degree`."""
    of, *_, name = key.split(" ")
    for part in ("options.", "levels."):
        name = name.removeprefix(part)
    if of == "step":
        return f"`{name}` of step `{key.split(' ')[1]}`"
    if of == "on":
        target, step, _ = key.removeprefix("on ").rsplit(" ", 2)
        return f"`{name}` of step `{step}` on `{target}`"
    return f"`{name}`"


def _at(values: Mapping[str, Value] | Mapping[str, str], key: str) -> str:
    return _shown(values[key]) if key in values else "not set"


def _shown(value: Value) -> str:
    if isinstance(value, tuple):
        return "[" + ", ".join(map(_shown, value)) + "]"
    if isinstance(value, bool):
        return "true" if value else "false"
    if not isinstance(value, str):
        return str(value)
    text = " ".join(value.split())
    return f"`{text}`" if len(text) <= _LONGEST else f"`{text[:_LONGEST]}...`"


def _files(then: Mapping[str, str], now: Approved) -> Iterator[str]:
    known = {**now.other_files, **now.files}
    for path in sorted(then):
        if path not in known:
            yield f"{path} is gone"
        elif known[path] != then[path]:
            yield f"{path} is another text ({_brief(then[path])} was approved, {_brief(known[path])} is there)"


def _brief(value: str) -> str:
    return value.removeprefix("sha256:")[:12]


def _databases(then: Mapping[str, Mapping[str, str]], now: Mapping[str, Mapping[str, str]]) -> Iterator[str]:
    for target, identity in now.items():
        if target not in then:
            yield f"target `{target}` was not among those approved"
            continue
        for part in sorted({*then[target], *identity}):
            if then[target].get(part) != identity.get(part):
                yield f"{part} of `{target}` was {_at(then[target], part)} and is {_at(identity, part)}"
    yield from (f"target `{target}` is gone" for target in then if target not in now)
