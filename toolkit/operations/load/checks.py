"""What is refused of a load before anything is read."""

from __future__ import annotations

from toolkit.design.csv_style import style_of
from toolkit.model.operations import Levels, Options


def check(options: Options, levels: Levels) -> None:
    """Refuse what cannot be right.

    Raises:
        ToolkitError: TK-0102, TK-0107.
    """
    del levels
    style_of(options)
