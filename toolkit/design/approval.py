"""Approvals: a plan as keys and values with its defaults, the file that holds it, and what has changed since."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import fields, is_dataclass
from datetime import date, time
from enum import Enum
from itertools import chain, repeat, takewhile
from pathlib import Path

from toolkit.documents import TomlDocument, read_document
from toolkit.errors import ToolkitError
from toolkit.model.audit import Approval, Approved, Value
from toolkit.model.experiment import Experiment
from toolkit.model.plan import MaintenancePlan
from toolkit.model.values import Level

_NOT_MEANT = frozenset({"text"})
"""Fields of a plan that say how it was written."""
_NAMES = frozenset({"seed", "label", "only"})
"""Fields of an experiment that distinguish one run from another, or that no file sets."""
_LATER = {"search": False, "verifies": "", "present": {}}
"""Fields that approvals given earlier do not have: left out at the value that they stand for."""
FORMAT = 2
_LONGEST, _LONGEST_PATH = 80, 400
_CONSENT = "run "
_OPTIONS = {"anytime": "allow-closed-window", "unseen_ok": "allow-unchecked", "yes_production": "allow-production"}
"""What consents are called on the command line; an approval holds each by the name that it had first."""
_STEPS = "plan steps"


# -- what a plan or experiment means --------------------------------------------------------------------------
def plan_values(plan: MaintenancePlan) -> dict[str, Value]:
    """Return a plan as keys and values: `plan max_degree`, `step copy options.table`; names hold no blank."""
    values: dict[str, Value] = {"plan steps": tuple(step.name for step in plan.steps)}
    for each in fields(plan):
        if each.name not in {*_NOT_MEANT, "steps"}:
            values.update(_flat(f"plan {each.name}", getattr(plan, each.name)))
    for step in plan.steps:
        for each in fields(step):
            values.update(_flat(f"step {step.name} {each.name}", getattr(step, each.name)))
    return values


def experiment_values(experiment: Experiment) -> dict[str, Value]:
    """Return an experiment as keys and values: `experiment repeat`, `experiment factors.degree.levels`."""
    values: dict[str, Value] = {}
    for each in fields(experiment):
        value = getattr(experiment, each.name)
        if each.name not in _NAMES and _LATER.get(each.name) != value:
            values.update(_flat(f"experiment {each.name}", value))
    return values


def with_consents(values: Mapping[str, Value], given: Mapping[str, Value]) -> dict[str, Value]:
    """Return the values of a plan or an experiment with what the command line consents to, and nothing else of it.

    Args:
        values: of the plan or experiment.
        given: options such as `unseen_ok` or `anytime`, with their values.
    """
    plain = {key: value for key, value in values.items() if not key.startswith(_CONSENT)}
    return plain | {f"{_CONSENT}{name}": value for name, value in given.items()}


def names_consented(values: Mapping[str, Value]) -> tuple[str, ...]:
    """Return the names of production databases that an approval consents to."""
    return tuple(map(str, _listed(values.get(f"{_CONSENT}yes_production", ()))))


def _listed(value: Value) -> tuple[Level, ...]:
    """Return values one by one; an approval of an older dbatk has one where there may be several now."""
    return value if isinstance(value, tuple) else (value,)


def with_full_names(
    values: Mapping[str, Value], objects: Mapping[str, Mapping[str, str]], schemas: Mapping[str, str]
) -> dict[str, Value]:
    """Return values with the names of objects as the databases resolve them.

    Args:
        values: of the plan or experiment.
        objects: for each target the names without a schema, by key (`copy table`).
        schemas: for each target the schema in which such names are looked for.
    """
    found = {
        f"on {target} {key}": f"{schemas[target]}.{name}"
        for target, names in objects.items()
        for key, name in names.items()
        if target in schemas
    }
    return {**values, **found}


def _flat(key: str, value: object) -> Iterator[tuple[str, Value]]:
    """Yield the plain values below a key; what is not set is left out."""
    if value is None:
        return
    if is_dataclass(value):
        for each in fields(value):
            yield from _flat(f"{key}.{each.name}", getattr(value, each.name))
    elif isinstance(value, Mapping):
        for name, inner in value.items():
            yield from _flat(f"{key}.{name}", inner)
    elif isinstance(value, frozenset | set):
        yield key, tuple(sorted(map(_plain, value), key=repr))
    elif isinstance(value, tuple | list):
        yield from _list(key, tuple(value))
    else:
        yield key, _plain(value)


def _list(key: str, value: tuple[object, ...]) -> Iterator[tuple[str, Value]]:
    if not any(is_dataclass(one) or isinstance(one, Mapping | tuple | list | set | frozenset) for one in value):
        yield key, tuple(map(_plain, value))
        return
    for at, one in enumerate(value, 1):
        name = str(getattr(one, "name", ""))
        # a name that could be mistaken for a part of the key is recognized by its position
        yield from _flat(f"{key}.{name if name.isidentifier() else at}", one)


def _plain(value: object) -> Level:
    if isinstance(value, Enum):
        return str(value.value)
    if isinstance(value, date | time):
        return value.isoformat()
    if isinstance(value, str | int | float | bool):
        return value
    msg = f"a value of type {type(value).__name__} cannot be approved"
    raise TypeError(msg)


# -- the file beside it: readable, each hash on a line of its own ---------------------------------------------
def approval_path(file: Path) -> Path:
    """Return where the approval of a plan or experiment file lies: `nightly.toml`, `nightly.approval.toml`."""
    return file.with_name(f"{file.name.removesuffix('.toml')}.approval.toml")


def dump_approval(approval: Approval) -> str:
    """Return the text of the file."""
    import tomli_w

    approved = approval.approved
    head: dict[str, object] = {
        "format": FORMAT,
        "hash": approval.hash or approved.hash,
        "by": approval.by,
        "user": approval.user,
        "host": approval.host,
        "at": approval.at,
        "reason": approval.reason,
        "notes": list(approval.notes) or None,
        "signature": approval.signature,
    }
    document = {
        "approval": {key: value for key, value in head.items() if value is not None},
        "approved": {"name": approved.name, "kind": approved.kind, "valid_until": approved.valid_until},
        "dbatk": {"version": approved.version, "program": approved.program},
        "databases": {target: dict(parts) for target, parts in approved.databases.items()},
        "values": dict(sorted(approved.values.items())),
        "files": dict(sorted(approved.files.items())),
        "other_files": dict(sorted(approved.other_files.items())),
    }
    head_text = (
        f"# Approval of {approved.kind} `{approved.name}`, made by `dbatk plan approve FILE`. A change of this\n"
        f"# file is noticed: approve it again instead.\n"
    )
    return head_text + tomli_w.dumps(document)


def load_approval(path: Path) -> Approval | None:
    """Read the approval of a file; None where nobody approved it.

    Raises:
        ToolkitError: TK-0313 for a file that is no approval, or was altered: its hash is not that of its content.
    """
    if not path.exists():
        return None
    try:
        document = read_document(path)
    except ToolkitError as error:
        raise _no_approval(str(path), error.sentence) from None
    return read_approval(document)


def read_approval(document: TomlDocument) -> Approval:
    """Read an approval from a parsed file; see `load_approval`."""
    try:
        approval = _approval(document)
    except (KeyError, TypeError, ValueError, AttributeError):
        raise _no_approval(document.path, "it is not an approval") from None
    if approval.approved.hash != approval.hash:
        raise _no_approval(document.path, "it was altered: its hash does not match its contents")
    return approval


def _approval(document: TomlDocument) -> Approval:
    data = document.data
    head, what, dbatk = _table(data["approval"]), _table(data["approved"]), _table(data["dbatk"])
    if head["format"] != FORMAT:
        raise _no_approval(document.path, "it was written by another version of dbatk")
    approved = Approved(
        str(what["name"]),
        str(what["kind"]),
        {key: _value(value) for key, value in _table(data["values"]).items()},
        {target: _texts(parts) for target, parts in _table(data["databases"]).items()},
        str(dbatk["version"]),
        str(dbatk["program"]),
        _texts(data["files"]),
        _texts(data["other_files"]),
        str(what["valid_until"]),
    )
    given = {key: str(head[key]) for key in ("by", "user", "host", "at", "hash")}
    notes = head.get("notes", [])
    return Approval(
        approved,
        **given,
        reason=_optional(head.get("reason")),
        notes=tuple(map(str, notes)) if isinstance(notes, list) else (),
        signature=_optional(head.get("signature")),
    )


def _table(value: object) -> Mapping[str, object]:
    if not isinstance(value, Mapping):
        msg = "not a table"
        raise TypeError(msg)
    return value


def _texts(value: object) -> dict[str, str]:
    return {key: str(one) for key, one in _table(value).items()}


def _optional(value: object) -> str | None:
    return None if value is None else str(value)


def _value(value: object) -> Value:
    return tuple(map(_one, value)) if isinstance(value, list) else _one(value)


def _one(value: object) -> Level:
    if isinstance(value, str | int | float | bool):
        return value
    msg = "no value"
    raise TypeError(msg)


def _no_approval(path: str, why: str) -> ToolkitError:
    return ToolkitError(
        f"`{path}` is not a valid approval: {why}", code="TK-0313", hint="`dbatk plan approve FILE`"
    )


def expired(approval: Approval, file: Path, today: date) -> ToolkitError | None:
    """Return why an approval holds no more; None on its last day (UTC), too."""
    what = approval.approved
    if today.isoformat() <= what.valid_until:
        return None
    return ToolkitError(
        f"the approval of `{what.name}` expired: it was valid until {what.valid_until}",
        code="TK-0313",
        hint=f"review it and approve it again: `dbatk plan approve {file}`",
    )


# -- what is not as it was approved ---------------------------------------------------------------------------
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
        yield f"the program files of dbatk {now.version} differ from those approved"
    yield from _databases(then.databases, now.databases)


def _values(then: Mapping[str, Value], now: Mapping[str, Value]) -> Iterator[str]:
    was, is_now = _steps(then), _steps(now)
    yield from (f"step `{name}` is gone" for name in was if name not in is_now)
    yield from (f"step `{name}` is new" for name in is_now if name not in was)
    if was != is_now and sorted(was) == sorted(is_now):
        yield f"the order of the steps was {_shown(was)} and is {_shown(is_now)}"
    # of a step that only one of the two has each key differs: it was reported above
    changed = set(was) ^ set(is_now)
    for key in sorted({*then, *now} - {_STEPS}):
        step = key.split(" ")[-2]
        # to run without something that was consented to is no more than what was approved
        less = key.startswith(_CONSENT) and (key not in now or (key in then and _is_less(now[key], then[key])))
        if then.get(key) != now.get(key) and step not in changed and not less:
            yield f"{_called(key)} {_changed(then.get(key), now.get(key))}"


def _is_less(now: Value, then: Value) -> bool:
    """Tell whether what is consented to now was consented to before; names count whatever their case."""
    if not (isinstance(now, tuple) and now):
        return False
    return {str(one).lower() for one in now} <= {str(one).lower() for one in _listed(then)}


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
    if key.startswith(_CONSENT):
        return f"`--{_OPTIONS.get(name, name.replace('_', '-'))}`"
    return f"`{name}`"


def _changed(was: Value | None, now: Value | None) -> str:
    return f"was {_shown(was, now)} and is {_shown(now, was)}"


def _shown(value: Value | None, other: Value | None = None) -> str:
    """Show a value; of a long text only the part where it begins to differ from the other, of a path all of it."""
    if value is None:
        return "not set"
    if isinstance(value, tuple):
        beside = chain(other if isinstance(other, tuple) else (), repeat(None))
        return "[" + ", ".join(map(_shown, value, beside)) + "]"
    if isinstance(value, bool):
        return "true" if value else "false"
    if not isinstance(value, str):
        return str(value)
    text, another = (" ".join(str(one or "").split()) for one in (value, other))
    if len(text) <= (_LONGEST if " " in text else _LONGEST_PATH):
        return f"`{text}`"
    alike = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(text, another, strict=False)))
    begin = max(0, alike - _LONGEST // 3)
    end = begin + _LONGEST
    return f"`{'...' if begin else ''}{text[begin:end]}{'...' if text[end:] else ''}`"


def _files(then: Mapping[str, str], now: Approved) -> Iterator[str]:
    known = {**now.other_files, **now.files}
    for path in sorted(then):
        if path not in known:
            yield f"{path} is gone"
        elif known[path] != then[path]:
            yield f"{path} has changed ({_brief(then[path])} was approved, {_brief(known[path])} found)"


def _brief(value: str) -> str:
    return value.removeprefix("sha256:")[:12]


def _databases(then: Mapping[str, Mapping[str, str]], now: Mapping[str, Mapping[str, str]]) -> Iterator[str]:
    for target, identity in now.items():
        if target not in then:
            yield f"target `{target}` was not approved"
            continue
        for part in sorted({*then[target], *identity}):
            if then[target].get(part) != identity.get(part):
                yield f"{part} of `{target}` {_changed(then[target].get(part), identity.get(part))}"
    yield from (f"target `{target}` is gone" for target in then if target not in now)
