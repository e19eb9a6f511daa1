"""What tells a report from another text, and the single reports of a text that holds several."""

from __future__ import annotations

import re

from toolkit.readers.awr.decode import other_report
from toolkit.readers.parts import Wanted

REPORT = re.compile(
    r"WORKLOAD REPOSITORY|STATSPACK\s+(?:STATISTICS\s+)?report|AWR (?:RAC )?Report|DB/Inst:|Begin Snap\b|DB Id\b",
    re.IGNORECASE,
)
SEARCHED = 4_000_000
_TITLE = re.compile(
    r"^[ \t]{0,80}+(?:WORKLOAD REPOSITORY (?:PDB |RAC )?report\b|STATSPACK (?:statistics )?report\b)",
    re.IGNORECASE | re.MULTILINE,
)
_NAMED = ("WORKLOAD REPOSITORY", "STATSPACK report", "STATSPACK Statistics Report")
"""How the database titles a report; a text with one title is one report."""
_HEADER = re.compile(r"\bSnap Id\b|\bBegin Snap\b|\bDB Id\b", re.IGNORECASE)
_PAGE_BEGINS = ("<html", "<HTML", "<Html")
_PAGE_ENDS = ("</html", "</HTML", "</Html")


def _tells(text: str) -> bool:
    return REPORT.search(text, 0, SEARCHED) is not None or other_report(text) is not None


def separated(text: str) -> list[str]:
    """Return the reports of a text, each from its beginning on; a text of one report or none is left whole."""
    if sum(map(text.count, _NAMED)) == 1:  # found faster than where a page begins
        return [text]
    begins = _page_begins(text)
    if begins:
        end = begins[-1]
        for mark in _PAGE_ENDS:
            end = max(end, text.rfind(mark, end))
        begins += _title_begins(text, end) if end > begins[-1] else []
    else:
        begins = _title_begins(text, 0)
    if len(begins) < 2:
        return [text]
    begins[0] = 0
    found: list[str] = []
    for begin, end in zip(begins, [*begins[1:], len(text)], strict=True):
        if found and not _HEADER.search(text, begin, end):
            found[-1] += text[begin:end]  # only a title, or a page that an editor opened anew
        else:
            found.append(text[begin:end])
    if len(found) > 1 and not _HEADER.search(found[0]):
        found[:2] = [found[0] + found[1]]
    return found


def _page_begins(text: str) -> list[int]:
    found = []
    for mark in _PAGE_BEGINS:
        at = text.find(mark)
        while at >= 0:
            found.append(at)
            at = text.find(mark, at + 1)
    return sorted(found)


def _title_begins(text: str, begin: int) -> list[int]:
    return [match.start() for match in _TITLE.finditer(text, begin)]


REPORTS = Wanted(_tells, separated)
