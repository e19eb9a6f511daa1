"""`doctor`: what a target can do, on one screen; all with `--verbose` or `--json`, missing grants as a script."""

from __future__ import annotations

import textwrap
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from toolkit.cli.help import Parameter
from toolkit.cli.output import out, out_json, out_raw, out_table, plain, say
from toolkit.cli.parameters import OUTPUT, TARGET, Arguments, add_command, option
from toolkit.errors import ExitCode, ToolkitError
from toolkit.model.operations import operations
from toolkit.model.words import status
from toolkit.terminal import MOST, line_width

if TYPE_CHECKING:
    from collections.abc import Iterable

    from toolkit.app.doctor import Doctor
    from toolkit.dialects.answers import Check
    from toolkit.model.experiment import Experiment, OptionValue
    from toolkit.model.words import OperationName

_ORDER = ("problem", "warning", "note", "ok")
_HELP = "Show what a target supports, and what it does not and why."
_GIVEN = ("source", "query", "table", "columns")


def add_doctor(app: typer.Typer) -> None:
    """Add the command."""
    add_command(app, "doctor", _doctor, _parameters(), _HELP)


def _parameters() -> list[Parameter]:
    return [
        TARGET,
        option("operation", "operation to check", metavar="NAME", choices=tuple(operations())),
        option("source", "table that the operation reads", metavar="NAME"),
        option("query", "query that the operation runs", metavar="FILE|-"),
        option("table", "table that the operation works on", metavar="NAME"),
        option("columns", "columns of the index", metavar="A,B"),
        option("consumer_group", "consumer group that sessions would switch to (--grants)", metavar="NAME"),
        option("degree", "degrees to check (default 1,2,4,8)", metavar="1,2,4"),
        option("verbose", "show every check, not only the most important", kind=bool),
        option("grants", "print the missing grants as a script for the DBA", kind=bool),
        option("facts_out", "write the facts read, for use with --facts", metavar="FILE"),
        *(one for one in OUTPUT if one.name != "store"),
    ]


def _doctor(arguments: Arguments) -> int:
    from toolkit.app.doctor import doctor
    from toolkit.cli.launch import reach

    wanted, experiment = _operation(arguments), _asked_work(arguments)
    resolved = reach(arguments.text("target"))
    group = arguments.text("consumer_group") or resolved.consumer_group
    try:
        found = doctor(
            resolved.target, experiment, resolved.policy.licences, wanted, resolved.policy.production, group
        )
    finally:
        resolved.target.close()
    _write_facts(found, arguments.text("facts_out"))
    if arguments.flag("json"):
        out_json(_document(found))
    elif arguments.flag("grants"):
        out_raw(plain(_grant_script(found)))
    elif arguments.flag("verbose"):
        _show_all(found)
    else:
        _show(found)
    return _status(found, arguments)


def _status(found: Doctor, arguments: Arguments) -> ExitCode:
    """Tell a script whether work can be done here: a problem is no failure of doctor's, but not all is well.

    Warnings and notes do not count: the work is done, if not as fast. Asked for grants it has given them.
    """
    sick = any(check.state == "problem" for check in (*found.checks, *found.support))
    return ExitCode.INCOMPLETE if sick and not arguments.flag("grants") else ExitCode.DONE


def _write_facts(found: Doctor, file: str | None) -> None:
    from toolkit.app.files import write_file
    from toolkit.model.facts import facts_to_text

    if file is not None:
        write_file(Path(file), facts_to_text(found.facts, indent=1))
        say(f"wrote {file}")


# -- the work asked about ---------------------------------------------------------------------------------------
def _operation(arguments: Arguments) -> OperationName | None:
    from toolkit.documents import did_you_mean
    from toolkit.model.operations import operations

    name, known = arguments.text("operation"), list(operations())
    if name is not None and name not in known:
        raise ToolkitError(f"`{name}` is not an operation", code="TK-0101", hint=did_you_mean(name, known))
    return name


