"""What is refused of a load before anything is read."""

from __future__ import annotations

from toolkit.design.csv_style import style_of
from toolkit.errors import ToolkitError
from toolkit.model.operations import Levels, Options
from toolkit.operations.hosts import check_hosts


def check(options: Options, levels: Levels) -> None:
    """Refuse what cannot be right.

    Raises:
        ToolkitError: TK-0102, TK-0107.
    """
    check_hosts(options, levels, "sessions are")
    if "on" in options and "array" not in levels.get("method", ("array",)):
        raise ToolkitError(
            "SQL*Loader runs where its bundle is, on no other host",
            code="TK-0107",
            hint="omit `--on`, or `--method`",
        )
    style_of(options)
