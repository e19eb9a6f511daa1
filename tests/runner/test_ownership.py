"""What an object is set to, where nothing of it is shown any more: it is gone, or not to be seen."""

from __future__ import annotations

from typing import cast

import pytest

from tests.for_each import for_each
from toolkit.dialects.registry import dialect_of
from toolkit.errors import ToolkitError
from toolkit.executors import Sessions
from toolkit.model.protocols import Answer
from toolkit.model.steps import ObjectRef, Step
from toolkit.model.values import QualifiedName
from toolkit.model.words import ObjectKind
from toolkit.runner.ownership import present

TABLE = ObjectRef(ObjectKind.TABLE, QualifiedName("T", "APP"))


class Shown:
    """Answers nothing to the question for attributes."""

    def __init__(self, *, there: bool) -> None:
        self.there = there

    def run(self, step: Step, number: int = 0) -> Answer:
        del number
        return Answer(({"identity": "1"},) if self.there and "identity" in step.name else ())


@for_each("engine", ["oracle", "postgresql"])
@for_each(
    ("there", "code", "said"),
    [(False, "TK-0211", "table `APP.T` is gone"), (True, "TK-0306", "no longer see")],
)
def test_an_object_that_shows_nothing_is_gone_or_hidden(engine: str, there: bool, code: str, said: str) -> None:
    with pytest.raises(ToolkitError, match=said) as caught:
        present(cast(Sessions, Shown(there=there)), dialect_of(engine), TABLE)
    assert caught.value.code == code
    assert "degree" not in caught.value.message
