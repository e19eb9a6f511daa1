"""Refreshing materialized views: their rows made again from the tables that they read."""

from __future__ import annotations

from dataclasses import replace

from toolkit.errors import ToolkitError
from toolkit.model.operations import Levels, OperationDeclaration, Options, SizeReads
from toolkit.model.options import Option, OptionKind
from toolkit.model.words import ObjectKind
from toolkit.operations import options as shared

_ON = (
    replace(shared.TABLE, help="materialized view to refresh"),
    replace(shared.SCHEMA, help="schemas whose materialized views are all refreshed"),
)
_HOW = (
    Option("method", OptionKind.CHOICE,
           "all rows, changes alone, changes where possible, changed partitions (default: the view's own)",
           engines=shared.ORACLE, factor=True, choices=("complete", "fast", "force", "pct")),
    Option("atomic_refresh", OptionKind.CHOICE,
           "one transaction, so that readers see the old rows until it ends; no truncates first (default yes)",
           engines=shared.ORACLE, factor=True, choices=("yes", "no")),
    Option("out_of_place", OptionKind.FLAG, "fill another table and switch to it (needs --atomic-refresh no)",
           engines=shared.ORACLE, factor=True),
    replace(shared.ONLINE, help="change only rows that differ, while others read (CONCURRENTLY)",
            engines=shared.POSTGRESQL),
    replace(shared.WORK_MEM, help="memory of each sort and hash of the view's query: 64M, 1G"),
)  # fmt: skip


def _check(options: Options, levels: Levels) -> None:
    """Refuse an out-of-place refresh in one transaction (ORA-32355).

    Raises:
        ToolkitError: TK-0102.
    """

    def given(name: str) -> tuple[object, ...]:
        return levels.get(name) or (options.get(name),)

    if True in given("out_of_place") and set(given("atomic_refresh")) != {"no"}:
        raise ToolkitError(
            "an out-of-place refresh is never one transaction (ORA-32355)",
            code="TK-0102",
            hint="add `--atomic-refresh no`",
        )


DECLARATION = OperationDeclaration(
    name="mview-refresh",
    command=("mview", "refresh"),
    help="Refresh a materialized view or all of schemas.",
    group="Refresh materialized views.",
    options=(
        shared.DEGREE,
        shared.CONCURRENCY,
        *_ON,
        *_HOW,
        replace(
            shared.ON_LIVE_OBJECTS, help="measure on the view itself: of a materialized view there is no copy"
        ),
        *shared.SESSION,
        *shared.LOCKS,
    ),
    examples=(
        "dbatk mview refresh -t orcl --table SHOP.SALES_MV --method complete --degree 4 --atomic-refresh no",
        "dbatk mview refresh -t crm --schema shop --online --concurrency 2",
    ),
    planned_by="toolkit.operations.mview_refresh.plan",
    required=(("table", "schema"),),
    common=("concurrency", "method", "atomic_refresh", "online"),
    object=ObjectKind.TABLE,
    sizes=SizeReads("schema_mviews", "relation"),
    check=_check,
    several="materialized views",
    keeps=False,
    cookbook="refresh-materialized-views.md",
    order=9,
)
