"""Release and edition: read from a banner, assumed from a word."""

from __future__ import annotations

import pytest

from tests.for_each import for_each
from tests.oracle.make import EVERY_RELEASE
from toolkit.dialects.oracle.dialect import DIALECT
from toolkit.errors import ToolkitError

_BANNERS = [
    ("Oracle Database 11g Enterprise Edition Release 11.2.0.4.0 - 64bit Production", (11, 2, 0, 4, 0), "ee"),
    ("Oracle Database 11g Release 11.2.0.4.0 - 64bit Production", (11, 2, 0, 4, 0), "se"),
    ("Oracle Database 11g Express Edition Release 11.2.0.2.0 - 64bit Production", (11, 2, 0, 2, 0), "xe"),
    ("Oracle Database 12c Standard Edition Release 12.1.0.2.0 - 64bit Production", (12, 1, 0, 2, 0), "se"),
    ("Oracle Database 19c Standard Edition 2 Release 19.0.0.0.0 - Production", (19, 0, 0, 0, 0), "se2"),
    ("Oracle Database 19c EE Extreme Perf Release 19.0.0.0.0 - Production", (19, 0, 0, 0, 0), "ee"),
    ("Oracle Database 23ai Free Release 23.0.0.0.0 - Develop, Learn, and Run for Free", (23, 0, 0, 0, 0), "free"),
    ("Oracle AI Database 26ai Enterprise Edition Release 23.26.2.0.0 - Production", (23, 26, 2, 0, 0), "ee"),
]


@for_each(("banner", "number", "edition"), _BANNERS)
def test_a_banner_tells_number_and_edition(banner: str, number: tuple[int, ...], edition: str) -> None:
    release = DIALECT.release({"version_text": banner, "edition": None})
    assert (release.number, release.edition) == (number, edition)


def test_an_unreadable_banner_gives_an_unknown_release() -> None:
    release = DIALECT.release({"version_text": "something else", "edition": None})
    assert (release.number, release.edition) == ((), "")


@for_each("text", EVERY_RELEASE)
def test_every_release_and_edition_can_be_assumed(text: str) -> None:
    facts = DIALECT.assume(text)
    assert facts.assumed
    assert facts.release.edition == text.split("-")[1]
    assert DIALECT.release(facts.first("server")).number == facts.release.number


@for_each("text", ["19", "10-ee", "19-pe", "", "ee-19", "19x-ee"])
def test_what_cannot_be_assumed_names_what_can(text: str) -> None:
    with pytest.raises(ToolkitError) as refused:
        DIALECT.assume(text)
    assert refused.value.code == "TK-0102"
    assert "19-ee" in refused.value.hint
