"""Snapshots in the results store: found by label or number, listed, two of them compared."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from toolkit.analysis.snapshot_diff import SnapshotDiff, between
from toolkit.errors import ToolkitError
from toolkit.model.state import SnapshotHead
from toolkit.store import Store


@dataclass(frozen=True, slots=True)
class ComparedSnapshots:
    """What happened between two snapshots, and notes on how their names were understood."""

    between: SnapshotDiff
    sentences: tuple[str, ...]


def listed(store: Store, limit: int = 50) -> Sequence[SnapshotHead]:
    """Return the newest snapshots."""
    return store.snapshots(limit=limit)


def compare_snapshots(store: Store, a: str, b: str) -> ComparedSnapshots:
    """Return what happened between two stored snapshots.

    Raises:
        ToolkitError: TK-0114 for a label that is not stored, TK-0110 when the two cannot be compared.
    """
    (one, notes_a), (other, notes_b) = find(store, a), find(store, b)
    found = between(store.load_snapshot(one.number), store.load_snapshot(other.number))
    return ComparedSnapshots(found, tuple(dict.fromkeys((*notes_a, *notes_b, *found.sentences))))


def is_stored(store: Store, text: str) -> bool:
    """Whether a label or number (`#7`) names a snapshot."""
    return bool(_named(store, text))


def find(store: Store, text: str) -> tuple[SnapshotHead, tuple[str, ...]]:
    """Return the newest snapshot of a label, or the one of a number (`#7`), and a note if there was a choice.

    Raises:
        ToolkitError: TK-0114.
    """
    found = _named(store, text)
    if not found:
        raise ToolkitError(f"there is no snapshot `{text}`", code="TK-0114", hint=_near(store, text))
    if len(found) > 1:
        return found[0], (
            f"{len(found)} snapshots are named `{text}`; the newest is used (#{found[0].number}), an older one "
            f"is #{found[1].number}",
        )
    return found[0], ()


def _named(store: Store, text: str) -> Sequence[SnapshotHead]:
    if text.startswith("#") and text[1:].isascii() and text[1:].isdecimal():
        return [head for head in store.snapshots() if head.number == int(text[1:])]
    return list(store.snapshots(text.strip()))


def _near(store: Store, text: str) -> str:
    from toolkit.documents import nearest

    near = nearest(text, {head.label for head in store.snapshots()})
    return f"did you mean `{near}`? see `dbatk snapshot list`" if near else "see `dbatk snapshot list`"
