"""Options that exclude each other whatever the database: refused before anybody connects.

Levels of a sweep count where every one of them says it: a cell that cannot be had among others that can is a
result of the sweep, not bad input.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from toolkit.design.options import BY_NAME
from toolkit.errors import ToolkitError
from toolkit.model.experiment import OptionValue
from toolkit.model.values import Level
from toolkit.model.words import OperationName

Options = Mapping[str, OptionValue]
Levels = Mapping[str, tuple[Level, ...]]

# SQL Language Reference, CREATE INDEX: restrictions of bitmap indexes and of partitioned ones.
_PAIRS: tuple[tuple[str, str, str], ...] = (
    ("bitmap", "unique", "a bitmap index cannot be unique"),
    ("bitmap", "reverse", "a bitmap index cannot be a reverse key index"),
    ("bitmap", "prefix", "a bitmap index is compressed by its nature and takes no other compression"),
    ("bitmap", "global_hash", "a bitmap index cannot be partitioned globally (ORA-25113)"),
    ("bitmap", "global_range", "a bitmap index cannot be partitioned globally (ORA-25113)"),
    ("local", "global_hash", "an index is partitioned one way"),
    ("local", "global_range", "an index is partitioned one way"),
    ("global_hash", "global_range", "an index is partitioned one way"),
)
_ONE_SESSION = {
    OperationName.CTAS: "a job makes one table by one statement in one session",
    OperationName.INSERT: "a job fills one table by one statement in one session",
    OperationName.INDEX_BUILD: "a job builds one index by one statement in one session",
}
_BUCKETS = re.compile(r'"[^"]*"|\bSIZE\s+([0-9]+)\b', re.IGNORECASE)
_MOST_BUCKETS = 2048
"""From 12.1 on; 254 before (PL/SQL Packages, DBMS_STATS, METHOD_OPT): that is judged when the release is known."""


def check_contradictions(operation: OperationName, options: Options, levels: Levels) -> None:
    """Refuse what no cell could do on any database.

    Raises:
        ToolkitError: TK-0107 for options that exclude each other, TK-0102 for a histogram of no possible size.
    """
    for one, other, why in _PAIRS:
        if _surely(one, options, levels) and _surely(other, options, levels):
            raise _exclude(one, other, why)
    if operation is OperationName.INDEX_BUILD:
        _check_prefix(options, levels)
    if operation is OperationName.STATS_GATHER:
        _check_histograms(options, levels)


def check_one_session(operation: OperationName, levels: Levels) -> None:
    """Refuse several sessions for a job that one statement does.

    Raises:
        ToolkitError: TK-0107.
    """
    why = _ONE_SESSION.get(operation)
    if why is not None and levels.get("concurrency", (1,)) != (1,):
        raise ToolkitError(
            f"`--concurrency` is for measurements: {why}",
            code="TK-0107",
            hint="give `--degree` for more processes, or measure with `--repeat 3`",
        )


def _values(name: str, options: Options, levels: Levels) -> tuple[object, ...]:
    return levels[name] if name in levels else (options[name],) if name in options else ()


def _surely(name: str, options: Options, levels: Levels) -> bool:
    values = _values(name, options, levels)
    return bool(values) and all(values)


def _check_prefix(options: Options, levels: Levels) -> None:
    """Judge COMPRESS n: all columns at most, of a unique index all but one (SQLRF, prefix_compression)."""
    compressions = _values("compression", options, levels)
    if _surely("bitmap", options, levels) and compressions and "none" not in compressions:
        raise _exclude("bitmap", "compression", "a bitmap index is compressed by its nature")
    prefixes = [level for level in _values("prefix", options, levels) if isinstance(level, int)]
    if not prefixes:
        return
    if compressions and "basic" not in compressions:
        raise _exclude("prefix", "compression", f"a prefix is compressed by `basic`, not by `{compressions[0]}`")
    columns = options.get("columns")
    unique = _surely("unique", options, levels)
    most = (len(columns) if isinstance(columns, Sequence) and not isinstance(columns, str) else 0) - unique
    if min(prefixes) > most:
        kind = "unique index" if unique else "index"
        raise ToolkitError(
            f"`--prefix` cannot be `{min(prefixes)}`: this {kind} has {max(most, 0)} columns to prefix",
            code="TK-0107",
            hint="of a unique index all columns but one, of any other all of them (ORA-25193, ORA-25194)",
        )


def _check_histograms(options: Options, levels: Levels) -> None:
    for text in _values("method_opt", options, levels):
        for found in _BUCKETS.finditer(str(text)):
            if found[1] is not None and not 1 <= int(found[1]) <= _MOST_BUCKETS:
                raise ToolkitError(
                    f"a histogram has 1 to {_MOST_BUCKETS} buckets, not {found[1][:20]}",
                    code="TK-0102",
                    hint="`SIZE 1` gathers no histogram, `SIZE AUTO` lets the database choose",
                )


def _exclude(one: str, other: str, why: str) -> ToolkitError:
    flags = f"`{BY_NAME[one].flag}` and `{BY_NAME[other].flag}`"
    return ToolkitError(f"{flags} exclude each other: {why}", code="TK-0107", hint="leave one of them out")
