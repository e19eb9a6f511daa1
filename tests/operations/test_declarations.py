"""Declarations are found by looking, by many threads at once: a part is never taken for all."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from types import ModuleType

import pytest

from toolkit.model import declarations
from toolkit.model.declarations import Declarations, Declared
from toolkit.model.operations import operations


def test_a_thread_that_asks_while_another_still_looks_gets_all(monkeypatch: pytest.MonkeyPatch) -> None:
    looking: Declarations[Declared] = Declarations("toolkit.operations", "an operation")
    real: Callable[[str], ModuleType] = declarations.import_module
    seen: list[set[str]] = []

    with ThreadPoolExecutor(1) as other:

        def slow(name: str) -> ModuleType:
            if name.endswith(".stats_gather") and not seen:
                seen.append(set())
                seen.append(set(other.submit(looking.every).result()))
            return real(name)

        monkeypatch.setattr(declarations, "import_module", slow)
        mine = set(looking.every())
    assert seen[1] == mine == set(operations())


def test_what_is_said_of_other_engines_goes_on_from_a_hint_that_says_to_omit_the_option() -> None:
    said = [one.elsewhere for each in operations().values() for one in each.options if one.elsewhere]
    assert len(said) > 5 and not [text for text in said if text.startswith("omit")]
