"""Experiment files: TOML in, an experiment out, and back.

```toml
[experiment]
target = "dwh"
operation = "ctas"
source = "GLENNF.GTEST"
table = "GLENNF.GTEST_COPY"
[factors]
degree = [1, 2, 4]
```
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from enum import StrEnum
from pathlib import Path
from typing import TypeVar

from toolkit.design.build import General, build_experiment
from toolkit.design.factors import read_factor
from toolkit.design.levels import check_levels
from toolkit.design.options import BY_NAME, Option, options_of
from toolkit.design.values import check_value
from toolkit.documents import Document, check_no_secret, did_you_mean, parse_document, read_document
from toolkit.errors import ToolkitError
from toolkit.model.experiment import Experiment, OptionValue
from toolkit.model.values import Level
from toolkit.model.words import Keep, Mode, OperationName
from toolkit.units import parse_duration

_Word = TypeVar("_Word", bound=StrEnum)
_TABLES = ("experiment", "factors", "factor")


def load_experiment(path: Path, *, target: str | None = None) -> Experiment:
    """Read an experiment file.

    Args:
        path: the TOML file; `query_file` in it is relative to its folder.
        target: used instead of the file's.

    Raises:
        ToolkitError: TK-0101, TK-0102, TK-0103, TK-0105, TK-0106, TK-0107 or TK-0108, with file and line.
    """
    return _experiment(read_document(path), path.parent, target)


def parse_experiment(text: str, *, name: str = "experiment.toml", target: str | None = None) -> Experiment:
    """Read the text of an experiment file; `query_file` is relative to the working folder."""
    return _experiment(parse_document(text, name), Path(), target)


def _experiment(document: Document, folder: Path, target: str | None) -> Experiment:
    check_no_secret(document)
    for name in document.data:
        if name not in _TABLES:
            raise document.error(
                f"there is no table `{name}`", table=name, key=None, hint=did_you_mean(name, _TABLES)
            )
    head = _table(document, "experiment")
    if head is None:
        raise document.error("the table `[experiment]` is missing", table="", hint="begin with `[experiment]`")
    operation = _operation(document, head)
    reader = _Reader(document, operation, folder)
    reader.read_head(head)
    reader.read_factors(_table(document, "factors") or {})
    general = replace(reader.general, target=target or reader.general.target)
    if not general.target:
        raise document.error("no target is named", table="experiment", code="TK-0107", hint="add `target = ...`")
    tables = document.data.get("factor", [])
    extra = [read_factor(document, one, at) for at, one in enumerate(tables if isinstance(tables, list) else [0])]
    try:
        return build_experiment(operation, reader.options, reader.levels, general, extra)
    except ToolkitError as error:
        raise document.error(error.message, table="experiment", code=error.code, hint=error.hint) from None


class _Reader:
    """Collects what a file says; every error names the line."""

    def __init__(self, document: Document, operation: OperationName, folder: Path) -> None:
        self.document = document
        self.known = {option.key: option for option in options_of(operation)}
        self.operation = operation
        self.folder = folder
        self.options: dict[str, OptionValue] = {}
        self.levels: dict[str, tuple[Level, ...]] = {}
        self.general = General(target="")

    def read_head(self, head: Mapping[str, object]) -> None:
        for key, value in head.items():
            with self.at("experiment", key):
                self._read_key(key, value)

    def read_factors(self, factors: Mapping[str, object]) -> None:
        for key, value in factors.items():
            with self.at("factors", key):
                option = self._option(key, [name for name, one in self.known.items() if one.factor])
                if not option.factor:
                    raise ToolkitError(f"`{key}` cannot be varied", code="TK-0101", hint="put it in [experiment]")
                if option.name in self.levels:
                    raise ToolkitError(
                        f"`{key}` is given twice", code="TK-0107", hint="leave it out of [experiment]"
                    )
                self.levels[option.name] = check_levels(option, value)

    def at(self, table: str, key: str) -> _Place:
        return _Place(self.document, table, key)

    def _read_key(self, key: str, value: object) -> None:
        if key == "operation":
            return
        if key in _GENERAL:
            self.general = _GENERAL[key](self.general, value)
        elif key == "query_file":
            self._put(BY_NAME["query"], self._query_text(value))
        else:
            option = self._option(key, [*self.known, *_GENERAL, "operation", "query_file"])
            self._put(option, value)

    def _put(self, option: Option, value: object) -> None:
        if option.key not in self.known:
            self._option(option.key, list(self.known))
        if option.name in self.options:
            raise ToolkitError("`query` and `query_file` exclude each other", code="TK-0107", hint="leave one out")
        if option.factor:
            self.levels[option.name] = check_levels(option, value)
        else:
            self.options[option.name] = check_value(option, value)

    def _option(self, key: str, known: list[str]) -> Option:
        if key in self.known:
            return self.known[key]
        takes = f"`{self.operation}` takes no `{key}`" if key in BY_NAME else f"`{key}` is not known"
        raise ToolkitError(takes, code="TK-0101", hint=did_you_mean(key, known))

    def _query_text(self, value: object) -> str:
        path = self.folder / _text("query_file", value)
        try:
            return path.read_text(encoding="utf-8-sig")
        except (OSError, UnicodeDecodeError) as error:
            raise ToolkitError(
                f"`{path}` cannot be read as a query: {type(error).__name__}",
                code="TK-0106",
                hint="check the path",
            ) from None


class _Place:
    """Puts file and line before whatever goes wrong inside."""

    def __init__(self, document: Document, table: str, key: str) -> None:
        self.document, self.table, self.key = document, table, key

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if isinstance(error, ToolkitError):
            raise self.document.error(
                error.message, table=self.table, key=self.key, code=error.code, hint=error.hint
            ) from None


def _table(document: Document, name: str) -> Mapping[str, object] | None:
    value = document.data.get(name)
    if value is not None and not isinstance(value, Mapping):
        raise document.error(f"`{name}` is no table", table="", key=name, hint=f"write `[{name}]`")
    return value


def _operation(document: Document, head: Mapping[str, object]) -> OperationName:
    known = [operation.value for operation in OperationName]
    value = head.get("operation")
    if value is None:
        raise document.error("no operation is named", table="experiment", hint="one of " + ", ".join(known))
    if value not in known:
        raise document.error(
            f"`{value}` is no operation", table="experiment", key="operation", code="TK-0101",
            hint=did_you_mean(str(value), known),
        )  # fmt: skip
    return OperationName(str(value))


def _text(key: str, value: object) -> str:
    if not isinstance(value, str) or not value.strip() or not value.isprintable():
        raise ToolkitError(f"`{key}` is no text", code="TK-0102", hint=f'write it as `{key} = "..."`')
    return value.strip()


def _whole(key: str, value: object) -> int:
    if isinstance(value, bool) or not isinstance(value, int):
        raise ToolkitError(f"`{key}` is no whole number", code="TK-0102", hint=f"write it as `{key} = 3`")
    return value


def _duration(key: str, value: object) -> float:
    if not isinstance(value, str):
        raise ToolkitError(f"`{key}` is no duration", code="TK-0102", hint=f'write it as `{key} = "90s"`')
    return parse_duration(value)


def _word(words: type[_Word], key: str, value: object) -> _Word:
    known = [word.value for word in words]
    if value not in known:
        raise ToolkitError(f"`{key}` cannot be `{value}`", code="TK-0102", hint=did_you_mean(str(value), known))
    return words(str(value))


_GENERAL: Mapping[str, Callable[[General, object], General]] = {
    "target": lambda general, value: replace(general, target=_text("target", value)),
    "name": lambda general, value: replace(general, name=_text("name", value)),
    "label": lambda general, value: replace(general, label=_text("label", value)),
    "mode": lambda general, value: replace(general, mode=_word(Mode, "mode", value)),
    "repeat": lambda general, value: replace(general, repeat=_whole("repeat", value)),
    "warmup": lambda general, value: replace(general, warmup=_whole("warmup", value)),
    "seed": lambda general, value: replace(general, seed=_whole("seed", value)),
    "snapshot": lambda general, value: replace(general, snapshot=_text("snapshot", value)),
    "keep": lambda general, value: replace(general, keep=_word(Keep, "keep", value)),
    "work_schema": lambda general, value: replace(general, work_schema=_text("work_schema", value)),
    "budget": lambda general, value: replace(general, budget_seconds=_duration("budget", value)),
    "time_limit": lambda general, value: replace(general, time_limit_seconds=_duration("time_limit", value)),
    "quiet_wait": lambda general, value: replace(general, quiet_wait_seconds=_duration("quiet_wait", value)),
}
"""Keys of `[experiment]` beside the operation's own."""
