"""Fields of a record of CSV, where the client divides them."""

from __future__ import annotations

import csv
import re
from collections.abc import Callable

from toolkit.model.transfers import CsvStyle

QUOTED_NULL = "\ue000"
"""Put before a quoted text that would stand for NULL without quotes."""


def fields_of(style: CsvStyle) -> Callable[[str], list[str]]:
    """Return what divides a record; a quoted text like that of NULL comes with `QUOTED_NULL` before it.

    The function raises csv.Error for a record whose quotes are wrong.
    """
    marked = re.compile(
        "(?:(?<=^)|(?<={0})){1}(?={2}{1}(?:{0}|\r?\n|$))".format(
            *map(re.escape, (style.delimiter, style.quote, style.null))
        )
    )

    def fields(text: str) -> list[str]:
        if style.null and style.quote:
            text = marked.sub(lambda found: found[0] + QUOTED_NULL, text)
        reader = csv.reader(
            [text],
            delimiter=style.delimiter,
            quotechar=style.quote or None,
            quoting=csv.QUOTE_MINIMAL if style.quote else csv.QUOTE_NONE,
            strict=True,
        )
        return next(reader, [])

    return fields
