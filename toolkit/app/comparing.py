"""`compare`: whether two names of the results store mean runs or snapshots."""

from __future__ import annotations

from enum import StrEnum

from toolkit.app.snapshots.stored import find, is_stored
from toolkit.errors import ToolkitError
from toolkit.store import Store


class Stored(StrEnum):
    """What the store keeps that `compare` takes."""

    RUNS = "runs"
    SNAPSHOTS = "snapshots"


def kind_of(store: Store, a: str, b: str) -> tuple[Stored, str | None]:
    """Return what two names mean, and a note where they could mean something else as well.

    Raises:
        ToolkitError: TK-0109 or TK-0114 for a name that means neither, TK-0102 for a run against a snapshot.
    """
    errors = [_error_of_run(store, name) for name in (a, b)]
    snapshots = [is_stored(store, name) for name in (a, b)]
    if errors == [None, None]:
        note = f"`{a}` and `{b}` are also labels of snapshots: give those by number, such as `#1`"
        return Stored.RUNS, note if all(snapshots) else None
    if all(snapshots):
        return Stored.SNAPSHOTS, None
    for name, error, is_snapshot in zip((a, b), errors, snapshots, strict=True):
        if error is not None and not is_snapshot:
            raise _unknown(store, name, error, run=None in errors, snapshot=any(snapshots))
    run, snapshot = (a, b) if errors[0] is None else (b, a)
    raise ToolkitError(
        f"`{run}` is a run and `{snapshot}` is a snapshot",
        code="TK-0102",
        hint="compare two runs, two snapshots, or two intervals such as `A1..A2`",
    )


def _error_of_run(store: Store, name: str) -> ToolkitError | None:
    try:
        store.resolve(name.partition("/")[0])
    except ToolkitError as error:
        return error
    return None


def _unknown(store: Store, name: str, error: ToolkitError, *, run: bool, snapshot: bool) -> ToolkitError:
    """Return the error for a name that is not stored, in the words of what the other name means."""
    if snapshot and not run:
        try:
            find(store, name)
        except ToolkitError as missing:
            return missing
    separator = " " if error.hint.endswith("?") else "; "
    hint = error.hint if run else f"{error.hint}{separator}`dbatk snapshot list` lists the snapshots"
    return ToolkitError(error.message, code=error.code, hint=hint)