def _asked_work(arguments: Arguments) -> Experiment | None:
    """Return the work to be judged, when one was described."""
    from toolkit.design.build import General, build_experiment
    from toolkit.design.levels import parse_levels, parse_value
    from toolkit.model.operations import declaration

    given = [name for name in _GIVEN if name in arguments]
    operation = _operation(arguments)
    if not given:
        if operation is None or arguments.flag("grants"):
            return None
        raise ToolkitError(
            f"`--operation {operation}` needs an object to check",
            code="TK-0107",
            hint="add `--source`, `--table` ..., or use `--grants` for the privileges it always needs",
        )
    if operation is None and "source" not in given and "query" not in given:
        raise ToolkitError(
            "which operation is to be checked is not known",
            code="TK-0107",
            hint="add `--operation vacuum`, `table-move`, `index-build` ...; without a table all is checked that "
            "needs none",
        )
    declared = declaration(operation or "ctas")
    taken = {one.name: one for one in declared.options}
    options: dict[str, OptionValue] = {
        key: parse_value(taken[key], _text(arguments, key)) for key in given if key in taken
    }
    if "table" not in options and ("source" in options or "query" in options):
        options["table"] = f"{options.get('source', 'QUERY')}_DBATK"
    if "all_rows" in taken:  # whichever rows are meant, what stands in the way is the same
        options["all_rows"] = True
    degrees = parse_levels(taken[declared.degree], arguments.text("degree") or "1,2,4,8")
    levels = {declared.degree: degrees}
    return build_experiment(declared.name, options, levels, General(target=arguments.text("target") or ""))


def _text(arguments: Arguments, key: str) -> str:
    from toolkit.cli.launch import read_text

    text = arguments.required(key)
    return read_text(text) if key == "query" else text


# -- one screen -------------------------------------------------------------------------------------------------
def _show(found: Doctor) -> None:
    """Show what matters first: problems and warnings whole, notes in a line each, the rest in a paragraph.

    In a pipe notes are whole too: a line of it bears them, and `grep` looks for what a screen has no room for.
    """
    whole = line_width() > MOST
    out(_head(found))
    checks = (*found.checks, *_together(map(_in_a_word, found.support)))
    for state in ("problem", "warning"):
        for check in (one for one in checks if one.state == state):
            _paragraph(f"{status(state):7}  {check.name}: ", _sentence(check))
    notes = [one for one in checks if one.state == "note"]
    refused = [one for one in notes if one.read]
    for check in (one for one in notes if not one.read):
        text = "; ".join(part for part in (check.evidence, check.consequence) if part)
        note = f"{check.name}: {text}"
        room = max(_NOTE, 2 * line_width() - len("note     ") - _RAGGED)
        _paragraph("note     ", note if whole else textwrap.shorten(note, room, placeholder=" ..."))
    if refused:
        names = ", ".join(one.name.removeprefix("not read: ") for one in refused)
        _paragraph("note     not read: ", f"{names}; `--grants` prints the missing privileges")
    fine = [one for one in checks if one.state == "ok" and not one.read]
    if fine:
        _paragraph("ok       ", "; ".join(_short(one) for one in fine))
    out("`--verbose` shows every check" + _grants_words(found))


def _head(found: Doctor) -> str:
    engine, release = found.facts.engine, str(found.facts.release)
    lines = [found.target, release if engine in release.lower() else f"{engine} {release}"]
    degree_limit = found.degree_limit
    if degree_limit.degree is not None:
        reason = degree_limit.reasons[0][1]
        lines.append(f"highest degree now: {degree_limit.degree} ({reason})")
    elif any(one.read for one in found.checks):
        lines.append("highest degree now: unknown (its limits could not be read)")
    return "\n".join(
        textwrap.fill(line, line_width(), subsequent_indent="  ", break_on_hyphens=False) for line in lines
    )


def _sentence(check: Check) -> str:
    text = "; ".join(part for part in (check.evidence, check.consequence) if part)
    return f"{text} -> {check.action}" if check.action else text


def _in_a_word(support: Check) -> Check:
    """Say of work that is supported just that where the screen has no room for how, which `--verbose` shows."""
    long = support.state == "ok" and len(support.evidence) > _SHORT
    return replace(support, evidence="available") if long else support


