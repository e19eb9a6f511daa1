"""`runs` and `report`: the results store."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from toolkit.cli.notices import tell_died
from toolkit.cli.output import BETWEEN, Warnings, columns_of, out, out_json, out_raw, out_table, say
from toolkit.cli.parameters import (
    APPROVALS,
    OUTPUT,
    QUIET,
    Arguments,
    add_command,
    argument,
    option,
    target_option,
)
from toolkit.errors import ExitCode, ToolkitError
from toolkit.model.options import Topic
from toolkit.terminal import usual_width, width
from toolkit.units import counted

if TYPE_CHECKING:
    from toolkit.model.records import RunHead, RunRecord
    from toolkit.model.words import CountedRows
    from toolkit.store import Store

FOLLOW_SECONDS = 1.0
_LABEL = 18
"""Columns that a label has in a table at least; a longer one is folded."""
_RUN = argument("run", "run id or its beginning, a label, `last` or `last:ctas`; `~1` after it: the one before")
_WORTH = option(
    "worth",
    "gain that a larger degree must show to be recommended (default 5%)",
    metavar="PERCENT",
)
_FORMATS = ("html", "text", "markdown", "json", "csv")
_FORMAT = option(
    "format",
    "html, text, markdown, json or csv (default: by the suffix of --out, else text)",
    metavar="FORMAT",
    choices=_FORMATS,
)


def add_results(app: typer.Typer, runs: typer.Typer) -> None:
    """Add the commands."""
    limit = option("limit", "number of runs shown, newest first (default 50)", kind=int, metavar="N")
    follow = option("follow", "show trials as they finish, until the run ends", kind=bool)
    recent = option(
        "recent",
        "refuse a run that ended longer ago: an older run is not the one that failed",
        metavar="15m",
    )
    file = option("out", "file to write", metavar="FILE")
    yes = option("yes", "do not ask", kind=bool)
    add_command(runs, "list", _list, [limit, *OUTPUT], "List runs, newest first.")
    add_command(
        runs,
        "show",
        _show,
        [_RUN, follow, recent, _WORTH, *OUTPUT],
        "Show a run: configurations, intervals, advice.",
    )
    rows = option(
        "rows",
        "whether the rows of an interrupted load are `there` or `missing`",
        metavar="ANSWER",
        choices=("there", "missing"),
    )
    where = target_option("profile name or URL, if the database is now reached another way")
    retry = option("retry_failed", "repeat all failed trials, not only those with an outside cause", kind=bool)
    approved = option(
        "approved",
        "the approved file of the run: refuse what differs from it (needed where only approved work may run)",
        metavar="FILE",
        topic=Topic.SAFETY,
    )
    resume = [_RUN, rows, retry, where, approved, *APPROVALS, QUIET, *OUTPUT]
    add_command(runs, "resume", _resume, resume, "Run only the trials that are missing.")
    add_command(runs, "delete", _delete, [_RUN, yes, *OUTPUT], "Delete a run from the store.")
    add_command(runs, "export", _export, [_RUN, file, *OUTPUT], "Export a run as one JSON file.")
    several = argument("runs", "runs to report (not with --all)", kind=list[str], metavar="RUN...", default=[])
    every = option("all", "write a folder of pages of all runs, with an index: --out DIR", kind=bool)
    file = option("out", "file to write; with --all a folder", metavar="FILE|DIR")
    report = [several, file, every, _FORMAT, _WORTH, *OUTPUT]
    add_command(app, "report", _report, report, "Write a report on one or more runs, or a site of all runs.")


@contextmanager
def _store(arguments: Arguments) -> Iterator[Store]:
    from toolkit.store import open_store

    with open_store(arguments.text("store"), at_once=False) as store:
        yield store


def _list(arguments: Arguments) -> int:
    from toolkit.app.results import listed_runs, statuses

    limit = arguments.number("limit")
    if limit is not None and limit < 1:
        raise ToolkitError(
            f"`--limit` cannot be `{limit}`", code="TK-0102", hint="give a whole number of at least 1"
        )
    with _store(arguments) as store:
        tell_died(store)
        heads = listed_runs(store, limit or 50)
        ended = statuses(store, heads)
    if arguments.flag("json"):
        from toolkit.analysis.documents import runs_document

        out_json(runs_document(heads))
    elif heads:
        rows = [_row(head, word) for head, word in zip(heads, ended, strict=True)]
        if _has_room(rows, columns_of(sys.stdout)):
            out_table(list(rows[0]), (list(row.values()) for row in rows), whole=frozenset(rows[0]) - {"label"})
        else:
            out("\n".join(_lines_of(row, width()) for row in rows))
    else:
        say("no runs yet; `dbatk demo` makes some")
    return ExitCode.DONE


def _has_room(rows: Sequence[Mapping[str, str]], room: int) -> bool:
    """Whether a line of `room` characters has room for a table in which no cell but a long label is folded."""
    widths = {name: max(len(name), *(len(row[name]) for row in rows)) for name in rows[0]}
    widths["label"] = min(widths["label"], _LABEL)
    return sum(widths.values()) + BETWEEN * (len(widths) - 1) <= room


def _lines_of(row: Mapping[str, str], room: int) -> str:
    """Return a run for a screen that is too narrow for a table: nothing is left out, and no name broken."""
    trials = f"{row['trials']} trial{'' if row['trials'] in {'1', '1/1'} else 's'}"
    second = [f"  {row['began (UTC)']} UTC", row["target"], *filter(None, (row["label"],))]
    between = "  " if len("  ".join(second)) <= room else "\n  "
    return "\n".join(("  ".join((row["run"], row["state"], row["operation"], trials)), between.join(second)))


def _row(head: RunHead, ended: str) -> dict[str, str]:
    return {
        "run": head.run,
        "began (UTC)": f"{head.began_at:%Y-%m-%d %H:%M}",
        "label": head.label or "",
        "operation": head.experiment.operation,
        "target": _short_target(head.experiment.target),
        "state": ended,
        # of what a search may run it runs a little
        "trials": f"{head.trials_ended}{'' if head.experiment.open_ended else f'/{head.trials_planned}'}",
    }


def _short_target(text: str) -> str:
    """Shorten a URL to engine and database, so that no column breaks it: `runs show` has it whole."""
    scheme, sign, rest = text.partition("?")[0].partition("://")
    if sign and not rest:
        return "this host"
    return f"{scheme}:{rest.rpartition('/')[2] or rest}" if sign else text


def _show(arguments: Arguments) -> int:
    from toolkit.app.results import choices, find_run, undo_script_left
    from toolkit.report.render import render

    worth = _worth(arguments)
    with _store(arguments) as store:
        if arguments.flag("follow"):
            _follow(store, store.resolve(arguments.required("run")))
        for sentence in choices(store, arguments.required("run")):
            say(f"note: {sentence}")
        record = find_run(store, arguments.required("run"), samples=arguments.flag("json"))
        if recent := arguments.text("recent"):
            from toolkit.app.recent_runs import refuse_older

            refuse_older(store, record, arguments.required("run"), recent)
        undo = undo_script_left(store, record.head.run)
    if arguments.flag("json"):
        from toolkit.analysis.documents import run_document

        out_json({**run_document(record, worth), "undo_script": None if undo is None else str(undo)})
        return ExitCode.DONE
    out(render(record, "text", worth_pct=worth))
    if undo is not None:
        out(f"\nundo script (changes not yet undone): {undo}")
    return ExitCode.DONE


def _worth(arguments: Arguments) -> float:
    from toolkit.analysis.choice import WORTH_PCT, parse_worth

    text = arguments.text("worth")
    return WORTH_PCT if text is None else parse_worth(text)


def _follow(store: Store, run: str) -> None:
    """Say each trial as it ends, until the run ends or nobody works on it any more."""
    from toolkit.model.words import RunState

    seen: set[tuple[int, int]] = set()
    while True:
        alive = _alive(store, run)
        record = store.load_run(run, samples=False)
        _say_new(record, seen)
        if record.head.state is not RunState.RUNNING:
            return
        if not alive:
            say(f"warning: no process works on this run; `{store.resume_command(run)}` continues it")
            return
        time.sleep(FOLLOW_SECONDS)


def _alive(store: Store, run: str) -> bool:
    try:
        store.refuse_live_run(run)
    except ToolkitError:
        return True
    return False


def _say_new(record: RunRecord, seen: set[tuple[int, int]]) -> None:
    from toolkit.units import seconds

    for trial in record.trials:
        key = (trial.trial, trial.attempt)
        if key not in seen:
            seen.add(key)
            planned = "" if record.head.experiment.search else f"/{record.head.trials_planned}"
            place = f"[{trial.trial}{planned}]"
            reason = f" ({trial.reason})" if trial.reason else ""
            say(f"{place} {trial.cell}: {trial.outcome}{reason} {seconds(trial.elapsed_seconds)}")


def _resume(arguments: Arguments) -> int:
    from toolkit.app.maintenance.run_guards import guarding
    from toolkit.app.runs.execute import resume
    from toolkit.app.runs.joint import joint_of
    from toolkit.app.runs.repair import refuse_ingested
    from toolkit.cli.approving import checked_resume
    from toolkit.cli.launch import reach, show_result
    from toolkit.cli.listening import listening
    from toolkit.cli.several import resume_on_several

    rows = _counted_rows(arguments.text("rows"))
    with _store(arguments) as store:
        run = store.resolve(arguments.required("run"))
        joint = joint_of(store, run)
        if joint is not None:
            return resume_on_several(joint, store, arguments)
        before = store.load_run(run, samples=False)
        refuse_ingested(before)
        experiment = before.head.experiment
        resolved = reach(arguments.text("target") or experiment.target)
        try:
            with (
                checked_resume(experiment, resolved, store, arguments) as approvals,
                listening(arguments) as progress,
            ):
                resume(
                    run,
                    resolved.target,
                    store=store,
                    approvals=approvals,
                    events=progress,
                    policy=resolved.policy,
                    rows=rows,
                    retry_failed=arguments.flag("retry_failed"),
                    guarding=guarding(resolved, progress),
                )
        finally:
            resolved.target.close()
        if len(store.load_run(run, samples=False).trials) == len(before.trials):
            say(
                f"warning: nothing of run {run} was missing (a command that was killed before its run was stored "
                "left nothing to resume: if you meant that one, run it again)"
            )
        return show_result(store, run, arguments)


def _counted_rows(text: str | None) -> CountedRows | None:
    from toolkit.model.words import CountedRows

    known = [each.value for each in CountedRows]
    if text is not None and text not in known:
        raise ToolkitError(f"`--rows` cannot be `{text}`", code="TK-0102", hint="one of " + ", ".join(known))
    return None if text is None else CountedRows(text)


def _delete(arguments: Arguments) -> int:
    from toolkit.app.auditing import Notes
    from toolkit.cli.approving import confirmed
    from toolkit.model.audit import AuditEvent, AuditKind

    with _store(arguments) as store:
        run = store.resolve(arguments.required("run"))
        confirmed(arguments, f"delete run {run}?")
        head = store.load_head(run)
        event = AuditEvent(AuditKind.DELETE, step=head.experiment.name, target=head.experiment.target, run=run)
        with Notes(store, Warnings()).around(event):
            store.delete_run(run)
    if arguments.flag("json"):
        out_json({"deleted": run})
    else:
        say(f"deleted run {run}")
    return ExitCode.DONE


def _export(arguments: Arguments) -> int:
    from toolkit.app.results import export

    with _store(arguments) as store:
        run = store.resolve(arguments.required("run"))
        path = Path(arguments.text("out") or f"{run}.dbatk.json")
        export(store, run, path)
    if arguments.flag("json"):
        out_json({"run": run, "file": str(path)})
    else:
        say(f"wrote {path}")
    return ExitCode.DONE


def _report(arguments: Arguments) -> int:
    if arguments.flag("all"):
        return _site(arguments)
    if not arguments.texts("runs"):
        raise ToolkitError(
            "missing argument `RUN...`",
            code="TK-0102",
            hint="name a run (`last`), or write all: `--all --out DIR`",
        )
    from toolkit.app.files import write_file
    from toolkit.app.results import choices, format_of, report
    from toolkit.report.render import Format

    name = arguments.text("out")
    path = None if name in (None, "-") else Path(str(name))
    chosen = (
        Format.JSON
        if arguments.flag("json") and "format" not in arguments
        else format_of(path, arguments.text("format"))
    )
    worth = _worth(arguments)
    if chosen is Format.CSV and "worth" in arguments:
        raise ToolkitError(
            "`--worth` has no effect on CSV", code="TK-0107", hint="CSV lists trials; another format recommends"
        )
    with _store(arguments) as store:
        for sentence in choices(store, *arguments.texts("runs")):
            say(f"note: {sentence}")
        with nullcontext() if path is None else usual_width():
            text = report(store, arguments.texts("runs"), chosen, worth)
    if path is not None:
        write_file(path, text)
        say(f"wrote {path}")
    elif chosen is Format.TEXT:
        out(text)
    else:
        out_raw(text)
    return ExitCode.DONE


def _site(arguments: Arguments) -> int:
    from toolkit.app.site import write_site

    folder = arguments.text("out")
    if folder in (None, "-") or arguments.texts("runs") or "format" in arguments or "worth" in arguments:
        raise ToolkitError(
            "`--all` takes no runs, no format and no `--worth`, and needs a folder",
            code="TK-0107",
            hint="write `--all --out DIR`",
        )
    with _store(arguments) as store, usual_width():
        done = write_site(store, Path(str(folder)), say)
    for sentence in done.unreadable:
        say(f"warning: {sentence}")
    if arguments.flag("json"):
        counts = {"runs": done.runs, "written": done.written, "unchanged": done.unchanged, "removed": done.removed}
        out_json({"folder": str(done.folder), **counts, "warnings": list(done.unreadable)})
    else:
        gone = f", {done.removed:,} removed" if done.removed else ""
        say(
            f"wrote {done.folder / 'index.html'}: {counted(done.runs, 'run')}, {done.written:,} pages written, "
            f"{done.unchanged:,} unchanged{gone}"
        )
    return ExitCode.INCOMPLETE if done.unreadable else ExitCode.DONE
