"""Factors of a mix: `{threads}` in its jobs stands for the level of the factor `threads`.

In a program (its arguments, `env`, `cwd`, `stdin`), and in what runs before and after each trial, it is part of a
text. Elsewhere, as in `degree = "{threads}"` of an operation or `every = "{gap}"`, it is the value itself.
"""

from __future__ import annotations

import shlex
from collections.abc import Collection, Iterator, Mapping
from dataclasses import replace

from toolkit.design.placeholders import check_placeholders, fill, placeholders
from toolkit.documents import TomlDocument
from toolkit.errors import ToolkitError
from toolkit.model.values import spell_level

_ONCE = ("setup", "cleanup")
_EACH = ("prepare", "conclude")
_TEXTS = ("env", "cwd", "stdin")
OWN = frozenset({"copies", "nodes", "concurrency"})
"""Factors of every mix, which need not stand anywhere."""


def texts_in(value: object) -> Iterator[str]:
    """Yield the texts of a value of TOML."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for each in value.values():
            yield from texts_in(each)
    elif isinstance(value, list):
        for each in value:
            yield from texts_in(each)


def check_factors(document: TomlDocument, factors: Collection[str]) -> None:
    """Refuse a name in braces that is no factor, and a factor that stands nowhere.

    Raises:
        ToolkitError: TK-0107.
    """
    head, jobs = document.data.get("mix", {}), document.data.get("job", [])
    assert isinstance(head, Mapping) and isinstance(jobs, list)
    for key in _ONCE:
        for text in texts_in(head.get(key)):
            if placeholders(text):
                raise ToolkitError(
                    f"`{key}` runs once for all configurations and cannot use `{{{placeholders(text)[0]}}}`",
                    code="TK-0107",
                    hint="use `prepare` or `conclude`, which run for each trial",
                )
    used: set[str] = set()
    for where, table in (("mix", {key: head.get(key) for key in _EACH}), *((_named(job), job) for job in jobs)):
        for text in texts_in(table):
            check_placeholders(where, text, factors)
            used.update(placeholders(text))
    for name in factors:
        if name not in used | OWN:
            raise ToolkitError(
                f"the factor `{name}` stands in no job, so that all its levels would do the same",
                code="TK-0107",
                hint=f"put `{{{name}}}` into what a job runs, or when it begins",
            )


def _named(job: object) -> str:
    return f"job {job.get('name')}" if isinstance(job, Mapping) else "job"


def filled(document: TomlDocument, levels: Mapping[str, object]) -> TomlDocument:
    """Return a document of a mix with levels in the place of names in braces."""
    head, jobs = document.data.get("mix", {}), document.data.get("job", [])
    assert isinstance(head, Mapping) and isinstance(jobs, list)
    each = {key: _lines(value, levels) if key in _EACH else value for key, value in head.items()}
    data = {**document.data, "job": [_job(job, levels) for job in jobs]}
    return replace(document, data={**data, "mix": each} if head else data)


def _job(job: object, levels: Mapping[str, object]) -> object:
    if not isinstance(job, Mapping):
        return job
    found: dict[str, object] = {}
    for key, value in job.items():
        if key == "command":
            words = shlex.split(value) if isinstance(value, str) else value
            found[key] = _text(words, levels)
        else:
            found[key] = _text(value, levels) if key in _TEXTS else _value(value, levels)
    return found


def _lines(value: object, levels: Mapping[str, object]) -> object:
    """Fill command lines; they are split before, so that a level never is two words."""
    if isinstance(value, list):
        return [_lines(each, levels) for each in value]
    if not isinstance(value, str):
        return value
    return shlex.join(_spelled(word, levels) for word in shlex.split(value))


def _text(value: object, levels: Mapping[str, object]) -> object:
    if isinstance(value, list):
        return [_text(each, levels) for each in value]
    return _spelled(value, levels) if isinstance(value, str) else value


def _value(value: object, levels: Mapping[str, object]) -> object:
    """Fill a value; one that is nothing but a name in braces becomes the level, a number a number."""
    if isinstance(value, list):
        return [_value(each, levels) for each in value]
    if not isinstance(value, str):
        return value
    names = placeholders(value)
    if names and value == f"{{{names[0]}}}" and names[0] in levels:
        return levels[names[0]]
    return _spelled(value, levels)


def _spelled(text: str, levels: Mapping[str, object]) -> str:
    values = {name: _word(levels[name]) for name in placeholders(text) if name in levels}
    return fill(text, values) if len(values) == len(set(placeholders(text))) else text


def _word(level: object) -> str:
    return spell_level(level) if isinstance(level, int | float | str) else str(level)
