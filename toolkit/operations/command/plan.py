"""Plans programs of this host: the command and those beside it are the items on the clock."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from dataclasses import replace

from toolkit.design.order import cells_of
from toolkit.design.placeholders import fill
from toolkit.dialects.programs import after_all
from toolkit.dialects.work import Work
from toolkit.errors import ToolkitError
from toolkit.model.experiment import OptionValue
from toolkit.model.facts import Query
from toolkit.model.steps import ObjectRef, Stages
from toolkit.model.values import Cell, QualifiedName, spell_level
from toolkit.model.words import ObjectKind
from toolkit.operations.base import Piece, Planner, assemble, support_of
from toolkit.operations.command.checks import EACH, ONCE, lines_of

_LONGEST_LABEL = 120


class RunCommand:
    """The neutral half: which programs, with the levels of the cell among their arguments."""

    name = "command"
    version = 1

    def reads(self, planner: Planner) -> tuple[Query, ...]:
        del planner
        return ()

    def check(self, planner: Planner) -> None:
        """Refuse programs that are not there, whatever the level.

        Raises:
            ToolkitError: TK-0204.
        """
        found = [support_of(planner, self.pieces(planner, cell)) for cell in cells_of(planner.spec.factors)]
        if not any(support.ok for support in found):
            raise ToolkitError(found[0].sentence, code="TK-0204", hint=found[0].hint)

    def pieces(self, planner: Planner, cell: Cell) -> tuple[Piece, ...]:
        options = _filled(planner.spec.options, cell)
        beside = (tuple(shlex.split(line)) for line in lines_of(options, "with_"))
        found: list[Piece] = []
        for argv in (lines_of(options, "command"), *beside):
            label = _label(argv, [piece.label for piece in found])
            ref = ObjectRef(ObjectKind.SESSION, QualifiedName(label))
            work = Work(self.name, planner.spec.mode, ref, {**options, **cell, "command": argv})
            found.append(Piece(work, label))
        return tuple(found)

    def plan(self, planner: Planner, cell: Cell) -> Stages:
        pieces = self.pieces(planner, cell)
        stages = assemble(planner, cell, pieces, cleanup=after_all(pieces[0].work))
        asked = cell.get("concurrency")
        workers = min(len(pieces), int(asked)) if isinstance(asked, int) else len(pieces)
        return replace(stages, timed=replace(stages.timed, workers=workers))


def _filled(options: Mapping[str, OptionValue], cell: Cell) -> dict[str, OptionValue]:
    """Put the levels of a cell into all texts; lines are split before, so that a level never is two words."""
    values = {name: spell_level(level) for name, level in cell.items()}

    def line(text: str) -> str:
        return shlex.join(fill(word, values) for word in shlex.split(text))

    found = dict(options)
    for name, value in options.items():
        if isinstance(value, tuple):
            if name in ("command", "env"):
                found[name] = tuple(fill(text, values) for text in value)
            elif name in (*ONCE, *EACH):
                found[name] = tuple(map(line, value))
        elif isinstance(value, str):
            found[name] = fill(value, values)
    return found


def _label(argv: tuple[str, ...], taken: list[str]) -> str:
    text = " ".join(shlex.join(argv).split())[:_LONGEST_LABEL]
    same = sum(label == text or label.startswith(f"{text} #") for label in taken)
    return text if not same else f"{text} #{same + 1}"


OPERATION = RunCommand()
