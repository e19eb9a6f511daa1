"""Create statistics of columns or expressions and gather them: a job on the table, each trial on a copy."""

from __future__ import annotations

from toolkit.errors import ToolkitError
from toolkit.operations.base import Planner
from toolkit.operations.tables import OverTables


class _Extend(OverTables):
    """Plans the statistics of one group."""

    def check(self, planner: Planner) -> None:
        if planner.measuring and planner.spec.flag("drop"):
            raise ToolkitError(
                "dropping statistics is not measured: it changes the dictionary alone",
                code="TK-0107",
                hint="one configuration without `--repeat` is a job",
            )
        super().check(planner)


OPERATION = _Extend("stats-extend", 1, anew=True)
