"""Refresh a materialized view, or those of whole schemas, in place: there are no copies of such views."""

from __future__ import annotations

from collections.abc import Iterable

from toolkit.errors import ToolkitError
from toolkit.model.facts import Query
from toolkit.operations.base import Planner, relation_query
from toolkit.operations.tables import OverTables, own_reads


class _OverViews(OverTables):
    """Plans one refresh for each materialized view."""

    def _objects(self, planner: Planner) -> tuple[Query, ...]:
        view = planner.named("table")
        if view is None:
            return super()._objects(planner)
        return (relation_query("target", view), *own_reads(planner, view.schema, view.name, ""))

    def _of_schema(self, planner: Planner, schema: str) -> Iterable[Query]:
        yield Query(f"schema:{schema}", "schema", {"schema": schema})
        yield Query(f"tables:{schema}", "schema_mviews", {"schema": schema})
        yield from own_reads(planner, schema, None, f":{schema}")

    def check(self, planner: Planner) -> None:
        if self._on_copy(planner):
            raise ToolkitError(
                "a materialized view cannot be measured on a copy: a copy of it would be an ordinary table",
                code="TK-0304",
                hint="add --on-live-objects; each trial refreshes the view itself",
            )
        super().check(planner)


OPERATION = _OverViews("mview-refresh", 1, anew=False)
