"""One word for each idea: public class names are unique, and words that were given up do not come back."""

from __future__ import annotations

import ast
import re
from collections import defaultdict

from tests.project.tree import ROOT, sources

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
}
"""Words of an earlier vocabulary, in the singular, and what is said instead."""

_WORDS = re.compile(r"[a-z]+")


def _words(text: str) -> set[str]:
    spaced = re.sub(r"([a-z])([A-Z])", r"\1 \2", text).lower()
    return {word.removesuffix("s") for word in _WORDS.findall(spaced)}


def test_a_public_class_name_has_one_meaning() -> None:
    places: dict[str, list[str]] = defaultdict(list)
    for name, tree, _ in sources():
        for node in tree.body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                places[node.name].append(name)
    assert {name: where for name, where in places.items() if len(where) > 1} == {}


def test_words_that_were_given_up_stay_so() -> None:
    found = [
        f"{name}:{number}: {word}, say {GIVEN_UP[word]}"
        for name, _, text in sources()
        for number, line in enumerate(text.splitlines(), 1)
        for word in sorted(_words(line) & GIVEN_UP.keys())
    ]
    assert found == []


def test_no_page_uses_a_word_that_was_given_up() -> None:
    texts = (*(ROOT / "docs").rglob("*.md"), *(ROOT / "templates").rglob("*.j2"))
    pages = [ROOT / "README.md", *sorted(texts)]
    found = [
        f"{page.relative_to(ROOT)}: {word}, say {GIVEN_UP[word]}"
        for page in pages
        for word in sorted(_words(page.read_text(encoding="utf-8")) & GIVEN_UP.keys())
    ]
    assert found == []
