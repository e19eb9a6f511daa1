"""The command `dbatk`: puts the commands together, and turns whatever goes wrong into a sentence and a status."""

from __future__ import annotations

import atexit
import gc
import os
import signal
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import ClassVar, NoReturn

import typer

from toolkit import __version__
from toolkit.cli.colours import choose_color
from toolkit.cli.completing import answering_bash, completed_words
from toolkit.cli.help import SETTINGS, HelpfulGroup
from toolkit.cli.output import fitted_to_terminal, out_raw, show_error
from toolkit.cli.parameters import new_group, refuse_unknown_color
from toolkit.config.actor import set_command
from toolkit.errors import ExitCode, ToolkitError, unexpected

_SHOWN: type[BaseException] = typer.BadParameter.__mro__[2]
"""The parser's own errors; its base class is not part of typer's public face in every release."""


class _Root(HelpfulGroup):
    """All commands, by what they are for; what is declared as an operation is work."""

    topics: ClassVar = {
        "To try it": ("demo",),
        "Work, once or as a measurement": (),
        "Work from files": ("run", "export", "ingest"),
        "Results": ("runs", "report", "compare", "advise", "verify", "noise", "import"),
        "Plans of work": ("plan", "audit"),
        "Databases and hosts": (
            "target", "doctor", "environment", "ceiling", "awr", "snapshot", "clean", "error",
        ),
    }  # fmt: skip


def _version(wanted: bool) -> None:
    if wanted:
        out_raw(f"dbatk {__version__}")
        raise typer.Exit


def _root(
    version: bool = typer.Option(
        False, "--version", help="show the version", callback=_version, is_eager=True, show_default=False
    ),
    color: str | None = typer.Option(
        None, "--color", metavar="WHEN", help="auto, always or never; also after the command", show_default=False
    ),
) -> None:
    """Run, measure and compare the heavy jobs of Oracle, PostgreSQL and DuckDB.

    Try `dbatk demo` first: it needs no server.
    """
    del version
    refuse_unknown_color(color)


def build_app(words: Sequence[str] = ()) -> typer.Typer:
    """Return the whole command line, or of one whose command is built alone only that command or its group."""
    app = typer.Typer(
        cls=_Root,
        no_args_is_help=True,
        rich_markup_mode=None,
        pretty_exceptions_enable=False,
        context_settings=SETTINGS,
    )
    app.callback()(_root)
    if not _add_alone(app, words):
        _add_all(app)
    if tuple(words) in _NAMES_ENOUGH:
        _without_parameters(app)
    return app


_NAMES_ENOUGH = {("--help",), ("-h",), ("--version",)}
"""What shows commands by their names at most: typer would make sixteen hundred parameters of them first."""


def _without_parameters(app: typer.Typer) -> None:
    """Take the parameters from all commands, which keep their names and sentences."""
    for command in app.registered_commands:
        command.callback = _nothing
    for group in app.registered_groups:
        if group.typer_instance is not None:
            _without_parameters(group.typer_instance)


def _nothing() -> None:
    """Stand for the work of a command that is only named."""


def _add_alone(app: typer.Typer, words: Sequence[str]) -> bool:
    """Add the command that the words begin with if it only reads or is an operation, and tell whether it is.

    Files and the store are read, and a run is begun, in less time than the modules of all other commands need to
    be loaded.
    """
    begin = {" ".join(words[:count]) for count in (1, 2)}
    add = next((add for named, add in _ALONE.items() if named in begin), None)
    if add is None and words and words[0] in _first_words():
        add = _add_operations
    if add is not None:
        add(app)
    return add is not None


def _first_words() -> frozenset[str]:
    """Return the words with which only commands of operations begin."""
    from toolkit.model.operations import operations

    shared = {named.partition(" ")[0] for named in _ALONE}  # groups with commands that are no operations
    return frozenset(one.command[0] for one in operations().values()) - shared


def _add_operations(app: typer.Typer) -> None:
    from toolkit.cli.operations import add_operations

    add_operations(app, {})


def _add_awr(app: typer.Typer) -> None:
    from toolkit.cli.awr import add_awr

    awr = new_group("Read AWR and Statspack reports.")
    app.add_typer(awr, name="awr")
    add_awr(awr)


def _add_compare(app: typer.Typer) -> None:
    from toolkit.cli.compare import add_compare

    add_compare(app)


