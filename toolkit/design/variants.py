"""Several queries to compare: each by the name of its file, which is the level of the factor `query`."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import PurePath

from toolkit.design.user_sql import check_query
from toolkit.errors import ToolkitError

_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,59}")
_MOST = 64


def names_of_files(paths: Sequence[str]) -> list[str]:
    """Return what files of queries are called: their names without suffix, with it where that is not enough.

    Raises:
        ToolkitError: TK-0103 for two of one name.
    """
    for names in ([PurePath(path).stem for path in paths], [PurePath(path).name for path in paths]):
        if len(set(names)) == len(names):
            return names
    raise ToolkitError(
        "two of the queries are called the same", code="TK-0103", hint="give their files different names"
    )


def read_query(value: object, text_of: Callable[[object], str]) -> str | tuple[str, ...]:
    """Return the value of the option of a file: one query, or several by their names, each checked to be a text.

    Raises:
        ToolkitError: as `text_of` and `read_queries`.
    """
    if isinstance(value, Mapping):
        return read_queries({name: text_of(text) for name, text in value.items()})
    return check_query(text_of(value))


def read_queries(queries: Mapping[str, str]) -> tuple[str, ...]:
    """Return queries by their names as the value of the option: `name=SELECT ...` each.

    Raises:
        ToolkitError: TK-0103 for a name that cannot be a level, for one query only or too many; TK-0105 for what
            is no query.
    """
    if not 2 <= len(queries) <= _MOST:
        raise ToolkitError(
            f"{len(queries)} queries cannot be compared", code="TK-0103", hint=f"name 2 to {_MOST} of them"
        )
    for name in queries:
        if not _NAME.fullmatch(name):
            raise ToolkitError(
                f"`{name[:80]}` cannot be the level of a query",
                code="TK-0103",
                hint="letters, digits, `_`, `.` and `-`",
            )
    return tuple(f"{name}={check_query(text)}" for name, text in queries.items())
