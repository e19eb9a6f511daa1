"""The licence bill of materials: what a piece of work uses that is paid for, who declared it, what was not seen.

Kept with every run and shown with every plan, script and report. It says what somebody declared; it never says
that anything is licensed.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum

from toolkit.model.records import Artifact

ARTIFACT = "licences.json"
"""The name under which a run keeps its bill."""


class LicenceStatus(StrEnum):
    """Why a licence may be used, or that it may not."""

    DECLARED = "declared"
    INCLUDED = "included"
    REFUSED = "refused"


@dataclass(frozen=True, slots=True)
class Position:
    """One licence on the bill: what is used of it, and why it may be.

    `by`, `on` and `until` are the declaration's, days as ISO 8601; None where nothing had to be declared.
    """

    licence: str
    title: str
    things: tuple[str, ...]
    status: LicenceStatus
    reason: str
    by: str | None = None
    on: str | None = None
    until: str | None = None

    @property
    def sentence(self) -> str:
        """One line: title, things, reason."""
        reason = self.reason
        if self.status is LicenceStatus.DECLARED:
            until = f" until {self.until}" if self.until else " without an end"
            reason = f"you declared it: {self.by} on {self.on},{until}"
        if self.status is LicenceStatus.REFUSED:
            reason = f"refused: {self.reason}"
        return f"{self.title} ({', '.join(self.things)}): {reason}"


@dataclass(frozen=True, slots=True)
class Bill:
    """What is used, what is worth knowing, what could not be seen; `as_of` dates the lists it was made by."""

    positions: tuple[Position, ...] = ()
    notes: tuple[str, ...] = ()
    unseen: tuple[str, ...] = ()
    as_of: str = ""

    def sentences(self) -> Iterator[str]:
        """Yield the bill line by line."""
        if all(position.status is LicenceStatus.INCLUDED for position in self.positions):
            yield f"licences: nothing that needs a declaration is used, according to the lists of {self.as_of}"
        for position in self.positions:
            yield f"licence: {position.sentence}"
        for note in self.notes:
            yield f"licence note: {note}"
        for sentence in self.unseen:
            yield f"licence not checked: {sentence}"


def bill_among(artifacts: Iterable[Artifact]) -> Bill | None:
    """Return the bill that a run kept among its artifacts; None for engines without licences and old runs."""
    kept = next((one for one in artifacts if one.name == ARTIFACT and not one.trial), None)
    return None if kept is None else bill_from_text(kept.content.decode("utf-8", "replace"))


def bill_document(bill: Bill) -> dict[str, object]:
    """Return the bill as a JSON document."""
    return {
        "as_of": bill.as_of,
        "used": [
            {
                "licence": one.licence, "title": one.title, "things": list(one.things),
                "status": one.status.value, "reason": one.reason,
                "declared_by": one.by, "declared_on": one.on, "declared_until": one.until,
            }
            for one in bill.positions
        ],
        "notes": list(bill.notes),
        "unseen": list(bill.unseen),
    }  # fmt: skip


def bill_to_text(bill: Bill) -> str:
    """Write a bill as a run keeps it."""
    return json.dumps(bill_document(bill), indent=1)


def bill_from_text(text: str) -> Bill | None:
    """Read a bill that a run kept; None when it is damaged or of another shape."""
    try:
        document = json.loads(text)
        positions = tuple(_position(one) for one in document["used"])
        notes, unseen = (tuple(map(str, document[key])) for key in ("notes", "unseen"))
        return Bill(positions, notes, unseen, str(document["as_of"]))
    except (ValueError, KeyError, TypeError):
        return None


def _position(document: Mapping[str, object]) -> Position:
    things = document["things"]
    if not isinstance(things, list):
        raise TypeError
    status = document.get("status", document.get("standing"))  # as bills of before version 9 of the store name it
    days = (document[key] for key in ("declared_by", "declared_on", "declared_until"))
    by, on, until = (None if day is None else str(day) for day in days)
    return Position(
        str(document["licence"]),
        str(document["title"]),
        tuple(map(str, things)),
        LicenceStatus(str(status)),
        str(document["reason"]),
        by,
        on,
        until,
    )
