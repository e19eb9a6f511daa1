"""`snapshot take`, `list` and `diff`: before and after anything that somebody does himself."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import typer

from toolkit.cli.output import out, out_json, out_table, say
from toolkit.cli.parameters import OUTPUT, TARGET, Arguments, add_command, argument, option
from toolkit.errors import ExitCode, ToolkitError

if TYPE_CHECKING:
    from toolkit.model.state import SnapshotHead

_LABEL = argument("label", "what it is called; of several with one name the newest is meant")


def add_snapshots(snapshot: typer.Typer) -> None:
    """Add the commands."""
    provider = option("provider", "auto, awr, statspack, vstat, pgstat, duckstat or osstat", metavar="PROVIDER")
    watch = option("watch", "look at what sessions wait for, for so long, and keep that too", metavar="10s")
    take = [_LABEL, TARGET, provider, watch, *OUTPUT]
    add_command(snapshot, "take", _take, take, "Keep the state of a database under a label.")
    limit = option("limit", "newest snapshots shown (50)", kind=int, metavar="N")
    add_command(snapshot, "list", _list, [limit, *OUTPUT], "List snapshots, newest first.")
    a = argument("a", "label or #NUMBER, or the interval A1..A2: before")
    b = argument("b", "label or #NUMBER, or the interval B1..B2: after")
    file = option("out", "write the page to this file", metavar="FILE.html")
    add_command(
        snapshot, "diff", _diff, [a, b, file, *OUTPUT], "Tell what happened between two snapshots of a database."
    )


def _take(arguments: Arguments) -> int:
    from toolkit.analysis.snapshot_diff import head_document
    from toolkit.app.snapshots.labelled import AUTO, take
    from toolkit.cli.launch import named_target, reach
    from toolkit.store import open_store
    from toolkit.units import byte_size, parse_duration

    target, provider = named_target(arguments.text("target")), arguments.text("provider") or AUTO
    watch = arguments.text("watch")
    seconds = 0.0 if watch is None else parse_duration(watch)
    resolved = reach(target)
    try:
        with open_store(arguments.text("store")) as store:
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
    from toolkit.app.snapshots.labelled import listed
    from toolkit.store import open_store

    limit = arguments.number("limit")
    if limit is not None and limit < 1:
        raise ToolkitError(f"`--limit` cannot be `{limit}`", code="TK-0102", hint="give a whole number from 1")
    with open_store(arguments.text("store")) as store:
        heads = listed(store, limit or 50)
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


def _diff(arguments: Arguments) -> int:
    from toolkit.app.intervals.sources import is_interval

    a, b = arguments.required("a"), arguments.required("b")
    return (
        _diff_of_intervals(arguments, a, b) if is_interval(a) or is_interval(b) else _diff_of_two(arguments, a, b)
    )


def _diff_of_two(arguments: Arguments, a: str, b: str) -> int:
    from toolkit.analysis.snapshot_diff import document
    from toolkit.app.snapshots.labelled import diff
    from toolkit.report.snapshot_diff import between_page, between_text
    from toolkit.store import open_store

    with open_store(arguments.text("store")) as store:
        compared = diff(store, a, b)
    if arguments.text("out") is not None:
        _write(arguments, between_page(compared.between, compared.sentences))
    if arguments.flag("json"):
        out_json({**document(compared.between), "warnings": list(compared.sentences)})
    elif arguments.text("out") is None:
        out(between_text(compared.between, compared.sentences))
    return ExitCode.DONE if compared.between.whole else ExitCode.INCOMPLETE


def _diff_of_intervals(arguments: Arguments, a: str, b: str) -> int:
    """Compare two intervals, each between two snapshots, as `awr diff` compares two reports."""
    from toolkit.app.intervals.sources import compare_stored
    from toolkit.report.interval.document import diff_document
    from toolkit.report.interval.page import diff_page
    from toolkit.report.interval.text import diff_text
    from toolkit.store import open_store

    with open_store(arguments.text("store")) as store:
        found = compare_stored(store, a, b)
    if arguments.text("out") is not None:
        _write(arguments, diff_page(found))
    if arguments.flag("json"):
        out_json(diff_document(found))
    elif arguments.text("out") is None:
        out(diff_text(found))
    return ExitCode.DONE


def _write(arguments: Arguments, text: str) -> None:
    from toolkit.app.results import write_file

    name = arguments.required("out")
    write_file(Path(name), text)
    say(f"wrote {name}")
