"""One word for each idea: public class names are unique, and words that were given up do not come back."""

from __future__ import annotations

import re
from collections import defaultdict
from pathlib import Path

from tests.project.tree import ROOT, texts

GIVEN_UP = {
    "untold": "inconclusive",
    "tellable": "minimum detectable effect",
    "rung": "snapshot source",
    "ladder": "fallback order",
    "ghost": "orphaned session",
    "placenight": "TargetRun",
    "insisting": "retry",
    "patience": "timeout",
    "shield": "isolate",
    "dresse": "auxiliary DDL",
}
"""Words of an earlier vocabulary, in the singular, and what is said instead."""

GIVEN_UP_ON_PAGES = GIVEN_UP | {"said": "arguments, or reported", "dress": "complete"}
"""What readers of pages, scripts and templates do not meet either."""

_OF_OURS = re.compile(r"\bof\s+ours\b", re.IGNORECASE)

_WORDS = re.compile(r"[a-z]+")
_PUBLIC_CLASS = re.compile(r"^class ([A-Za-z]\w*)", re.MULTILINE)


def _words(text: str) -> set[str]:
    spaced = re.sub(r"([a-z])([A-Z])", r"\1 \2", text).lower()
    return {word.removesuffix("s") for word in _WORDS.findall(spaced)}


def test_a_public_class_name_has_one_meaning() -> None:
    places: dict[str, list[str]] = defaultdict(list)
    for name, text in texts():
        for made in _PUBLIC_CLASS.findall(text):
            places[made].append(name)
    assert len(places) > 100
    assert {name: where for name, where in places.items() if len(where) > 1} == {}


def test_words_that_were_given_up_stay_so() -> None:
    found = [
        f"{name}:{number}: {word}, say {GIVEN_UP[word]}"
        for name, text in texts()
        for number, line in enumerate(text.splitlines(), 1)
        for word in sorted(_words(line) & GIVEN_UP.keys())
    ]
    assert found == []


def _pages() -> list[Path]:
    files = [
        path
        for folder, ending in (("docs", "md"), ("templates", "j2"), ("sql", "sql"))
        for path in (ROOT / folder).rglob(f"*.{ending}")
    ]
    return [ROOT / "README.md", *sorted(files)]


def test_no_page_uses_a_word_that_was_given_up() -> None:
    found = [
        f"{page.relative_to(ROOT)}: {word}, say {GIVEN_UP_ON_PAGES[word]}"
        for page in _pages()
        for word in sorted(_words(page.read_text(encoding="utf-8")) & GIVEN_UP_ON_PAGES.keys())
    ]
    assert found == []


def test_nothing_is_called_ours() -> None:
    pages = {path.relative_to(ROOT).as_posix(): path.read_text(encoding="utf-8") for path in _pages()}
    found = [name for name, text in (pages | dict(texts())).items() if _OF_OURS.search(text)]
    assert found == [], "say scratch object, or made by dbatk"
