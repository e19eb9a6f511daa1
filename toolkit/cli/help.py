"""What `--help` shows: examples first, options by topic, and only those that the engine of the target has."""

from __future__ import annotations

import inspect
import re
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from textwrap import wrap
from typing import TYPE_CHECKING, ClassVar, Protocol

import typer
from typer.core import TyperCommand, TyperGroup, TyperOption

from toolkit.cli.colours import on_terminal
from toolkit.cli.completing import engine_of, of_engine
from toolkit.cli.examples import EXAMPLES
from toolkit.cli.habits import renamed
from toolkit.cli.output import say
from toolkit.errors import ToolkitError
from toolkit.model.options import Topic

if TYPE_CHECKING:
    from toolkit.model.words import EngineName

_WIDEST = 200
_LINE = "dbatk.line"
_ARGUMENTS = "Arguments"
SETTINGS: dict[str, object] = {"help_option_names": ["-h", "--help"], "max_content_width": _WIDEST}
"""For the root of the commands: the terminal's own width is used, and `-h` is `--help`."""


class Parameter(inspect.Parameter):
    """A declared option or argument of a command.

    Attributes:
        topic: under which help shows it; a command may show it first, as common.
        engines: that have it; empty for every engine.
        on: its meaning and its choices on engines where they differ.
    """

    topic: Topic = Topic.WHAT
    engines: frozenset[EngineName] = frozenset()
    on: Mapping[EngineName, tuple[str, Sequence[str]]] = {}


class _Formatter(Protocol):
    width: int

    def section(self, name: str) -> object: ...
    def write(self, string: str) -> None: ...


class HelpfulCommand(TyperCommand):
    """A command whose help has examples and topics; each command has a class of its own."""

    examples: tuple[str, ...] = ()
    declared: Mapping[str, Parameter] = {}
    common: frozenset[str] = frozenset()

    def parse_args(self, ctx: typer.Context, args: list[str]) -> list[str]:  # type: ignore[override]
        args, notes = renamed(args, {flag for one in self.get_params(ctx) for flag in one.opts})
        # where nobody reads it (cron, a unit), a note would only become a mail every night
        for note in notes if on_terminal(sys.stderr) else ():
            say(f"note: {note}")
        ctx.meta[_LINE] = tuple(args)
        rest = super().parse_args(ctx, list(args))
        self._refuse_twice(ctx, args)
        return rest

    def _refuse_twice(self, ctx: typer.Context, args: list[str]) -> None:
        """Refuse a second value of an option that takes one: the parser would keep the last in silence.

        Raises:
            ToolkitError: TK-0107.
        """
        _, _, given = self.make_parser(ctx).parse_args(args=list(args))
        for one in given:
            single = isinstance(one, TyperOption) and not one.is_flag and not one.multiple
            if single and given.count(one) > 1:
                raise ToolkitError(
                    f"`{one.opts[-1]}` was given {given.count(one)} times",
                    code="TK-0107",
                    hint="give it once; where it takes several values, together: `--degree 1,2,4`",
                )

    def format_options(self, ctx: typer.Context, formatter: _Formatter) -> None:  # type: ignore[override]
        examples = examples_of(self, ctx.command_path)
        if examples:
            with _section(formatter, "Examples"):
                for example in examples:
                    formatter.write(f"{continued(example, formatter.width)}\n")
        engine = engine_of(_target(ctx.meta.get(_LINE, ())))
        elsewhere: list[str] = []
        shown: dict[str, list[tuple[str, str]]] = {topic.value: [] for topic in Topic}
        for parameter in self.get_params(ctx):
            declared = self.declared.get(parameter.name or "")
            written = parameter.get_help_record(ctx)
            if written is None:
                continue
            record = _meant(written, declared, engine)
            engines = declared.engines if declared else frozenset()
            if engine is not None and engines and engine not in engines:
                elsewhere.append(record[0].split()[0])
                continue
            if parameter.param_type_name == "argument":
                shown.setdefault(_ARGUMENTS, []).append(record)
                continue
            topic = declared.topic if declared else Topic.OUTPUT
            if parameter.name in self.common:
                title = Topic.COMMON.value
                if engines and engine is None:
                    record = (record[0], f"{', '.join(sorted(engines))}: {record[1]}")
            elif engines and engine is None:
                title = f"Only on {' and '.join(sorted(engines))}"
            else:
                title = topic.value
            shown.setdefault(title, []).append(record)
        for title, records in _in_order(shown):
            with _section(formatter, title):
                _write(formatter, records)
        if elsewhere:
            with _section(formatter, f"Not on {engine}"):
                _write(formatter, [("", ", ".join(elsewhere))])

    def get_help_option(self, ctx: typer.Context) -> object:  # type: ignore[override]
        made = super().get_help_option(ctx)
        if made is not None:
            made.help = (
                "show this help; with -t only what that engine has" if self._differs() else "show this help"
            )
        return made

    def _differs(self) -> bool:
        return any(one.engines for one in self.declared.values())


