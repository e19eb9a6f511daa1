"""Many patterns for headings, asked all at once: a report has hundreds of headings, and each is asked for each."""

from __future__ import annotations

import re
from collections.abc import Iterable


class Patterns:
    """Patterns of which a heading may meet several.

    One expression asks them all: each stands in it as a condition that takes no text and need not hold.
    """

    __slots__ = ("_all", "_whole")

    def __init__(self, whole: Iterable[str], anywhere: Iterable[str] = ()) -> None:
        """Put patterns together: those that a whole heading must meet, and those that are met anywhere in one."""
        told = {pattern: rf"(?:{pattern})\Z" for pattern in whole}
        found = {pattern: rf".*?(?:{pattern})" for pattern in anywhere}
        asked = [*told.values(), *found.values()]
        text = "".join(f"(?:(?={one})(?P<n{number}>))?" for number, one in enumerate(asked))
        self._all = re.compile(text)
        places = self._all.groupindex
        self._whole = [(pattern, places[f"n{number}"]) for number, pattern in enumerate([*told, *found])]

    def met(self, heading: str) -> list[str]:
        """Return the patterns that a heading (one line) meets, in their order."""
        match = self._all.match(heading)
        assert match is not None, "every condition is free to fail"
        groups = match.regs
        return [pattern for pattern, place in self._whole if groups[place][0] >= 0]
