"""`snapshot take`, `list` and `diff`: before and after anything that somebody does himself."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import typer

from toolkit.cli.output import out, out_json, out_table, say
from toolkit.cli.parameters import OUTPUT, TARGET, Said, add_command, argument, option
from toolkit.errors import ExitCode, ToolkitError

if TYPE_CHECKING:
    from toolkit.model.state import SnapshotHead

_LABEL = argument("label", "what it is called; of several with one name the newest is meant")


def add_snapshots(snapshot: typer.Typer) -> None:
    """Add the commands."""
    provider = option("provider", "auto, awr, statspack, vstat, pgstat, duckstat or osstat", metavar="PROVIDER")
    add_command(
        snapshot, "take", _take, [_LABEL, TARGET, provider, *OUTPUT], "Keep the state of a database under a label."
    )
    limit = option("limit", "newest snapshots shown (50)", kind=int, metavar="N")
    add_command(snapshot, "list", _list, [limit, *OUTPUT], "List snapshots, newest first.")
    a, b = argument("a", "label or #NUMBER: before"), argument("b", "label or #NUMBER: after")
    file = option("out", "write the page to this file", metavar="FILE.html")
    add_command(
        snapshot, "diff", _diff, [a, b, file, *OUTPUT], "Tell what happened between two snapshots of a database."
    )


def _take(said: Said) -> int:
    from toolkit.analysis.between import head_document
    from toolkit.app.snapshots import AUTO, take
    from toolkit.cli.launch import named_target, reach
    from toolkit.store import open_store

    target = named_target(said.text("target"))
    reached = reach(target)
    try:
        with open_store(said.text("store")) as store:
            took = take(store, reached, target, said.required("label"), said.text("provider") or AUTO)
    finally:
        reached.target.close()
    if said.flag("json"):
        out_json({**head_document(took.head), "warnings": list(took.sentences)})
        return ExitCode.DONE
    from toolkit.units import byte_size

    head = took.head
    out(snapshot, "diff", _diff, [a, b, file, *OUTPUT], "Tell what happened between two snapshots.")
    for sentence in took.sentences:
        say(f"note: {sentence}")
    return ExitCode.DONE


def _list(said: Said) -> int:
    from toolkit.analysis.between import head_document
    from toolkit.app.snapshots import listed
    from toolkit.store import open_store

    limit = said.number("limit")
    if limit is not None and limit < 1:
        raise ToolkitError(f"`--limit` cannot be `{limit}`", code="TK-0102", hint="give a whole number from 1")
    with open_store(said.text("store")) as store:
        heads = listed(store, limit or 50)
    if said.flag("json"):
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


def _diff(said: Said) -> int:
    from toolkit.analysis.between import document
    from toolkit.app.results import write_file
    from toolkit.app.snapshots import diff
    from toolkit.report.between import between_page, between_text
    from toolkit.store import open_store

    with open_store(said.text("store")) as store:
        compared = diff(store, said.required("a"), said.required("b"))
    name = said.text("out")
    if name is not None:
        write_file(Path(name), between_page(compared.between, compared.sentences))
        say(f"wrote {name}")
    if said.flag("json"):
        out_json({**document(compared.between), "warnings": list(compared.sentences)})
    elif name is None:
        out(between_text(compared.between, compared.sentences))
    return ExitCode.DONE if compared.between.whole else ExitCode.INCOMPLETE