class HelpfulGroup(TyperGroup):
    """A group whose help has the whole sentence of each command, under topics where there are many.

    Attributes:
        topics: titles, each with the names of its commands; the one without names has all others.
    """

    topics: ClassVar[Mapping[str, Sequence[str]]] = {"Commands": ()}

    def format_commands(self, ctx: typer.Context, formatter: _Formatter) -> None:  # type: ignore[override]  # noqa: ARG002
        others = next(title for title, own in self.topics.items() if not own)
        shown: dict[str, list[tuple[str, str]]] = {title: [] for title in self.topics}
        names = [name for name, command in self.commands.items() if not command.hidden]
        column = max(map(len, names), default=0)
        for name in names:
            title = next((title for title, own in self.topics.items() if name in own), others)
            sentence = (self.commands[name].help or "").partition("\n\n")[0]
            shown[title].append((name.ljust(column), " ".join(sentence.split())))
        for title, records in shown.items():
            if records:
                with _section(formatter, title):
                    _write(formatter, records)


def command_class(
    declared: Iterable[inspect.Parameter], examples: Sequence[str], common: Iterable[str] = ()
) -> type[HelpfulCommand]:
    """Return the class of one command.

    Args:
        declared: its parameters.
        examples: whole command lines.
        common: names of the parameters that help shows first.
    """
    named = {one.name: one for one in declared if isinstance(one, Parameter)}
    own = {"declared": named, "examples": tuple(examples), "common": frozenset(common)}
    return type("Command", (HelpfulCommand,), own)


def examples_of(command: TyperCommand, path: str) -> tuple[str, ...]:
    """Return the examples of a command; none of a group.

    Args:
        command: any.
        path: as it is typed: `dbatk runs list`.
    """
    words = path.partition(" ")[2]
    own = command.examples if isinstance(command, HelpfulCommand) else ()
    return own or EXAMPLES.get(words) or EXAMPLES.get(f"plan {words}") or ()


def _meant(record: tuple[str, str], declared: Parameter | None, engine: EngineName | None) -> tuple[str, str]:
    """Return how a parameter is written and what it means, on an engine or in general."""
    own = of_engine(declared.on, engine) if declared else None
    return (record[0], own[0]) if own else record


def _in_order(shown: Mapping[str, list[tuple[str, str]]]) -> Iterator[tuple[str, list[tuple[str, str]]]]:
    """Yield the topics, with what only some engines have between what to do and what is shown of it."""
    last = (Topic.SAFETY.value, Topic.OUTPUT.value)
    for title in (_ARGUMENTS, *(one for one in shown if one not in (_ARGUMENTS, *last)), *last):
        if shown.get(title):
            yield title, shown[title]


def continued(line: str, room: int) -> str:
    """Return a command line over as many lines as it needs; a backslash before each break, as a shell takes them.

    Args:
        line: as it is typed, on one line.
        room: characters of a line, without the two that each is indented by.
    """
    words = re.findall(r"(?:'[^']*'|\"[^\"]*\"|\S)+", line)
    lines = [""]
    for word in words:
        longer = f"{lines[-1]} {word}" if lines[-1] else word
        fits = len(longer) + len(" \\") <= room or not lines[-1].strip()
        if fits or (word is words[-1] and len(longer) <= room):
            lines[-1] = longer
        else:
            lines.append(f"    {word}")
    return " \\\n".join(f"  {one}" for one in lines)


@contextmanager
def _section(formatter: _Formatter, title: str) -> Iterator[None]:
    with formatter.section("\n".join(wrap(f"{title}:", formatter.width))[:-1]):  # type: ignore[attr-defined]
        yield


def _write(formatter: _Formatter, records: Sequence[tuple[str, str]]) -> None:
    """Write names and meanings side by side; the parser's own way breaks words at their hyphens."""
    most = 20 if formatter.width < 76 else 30
    column = min(most, max(len(name) for name, _ in records))
    indent = 2 + column + (2 if column else 0)
    for name, meaning in records:
        lines = wrap(meaning, formatter.width - indent, break_on_hyphens=False, break_long_words=False)
        beside = name if len(name) <= column else ""
        if name and not beside:
            formatter.write(f"  {name}\n")
        for place, line in enumerate(lines):
            left = f"{beside if place == 0 else '':<{column}}  " if column else ""
            formatter.write(f"  {left}{line}\n")


def _target(words: Sequence[str]) -> str:
    for place, word in enumerate(words):
        if word in ("-t", "--target"):
            return words[place + 1] if place + 1 < len(words) else ""
        if word.startswith("--target="):
            return word.partition("=")[2]
    return ""
