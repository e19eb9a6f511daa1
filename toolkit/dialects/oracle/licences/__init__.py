"""The licence guard: what a statement would need, found before it is sent and checked against what was declared.

`look` reads a text, `look_script` a script of SQL*Plus; `judge` decides about a licence in its context: edition,
release, service, and what the profile of the target declares. Lists and sources: `lists.toml`.
"""

from toolkit.dialects.oracle.licences.lists import DIAGNOSTICS, TUNING, as_of, declarable, licences
from toolkit.dialects.oracle.licences.look import LicenceFindings, Use, look, look_script

__all__ = [
    "DIAGNOSTICS", "TUNING", "LicenceFindings", "Use", "as_of", "declarable", "licences", "look", "look_script",
]  # fmt: skip
