"""The manifest of a bundle: what `export` says of itself and `ingest` believes of it."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import asdict, fields

from toolkit.errors import ToolkitError
from toolkit.model.bundle import BUNDLE_FORMAT, BundleItem, BundleTrial, Manifest

_KIND = "dbatk bundle"
_RUN = re.compile(r"[0-9]{8}-[0-9]{6}-[0-9a-z]{4}")
"""As `new_run_id` makes them: files are named after them."""


def manifest_text(manifest: Manifest) -> str:
    """Write a manifest as JSON."""
    return json.dumps({"kind": _KIND, "format": BUNDLE_FORMAT, **asdict(manifest)}, indent=1) + "\n"


def read_manifest(text: str) -> Manifest:
    """Read what `manifest_text` wrote.

    Raises:
        ToolkitError: TK-0406 when it is none, or of a newer format.
    """
    try:
        read = json.loads(text)
        known = isinstance(read, dict) and read.get("kind") == _KIND
    except (ValueError, RecursionError):
        known = False
    if not known:
        raise not_a_bundle("MANIFEST.json is not that of a bundle")
    if not isinstance(read.get("format"), int) or read["format"] > BUNDLE_FORMAT:
        raise ToolkitError(
            f"the bundle has format `{read.get('format')}`, and this dbatk supports {BUNDLE_FORMAT}",
            code="TK-0406",
            hint="upgrade dbatk, or ingest it with the version that exported it",
        )
    try:
        return _manifest(read)
    except (KeyError, TypeError, ValueError, AttributeError):
        raise not_a_bundle("MANIFEST.json is damaged") from None


def not_a_bundle(reason: str) -> ToolkitError:
    """Say that a folder is no bundle that can be taken."""
    return ToolkitError(reason, code="TK-0406", hint="give the folder written by `dbatk export`, unchanged")


def _manifest(read: Mapping[str, object]) -> Manifest:
    values = {each.name: read[each.name] for each in fields(Manifest)}
    trials, files, declared = values["trials"], values["files"], values["declared"]
    if not isinstance(trials, list) or not isinstance(files, dict) or not isinstance(declared, list):
        raise TypeError
    for name, kind in _KINDS.items():
        if not isinstance(values[name], kind):
            raise TypeError
    if _RUN.fullmatch(str(values["run"])) is None:
        raise ValueError
    values["trials"] = tuple(map(_trial, trials))
    values["files"] = {str(path): str(digest) for path, digest in files.items()}
    values["declared"] = tuple(map(str, declared))
    return Manifest(**values)  # type: ignore[arg-type]


_KINDS: Mapping[str, type] = {
    "run": str,
    "seed": int,
    "engine": str,
    "created_at": str,
    "tool_version": str,
    "target_name": str,
    "experiment": str,
    "facts": str,
    "bill": str,
    "assumed": bool,
}


def _trial(read: Mapping[str, object]) -> BundleTrial:
    items, cell, refused = read["items"], read["cell"], read["refused"]
    number, repeat, sessions = read["number"], read["repeat"], read["sessions"]
    if not isinstance(items, list) or not isinstance(cell, dict) or not isinstance(refused, str | None):
        raise TypeError
    if not isinstance(number, int) or not isinstance(repeat, int) or not isinstance(sessions, int):
        raise TypeError
    made = tuple(BundleItem(str(item["label"]), int(item["session"])) for item in items)
    return BundleTrial(number, cell, repeat, sessions, made, refused)
