"""Options of the database that an installation has or has not, and that are paid for: V$OPTION and the profile."""

from __future__ import annotations

from toolkit.dialects.oracle.releases import edition_of
from toolkit.model.facts import Facts
from toolkit.model.values import Support
from toolkit.model.words import SupportState


def option_is_off(facts: Facts, parameter: str) -> bool:
    """Tell whether V$OPTION was read and says FALSE for an option."""
    return any(
        row.get("parameter") == parameter and str(row.get("value")).upper() == "FALSE"
        for row in facts.rows("doctor_options")
    )


def advanced_compression(what: str, facts: Facts) -> Support | None:
    """Judge what needs the Advanced Compression option.

    Rows `licences` of the facts (column `licence`) name the options that the target's profile declares.
    """
    edition = edition_of(facts)
    if edition.enterprise is False or option_is_off(facts, "Advanced Compression"):
        return Support(
            SupportState.UNSUPPORTED,
            f"{what} needs Enterprise Edition with the Advanced Compression option; this is {edition.words}",
        )
    if edition.code == "free":
        return None  # Oracle Database Free and its options need no licence (Licensing Information, Free)
    if any(row.get("licence") == "advanced_compression" for row in facts.rows("licences")):
        return None
    return Support(
        SupportState.NEEDS_LICENCE,
        f"{what} needs the Advanced Compression option; declare `advanced_compression` in the target's profile",
    )
