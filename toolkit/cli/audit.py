"""`audit`: who did what to which database and schedule, and whether the log of it is whole."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from toolkit.cli.output import out, out_json, out_table, say
from toolkit.cli.parameters import OUTPUT, Arguments, DefaultGroup, add_command, new_group, option
from toolkit.errors import ExitCode, ToolkitError
from toolkit.model.audit import AuditKind
from toolkit.model.words import RunState
from toolkit.units import counted

if TYPE_CHECKING:
    from toolkit.model.audit import AuditLine

_LIMIT = 50
_MOST_FAULTS = 20
"""How many faults of a log are shown: the first says from where on it proves nothing."""


class _AuditGroup(DefaultGroup):
    """Takes `audit` for `audit list`."""

    default = "list"
    alone = True


def add_audit(app: typer.Typer) -> None:
    """Add the group and its commands."""
    group = new_group("Show who did what, and when.\n\n`audit` is short for `audit list`.", _AuditGroup)
    listed = [
        option("plan", "only entries of this plan or step", metavar="NAME", like="plan_name"),
        option(
            "kind",
            "only entries of this kind: approve, refuse, run-end, ...",
            metavar="KIND",
            choices=[kind.value for kind in AuditKind],
        ),
        option("limit", "number of entries shown, newest first (default 50)", kind=int, metavar="N"),
        *OUTPUT,
    ]
    add_command(group, "list", _list, listed, "List what was done, approved and refused, newest first.")
    earlier = option("earlier", "an earlier log that was archived", metavar="FILE")
    add_command(
        group, "verify", _verify, [earlier, *OUTPUT], "Check the log and report the first line that was altered."
    )
    app.add_typer(group, name="audit")


# -- list -------------------------------------------------------------------------------------------------------
def _list(arguments: Arguments) -> int:
    from toolkit.app.results import statuses_of
    from toolkit.store import open_store

    _check_kind(arguments.text("kind"))
    limit = arguments.number("limit") or _LIMIT
    with open_store(arguments.text("store"), at_once=False) as store:
        found = list(islice((line for line in store.audit.events() if _wanted(line, arguments)), limit))
        ended = {} if arguments.flag("json") else statuses_of(store, map(_ended_run, found))
        path = store.audit.shown
    if arguments.flag("json"):
        out_json({"log": path, "lines": [_document(line) for line in found]})
    elif not found:
        say(f"no entries in {path}")
    else:
        rows = (
            (line.at[:19].replace("T", " "), _who(line), line.event.kind.value, _what(line, ended))
            for line in found
        )
        out_table(("at (UTC)", "who", "kind", "what"), rows, whole=frozenset({"at (UTC)", "kind"}))
    return ExitCode.DONE


def _wanted(line: AuditLine, arguments: Arguments) -> bool:
    kind, name, event = arguments.text("kind"), arguments.text("plan"), line.event
    return (kind is None or event.kind == kind) and (name is None or name in (event.plan, event.step))


def _check_kind(kind: str | None) -> None:
    from toolkit.documents import did_you_mean
    from toolkit.model.audit import AuditKind

    if kind is not None and kind not in list(AuditKind):
        raise ToolkitError(
            f"`--kind` cannot be `{kind}`",
            code="TK-0102",
            hint=did_you_mean(kind, [one.value for one in AuditKind]),
        )


def _who(line: AuditLine) -> str:
    who = line.actor
    return f"{who.login} as {who.user}" if who.login else who.user


def _ended_run(line: AuditLine) -> str:
    """Return the run that a line says to have come to its end; empty where it says nothing of that."""
    event = line.event
    return event.run or "" if event.kind is AuditKind.RUN_END and event.outcome == RunState.DONE else ""


def _what(line: AuditLine, ended: Mapping[str, str]) -> str:
    """Say what a line tells; of a run that came to its end with the word of `runs list`, while it is stored."""
    from toolkit.model.audit import AuditKind
    from toolkit.model.words import status

    event = line.event
    carried = f"first written {event.carried}" if event.carried else None
    name = " ".join(dict.fromkeys(one for one in (event.plan, event.step) if one))
    parts = [
        f"{name} on {event.target}" if name and event.target else name or event.target,
        event.run,
        ended.get(_ended_run(line), status(event.outcome)) if event.outcome and event.outcome != "begun" else None,
        event.reason and event.reason.replace("\n- ", "; "),
        # of an approval who gave it, of a plan run the one it was checked against
        event.details[0] if event.details and event.kind in {AuditKind.APPROVE, AuditKind.PLAN_BEGIN} else None,
        carried,
    ]
    return "; ".join(one for one in parts if one) or "; ".join(event.details)


def _document(line: AuditLine) -> dict[str, object]:
    from dataclasses import asdict

    arguments = {name: value for name, value in asdict(line.event).items() if value is not None}
    who = {name: value for name, value in asdict(line.actor).items() if value is not None}
    return {"number": line.number, "at": line.at, **arguments, "who": who, "before": line.before}


# -- verify -----------------------------------------------------------------------------------------------------
def _verify(arguments: Arguments) -> int:
    from toolkit.store import open_store
    from toolkit.store.audit_check import carry_over, verify

    earlier = arguments.text("earlier")
    with open_store(arguments.text("store"), at_once=False) as store:
        verdict = verify(store.audit, None if earlier is None else Path(earlier))
        if earlier is not None and verdict.whole:
            carried = carry_over(store.audit, Path(earlier))
            taken = f"took over {counted(carried, 'approval or revocation', 'approvals and revocations')}"
            verdict = replace(verdict, notes=(*verdict.notes, f"{taken}: the log stands without `{earlier}` now"))
        path = store.audit.shown
    if arguments.flag("json"):
        out_json(
            {
                "log": path,
                "whole": verdict.whole,
                "lines": verdict.lines,
                "faults": [{"line": at, "sentence": sentence} for at, sentence in verdict.faults],
                "notes": list(verdict.notes),
            }
        )
        return ExitCode.DONE if verdict.whole else ExitCode.FAILED
    for sentence in _fault_lines(verdict.faults):
        out(sentence)
    for note in verdict.notes:
        out(f"note: {note}")
    if verdict.whole:
        span = f", {verdict.begin:%Y-%m-%d %H:%M} to {verdict.end:%Y-%m-%d %H:%M} UTC" if verdict.begin else ""
        out(f"{path}: {counted(verdict.lines, 'line')}{span}, all intact")
        return ExitCode.DONE
    say(f"\nhint: {path} proves nothing from that line on; compare it with a copy elsewhere")
    return ExitCode.FAILED


def _fault_lines(faults: tuple[tuple[int, str], ...]) -> Iterator[str]:
    for at, sentence in faults[:_MOST_FAULTS]:
        yield f"line {at}: {sentence}" if at else sentence
    if len(faults) > _MOST_FAULTS:
        yield f"and {counted(len(faults) - _MOST_FAULTS, 'more fault')}; `--json` lists all"
