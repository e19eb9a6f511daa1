"""Completion of values: profiles, runs, configurations, names of the database, choices of an option."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterable, Mapping, Sequence
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

    del given, begun
    return profiles()


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
    table = _text(given, "table") if _text(given, "source") is None else _text(given, "source")
    if target is None or table is None:
        return []
    schema, _, name = table.rpartition(".")
    return names(target, "columns", schema=schema or None, table=name)


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
            cased = (value.lower() if begun.islower() and value.isupper() else value for value in found)
            return [f"{done}{comma}{value}" for value in cased if value.startswith(begun)]
        except Exception:  # noqa: BLE001 - a key press is answered by nothing rather than by an error
            return []

    return complete


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
