"""What to set, as text and as the first box of a page."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from toolkit.report.layout import bullets, wrapped
from toolkit.report.safe import clean

if TYPE_CHECKING:
    from toolkit.analysis.recommendation import Recommendation

Rows = tuple[tuple[str, str], ...]


def recommendation_rows(rows: Iterable[tuple[str, str]]) -> Rows:
    """Return rows of a recommendation, cleaned."""
    return tuple((name, clean(text)) for name, text in rows)


def recommendation_lines(rows: Rows) -> list[str]:
    """Return the rows as text, their names in a column."""
    lead = max((len(name) for name, _ in rows), default=0) + 2
    return [line for name, text in rows for line in wrapped(text, f"{name:<{lead}}")]


def recommendation_text(one: Recommendation) -> str:
    """Return the whole answer of `advise`."""
    from toolkit.analysis.recommendation import rows_of

    advice = one.advice
    lines = [
        *wrapped(clean(advice.headline)),
        "",
        *recommendation_lines(recommendation_rows([*rows_of(one), ("end", one.stopped_because)])),
        *([""] if advice.doubts else []),
        *bullets(map(clean, advice.doubts), "! "),
    ]
    return "\n".join(lines) + "\n"
