"""Completion of values: profiles, runs, configurations, names of the database, choices of an option."""

from __future__ import annotations

import io
import os
import re
import shlex
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, MutableMapping, Sequence
from contextlib import contextmanager, redirect_stdout, suppress
from typing import TYPE_CHECKING, TypeVar

import typer

if TYPE_CHECKING:
    from toolkit.model.words import EngineName

Given = Mapping[str, object]
Completer = Callable[[typer.Context, str], list[str]]


def _text(given: Given, name: str) -> str | None:
    value = given.get(name)
    return str(value) if value else None


def _targets(given: Given, begun: str) -> Iterable[str]:
    from toolkit.app.completing import profiles

    del given
    return _files(begun) if begun.startswith(_FILE) else profiles()


def _files(begun: str) -> Iterable[str]:
    """Yield the files and folders behind the URL of a file, which only bash completes by itself."""
    folder, slash, name = begun.removeprefix(_FILE).rpartition("/")
    with os.scandir(folder + slash or ".") as found:
        for each in found:
            if name or not each.name.startswith("."):
                yield f"{_FILE}{folder}{slash}{each.name}{'/' if each.is_dir() else ''}"


_FILE = "duckdb:///"


def _runs(given: Given, begun: str) -> Iterable[str]:
    from toolkit.app.completing import cells, runs

    store = _text(given, "store")
    run, slash, _ = begun.partition("/")
    return cells(store, run) if slash else runs(store)


def _plan_runs(given: Given, begun: str) -> Iterable[str]:
    from toolkit.app.completing import plan_runs

    del begun
    return plan_runs(_text(given, "store"))


def _plan_names(given: Given, begun: str) -> Iterable[str]:
    from toolkit.app.completing import plan_names

    del begun
    return plan_names(_text(given, "store"))


def _scheduled(given: Given, begun: str) -> Iterable[str]:
    from toolkit.app.completing import scheduled

    del given, begun
    return scheduled()


def _codes(given: Given, begun: str) -> Iterable[str]:
    from toolkit.errors import CATALOGUE

    del given, begun
    return CATALOGUE


def _steps(given: Given, begun: str) -> Iterable[str]:
    from toolkit.app.completing import steps

    del begun
    return steps(_text(given, "store"), _text(given, "plan"))


def _names(given: Given, begun: str, what: str) -> Iterable[str]:
    """Yield names, with the schema before them where one was begun with."""
    from toolkit.app.completing import names

    target = _text(given, "target")
    if target is None:
        return []
    schema, dot, _ = begun.rpartition(".")
    found = names(target, what, schema=schema or None)
    return [f"{schema}.{name}" for name in found] if dot else found


def _columns(given: Given, begun: str) -> Iterable[str]:
    from toolkit.app.completing import names

    del begun
    target = _text(given, "target")
    table = _text(given, "source") or _text(given, "table")
    return [] if target is None or table is None else names(target, "columns", table=table)


def _compared(given: Given, begun: str) -> Iterable[str]:
    from toolkit.app.completing import snapshot_labels

    found = [*_runs(given, begun)]
    return found if "/" in begun else dict.fromkeys((*found, *snapshot_labels(_text(given, "store"))))


def _labels(given: Given, begun: str) -> Iterable[str]:
    from toolkit.app.completing import labels

    del begun
    return labels(_text(given, "store"))


def _snapshots(given: Given, begun: str) -> Iterable[str]:
    from toolkit.app.completing import snapshot_labels

    del begun
    return snapshot_labels(_text(given, "store"))


def _guards(given: Given, begun: str) -> Iterable[str]:
    from toolkit.model.plan import Guard

    del given, begun
    return [f"{one}=" for one in Guard]


def _judges(given: Given, begun: str) -> Iterable[str]:
    from toolkit.app.completing import metrics

    del begun
    return dict.fromkeys(("elapsed", "throughput", *metrics(_text(given, "store"))))


def _schemas(given: Given, begun: str) -> Iterable[str]:
    return _asked_of(given, begun, "schemas")


