"""Reads the keys of an experiment's head, or of a plan's step: options of the operation, and what all take."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from enum import StrEnum
from pathlib import Path
from typing import TypeVar

from toolkit.design.build import General, parse_detect
from toolkit.design.levels import check_levels, check_value
from toolkit.design.programs import check_name, free_levels
from toolkit.design.settings import read_settings
from toolkit.design.variants import names_of_files
from toolkit.documents import TomlDocument, did_you_mean, read_utf8
from toolkit.errors import ToolkitError
from toolkit.model.experiment import OptionValue
from toolkit.model.operations import declaration, every_option, operations, options_of
from toolkit.model.options import Option, OptionKind
from toolkit.model.values import Factor, Level
from toolkit.model.words import Keep, Mode, OperationName
from toolkit.units import parse_duration

_Word = TypeVar("_Word", bound=StrEnum)


class HeadReader:
    """Collects what a table of a file says; every error names the line.

    Args:
        document: the file.
        operation: whose options are taken.
        folder: what `query_file` is relative to.
        table: the table's header, `experiment` or `step`.
        number: which of several such tables, from 0.
    """

    def __init__(
        self,
        document: TomlDocument,
        operation: OperationName,
        folder: Path,
        table: str = "experiment",
        number: int = 0,
    ) -> None:
        self.document = document
        self.table, self.number = table, number
        self.known = {option.key: option for option in options_of(operation)}
        self.operation = operation
        self.folder = folder
        self.options: dict[str, OptionValue] = {}
        self.levels: dict[str, tuple[Level, ...]] = {}
        self.free: list[Factor] = []
        """Factors of any name, where the operation has such."""
        self.general = General(target="")

    def read_head(self, head: Mapping[str, object]) -> None:
        for key, value in head.items():
            with self.at(self.table, key):
                self._read_key(key, value)

    def read_factors(self, factors: Mapping[str, object]) -> None:
        for key, value in factors.items():
            with self.at("factors", key):
                if key == "setting" and isinstance(value, Mapping):
                    self.free += read_settings(value)
                    continue
                if declaration(self.operation).free_factors and key not in self.known:
                    check_name(key)
                    levels = free_levels(key, value) if isinstance(value, str) else self._free_levels(key, value)
                    self.free.append(Factor(key, levels))
                    continue
                option = self._option(key, [name for name, one in self.known.items() if one.factor])
                if not option.factor:
                    raise ToolkitError(
                        f"`{key}` cannot be varied", code="TK-0101", hint=f"put it in [{self.table}]"
                    )
                if option.name in self.levels:
                    raise ToolkitError(
                        f"`{key}` is given twice", code="TK-0107", hint=f"remove it from [{self.table}]"
                    )
                self.levels[option.name] = check_levels(option, value)

    def _free_levels(self, key: str, value: object) -> tuple[Level, ...]:
        """Check the levels of a factor of which nothing is declared: all numbers, or all words."""
        given = value if isinstance(value, list) else [value]
        numeric = all(isinstance(one, int | float) and not isinstance(one, bool) for one in given)
        kind = OptionKind.NUMBER if numeric else OptionKind.TEXT
        return check_levels(Option(key, kind, "", factor=True), given)

    def at(self, table: str, key: str) -> ErrorLocation:
        """Return a block whose errors name file and line of a key."""
        return ErrorLocation(self.document, table, key, self.number if table == self.table else 0)

    def _read_key(self, key: str, value: object) -> None:
        if key == "operation":
            return
        if key in _GENERAL:
            self.general = _GENERAL[key](self.general, value)
        elif key == "query_file":
            self._put_query(value)
        else:
            option = self._option(key, [*self.known, *_GENERAL, "operation", "query_file"])
            if option.kind is OptionKind.QUERY and isinstance(value, Mapping):
                self._put_queries(option, value)
                return
            self._put(option, self._whole_file(option, value))

    def _put(self, option: Option, value: object) -> None:
        if option.key not in self.known:
            self._option(option.key, list(self.known))
        if option.name in self.options:
            raise ToolkitError(
                "`query` and `query_file` are mutually exclusive", code="TK-0107", hint="use only one of them"
            )
        if option.factor:
            self.levels[option.name] = check_levels(option, value)
        else:
            self.options[option.name] = check_value(option, value)

    def _put_query(self, value: object) -> None:
        """Take the query of a file, or those of several files to compare them."""
        option = every_option()["query"]
        if not isinstance(value, list):
            self._put(option, self._query_text(value))
            return
        files = [read_text("query_file", one) for one in value]
        self._put_queries(option, dict(zip(names_of_files(files), map(self._query_text, files), strict=True)))

    def _put_queries(self, option: Option, queries: Mapping[str, object]) -> None:
        if option.name in self.levels:
            raise ToolkitError(
                "`query` and `query_file` are mutually exclusive", code="TK-0107", hint="use only one of them"
            )
        self._put(option, queries)
        self.levels[option.name] = tuple(queries)

    def _option(self, key: str, known: list[str]) -> Option:
        if key in self.known:
            return self.known[key]
        takes = f"`{self.operation}` does not accept `{key}`" if key in every_option() else f"unknown key `{key}`"
        raise ToolkitError(takes, code="TK-0101", hint=did_you_mean(key, known))

    def _whole_file(self, option: Option, value: object) -> object:
        """Return the text of transactions or jobs, where what is one line is the path of their file."""
        if option.kind not in (OptionKind.TRANSACTIONS, OptionKind.JOBS):
            return value
        if not isinstance(value, str) or "\n" in value.strip():
            return value
        return read_whole_file(option, self.folder / value)

    def _query_text(self, value: object) -> str:
        path = self.folder / read_text("query_file", value)
        return read_utf8(path)


def read_whole_file(option: Option, path: Path) -> str:
    """Return the text of the transactions or jobs that a file holds; raises as their readers do."""
    if option.kind is OptionKind.JOBS:
        from toolkit.design.mix import read_mix

        return read_mix(path)
    from toolkit.design.transactions import read_transactions

    return read_transactions(path)


class ErrorLocation:
    """Puts file and line before whatever goes wrong inside."""

    def __init__(self, document: TomlDocument, table: str, key: str, number: int = 0) -> None:
        self.document, self.table, self.key, self.number = document, table, key, number

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if isinstance(error, ToolkitError):
            raise self.document.error(
                error.message, table=self.table, key=self.key, number=self.number, code=error.code, hint=error.hint
            ) from None


def read_operation(
    document: TomlDocument, head: Mapping[str, object], table: str = "experiment", number: int = 0
) -> OperationName:
    """Return the operation that a head names.

    Raises:
        ToolkitError: TK-0106 when it names none, TK-0101 when there is no such operation.
    """
    known = list(operations())
    value = head.get("operation")
    if value is None:
        hint = "one of " + ", ".join(known)
        raise document.error("no operation was given", table=table, number=number, hint=hint)
    if value not in known:
        raise document.error(
            f"`{value}` is not an operation", table=table, key="operation", number=number, code="TK-0101",
            hint=did_you_mean(str(value), known),
        )  # fmt: skip
    return str(value)


def read_text(key: str, value: object) -> str:
    """Return a text of one line; raises TK-0102."""
    if not isinstance(value, str):
        raise ToolkitError(f"`{key}` must be a string", code="TK-0102", hint=f'write it as `{key} = "..."`')
    if not value.strip():
        raise ToolkitError(f"`{key}` is empty", code="TK-0102", hint="give it a value, or omit it")
    if not value.isprintable():
        raise ToolkitError(
            f"`{key}` contains a character that cannot be printed",
            code="TK-0102",
            hint="write it on one plain line",
        )
    return value.strip()


def read_whole(key: str, value: object) -> int:
    """Return a whole number; raises TK-0102."""
    if isinstance(value, bool) or not isinstance(value, int):
        raise ToolkitError(f"`{key}` must be a whole number", code="TK-0102", hint=f"write it as `{key} = 3`")
    return value


def read_flag(key: str, value: object) -> bool:
    """Return yes or no; raises TK-0102."""
    if not isinstance(value, bool):
        raise ToolkitError(f"`{key}` must be true or false", code="TK-0102", hint=f"write it as `{key} = true`")
    return value


def read_duration(key: str, value: object) -> float:
    """Return seconds; raises TK-0102."""
    if not isinstance(value, str):
        raise ToolkitError(f"`{key}` must be a duration", code="TK-0102", hint=f'write it as `{key} = "90s"`')
    return parse_duration(value)


def read_word(words: type[_Word], key: str, value: object) -> _Word:
    """Return a word of a closed set; raises TK-0102."""
    known = [word.value for word in words]
    if value not in known:
        raise ToolkitError(f"`{key}` cannot be `{value}`", code="TK-0102", hint=did_you_mean(str(value), known))
    return words(str(value))


def read_texts(key: str, value: object) -> tuple[str, ...]:
    """Return one text or a list of them; raises TK-0102."""
    given = value if isinstance(value, list) else [value]
    return tuple(read_text(key, one) for one in given)


def read_between(key: str, value: int, low: int, high: int) -> int:
    """Return a number that lies between two bounds; raises TK-0102."""
    if not low <= value <= high:
        raise ToolkitError(f"`{key}` cannot be {value}", code="TK-0102", hint=f"from {low} to {high:,}")
    return value


def _guards(key: str, value: object) -> tuple[str, ...]:
    """Return guards as they are typed; in a file they may be the table that a plan has, too."""
    from toolkit.design.guards import guards_of  # which reads its values by this module

    if isinstance(value, Mapping):
        nested = [(name, one if isinstance(one, Mapping) else {"": one}) for name, one in value.items()]
        texts = tuple(f"{name}{'.' if at else ''}{at}={one}" for name, each in nested for at, one in each.items())
    else:
        texts = read_texts(key, value)
    guards_of(texts)
    return texts


def _present(value: object) -> Mapping[str, str]:
    """Return levels by their factors, as the command line spells them; raises TK-0102."""
    if not isinstance(value, Mapping):
        raise ToolkitError("`present` must be a table", code="TK-0102", hint='write `present = {degree = "2"}`')
    return {str(name): read_text(f"present.{name}", level) for name, level in value.items()}


_GENERAL: Mapping[str, Callable[[General, object], General]] = {
    "target": lambda general, value: replace(general, target=read_text("target", value)),
    "name": lambda general, value: replace(general, name=read_text("name", value)),
    "label": lambda general, value: replace(general, label=read_text("label", value)),
    "mode": lambda general, value: replace(general, mode=read_word(Mode, "mode", value)),
    "repeat": lambda general, value: replace(general, repeat=read_whole("repeat", value)),
    "detect": lambda general, value: replace(general, detect_pct=parse_detect(read_text("detect", value))),
    "search": lambda general, value: replace(general, search=read_flag("search", value)),
    "warmup": lambda general, value: replace(general, warmup=read_whole("warmup", value)),
    "seed": lambda general, value: replace(general, seed=read_whole("seed", value)),
    "snapshot": lambda general, value: replace(general, snapshot=read_text("snapshot", value)),
    "keep": lambda general, value: replace(general, keep=read_word(Keep, "keep", value)),
    "work_schema": lambda general, value: replace(general, work_schema=read_text("work_schema", value)),
    "budget": lambda general, value: replace(general, budget_seconds=read_duration("budget", value)),
    "time_limit": lambda general, value: replace(general, time_limit_seconds=read_duration("time_limit", value)),
    "quiet_wait": lambda general, value: replace(general, quiet_wait_seconds=read_duration("quiet_wait", value)),
    "judge": lambda general, value: replace(general, judge=read_text("judge", value)),
    "volume": lambda general, value: replace(general, volume=read_text("volume", value)),
    "guards": lambda general, value: replace(general, guards=_guards("guards", value)),
    "verifies": lambda general, value: replace(general, verifies=read_text("verifies", value)),
    "present": lambda general, value: replace(general, present=_present(value)),
}
"""Keys of a head beside the operation's own."""
