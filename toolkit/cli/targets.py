"""`target`, `clean` and `error`: databases, what they can do, and what was left on them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import typer

from toolkit.cli.help import Parameter
from toolkit.cli.output import out, out_json, out_raw, out_table, say
from toolkit.cli.parameters import (
    ALLOW_COMMANDS,
    OUTPUT,
    QUIET,
    TARGET,
    Arguments,
    about,
    add_command,
    argument,
    option,
)
from toolkit.errors import ExitCode, ToolkitError
from toolkit.model.options import Topic
from toolkit.model.words import LICENCES

if TYPE_CHECKING:
    from toolkit.app.targets import ResolvedTarget
    from toolkit.config.licences import Licence
    from toolkit.config.profiles import Profile
    from toolkit.config.secrets import SecretRef
    from toolkit.store import Store

_NAME = argument("name", "name of the profile")
_KNOWN = argument("name", "name of the profile", like="target")
_NO_STORE = tuple(one for one in OUTPUT if one.name != "store")
_REFERENCES = about(
    Topic.WHERE,
    option("password_env", "environment variable with the password", metavar="VARIABLE"),
    option("password_keyring", "keyring service with the password", metavar="SERVICE"),
    option("password_command", "command that prints the password; run without a shell", metavar="COMMAND"),
    option("password_file", "file with the password (mode 0600)", metavar="FILE"),
    option("password_credential", "name of a systemd credential", metavar="NAME"),
    option("wallet", "Oracle wallet folder", metavar="DIR"),
)
_WALLET_PASSWORD = option(
    "wallet_password_env", "environment variable with the wallet password", metavar="VARIABLE", topic=Topic.WHERE
)
_RULES = about(
    Topic.SAFETY,
    option("production", "the target is production", kind=bool),
    option("not_production", "the target is not production", kind=bool),
    option("max_degree", "highest degree allowed on the target", kind=int, metavar="N"),
    option("approved_only", "only approved work may run on the target", kind=bool),
    option("no_standbys", "no standby database follows the target", kind=bool),
    option(
        "license",
        f"declare licences, one each: {', '.join(LICENCES)}",
        kind=list[str],
        metavar="NAME",
        choices=tuple(LICENCES),
    ),
    option("licensed_by", "who declares it", metavar="NAME"),
    option("licensed_until", "last day it is valid", metavar="YYYY-MM-DD"),
)


def add_targets(app: typer.Typer, target: typer.Typer) -> None:
    """Add the commands."""
    add_command(target, "add", _add, _add_parameters(), "Save a target under a name; passwords by reference only.")
    add_command(target, "list", _list, _NO_STORE, "List the targets.")
    add_command(
        target,
        "test",
        _test,
        [argument("name", "profile name or URL", like="target"), *_NO_STORE],
        "Test the connection to a target.",
    )
    add_command(target, "remove", _remove, [_KNOWN, *_NO_STORE], "Remove a target.")
    run = option("run", "only leftovers of this run", metavar="RUN")
    dry = option("dry_run", "print the statements of each run without changing anything", kind=bool)
    cleaning = [TARGET, run, dry, ALLOW_COMMANDS, QUIET, *OUTPUT]
    add_command(app, "clean", _clean, cleaning, "Clean up what a crash left behind on a target.")
    code = argument("code", "a code, such as TK-0104 or ORA-01652")
    add_command(app, "error", _error, [code, *_NO_STORE], "Explain an error code.")


def _add_parameters() -> list[Parameter]:
    return [
        _NAME,
        argument("url", "such as oracle://user@host:1521/service"),
        *_REFERENCES,
        _WALLET_PASSWORD,
        *_RULES,
        option("work_schema", "schema for scratch objects", metavar="NAME"),
        option("driver_option", "such as mode=sysdba or thick=true", kind=list[str], metavar="KEY=VALUE"),
        option("replace", "replace a target of the same name", kind=bool),
        *_NO_STORE,
    ]


# -- profiles ---------------------------------------------------------------------------------------------------
def _add(arguments: Arguments) -> int:
    from toolkit.app.approvals import Approvals, exposed
    from toolkit.app.targets import find_target
    from toolkit.config.profiles import add_profile

    profile = _profile(arguments)
    added = find_target(profile.name, profiles={profile.name: profile})
    stakes = exposed(added.target, added.policy, Approvals())
    add_profile(profile, replaces=arguments.flag("replace"))
    for sentence in stakes:
        say(f"warning: {sentence}")
    if arguments.flag("json"):
        out_json(_profile_document(profile))
    else:
        say(f"saved target {profile.name}; try it with `dbatk target test {profile.name}`")
    return ExitCode.DONE


def _profile(arguments: Arguments) -> Profile:
    from toolkit.config.profiles import Profile, check_options, check_profile_name, parse_options
    from toolkit.config.urls import parse_url

    if arguments.flag("production") and arguments.flag("not_production"):
        raise ToolkitError(
            "`--production` and `--not-production` are mutually exclusive",
            code="TK-0107",
            hint="use only one of them",
        )
    url = _lasting_url(arguments.required("url"))
    degree = arguments.number("max_degree")
    if degree is not None and not 1 <= degree <= 4096:
        raise ToolkitError(f"`--max-degree` cannot be `{degree}`", code="TK-0102", hint="give 1 to 4096")
    return Profile(
        check_profile_name(arguments.required("name")),
        url,
        parse_url(url),
        _reference(arguments),
        production=True if arguments.flag("production") else False if arguments.flag("not_production") else None,
        max_degree=degree,
        work_schema=arguments.text("work_schema"),
        licences=_licences(arguments),
        options=check_options(parse_options(arguments.texts("driver_option")), parse_url(url)),
        wallet_password=_wallet_password(arguments),
        approved_only=arguments.flag("approved_only"),
        standbys=False if arguments.flag("no_standbys") else None,
    )


def _lasting_url(url: str) -> str:
    """Return the URL with an absolute path: a profile is used from any folder."""
    from urllib.parse import quote

    from toolkit.config.urls import parse_url
    from toolkit.model.engines import engine

    address = parse_url(url)
    if not engine(address.engine).embedded or not address.database:
        return url
    query = "&".join(
        f"{name}={quote(str(Path(value).absolute())) if name == 'files' else value}"
        for name, value in address.parameters
    )
    path = quote(str(Path(address.database).absolute()))
    return f"duckdb:///{path}" + (f"?{query}" if query else "")


def _reference(arguments: Arguments) -> SecretRef | None:
    import shlex

    from toolkit.config.secrets import read_reference

    given = [one.name for one in _REFERENCES if one.name in arguments]
    if len(given) > 1:
        flags = " and ".join("`--" + name.replace("_", "-") + "`" for name in given)
        raise ToolkitError(f"{flags} are mutually exclusive", code="TK-0107", hint="use only one of them")
    if not given:
        return None
    name, text = given[0], arguments.required(given[0])
    try:
        value = shlex.split(text) if name == "password_command" else text
    except ValueError:
        raise ToolkitError(
            "`--password-command` has an unclosed quote", code="TK-0102", hint="close the quote"
        ) from None
    return read_reference({name.removeprefix("password_"): value})


def _wallet_password(arguments: Arguments) -> SecretRef | None:
    from toolkit.config.secrets import read_reference

    variable = arguments.text("wallet_password_env")
    return None if variable is None else read_reference({"env": variable})


def _licences(arguments: Arguments) -> dict[str, Licence]:
    from datetime import UTC, date, datetime

    from toolkit.config.licences import Licence
    from toolkit.documents import did_you_mean

    names, by, until = arguments.texts("license"), arguments.text("licensed_by"), arguments.text("licensed_until")
    for name in names:
        if name not in LICENCES:
            raise ToolkitError(f"unknown licence `{name}`", code="TK-0101", hint=did_you_mean(name, LICENCES))
    if bool(names) != bool(by):
        raise ToolkitError(
            "a licence declaration needs a name",
            code="TK-0107",
            hint="give `--license` and `--licensed-by` together",
        )
    try:
        last = None if until is None else date.fromisoformat(until)
    except ValueError:
        raise ToolkitError(f"`{until}` is not a day", code="TK-0102", hint="write it as 2027-01-31") from None
    today = datetime.now(UTC).date()
    if last is not None and last < today:
        raise ToolkitError(
            f"`{until}` is in the past", code="TK-0102", hint="give the last day on which the licence is valid"
        )
    return {name: Licence(by or "", today, last) for name in names}


def _profile_document(profile: Profile) -> dict[str, object]:
    return {
        "name": profile.name,
        "url": profile.address.display,
        "password": profile.password.display if profile.password else None,
        "production": profile.production,
        "max_degree": profile.max_degree,
        "work_schema": profile.work_schema,
        "approved_only": profile.approved_only,
        "standbys": profile.standbys,
        "consumer_group": profile.consumer_group,
        "restore": profile.restore,
        "licenses": {
            name: {"by": one.by, "on": one.on.isoformat(), "until": one.until.isoformat() if one.until else None}
            for name, one in profile.licences.items()
        },
    }


def _list(arguments: Arguments) -> int:
    from toolkit.config.profiles import load_profiles

    profiles = load_profiles()
    if arguments.flag("json"):
        out_json({"targets": [_profile_document(profile) for profile in profiles.values()]})
    elif profiles:
        out_table(("target", "url", "password", "production"), map(_profile_row, profiles.values()))
    else:
        say("no targets yet; save one with `dbatk target add NAME URL`, or use a URL with `-t`")
    return ExitCode.DONE


def _profile_row(profile: Profile) -> tuple[str, str, str, str]:
    production = {True: "yes", False: "no", None: "unknown"}[profile.production]
    return profile.name, profile.address.display, profile.password.display if profile.password else "", production


def _test(arguments: Arguments) -> int:
    from toolkit.app.targets import ping
    from toolkit.cli.launch import reach

    resolved = reach(arguments.required("name"))
    try:
        answer = ping(resolved.target, resolved.policy)
    finally:
        resolved.target.close()
    if arguments.flag("json"):
        out_json({"target": resolved.target.display, "answer": answer})
    else:
        out(f"{resolved.target.display}: {answer}")
    return ExitCode.DONE


def _remove(arguments: Arguments) -> int:
    from toolkit.config.profiles import remove_profile

    name = arguments.required("name")
    remove_profile(name)
    if arguments.flag("json"):
        out_json({"removed": name})
    else:
        say(f"removed target {name}")
    return ExitCode.DONE


# -- clean and error --------------------------------------------------------------------------------------------
def _clean(arguments: Arguments) -> int:
    from toolkit.app.runs.repair import clean
    from toolkit.cli.launch import reach
    from toolkit.cli.listening import Progress
    from toolkit.store import open_store

    resolved = reach(arguments.text("target"))
    with open_store(arguments.text("store"), at_once=False) as store:
        ref = arguments.text("run")
        run = None if ref is None else store.resolve(ref)
        if arguments.flag("dry_run"):
            return _show_undo(arguments, resolved, run, store)
        try:
            report = clean(
                resolved.target,
                run=run,
                store=store,
                events=Progress(quiet=arguments.flag("quiet")),
                allow_commands=arguments.flag("allow_commands"),
                policy=resolved.policy,
            )
        finally:
            resolved.target.close()
    if arguments.flag("json"):
        others = [*report.others.left, *report.others.at_work]
        said = {"done": report.done, "left": report.left, "needs_backup": report.backup, "others": others}
        out_json({key: list(sentences) for key, sentences in said.items()})
    else:
        for sentence in report.done:
            out(f"cleaned: {sentence}")
        for sentence in report.left:
            out(f"not cleaned: {sentence}")
        for sentence in report.backup:
            out(f"backup: {sentence}")
        for sentence in (*report.others.left, *report.others.at_work):
            out(f"other store: {sentence}")
        if not report.done and not report.left and not report.others.left:
            say("nothing to clean up")
    return ExitCode.INCOMPLETE if report.left or report.others.left else ExitCode.DONE


def _show_undo(arguments: Arguments, resolved: ResolvedTarget, run: str | None, store: Store) -> int:
    from toolkit.app.runs.repair import shown_undo

    try:
        scripts = shown_undo(resolved.target, run=run, store=store, policy=resolved.policy)
    finally:
        resolved.target.close()
    if arguments.flag("json"):
        out_json({"scripts": scripts})
    else:
        for script in scripts.values():
            out_raw(script)
        if not scripts:
            say("nothing to clean up")
    return ExitCode.DONE


def _error(arguments: Arguments) -> int:
    from toolkit.app.explain import explain

    found = explain(arguments.required("code"))
    if arguments.flag("json"):
        out_json({"code": found.code, "title": found.title, "cause": found.cause, "action": found.action})
    else:
        out(f"{found.code}: {found.title}\n\ncause:  {found.cause}\naction: {found.action}")
    return ExitCode.DONE
