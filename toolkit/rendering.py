"""Turns templates and SQL files into steps; nothing unfiltered ever reaches a statement.

Only values that went through one of our filters render: each filter returns a `Rendered` text, and `finalize`
refuses everything else. A template can therefore not let an unquoted name or value into a statement.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable
from dataclasses import replace
from decimal import Decimal

import jinja2

from toolkit import resources
from toolkit.dialects.base import Dialect
from toolkit.dialects.oracle.backup.texts import BARE, PATTERNS, fits
from toolkit.dialects.work import Call, ContextValue
from toolkit.model.steps import Step, added, spell_on_host, spell_program, together
from toolkit.model.values import QualifiedName, Scalar
from toolkit.model.words import Effect, StepKind

_KEYWORD = re.compile(
    r"[A-Z][A-Z0-9_ ]*"
    r"(\((?:\d{1,4}(?: CHAR| BYTE)?|\d{1,2},-?\d{1,3}|DEGREE [A-Z0-9]{1,7} INSTANCES [A-Z0-9]{1,7})\))?"
)
_LINE_END = "\0"
"""Stands for a line end inside a value while the template's own lines are tidied; no statement holds a NUL."""
_HEADER = re.compile(r"\A\s*(?:--[^\n]*\n)*")
"""The first comment lines: those after a blank line belong to the statement."""


class Rendered(str):
    """A piece of SQL that one of our filters made."""

    __slots__ = ()


def _finalize(value: object) -> object:
    if isinstance(value, Rendered | jinja2.Undefined):
        return value
    msg = f"a template renders {type(value).__name__} `{value}` without a filter"
    raise jinja2.TemplateRuntimeError(msg)


def _integer(value: ContextValue) -> Rendered:
    if isinstance(value, bool) or not isinstance(value, int):
        msg = f"`{value}` is not an integer"
        raise jinja2.TemplateRuntimeError(msg)
    return Rendered(value)


def _number(value: ContextValue) -> Rendered:
    if isinstance(value, bool) or not isinstance(value, int | float) or value != value:  # noqa: PLR0124 (NaN)
        msg = f"`{value}` is not a number"
        raise jinja2.TemplateRuntimeError(msg)
    return Rendered(str(value) if isinstance(value, int) else f"{Decimal(f'{value:.12g}'):f}")


def _keyword(value: ContextValue) -> Rendered:
    """Let words of the language through: upper case letters, digits, blanks, the size of a type in brackets."""
    if not isinstance(value, str) or not _KEYWORD.fullmatch(value):
        msg = f"`{value}` is not a keyword"
        raise jinja2.TemplateRuntimeError(msg)
    return Rendered(value)


def _as_it_is(text: str) -> Rendered:
    """Keep the lines of a value as they are, inside quotes above all."""
    if _LINE_END in text:
        msg = "a value contains a NUL character"
        raise jinja2.TemplateRuntimeError(msg)
    return Rendered(text.replace("\n", _LINE_END))


def _verbatim(value: ContextValue) -> Rendered:
    """Let through a text that was checked before: the user's one SELECT, an index definition of the catalogue."""
    if not isinstance(value, str):
        msg = "a verbatim text is missing"
        raise jinja2.TemplateRuntimeError(msg)
    return _as_it_is(value)


def _hint_words(value: ContextValue) -> Rendered:
    """Let an optimizer hint through: no end of comment, no line break."""
    if not isinstance(value, str) or not re.fullmatch(r"[A-Za-z0-9_$#,@(). ]*", value):
        msg = f"`{value}` is not a hint"
        raise jinja2.TemplateRuntimeError(msg)
    return Rendered(value)


def _quoter(dialect: Dialect) -> Callable[[ContextValue], Rendered]:
    def identifier(value: ContextValue) -> Rendered:
        if isinstance(value, QualifiedName):
            parts = [value.schema, value.name] if value.schema else [value.name]
            return _as_it_is(".".join(dialect.quote(part) for part in parts))
        if isinstance(value, tuple):
            return Rendered(", ".join(identifier(part) for part in value))
        if not isinstance(value, str):
            msg = f"`{value}` is not a name"
            raise jinja2.TemplateRuntimeError(msg)
        return _as_it_is(dialect.quote(value))

    return identifier


def _rman_filter(name: str) -> Callable[[ContextValue], Rendered]:
    """Return the filter of a kind of value in RMAN scripts: it lets through what fits it, and nothing else."""

    def spell(value: ContextValue) -> Rendered:
        if not fits(name, value):
            msg = f"`{value}` cannot be used in an RMAN script as {name.removeprefix('rman_')}"
            raise jinja2.TemplateRuntimeError(msg)
        return Rendered(value if name in BARE else f"'{value}'")

    return spell


_ENVIRONMENTS: dict[str, jinja2.Environment] = {}


def _environment(dialect: Dialect) -> jinja2.Environment:
    name = dialect.engine
    if name not in _ENVIRONMENTS:
        _ENVIRONMENTS[name] = _new_environment(dialect)
    return _ENVIRONMENTS[name]


def _source(name: str) -> tuple[str, None, Callable[[], bool]]:
    """Return a template; jinja2 asks whether it is up to date each time it is used, also by another template."""

    def is_up_to_date() -> bool:
        resources.touch(f"templates/{name}")
        return True

    return resources.template_text(name), None, is_up_to_date