def _add_backup_read(app: typer.Typer) -> None:
    from toolkit.cli.backup import add_backup

    group = new_group("Read RMAN logs.")
    app.add_typer(group, name="backup")
    add_backup(group)


def _add_datapump_read(app: typer.Typer) -> None:
    from toolkit.cli.datapump import add_datapump

    group = new_group("Read logs of Data Pump.")
    app.add_typer(group, name="datapump")
    add_datapump(group)


def _add_restore_script(app: typer.Typer) -> None:
    from toolkit.cli.restoring import add_restore

    group = new_group("Write scripts for restores.")
    app.add_typer(group, name="restore")
    add_restore(group)


def _add_table_redefine(app: typer.Typer) -> None:
    from toolkit.cli.redefining import add_redefine

    group = new_group("Write scripts that redefine a table.")
    app.add_typer(group, name="table")
    add_redefine(group)


def _add_runs(app: typer.Typer) -> None:
    from toolkit.cli.results import add_results

    runs = new_group("Show, resume, delete and export runs.")
    app.add_typer(runs, name="runs")
    add_results(app, runs)


def _add_plan(app: typer.Typer) -> None:
    from toolkit.cli.plan import add_plan

    add_plan(app)


_ALONE: dict[str, Callable[[typer.Typer], None]] = {
    "awr": _add_awr, "compare": _add_compare, "backup read": _add_backup_read,
    "datapump read": _add_datapump_read, "datapump export": _add_operations, "datapump import": _add_operations,
    "table redefine": _add_table_redefine, "table move": _add_operations, "table shrink": _add_operations,
    "table create": _add_operations, "restore script": _add_restore_script, "restore try": _add_operations,
    "runs": _add_runs, "report": _add_runs, "plan": _add_plan,
}  # fmt: skip


def _add_all(app: typer.Typer) -> None:
    from toolkit.cli.advise import add_advise
    from toolkit.cli.audit import add_audit
    from toolkit.cli.backup import add_backup
    from toolkit.cli.bundles import add_bundles
    from toolkit.cli.ceiling import add_ceiling
    from toolkit.cli.datapump import add_datapump
    from toolkit.cli.doctor import add_doctor
    from toolkit.cli.environment import add_environment
    from toolkit.cli.files import add_files
    from toolkit.cli.importing import add_import
    from toolkit.cli.noise import add_noise
    from toolkit.cli.operations import add_operations
    from toolkit.cli.redefining import add_redefine
    from toolkit.cli.restoring import add_restore
    from toolkit.cli.snapshots import add_snapshots
    from toolkit.cli.targets import add_targets
    from toolkit.cli.verify import add_verify

    target = new_group("Manage named targets.")
    add_files(app)
    _add_plan(app)
    add_bundles(app)
    groups: dict[str, typer.Typer] = {}
    add_operations(app, groups)
    add_backup(groups["backup"])
    add_datapump(groups["datapump"])
    add_restore(groups["restore"])
    add_redefine(groups["table"])
    _add_runs(app)
    add_import(app)
    add_advise(app)
    add_verify(app)
    _add_compare(app)
    add_noise(app)
    app.add_typer(target, name="target")
    add_doctor(app)
    add_environment(app)
    add_ceiling(app)
    _add_awr(app)
    snapshot = new_group("Take snapshots of a database before and after a change.")
    app.add_typer(snapshot, name="snapshot")
    add_snapshots(snapshot)
    add_targets(app, target)
    add_audit(app)


def _refuse_named_shell(words: Sequence[str]) -> None:
    """Refuse completion for a shell that is named: typer would silently take the one that called."""
    option, _, shell = " ".join(words[:2]).replace("=", " ").partition(" ")
    if option in {"--install-completion", "--show-completion"} and shell:
        raise ToolkitError(
            f"`{option}` is for the shell that calls it and takes no name: `{shell}`",
            code="TK-0102",
            hint=f"`{shell} -c 'dbatk {option}'`",
        )


def _for(arguments: Sequence[str], app: typer.Typer) -> typer.Typer:
    """Leave only the command or group that a command line names: to build all others is a quarter of a start."""
    name = arguments[0] if arguments else ""
    groups = [group for group in app.registered_groups if group.name == name]
    commands = [command for command in app.registered_commands if command.name == name]
    if groups or commands:
        app.registered_groups, app.registered_commands = groups, commands
    return app


