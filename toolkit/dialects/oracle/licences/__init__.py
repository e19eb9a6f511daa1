"""The licence guard: what a statement would need, told before it is sent, and held against what was declared.

`look` reads a text, `look_script` a SQL*Plus script with its includes; `judge` holds the findings against the
ground: edition, release, service, and what the profile of the target declares. Lists and sources: `lists.toml`.
"""

from toolkit.dialects.oracle.licences.lists import DIAGNOSTICS, TUNING, as_of, declarable, licences
from toolkit.dialects.oracle.licences.look import LicenceFindings, Use, look

__all__ = ["DIAGNOSTICS", "TUNING", "LicenceFindings", "Use", "as_of", "declarable", "licences", "look"]
