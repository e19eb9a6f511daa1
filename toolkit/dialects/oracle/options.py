"""Options of the database that an installation has or has not, and that are paid for: V$OPTION and the profile."""

from __future__ import annotations

from toolkit.dialects.oracle.licences import licences
from toolkit.dialects.oracle.licences.context import context_of, judge
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
    return _needed("advanced_compression", "Advanced Compression", what, facts)


def advanced_security(what: str, facts: Facts) -> Support | None:
    """Judge what needs the Advanced Security option."""
    return _needed("advanced_security", "Advanced Security", what, facts)


def _needed(key: str, option: str, what: str, facts: Facts) -> Support | None:
    """Judge what needs an option that is bought: the installation first, then what the licence stands on."""
    on = context_of(facts)
    verdict, words = judge(key, on), edition_of(facts).words
    if (not verdict.allowed and edition_of(facts).enterprise is not True) or option_is_off(facts, option):
        sentence = f"{what} needs Enterprise Edition with the {option} option; this is {words}"
        return Support(SupportState.UNSUPPORTED, sentence)
    if verdict.allowed:
        return None
    return Support(
        SupportState.NEEDS_LICENCE,
        f"{what} needs the {option} option, which is not declared for this target",
        f"{licences()[key].alternative}; or declare it in the profile: `licenses.{key} = {{by, on, until}}`",
    )