def run() -> None:
    """Run the command line and exit."""
    # What is imported lives as long as the process: to look for cycles in it again and again costs a fifth of the
    # time that a command needs to begin.
    gc.set_threshold(20_000)
    _take_signals()
    _leave(main(sys.argv[1:]))


def _leave(status: int) -> NoReturn:
    """End the process without going through all that it has in memory, which takes longer than many a command.

    What was registered to be done at the end is done, and what was written is handed over, as `sys.exit` does it.
    """
    atexit._run_exitfuncs()
    with suppress(OSError, ValueError):
        sys.stdout.flush()
    with suppress(OSError, ValueError):
        sys.stderr.flush()
    os._exit(status)


def _take_signals() -> None:
    """Let SIGTERM and SIGHUP end a command as Ctrl-C does; a run has its own way to end in order.

    What is ignored (SIGHUP under `nohup`) stays ignored.
    """
    for name in ("SIGTERM", "SIGHUP"):
        number = getattr(signal, name, None)
        if number is not None and signal.getsignal(number) is signal.SIG_DFL:
            signal.signal(number, signal.default_int_handler)


def main(arguments: Sequence[str]) -> int:
    """Run the command line and return its exit status; whatever goes wrong has been shown by then."""
    as_json, debug = _has(arguments, "--json"), _has(arguments, "--debug")
    set_command(arguments)
    choose_color(arguments)
    with fitted_to_terminal(), _tracebacks(debug), answering_bash(os.environ):
        return _answer(arguments, as_json=as_json, debug=debug)


def _answer(arguments: Sequence[str], *, as_json: bool, debug: bool) -> int:
    try:
        completed = completed_words(os.environ)
        # where the first word is completed commands are named, as help does it
        words = arguments if completed is None else completed or ("--help",)
        _refuse_named_shell(words)
        app = _for(words, build_app(words))
        answer = app(args=list(arguments), prog_name="dbatk", standalone_mode=False)
        return answer if isinstance(answer, int) else ExitCode.DONE
    except BrokenPipeError:
        _silence()
        return ExitCode.FAILED
    except (KeyboardInterrupt, typer.Abort):
        error = ToolkitError("interrupted", code="TK-0130", hint="`dbatk runs list` shows what can be resumed")
    except ToolkitError as caught:
        error = caught
        _trace(debug)
    except Exception as caught:  # noqa: BLE001 - the last resort: nobody sees a traceback unasked
        if isinstance(caught, _SHOWN):
            if type(caught).__name__ == "NoArgsIsHelpError":
                out_raw(str(caught))
                return ExitCode.DONE
            from toolkit.cli.usage import usage_error

            error = usage_error(caught, app, arguments)
        else:
            error = unexpected(caught)
    try:
        if not _logged(error, arguments) or as_json:
            show_error(error, as_json=as_json)
    except BrokenPipeError:
        _silence()
    return error.exit_code


def _logged(error: ToolkitError, arguments: Sequence[str]) -> bool:
    """Write an error to the logs that the line names; return whether standard error has had it so."""
    if not any(word.startswith(("--log-file", "--log-format")) for word in arguments):
        return False
    from toolkit.cli.listening import log_error

    return log_error(error, arguments)


def _has(arguments: Sequence[str], flag: str) -> bool:
    """Whether a flag was given, also when the rest of the line cannot be read."""
    given = list(arguments)
    return flag in (given[: given.index("--")] if "--" in given else given)


def _show_log() -> None:
    """Show what is logged for debugging: tracebacks of unexpected exceptions, wherever they were caught."""
    import logging

    log = logging.getLogger("dbatk")
    log.handlers, log.propagate = [logging.StreamHandler()], False
    log.setLevel(logging.DEBUG)


def _trace(debug: bool) -> None:
    if debug:
        import traceback

        traceback.print_exc(file=sys.stderr)


def _silence() -> None:
    """Point standard output nowhere: its reader went away, and the interpreter would complain when it exits."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


@contextmanager
def _tracebacks(debug: bool) -> Iterator[None]:
    """Show the traceback of every unexpected exception as it happens, also of one that ends a single step only."""
    if not debug:
        yield
        return
    import logging

    log, handler = logging.getLogger("toolkit"), logging.StreamHandler()
    log.addHandler(handler)
    log.setLevel(logging.DEBUG)
    try:
        yield
    finally:
        log.removeHandler(handler)
