"""Reads what a plan's step expects of the rows of a load, and what is counted of them afterwards."""

from __future__ import annotations

from toolkit.design.head import read_between, read_whole, read_word
from toolkit.errors import ToolkitError
from toolkit.model.operations import declaration, operations
from toolkit.model.plan import ExpectedRows, RowCount
from toolkit.model.words import OperationName

ROW_KEYS = ("expect_rows", "count_rows")
_WORDS = {"some": ExpectedRows(), "any": ExpectedRows(0)}
_MOST = 10**15


def read_expected_rows(operation: OperationName, key: str, value: object) -> ExpectedRows:
    """Read `"some"`, `"any"` or a number of rows; raises TK-0102, TK-0107."""
    _refuse_others(operation, key)
    if isinstance(value, str):
        if value not in _WORDS:
            hint = 'write "some", "any" (none too) or a number'
            raise ToolkitError(f"`{key}` cannot be `{value}`", code="TK-0102", hint=hint)
        return _WORDS[value]
    count = read_between(key, read_whole(key, value), 0, _MOST)
    return ExpectedRows(count, count)


def read_counted_rows(operation: OperationName, key: str, value: object) -> RowCount:
    """Read what is counted again after a load; raises TK-0102, TK-0107."""
    _refuse_others(operation, key)
    return read_word(RowCount, key, value)


def _refuse_others(operation: OperationName, key: str) -> None:
    if not declaration(operation).makes_rows:
        loads = " and ".join(f"`{one.name}`" for one in operations().values() if one.makes_rows)
        raise ToolkitError(f"`{key}` is for {loads}, not for `{operation}`", code="TK-0107", hint="leave it out")