def _new_environment(dialect: Dialect) -> jinja2.Environment:
    # SQL, not HTML: quoting is the filters' work, and `finalize` sees to it that they are used.
    environment = jinja2.Environment(  # noqa: S701
        loader=jinja2.FunctionLoader(_source),
        undefined=jinja2.StrictUndefined,
        finalize=_finalize,
        trim_blocks=True,
        lstrip_blocks=True,
    )

    # SQL calls no function of jinja2's own, and each rendering would look through them.
    environment.globals.clear()

    def literal(value: Scalar) -> Rendered:
        return _as_it_is(dialect.literal(value))

    def block_literal(body: str) -> Rendered:
        # The values inside are rendered already: what stands for their line ends is no NUL of theirs.
        return literal(body.replace(_LINE_END, "\n"))

    environment.filters.update(
        identifier=_quoter(dialect),
        literal=literal,
        block_literal=block_literal,
        integer=_integer,
        number=_number,
        keyword=_keyword,
        verbatim=_verbatim,
        hint=_hint_words,
        **{name: _rman_filter(name) for name in PATTERNS},
    )
    return environment


def _tidy(text: str) -> str:
    """Drop the header and blank lines; a statement never ends in its terminator."""
    body = _HEADER.sub("", text, count=1)
    # only LF ends a line: the other separators that Unicode knows may stand in a name or a literal
    lines = [kept for line in body.split("\n") if (kept := line.rstrip(" \t\r"))]
    return "\n".join(lines).replace(_LINE_END, "\n")


def _tidy_rman(text: str) -> str:
    """Drop headers (comment lines) and blank lines; no value begins a line, and none holds a line end."""
    lines = (line.rstrip() for line in text.split("\n"))
    return "\n".join(line for line in lines if line and not line.startswith("#"))


def render_call(dialect: Dialect, call: Call) -> str:
    """Return the statement of a call, without header and terminator.

    Raises:
        jinja2.TemplateError: the template or its values are wrong: an internal error.
    """
    if call.file:
        return sql_file(dialect.engine, call.template)
    own = call.kind in (StepKind.SCRIPT, StepKind.PARAMETERS) and "." in call.template
    ending = "" if own else ".rman" if call.kind is StepKind.RMAN else ".sql"
    template = _environment(dialect).get_template(f"{dialect.engine}/{call.template}{ending}.j2")
    if own or call.kind is StepKind.RMAN:
        return _tidy_rman(template.render(**call.values))
    if call.inside:
        inside = [render_call(dialect, each) for each in call.inside]
        return _tidy(template.render(**call.values, statements=inside))
    return _tidy(template.render(**call.values))


def sql_file(engine: str, name: str) -> str:
    """Return the statement of `sql/<engine>/<name>.sql`, without header and terminator."""
    return _statement(resources.sql_text(f"{engine}/{name}.sql"))


@functools.cache
def _statement(whole: str) -> str:
    text = _tidy(whole)
    return text if text.endswith("END;") else text.removesuffix(";").removesuffix("/").rstrip().removesuffix(";")


def _redo_of(call: Call) -> float | None:
    """Return the redo of a call; of a block that of the changes in it."""
    changing = (each for each in call.inside if each.effect in (Effect.CREATES, Effect.CHANGES))
    return added(each.redo_bytes for each in changing) if call.inside else call.redo_bytes


def step_of(dialect: Dialect, call: Call) -> Step:
    """Render a call into a step; a file with others beside it into one read of them all."""
    if call.also:
        return together(step_of(dialect, each) for each in (replace(call, also=()), *call.also))
    return Step(
        name=f"{dialect.engine}/{call.template}",
        text=_text_on_host(call) if _has_no_text(call) else render_call(dialect, call),
        kind=call.kind,
        session=call.session,
        binds=call.binds,
        effect=call.effect,
        object=call.object,
        undo=tuple(render_call(dialect, back) for back in call.undo),
        restores=tuple(back.restores for back in call.undo),
        overwrites=call.overwrites,
        definition=call.definition,
        like=call.like,
        puts_back=call.restores,
        before=call.before,
        unlogged=call.unlogged,
        takes=(*call.takes, *(taken for each in call.inside for taken in each.takes)),
        redo_bytes=_redo_of(call),
        tolerates=call.tolerates,
        keep_as=call.keep_as,
        awaits=call.awaits,
        same_rows=call.same_rows,
        own_read=call.file and call.effect is Effect.READS and call.kind is StepKind.SQL,
        argv=call.argv,
        program=call.program,
        users=call.users,
        undo_argv=call.undo_argv,
        environment=call.environment,
        as_user=call.as_user,
        without=call.without,
        access=call.access,
        transfer=call.transfer,
        otherwise=None if call.otherwise is None else step_of(dialect, call.otherwise),
    )


def _text_on_host(call: Call) -> str:
    if call.kind is StepKind.USERS:
        return call.text
    return spell_on_host(call.kind, call.argv) if call.program is None else spell_program(call.argv, call.program)


def _has_no_text(call: Call) -> bool:
    return call.kind in (StepKind.COMMAND, StepKind.FOLDER, StepKind.USERS)