def _settings(given: Given, begun: str) -> Iterable[str]:
    return [f"{name}=" for name in _asked_of(given, begun, "settings")]


def _asked_of(given: Given, begun: str, what: str) -> list[str]:
    from toolkit.app.completing import names

    del begun
    target = _text(given, "target")
    return [] if target is None else names(target, what)


_VALUES: dict[str, Callable[[Given, str], Iterable[str]]] = {
    "target": _targets,
    "run": _runs,
    "plan_run": _plan_runs,
    "plan_name": _plan_names,
    "scheduled": _scheduled,
    "code": _codes,
    "step": _steps,
    "runs": _runs,
    "a": _compared,
    "b": _compared,
    "label": _labels,
    "snapshot_label": _snapshots,
    "guard": _guards,
    "judge": _judges,
    "schema": _schemas,
    "work_schema": _schemas,
    "into_schema": _schemas,
    "setting": _settings,
    "yes_production": _targets,
    "table": lambda given, begun: _names(given, begun, "tables"),
    "source": lambda given, begun: _names(given, begun, "tables"),
    "with_table": lambda given, begun: _names(given, begun, "tables"),
    "tables": lambda given, begun: _names(given, begun, "tables"),
    "index": lambda given, begun: _names(given, begun, "indexes"),
    "columns": _columns,
}
_LISTS = frozenset({"columns", "tables", "schema"})


def engine_of(target: str | None) -> EngineName | None:
    """Return the engine of a target as given, None where none is given or known."""
    if not target:
        return None
    from toolkit.config.urls import parse_url
    from toolkit.errors import ToolkitError

    try:
        if "://" in target:
            return parse_url(target).engine
        from toolkit.config.profiles import find_profile

        return find_profile(target).address.engine
    except ToolkitError:
        return None


Own = TypeVar("Own")
OTHER_ENGINES = "others"
"""Stands for every engine that is not named where engines differ."""


def of_engine(on: Mapping[EngineName, Own], engine: EngineName | None) -> Own | None:
    """Return what an engine has of its own; None where it has nothing, or no engine is known."""
    return None if engine is None else on.get(engine, on.get(OTHER_ENGINES))


def completer(
    name: str,
    choices: Sequence[str] = (),
    *,
    several: bool = False,
    on: Mapping[EngineName, Sequence[str]] | None = None,
) -> Completer | None:
    """Return what completes the value of an option or argument; None for what cannot be completed.

    Args:
        name: of the option or argument, or of another whose values it takes.
        choices: its values, where they are known.
        several: whether it takes several, separated by commas.
        on: those of the choices that an engine has, where engines differ.
    """
    values = _VALUES.get(name)
    if values is None and not choices:
        return None

    def complete(ctx: typer.Context, incomplete: str) -> list[str]:
        done, comma, begun = incomplete.rpartition(",") if several or name in _LISTS else ("", "", incomplete)
        try:
            own = of_engine(on, engine_of(_text(ctx.params, "target"))) if on else None
            known = choices if own is None else own
            found = known or (values(ctx.params, begun) if values else ())
            return [_Offered(f"{done}{comma}{value}") for value in _cased(found, begun) if _begins(value, begun)]
        except Exception:  # noqa: BLE001 - a key press is answered by nothing rather than by an error
            return []

    return complete


class _Offered(str):
    """A value that was compared with what was begun: typer does so too, and would miss the double quotes."""

    __slots__ = ()

    def startswith(self, *_: object) -> bool:
        return True


def _cased(found: Iterable[str], begun: str) -> Iterator[str]:
    """Yield names in the case that was begun with, but for those in double quotes, which mean what they say."""
    for value in found:
        yield value.lower() if begun.islower() and value.isupper() and '"' not in value else value


def _begins(value: str, begun: str) -> bool:
    """Whether a value is what was begun; of a name in double quotes neither they nor its case need be typed."""
    if '"' not in value:
        return value.startswith(begun)
    return value.replace('"', "").casefold().startswith(begun.replace('"', "").casefold())


