"""How a table is partitioned: in the short form of the user, or in the catalogue, for a table that is copied.

Every part is read, checked and spelled anew; no text of a user's reaches a statement. Sources: SQLRF,
table_partitioning_clauses; VLDB and Partitioning Guide (intervals, automatic lists from 12.2).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from itertools import pairwise

from toolkit.design.names import split_names
from toolkit.dialects.oracle.names import parse_name
from toolkit.dialects.oracle.releases import FEATURES, Feature, has
from toolkit.dialects.work import ContextValue
from toolkit.documents import did_you_mean
from toolkit.errors import ToolkitError
from toolkit.model.facts import Facts, Release
from toolkit.model.values import Row

MOST = 1024 * 1024 - 1
"""Most partitions a table can have (Database Reference, Logical Database Limits)."""
ONLY_IF = {"target": "partitioned"}
"""What is read about the partitions of the table that is copied or filled is asked only where it has some."""
MOST_COPIED = 4096
"""Most bounds that are spelled out for a copy."""
_FORMS = "`hash(ID) 16`, `range(DT) interval 1 month`, `range(ID) below 1000,2000,max` or `list(CODE) automatic`"
_HEAD = re.compile(r'\s*(?P<method>[A-Za-z]+)\s*\((?P<columns>(?:"[^"]*"|[^()"])*)\)\s*(?P<rest>.*)', re.DOTALL)
_INTERVAL = re.compile(r"interval\s+(?P<step>\d{1,18})(?:\s+(?P<unit>[a-z]+?)s?)?(?:\s+from\s+(?P<first>\S+))?")
_NUMBER = re.compile(r"-?\d{1,38}(?:\.\d{1,38})?", re.ASCII)
_DATE = re.compile(r"\d{4}-\d{2}-\d{2}", re.ASCII)
_UNITS = {
    "year": "NUMTOYMINTERVAL", "month": "NUMTOYMINTERVAL", "day": "NUMTODSINTERVAL", "hour": "NUMTODSINTERVAL",
}  # fmt: skip
_LAST_DAY = 28
"""ORA-14767: a boundary of monthly intervals stands on a day that every month has."""
_FIRST = "2000-01-01"
# The texts of ALL_TAB_PARTITIONS.HIGH_VALUE and ALL_PART_TABLES.INTERVAL, as far as they are spelled again.
_TEXT = r"N?'(?:[^']|'')*'"
_ELEMENT = (
    rf"(?:MAXVALUE|DEFAULT|NULL|-?\d+(?:\.\d+)?(?:E[+-]?\d+)?|(?:TIMESTAMP|DATE)?\s*{_TEXT}"
    rf"|(?:TO_DATE|TO_TIMESTAMP|HEXTORAW)\(\s*{_TEXT}(?:\s*,\s*{_TEXT})*\s*\))"
)
_ELEMENTS = rf"{_ELEMENT}(?:\s*,\s*{_ELEMENT})*"
_HIGH_VALUE = re.compile(rf"\s*(?:{_ELEMENTS}|\({_ELEMENTS}\)(?:\s*,\s*\({_ELEMENTS}\))*)\s*")
_STEP = re.compile(r"\s*(?:\d+(?:\.\d+)?|NUMTO(?:YM|DS)INTERVAL\(\s*\d+\s*,\s*'[A-Z]+'\s*\))\s*")


@dataclass(frozen=True, slots=True)
class Partitioning:
    """One level of partitions; `interval` and `bounds` are spelled for a statement."""

    method: str
    columns: tuple[str, ...]
    count: int | None = None
    interval: str | None = None
    automatic: bool = False
    bounds: tuple[str, ...] = ()

    def values(self) -> dict[str, ContextValue]:
        """Return what the templates take."""
        return {
            "partition_method": self.method,
            "partition_columns": self.columns,
            "partition_count": self.count,
            "partition_interval": self.interval,
            "partition_automatic": self.automatic,
            "partition_bounds": self.bounds,
        }


NOT_PARTITIONED: dict[str, ContextValue] = {"partition_method": None}


def parse(text: str, release: Release, types: Sequence[Row] = (), count: int | None = None) -> Partitioning:
    """Read the short form.

    Args:
        text: what the user typed.
        release: what the names and words may be.
        types: the columns there are (`column_name`, `data_type`); empty when they are not known.
        count: the level of `--partitions`.

    Raises:
        ToolkitError: TK-0102 for a form that is not known or a value outside it, TK-0204 for an unknown column.
    """
    match = _HEAD.fullmatch(text)
    if match is None or match["method"].lower() not in _READERS:
        raise _bad(text, "is not a form of partitioning")
    known = {str(row["column_name"]): str(row.get("data_type") or "") for row in types}
    columns = _columns(text, match["columns"], release, known)
    rest = " ".join(match["rest"].lower().split())
    if match["method"].lower() == "hash" and not match["rest"].strip() and count is None:
        raise _bad(text, "does not give the number of partitions: `hash(ID) 16`, or --partitions")
    made = _READERS[match["method"].lower()](text, rest, columns, known.get(columns[0], ""))
    if count is None:
        return made
    if made.method != "HASH" or made.count is not None:
        raise _bad(text, "already gives the number of partitions; `--partitions` is for `hash(ID)`")
    return Partitioning(made.method, made.columns, count)


def judge_release(made: Partitioning, release: Release) -> str | None:
    """Say why a release cannot have these partitions."""
    if made.automatic and not has(release, Feature.AUTOMATIC_LIST):
        since = ".".join(map(str, FEATURES[Feature.AUTOMATIC_LIST].number))
        return f"automatic list partitions need release {since}"
    return None


def _columns(text: str, listed: str, release: Release, known: dict[str, str]) -> tuple[str, ...]:
    names = []
    for part in split_names(listed):
        if not part:
            raise _bad(text, "has no column")
        given = parse_name(part, release)
        if given.schema is not None:
            raise _bad(text, f"names `{part}`, which is not a column")
        if known and given.name not in known:
            raise ToolkitError(
                f"column `{part}` for partitioning does not exist", code="TK-0204",
                hint=did_you_mean(given.name, list(known)),
            )  # fmt: skip
        if re.search(r"LOB|LONG|BFILE|XMLTYPE", known.get(given.name, "")):
            raise _bad(text, f"contains `{part}`, whose type {known[given.name]} cannot be a partition key")
        names.append(given.name)
    return tuple(names)


def _hash(text: str, rest: str, columns: tuple[str, ...], data_type: str) -> Partitioning:
    del data_type
    number = rest.removeprefix("partitions ")
    if rest and not (number.isascii() and number.isdecimal() and 1 <= int(number) <= MOST):
        raise _bad(text, f"needs a number of partitions from 1 to {MOST}")
    return Partitioning("HASH", columns, int(number) if rest else None)


def _list(text: str, rest: str, columns: tuple[str, ...], data_type: str) -> Partitioning:
    del data_type
    if rest != "automatic" or len(columns) > 1:
        raise _bad(text, "is a list, which must be `automatic` on one column: each value then gets its partition")
    # The partition of NULL needs no value of the column's type.
    return Partitioning("LIST", columns, automatic=True, bounds=("NULL",))


def _range(text: str, rest: str, columns: tuple[str, ...], data_type: str) -> Partitioning:
    if len(columns) > 1:
        raise _bad(text, "is a range of several columns; give one")
    word, _, listed = rest.partition(" ")
    if word == "below":
        return Partitioning("RANGE", columns, bounds=_bounds(text, listed, data_type))
    match = _INTERVAL.fullmatch(rest)
    if match is None or int(match["step"]) == 0:
        raise _bad(text, "needs `interval N [month]` or `below 10,20,max`")
    if match["unit"] is None:
        return _numbers(text, columns, match["step"], match["first"] or "0", data_type)
    return _times(text, columns, match, data_type)


def _numbers(text: str, columns: tuple[str, ...], step: str, first: str, data_type: str) -> Partitioning:
    if _is_time(data_type):
        raise _bad(text, f"counts {data_type} values without a unit: write `interval {step} day`")
    if not _NUMBER.fullmatch(first):
        raise _bad(text, f"begins at `{first}`, which is not a number")
    return Partitioning("RANGE", columns, interval=step, bounds=(first,))


def _times(text: str, columns: tuple[str, ...], match: re.Match[str], data_type: str) -> Partitioning:
    unit, first = match["unit"], match["first"] or _FIRST
    if unit not in _UNITS:
        raise _bad(text, f"has an interval in `{unit}`: year, month, day or hour")
    if data_type and not _is_time(data_type):
        raise _bad(text, f"counts {data_type} values in {unit}s: write `interval {match['step']}`")
    day = _date(text, first)
    if _UNITS[unit] == "NUMTOYMINTERVAL" and day.day > _LAST_DAY:
        raise _bad(text, f"starts at {first}: intervals of {unit}s start on day 1 to {_LAST_DAY}")
    interval = f"{_UNITS[unit]}({match['step']}, '{unit.upper()}')"
    return Partitioning("RANGE", columns, interval=interval, bounds=(_spelled_date(day, data_type),))


def _bounds(text: str, listed: str, data_type: str) -> tuple[str, ...]:
    given = [part.strip() for part in listed.split(",")]
    open_ended = given[-1] in ("max", "maxvalue")
    closed = given[:-1] if open_ended else given
    if all(_DATE.fullmatch(part) for part in closed):
        days = [_date(text, part) for part in closed]
        rising = all(one < other for one, other in pairwise(days))
        spelled = [_spelled_date(day, data_type) for day in days]
    elif all(_NUMBER.fullmatch(part) for part in closed):
        numbers = [float(part) for part in closed]
        rising = all(one < other for one, other in pairwise(numbers))
        spelled = closed
    else:
        raise _bad(text, "has a bound that is neither a number nor a date such as 2026-01-31; `max` comes last")
    if not rising or len(given) > MOST_COPIED:
        raise _bad(text, f"has bounds that do not ascend, or more than {MOST_COPIED}")
    return (*spelled, *(("MAXVALUE",) if open_ended else ()))


def _date(text: str, given: str) -> date:
    try:
        if not _DATE.fullmatch(given):
            raise ValueError
        return date.fromisoformat(given)
    except ValueError:
        raise _bad(text, f"has `{given}`, which is not a date such as 2026-01-31") from None


def _spelled_date(day: date, data_type: str) -> str:
    if data_type.startswith("TIMESTAMP"):
        return f"TIMESTAMP '{day.isoformat()} 00:00:00'"
    # The form in which the dictionary keeps such a bound: no setting of the session affects it.
    return f"TO_DATE('{day.isoformat()}', 'SYYYY-MM-DD', 'NLS_CALENDAR=GREGORIAN')"


def _is_time(data_type: str) -> bool:
    return data_type.startswith(("DATE", "TIMESTAMP"))


def _bad(text: str, sentence: str) -> ToolkitError:
    shown = text if text.isprintable() else text.encode("unicode_escape").decode("ascii")
    return ToolkitError(f"`{shown[:140]}` {sentence}", code="TK-0102", hint=f"write {_FORMS}")


_READERS = {"hash": _hash, "range": _range, "list": _list}


# -- the partitions of a table that is copied -------------------------------------------------------------------
def of_table(facts: Facts) -> tuple[Partitioning | None, str | None]:
    """Return the partitions of the target as read, and a sentence about what of them a copy cannot have."""
    row = facts.first("partitioning")
    if not row:
        return None, None
    method = str(row.get("partitioning_type") or "").strip().upper()
    columns = tuple(str(key["column_name"]) for key in facts.rows("partition_keys"))
    if method not in ("RANGE", "LIST", "HASH") or not columns:
        return None, f"the copy is not partitioned: {method or 'its'} partitions cannot be copied"
    sub = str(row.get("subpartitioning_type") or "NONE").strip().upper()
    left_out = None if sub == "NONE" else f"the copy has the {method} partitions, but not the {sub} subpartitions"
    made = _copied(row, method, columns, facts)
    if made is None:
        return None, f"the copy is not partitioned: the bounds of its {method} partitions cannot be reproduced"
    return made, left_out


def _copied(row: Row, method: str, columns: tuple[str, ...], facts: Facts) -> Partitioning | None:
    if method == "HASH":
        return Partitioning(method, columns, int(str(row.get("partition_count") or 1)))
    bounds = tuple(str(each.get("high_value") or "").strip() for each in facts.rows("partitions"))
    if not bounds or len(bounds) > MOST_COPIED or not all(_HIGH_VALUE.fullmatch(bound) for bound in bounds):
        return None
    interval = row.get("interval_text")
    if interval is not None and not _STEP.fullmatch(str(interval)):
        return None
    automatic = facts.value("automatic_list", "autolist") == "YES"
    return Partitioning(
        method,
        columns,
        interval=None if interval is None else str(interval).strip(),
        automatic=automatic,
        bounds=bounds,
    )
