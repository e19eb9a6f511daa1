"""Approvals as TOML files beside what they approve: readable, each hash on a line of its own."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from toolkit.documents import TomlDocument, read_document
from toolkit.errors import ToolkitError
from toolkit.model.audit import Approval, Approved, Value
from toolkit.model.values import Level

FORMAT = 1


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
        "approved": {"name": approved.name, "kind": approved.kind},
        "dbatk": {"version": approved.version, "program": approved.program},
        "databases": {target: dict(parts) for target, parts in approved.databases.items()},
        "values": dict(sorted(approved.values.items())),
        "files": dict(sorted(approved.files.items())),
        "other_files": dict(sorted(approved.other_files.items())),
    }
    head_text = (
        f"# Approval of {approved.kind} `{approved.name}`, made by `dbatk plan FILE --approve`. A change of this\n"
        f"# file is noticed: approve anew instead.\n"
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
        raise _no_approval(document.path, "it is no approval") from None
    if approval.approved.hash != approval.hash:
        raise _no_approval(document.path, "it was altered: its hash is not that of what it lists")
    return approval


def _approval(document: TomlDocument) -> Approval:
    data = document.data
    head, what, dbatk = _table(data["approval"]), _table(data["approved"]), _table(data["dbatk"])
    if head["format"] != FORMAT:
        msg = "another format"
        raise ValueError(msg)
    approved = Approved(
        str(what["name"]),
        str(what["kind"]),
        {key: _value(value) for key, value in _table(data["values"]).items()},
        {target: _texts(parts) for target, parts in _table(data["databases"]).items()},
        str(dbatk["version"]),
        str(dbatk["program"]),
        _texts(data["files"]),
        _texts(data["other_files"]),
    )
    said = {key: str(head[key]) for key in ("by", "user", "host", "at", "hash")}
    notes = head.get("notes", [])
    return Approval(
        approved,
        **said,
        reason=_optional(head.get("reason")),
        notes=tuple(map(str, notes)) if isinstance(notes, list) else (),
        signature=_optional(head.get("signature")),
    )


def _table(value: object) -> Mapping[str, object]:
    if not isinstance(value, Mapping):
        msg = "no table"
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
    return ToolkitError(f"`{path}` approves nothing: {why}", code="TK-0313", hint="`dbatk plan FILE --approve`")
