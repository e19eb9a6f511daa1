"""`snapshot take` and `list`: the state of a database before and after any work."""

from __future__ import annotations

from typing import TYPE_CHECKING

import typer

from toolkit.cli.output import out, out_json, out_table, say
from toolkit.cli.parameters import OUTPUT, PROVIDERS, TARGET, Arguments, add_command, argument, option
from toolkit.errors import ExitCode, ToolkitError

if TYPE_CHECKING:
    from toolkit.model.state import SnapshotHead

_LABEL = argument("label", "name of the snapshot; if several share it, the newest is used", like="snapshot_label")


def add_snapshots(snapshot: typer.Typer) -> None:
    """Add the commands."""
    provider = option(
        "provider",
        "auto, awr, statspack, vstat, pgstat, duckstat or osstat",
        metavar="PROVIDER",
        choices=("auto", *PROVIDERS),
    )
    watch = option("watch", "also sample session waits for this long", metavar="10s")
    take = [_LABEL, TARGET, provider, watch, *OUTPUT]
    add_command(snapshot, "take", _take, take, "Take a snapshot of a database under a label.")
    limit = option("limit", "number of snapshots shown, newest first (default 50)", kind=int, metavar="N")
    add_command(snapshot, "list", _list, [limit, *OUTPUT], "List snapshots, newest first.")


def _take(arguments: Arguments) -> int:
    from toolkit.analysis.snapshot_diff import head_document
    from toolkit.app.snapshots.taking import AUTO, take
    from toolkit.cli.launch import named_target, reach
    from toolkit.store import open_store
    from toolkit.units import byte_size, parse_duration

    target, provider = named_target(arguments.text("target")), arguments.text("provider") or AUTO
    watch = arguments.text("watch")
    seconds = 0.0 if watch is None else parse_duration(watch)
    resolved = reach(target)
    try:
        with open_store(arguments.text("store"), at_once=False) as store:
            took = take(store, resolved, target, arguments.required("label"), provider, seconds)
    finally:
        resolved.target.close()
    if arguments.flag("json"):
        out_json({**head_document(took.head), "warnings": list(took.sentences)})
        return ExitCode.DONE
    head, size = took.head, byte_size(took.head.size_bytes)
    out(f"snapshot #{head.number} `{head.label}` by {head.provider} of {head.target}, {size}")
    for sentence in took.sentences:
        say(f"note: {sentence}")
    return ExitCode.DONE


def _list(arguments: Arguments) -> int:
    from toolkit.analysis.snapshot_diff import head_document
    from toolkit.store import open_store

    limit = arguments.number("limit")
    if limit is not None and limit < 1:
        raise ToolkitError(
            f"`--limit` cannot be `{limit}`", code="TK-0102", hint="give a whole number of at least 1"
        )
    with open_store(arguments.text("store"), at_once=False) as store:
        heads = store.snapshots(limit=limit or 50)
    if arguments.flag("json"):
        out_json({"snapshots": [head_document(head) for head in heads]})
    elif heads:
        columns = ("#", "label", "taken (UTC)", "provider", "target", "size")
        out_table(columns, map(_row, heads), whole=frozenset({"#", "taken (UTC)", "provider", "size"}))
    else:
        say("no snapshots yet; `dbatk snapshot take LABEL -t T` takes one")
    return ExitCode.DONE


def _row(head: SnapshotHead) -> tuple[str, ...]:
    from toolkit.units import byte_size

    when = head.taken_at.strftime("%Y-%m-%d %H:%M:%S")
    return str(head.number), head.label, when, head.provider, head.target, byte_size(head.size_bytes)
