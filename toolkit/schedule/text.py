"""The Jinja2 environment of the scheduler's files: as for SQL, only values that went through a filter render."""

from __future__ import annotations

import functools

import jinja2

from toolkit import resources


class Spelled(str):
    """A piece of text that one of our filters made."""

    __slots__ = ()


def _finalize(value: object) -> object:
    if isinstance(value, Spelled | jinja2.Undefined):
        return value
    msg = f"a template renders {type(value).__name__} `{value}` without a filter"
    raise jinja2.TemplateRuntimeError(msg)


def _one_line(value: object) -> str:
    text = str(value)
    if not text.isprintable():
        msg = "a value holds a line end or another control character"
        raise jinja2.TemplateRuntimeError(msg)
    return text


def _comment(value: object) -> Spelled:
    return Spelled(_one_line(value))


def _calendar(value: object) -> Spelled:
    """Let a time through that `toolkit.schedule` itself spelled."""
    return Spelled(_one_line(value))


def _path(value: object) -> Spelled:
    """Spell a whole value that systemd takes as it is, but for `%`, which begins a specifier."""
    return Spelled(_one_line(value).replace("%", "%%"))


def _quoted(value: object) -> Spelled:
    """Spell one word of a list, in quotes as systemd.syntax(7) has them."""
    text = _one_line(value).replace("\\", "\\\\").replace('"', '\\"').replace("%", "%%")
    return Spelled(f'"{text}"')


def _argument(value: object) -> Spelled:
    """Spell one argument of a command line, where `$` begins a variable besides (systemd.service(5))."""
    return Spelled(_quoted(value).replace("$", "$$"))


@functools.cache
def _environment() -> jinja2.Environment:
    # no HTML: what could be taken for syntax is the filters' business
    environment = jinja2.Environment(  # noqa: S701
        loader=jinja2.FunctionLoader(resources.template_text),
        undefined=jinja2.StrictUndefined,
        finalize=_finalize,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters.update(
        comment=_comment, calendar=_calendar, path=_path, quoted=_quoted, argument=_argument
    )
    return environment


def render(template: str, **values: object) -> str:
    """Return a rendered template of `templates/schedule`.

    Raises:
        jinja2.TemplateError: the template or its values are wrong: a fault of ours, never of the user.
    """
    return _environment().get_template(f"schedule/{template}.j2").render(**values)