def _short(check: Check) -> str:
    return check.name if len(check.evidence) > _SHORT else f"{check.name} {check.evidence}"


def _together(checks: Iterable[Check]) -> list[Check]:
    """Say once what holds for several operations or cells."""
    groups: dict[tuple[str, str], list[Check]] = {}
    for check in checks:
        groups.setdefault((check.state, check.evidence), []).append(check)
    return [replace(group[0], name=_joined([one.name for one in group])) for group in groups.values()]


def _joined(names: list[str]) -> str:
    if len(names) == 1:
        return names[0]
    heads, tails = ([name.partition(" ")[part] for name in names] for part in (0, 2))
    if len(set(tails)) == 1:
        return f"{', '.join(heads)} {tails[0]}"
    return f"{heads[0]} {', '.join(tails)}" if len(set(heads)) == 1 else ", ".join(names)


_SHORT = 34
_NOTE, _RAGGED = 140, 30
"""A note takes two lines: what is cut off at 80 columns is shown where there is room; ends of lines stay free."""


def _paragraph(head: str, text: str) -> None:
    out(
        textwrap.fill(
            head + " ".join(text.split()), line_width(), subsequent_indent=" " * 9, break_on_hyphens=False
        )
    )


def _grants_words(found: Doctor) -> str:
    count = len(found.grants)
    return f"; `--grants` prints {count} missing grant{'s' if count > 1 else ''}" if count else ""


def _show_all(found: Doctor) -> None:
    out(_head(found))
    for title, checks in (("server", found.checks), ("work", found.support)):
        if checks:
            rows = ((status(c.state), c.name, _lines(c)) for c in _sorted(checks))
            out_table(("", title, "what"), rows)
            out("")
    if found.degree_limit.reasons:
        out_table(("degree", "because"), ((str(limit), why) for limit, why in found.degree_limit.reasons))


def _sorted(checks: Iterable[Check]) -> list[Check]:
    return sorted(checks, key=lambda one: _ORDER.index(one.state) if one.state in _ORDER else len(_ORDER))


def _lines(check: Check) -> str:
    parts = [check.evidence, check.consequence, f"-> {check.action}" if check.action else ""]
    return "\n".join(part for part in parts if part)


# -- documents --------------------------------------------------------------------------------------------------
def _grant_script(found: Doctor) -> str:
    """Return the missing grants as a script of the engine's own client, grouped by what each is for."""
    if not found.grants:
        return "-- no grant is missing for what dbatk reads or does here"
    head = [
        "-- Missing grants for dbatk: least privilege, each with its purpose.",
        "-- Run as a user who may give them: on Oracle SYS or a user with GRANT ANY OBJECT PRIVILEGE, in the",
        "-- measured container; on PostgreSQL the owner or a superuser.",
        "-- Leave out what should not be given: what it is for is then not read or not done, with a warning.",
    ]
    groups: dict[str, list[str]] = {}
    for grant in found.grants:
        comment = grant.statement.startswith("--")
        block = grant.statement.startswith("BEGIN ")
        end = "" if comment else "\n/" if block else ";"
        groups.setdefault(grant.purpose, []).append(f"{grant.statement}{end}")
    body = [line for purpose, lines in groups.items() for line in ("", f"-- {purpose}", *lines)]
    return "\n".join([*head, *body])


def _document(found: Doctor) -> dict[str, object]:
    facts, degree_limit = found.facts, found.degree_limit
    return {
        "target": found.target,
        "engine": facts.engine,
        "release": str(facts.release),
        "edition": facts.release.edition,
        "degree": {
            "highest": degree_limit.degree,
            "reasons": [{"limit": limit, "why": why} for limit, why in degree_limit.reasons],
        },
        "checks": [_row(check) for check in found.checks],
        "work": [_row(check) for check in found.support],
        "grants": [{"statement": one.statement, "purpose": one.purpose} for one in found.grants],
    }


def _row(check: Check) -> dict[str, str]:
    return {
        "name": check.name,
        "state": check.state,
        "evidence": check.evidence,
        "consequence": check.consequence,
        "action": check.action,
    }
