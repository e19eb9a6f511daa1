"""Validate constraints one by one: those of one table one after another, those of several tables at once."""

from __future__ import annotations

from toolkit.dialects.work import Work
from toolkit.documents import did_you_mean
from toolkit.errors import ToolkitError
from toolkit.model.steps import ObjectRef
from toolkit.model.words import ObjectKind
from toolkit.operations.base import Planner
from toolkit.operations.tables import OverTables


class _OverConstraints(OverTables):
    """Plans one work for each constraint that is not validated."""

    def check(self, planner: Planner) -> None:
        super().check(planner)
        unread = planner.facts.assumed and not planner.facts.answers.get("unvalidated")
        if unread and not planner.spec.names("constraint"):
            raise ToolkitError(
                "which constraints wait to be validated is not known without a connection",
                code="TK-0102",
                hint="name them with --constraint, or give the catalogue of the database with --facts",
            )
        if planner.spec.text("table") is None or planner.facts.assumed:
            return
        table = planner.existing("target", "table")
        options = {"disabled": planner.spec.flag("disabled")}
        work = Work(self.name, planner.spec.mode, ObjectRef(ObjectKind.TABLE, table), options)
        known = [part.name for part in planner.dialect.work.of(self.name).parts_of(work, planner.facts)]
        for text in planner.spec.names("constraint"):
            name = planner.qualified(text).name
            if name not in known:
                raise ToolkitError(
                    f"`{table}` has no constraint `{name}` that waits to be validated",
                    code="TK-0204",
                    hint=did_you_mean(name, known) if known else "all that are enforced are validated",
                )


OPERATION = _OverConstraints("constraint-validate", 1, anew=False)
