"""Every code of the catalogue is raised somewhere and explained on its page."""

from __future__ import annotations

import re

from tests.project.tree import ROOT, sources
from toolkit.errors import CATALOGUE

_CODE = re.compile(r"TK-\d{4}")


def test_every_code_is_raised_somewhere() -> None:
    used = {code for name, _, text in sources() if name != "toolkit/errors.py" for code in _CODE.findall(text)}
    assert set(CATALOGUE) - used == set()


def test_every_code_used_is_declared() -> None:
    used = {code for _, _, text in sources() for code in _CODE.findall(text)}
    assert used - set(CATALOGUE) == set()


def test_every_code_has_its_section() -> None:
    page = (ROOT / "docs/reference/errors.md").read_text(encoding="utf-8")
    sections = set(re.findall(r"^## (TK-\d{4})\b", page, re.MULTILINE))
    assert sections == set(CATALOGUE)
