"""The words for a number that changed: none says more than the two values read.

`head` makes the beginning of a sentence, `shift` what it goes on with.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from toolkit.analysis.awr.changes import Change
from toolkit.analysis.awr.comparable import by_ratio
from toolkit.analysis.awr.findings import both
from toolkit.units import MISSING, number, percent


def hundredths(value: float | None) -> str:
    """Spell a percentage as reports print a hit ratio: 99.2 and 99.99 are not both 100 %."""
    return MISSING if value is None else f"{value:.2f} %"


def shift(one: Change | None, name: str, spell: Callable[[float | None], str] = number) -> str:
    """Say what a number was and is, with its ratio; nothing where it is not known."""
    if one is None or (one.before.rate is None and one.after.rate is None):
        return ""
    before, after = both(one, spell)
    if one.before.rate is None:
        return f"{name} {after}{_bound(one.before.most_rate, one.after.rate, 'before', spell)}"
    if one.after.rate is None:
        return f"{name} {before} before{_bound(one.after.most_rate, one.before.rate, 'now', spell)}"
    return f"{name} {before} -> {after}" + (
        f" ({by_ratio(one.ratio)})" if one.ratio and spell not in (percent, hundredths) else ""
    )


def _bound(most: float | None, known: float | None, when: str, spell: Callable[[float | None], str]) -> str:
    """Say how little the side can have that does not show it, where that is less than the other one has."""
    if most is None or (known is not None and most >= known):
        return ""
    return f" ({when} below {spell(most)})" if most else f" (none {when})"


def joined(head: str, *facts: str) -> str:
    facts_text = ", ".join(fact for fact in facts if fact)
    return f"{head}: {facts_text}" if facts_text else head


@dataclass(frozen=True, slots=True)
class Lead:
    """A number that may head a sentence: the words for its rise and for its fall, and how it is printed."""

    one: Change | None
    rise: str
    fall: str
    spell: Callable[[float | None], str] = number

    @property
    def moved(self) -> int:
        """Which way it went, as printed: 1, -1, or 0 where both sides read the same or one is not known."""
        if self.one is None or self.one.before.rate is None or self.one.after.rate is None:
            return 0
        before, after = both(self.one, self.spell)
        return 0 if before == after else 1 if self.one.after.rate > self.one.before.rate else -1


def head(grew: bool, leads: Sequence[Lead], otherwise: tuple[str, str]) -> str:
    """Return the head of a sentence: of the first number that went as the impact says, by what is printed of it.

    Args:
        grew: Whether the cause added DB time.
        leads: What may head it, the most telling first.
        otherwise: What holds whatever the numbers say, for more and for less DB time.
    """
    for lead in leads:
        if lead.moved == (1 if grew else -1):
            return lead.rise if grew else lead.fall
    return otherwise[0] if grew else otherwise[1]


def unlike_load(
    one: Change | None, name: str, otherwise: tuple[str, str], spell: Callable[[float | None], str] = number
) -> tuple[str, str]:
    """Return what holds of a measure that is more, or less, than the load explains: it may go against that.

    Args:
        one: The measure before and after.
        name: What it is the measure of, as a subject.
        otherwise: What to say where it is not known, or moved as its cause says.
        spell: How it is printed.
    """
    moved = Lead(one, "", "", spell).moved
    if one is None or one.before.rate is None or one.after.rate is None:
        return otherwise
    same = f"{name} stayed as it was at another load"
    more = f"{name} fell by less than the load" if moved < 0 else otherwise[0] if moved else same
    less = f"{name} rose by less than the load" if moved > 0 else otherwise[1] if moved else same
    return more, less


_CALLED = (
    (r"enq: TX - row lock|Lock:(transactionid|tuple)", "row locks"),
    (r"enq: TX - index contention", "contention for index blocks"),
    (r"enq: TM|Lock:relation", "table locks"),
    (r"log file switch \(checkpoint", "log switches wait for a checkpoint"),
    (r"log file switch \(archiv", "log switches wait for archiving"),
    (r"log file switch|log buffer space", "log switches"),
    (r"log file sync", "commits"),
    (r"(gc )?buffer busy|read by other session", "contention for blocks"),
    (r"library cache|cursor:|latch: (shared pool|row cache)|row cache", "library cache"),
)
"""What a DBA calls the waits for an event."""


def event_name(event: str) -> str:
    """Return what a DBA calls the waits for an event, nothing where its own name says it all."""
    return next((words for pattern, words in _CALLED if re.match(pattern, event, re.IGNORECASE)), "")