# -- what a shell asks ------------------------------------------------------------------------------------------
_CUT_AT = re.compile(r"[:=@]+")
"""Characters at which bash cuts a word in pieces, each of them and what is between a piece (COMP_WORDBREAKS)."""
_OPTION = re.compile(r"--[a-z][a-z-]*=")


@contextmanager
def answering_bash(environ: MutableMapping[str, str]) -> Iterator[None]:
    """Put words together again that bash cut in pieces, and answer with what it is to put in place of the last.

    Bash replaces the last piece, of a word with an open quote what follows the quote, and quotes nothing itself.
    """
    if environ.get("_DBATK_COMPLETE") != "complete_bash":
        yield
        return
    asked, place = environ.get("COMP_WORDS", ""), environ.get("COMP_CWORD", "")
    pieces = asked.split("\n")
    pieces = pieces[: int(place) + 1] if place.isdigit() else pieces
    *before, typed = _put_together(pieces)
    environ["COMP_WORDS"] = shlex.join([*(_read(word)[0] for word in before), _read(typed)[0]])
    environ["COMP_CWORD"] = str(len(before))
    last = "" if _CUT_AT.fullmatch(pieces[-1]) else pieces[-1]
    _, quote = _read(last)
    replaced = last[_opened_at(last, quote) + 1 :] if quote else last
    stays = _OPTION.sub("", _read(typed[: len(typed) - len(replaced)])[0], count=1)
    answer = io.StringIO()
    try:
        with redirect_stdout(answer):
            yield
    finally:
        environ["COMP_WORDS"], environ["COMP_CWORD"] = asked, place
        for value in answer.getvalue().splitlines():
            if value and value.startswith(stays):
                sys.stdout.write(_quoted(value[len(stays) :], quote) + "\n")


def _put_together(pieces: Sequence[str]) -> list[str]:
    words, goes_on = [""], False
    for piece in pieces:
        cut = _CUT_AT.fullmatch(piece) is not None
        if cut or (goes_on and piece):
            words[-1] += piece
        else:
            words.append(piece)
        goes_on = cut
    return words[1:] or [""]


def _read(word: str) -> tuple[str, str]:
    """Return what a shell reads of a word, and the quote that it leaves open."""
    for quote in ("", '"', "'"):
        with suppress(ValueError):
            return "".join(shlex.split(word + quote)), quote
    return word, ""


def _opened_at(word: str, quote: str) -> int:
    """Return where the quote stands that a word leaves open."""
    return max(at for at, char in enumerate(word) if char == quote and not _read(word[:at])[1])


def _quoted(text: str, quote: str) -> str:
    """Spell a text for a shell behind an open quote, or where there is none.

    Bash closes the quote, but not behind one: it takes that for the end.
    """
    if not quote:
        return shlex.quote(text)
    spelled = text.replace("'", "'\\''") if quote == "'" else re.sub(r'([\\"$`])', r"\\\1", text)
    return spelled + quote if spelled.endswith(quote) else spelled


def completed_words(environ: Mapping[str, str]) -> tuple[str, ...] | None:
    """Return the words that stand complete before the one a shell asks to complete; None where none asks.

    Bash says which word it is, other shells end the line at it (`COMP_WORDS`, `_TYPER_COMPLETE_ARGS` of typer).
    """
    if not environ.get("_DBATK_COMPLETE", "").startswith("complete_"):
        return None
    of_bash = environ.get("COMP_WORDS")
    line = environ.get("_TYPER_COMPLETE_ARGS", "") if of_bash is None else of_bash
    try:
        words = shlex.split(line)
    except ValueError:  # within quotes
        words = line.split()
    place = environ.get("COMP_CWORD", "")
    if of_bash is not None and place.isdigit():
        return tuple(words[1 : int(place)])
    return tuple(words[1:] if line.endswith((" ", "\n")) else words[1:-1])
