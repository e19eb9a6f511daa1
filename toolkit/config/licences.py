"""Licences that a profile declares: who said so, when, and for how long."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date

from toolkit.documents import did_you_mean
from toolkit.errors import ToolkitError
from toolkit.model.words import LICENCES


@dataclass(frozen=True, slots=True)
class Licence:
    """Who declared that a paid option is licensed, when, and for how long."""

    by: str
    on: date
    until: date | None = None

    def holds(self, today: date) -> bool:
        """Whether it may be relied on today."""
        return self.on <= today and (self.until is None or today <= self.until)


def read_licences(value: object) -> dict[str, Licence]:
    """Read the licences of a profile.

    Raises:
        ToolkitError: TK-0101, TK-0106.
    """
    hint = 'write `licenses.diagnostics_pack = {by = "NAME", on = 2026-01-31, until = 2027-01-31}`'
    if not isinstance(value, Mapping):
        raise _bad("`licenses` must be a table", hint)
    licences = {}
    for name, one in value.items():
        if name not in LICENCES:
            raise ToolkitError(f"unknown licence `{name}`", code="TK-0101", hint=did_you_mean(name, LICENCES))
        known = isinstance(one, Mapping) and set(one) <= {"by", "on", "until"}
        if not known or not isinstance(one.get("by"), str) or not one["by"].strip():
            raise _bad(f"the licence `{name}` does not say who declared it", hint)
        if type(one.get("on")) is not date or type(one.get("until", one["on"])) is not date:
            raise _bad(f"the licence `{name}` has no dates", hint)
        licences[name] = Licence(one["by"], one["on"], one.get("until"))
    return licences


def written_licence(licence: Licence) -> dict[str, object]:
    """Return a licence as a file holds it."""
    data: dict[str, object] = {"by": licence.by, "on": licence.on, "until": licence.until}
    return {key: value for key, value in data.items() if value is not None}


def _bad(sentence: str, hint: str) -> ToolkitError:
    return ToolkitError(sentence, code="TK-0106", hint=hint)
