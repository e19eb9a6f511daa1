"""Every code of the catalogue is raised somewhere and explained on its page."""

from __future__ import annotations

import re

from tests.project.tree import ROOT, texts
from toolkit.dialects.oracle.errors import catalogue
from toolkit.errors import CATALOGUE

_CODE = re.compile(r"TK-\d{4}")


def test_every_code_is_raised_somewhere() -> None:
    used = {code for name, text in texts() if name != "toolkit/errors.py" for code in _CODE.findall(text)}
    assert set(CATALOGUE) - used == set()


def test_every_code_used_is_declared() -> None:
    used = {code for _, text in texts() for code in _CODE.findall(text)}
    assert used - set(CATALOGUE) == set()


def test_every_code_has_its_page() -> None:
    pages = {path.stem for path in (ROOT / "docs/errors").glob("*.md")} - {"README"}
    assert pages == set(CATALOGUE) | set(catalogue())
