"""Options and groups of commands as data: declared once, put together into the signatures that typer reads."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from toolkit.cli.colours import CHOICES
from toolkit.cli.completing import completer
from toolkit.cli.help import HelpfulGroup, Parameter, command_class
from toolkit.errors import ExitCode, ToolkitError
from toolkit.model.options import ASSUMED, Topic
from toolkit.terminal import use_store

if TYPE_CHECKING:
    from toolkit.model.words import EngineName

PROVIDERS = ("awr", "statspack", "vstat", "pgstat", "duckstat", "osstat")
"""Of snapshots."""


class Arguments:
    """The values given on the command line, by parameter name."""

    def __init__(self, values: Mapping[str, object]) -> None:
        self._values = values

    def __contains__(self, name: str) -> bool:
        return self._values.get(name) not in (None, [])

    def text(self, name: str) -> str | None:
        """Return a text, or None; of an option given several times all values are to be asked for."""
        value = self._values.get(name)
        assert not isinstance(value, list), name
        return None if value is None else str(value)

    def required(self, name: str) -> str:
        """Return a text that typer made sure of."""
        return str(self._values[name])

    def number(self, name: str) -> int | None:
        """Return a whole number, or None."""
        value = self._values.get(name)
        return value if isinstance(value, int) else None

    def flag(self, name: str) -> bool:
        """Return whether a flag was given."""
        return self._values.get(name) is True

    def also(self, flag: str) -> Arguments:
        """Return them with a flag beside."""
        return Arguments({**self._values, flag: True})

    def texts(self, name: str) -> list[str]:
        """Return the values of an option given several times."""
        value = self._values.get(name)
        return [str(one) for one in value] if isinstance(value, list) else []


Body = Callable[[Arguments], int]


def option(
    name: str,
    help: str,
    *flags: str,
    kind: object = str,
    metavar: str | None = None,
    hidden: bool = False,
    topic: Topic = Topic.WHAT,
    engines: frozenset[str] = frozenset(),
    choices: Sequence[str] = (),
    several: bool = False,
    like: str = "",
    on: Mapping[EngineName, tuple[str, Sequence[str]]] | None = None,
) -> Parameter:
    """Declare an option; it is None (a flag: False) when not given.

    The shell is offered its `choices`, or the values of the parameter that it is `like`; `on` has its help and
    choices on engines where they differ.
    """
    declared = flags or ("--" + name.replace("_", "-"),)
    annotation = kind if kind is bool or kind == list[str] else kind | None  # type: ignore[operator]
    default: object = False if kind is bool else [] if kind == list[str] else None
    shown = None if kind is bool else metavar or "TEXT"
    on = on or {}
    of_engines = {engine: own for engine, (_, own) in on.items()}
    values = completer(like or name, choices, several=several, on=of_engines)
    info = typer.Option(
        *declared, help=help, metavar=shown, hidden=hidden, show_default=False, autocompletion=values
    )
    made = Parameter(name, Parameter.KEYWORD_ONLY, default=default, annotation=Annotated[annotation, info])
    made.topic, made.engines, made.on = topic, engines, on
    return made


def assume_option(what: str) -> Parameter:
    """Declare `--assume`; each engine shows how its releases are written."""
    written = "; ".join(f"on {name} {form}" for name, form in ASSUMED.items())
    return option(
        "assume",
        f"{what}, {written}",
        metavar="RELEASE",
        on={name: (f"{what}, as in {form}", ()) for name, form in ASSUMED.items()},
    )


def about(topic: Topic, *options: Parameter) -> tuple[Parameter, ...]:
    """Put options under a topic of help."""
    for one in options:
        one.topic = topic
    return options


def argument(
    name: str,
    help: str,
    *,
    kind: object = str,
    metavar: str | None = None,
    default: str | list[str] | None = None,
    like: str = "",
) -> Parameter:
    """Declare an argument; it is required unless it has a default. `like` as in `option`."""
    info = typer.Argument(
        help=help,
        metavar=metavar or name.upper(),
        show_default=bool(default),
        autocompletion=completer(like or name),
    )
    return Parameter(
        name,
        Parameter.KEYWORD_ONLY,
        default=Parameter.empty if default is None else default,
        annotation=Annotated[kind, info],
    )


def _refuse_secret(store: str | None) -> None:
    """Refuse a store whose URL shows a password in the list of processes.

    Raises:
        ToolkitError: TK-0108.
    """
    _, _, rest = (store or "").partition("://")
    if ":" in rest.rpartition("@")[0] or "password=" in rest.lower():
        raise ToolkitError(
            "the URL of the store holds a password",
            code="TK-0108",
            hint="use `~/.pgpass`, or put the whole URL into the variable `DBATK_STORE`",
        )


def refuse_unknown_color(color: str | None) -> None:
    """Refuse a `--color` that is none.

    Raises:
        ToolkitError: TK-0102.
    """
    if color is not None and color not in CHOICES:
        from toolkit.documents import did_you_mean

        hint = did_you_mean(color, CHOICES) or "one of " + ", ".join(CHOICES)
        raise ToolkitError(f"`--color` cannot be `{color}`", code="TK-0102", hint=hint)


def _name_store(store: str | None) -> None:
    """Let the commands in what is said name the store that this one was given."""
    name = ""
    if store:
        from toolkit.store.location import find_place, name_to_type

        with suppress(ToolkitError):  # said by what opens it
            name = name_to_type(find_place(store))
    use_store(name)


def add_command(
    app: typer.Typer,
    name: str,
    body: Body,
    parameters: Iterable[Parameter],
    help: str,
    examples: Sequence[str] = (),
    common: Iterable[str] = (),
) -> None:
    """Add a command whose signature is made from declared parameters.

    Args:
        app: to which it is added.
        name: the last word of its command line.
        body: does the work, and returns the exit status.
        parameters: in the order of help; `--color`, which every command has, comes last.
        help: one sentence or more.
        examples: whole command lines that help shows.
        common: names of the parameters that help shows first.
    """

    def command(**values: object) -> int:
        arguments = Arguments(values)
        refuse_unknown_color(arguments.text("color"))
        _refuse_secret(arguments.text("store"))
        _name_store(arguments.text("store"))
        try:
            return body(arguments)
        except ToolkitError as error:
            if error.exit_code is ExitCode.REFUSED:
                from toolkit.app.auditing import note_refusal

                plan = arguments.text("file") or arguments.text("plan")
                note_refusal(error, arguments.text("store"), plan, arguments.text("target"))
            raise

    made = [*parameters, COLOR]
    command.__signature__ = inspect.Signature(made)  # type: ignore[attr-defined]
    command.__annotations__ = {parameter.name: parameter.annotation for parameter in made}
    command.__name__ = name.replace("-", "_")
    app.command(name, help=help, cls=command_class(made, examples, common))(command)


COLOR = option(
    "color",
    "auto (on a terminal, unless NO_COLOR is set), always or never",
    metavar="WHEN",
    topic=Topic.OUTPUT,
    choices=CHOICES,
)


def target_option(help: str) -> Parameter:
    """Declare `-t`."""
    return option("target", help, "-t", "--target", metavar="NAME|URL", topic=Topic.WHERE)


TARGET = target_option("profile name or URL of the database (required)")
OTHER_TARGET = target_option("profile name or URL, instead of the target that the file names")
NOT_PRODUCTION = option("not_production", "the target is not production", kind=bool, topic=Topic.SAFETY)
OUTPUT = about(
    Topic.OUTPUT,
    option("json", "print one JSON document on standard output", kind=bool),
    option("store", "results store: a path or an SQLAlchemy URL", metavar="PATH|URL"),
    option("debug", "show tracebacks", kind=bool),
)
APPROVED_ONLY = option(
    "approved_only", "refuse anything that differs from what was approved", kind=bool, topic=Topic.SAFETY
)
QUIET_WHEN_OK = option(
    "quiet_when_ok", "write nothing at all if everything is ok (exit code 0)", kind=bool, topic=Topic.OUTPUT
)
QUIET = option("quiet", "show no progress", "-q", "--quiet", kind=bool, topic=Topic.OUTPUT)
ALLOW_COMMANDS = option("allow_commands", "let factors run commands on this host", kind=bool, topic=Topic.SAFETY)
UNSEEN_OK = option(
    "unseen_ok",
    "send also what cannot be checked for licences (text built at run time, links)",
    "--allow-unchecked",
    kind=bool,
    topic=Topic.SAFETY,
)
ALLOW_PRODUCTION = option(
    "yes_production",
    "run on the production target of this name (several: one each)",
    "--allow-production",
    kind=list[str],
    metavar="NAME",
    topic=Topic.SAFETY,
)
APPROVALS = about(
    Topic.SAFETY,
    NOT_PRODUCTION,
    ALLOW_PRODUCTION,
    ALLOW_COMMANDS,
    UNSEEN_OK,
)
DESIGN = about(
    Topic.MEASUREMENT,
    option(
        "repeat",
        "fixed number of counted repeats; makes it a measurement (default: see --detect)",
        kind=int,
        metavar="N",
    ),
    option(
        "detect",
        "several configurations: repeat until such a difference is detected or excluded (default 10%)",
        metavar="10%",
    ),
    option(
        "search",
        "run only what a search over the levels of one or two factors needs, not all (--degree 1..32 --search)",
        kind=bool,
    ),
    option("measure", "measure also a single configuration (3 repeats)", kind=bool),
    option(
        "judge",
        "what configurations are compared by: elapsed (default for most), throughput, or a metric, as "
        "tps:higher if higher is better",
        metavar="METRIC",
    ),
    option("volume", "what each trial works on, for throughput: 10GiB, '1000 rows', @FILE, rows, bytes"),
    option("warmup", "warm-up sweeps, not counted (default 1)", kind=int, metavar="N"),
    option(
        "snapshot",
        "counters read before and after each trial: auto (default), none, osstat, ...",
        metavar="PROVIDER",
        choices=("auto", "none", *PROVIDERS),
    ),
    option("work_schema", "schema for scratch objects (default: that of the table)", metavar="NAME"),
    option(
        "keep",
        "objects of a measurement to keep: none (default), best, all",
        metavar="WHICH",
        choices=("none", "best", "all"),
    ),
    option("budget", "stop between trials after this time, resumable", metavar="2h"),
    option("time_limit", "cancel a timed statement after this time", metavar="30m"),
    option("quiet_wait", "wait at most this long for an idle host before each trial", metavar="5m"),
    option(
        "guard",
        "wait, or stop with on_breach=stop, while a limit is passed: max_lag=30s, min_free.tablespace=10GiB, "
        "max_load=0.9, max_active_sessions=40, max_blocking=20s, ... (several; as in a plan)",
        kind=list[str],
        metavar="NAME=VALUE",
    ),
    option("label", "name of the run", metavar="TEXT"),
    option("seed", "seed for the order of trials (default: a new one)", kind=int, metavar="N"),
    option("save_as", "write the experiment file instead of running it", metavar="FILE"),
)
SCRIPT = about(
    Topic.SCRIPT,
    option("dry_run", "print the script without changing anything", kind=bool),
    option(
        "full",
        "with --dry-run, on a terminal: of every configuration all, not only what differs (a pipe has all of it)",
        kind=bool,
    ),
    assume_option("with --dry-run: do not connect; assume this release"),
    option("facts", "with --dry-run: do not connect; read the facts from a file", metavar="FILE"),
)


class DefaultGroup(HelpfulGroup):
    """Takes what is no command of the group for arguments of its default one.

    Attributes:
        default: the command.
        alone: whether no word at all means it, too; else that shows the help.
    """

    default = ""
    alone = False

    def in_full(self, args: list[str]) -> list[str]:
        """Return the words of the long form for those that were typed.

        A word that is no file and nearly a command, or has another word behind it, is left for the error that
        names the command.
        """
        if not args:
            return [self.default] if self.alone else []
        if args[0] in (*self.commands, "-h", "--help") or self._is_no_argument(*args[:2]):
            return args
        return [self.default, *args]

    def _is_no_argument(self, word: str, following: str = "-") -> bool:
        from difflib import get_close_matches

        if not word.isalpha() or Path(word).exists():
            return False
        return not following.startswith("-") or bool(get_close_matches(word, self.commands, 1, 0.7))

    def parse_args(self, ctx: typer.Context, args: list[str]) -> list[str]:  # type: ignore[override]
        return super().parse_args(ctx, self.in_full(args))


def new_group(help: str, cls: type[HelpfulGroup] = HelpfulGroup) -> typer.Typer:
    """Return a group of commands; without a word it shows its help, or does what `cls` says."""
    bare = not (issubclass(cls, DefaultGroup) and cls.alone)
    return typer.Typer(help=help, no_args_is_help=bare, rich_markup_mode=None, add_completion=False, cls=cls)
