"""Publishing statistics that are stored: pending ones, those of an earlier time, or exported ones."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime

from toolkit.errors import ToolkitError
from toolkit.model.operations import Levels, OperationDeclaration, Options
from toolkit.model.options import Option, OptionKind, Topic
from toolkit.model.words import ObjectKind
from toolkit.operations import options as shared

_WHICH = (
    Option(
        "as_of",
        OptionKind.TEXT,
        "restore from the history the statistics that were in use at this time: 2026-11-25T22:00",
        engines=shared.ORACLE,
    ),
    replace(
        shared.STAT_TABLE, help="import the statistics that this table holds, as `dbatk stats export` writes them"
    ),
    shared.STAT_ID,
    Option(
        "discard",
        OptionKind.FLAG,
        "delete the pending statistics, which cannot be restored",
        engines=shared.ORACLE,
    ),
)
_HOW = (
    Option("max_difference", OptionKind.NUMBER,
           "skip tables whose statistics differ from the current ones by more than this percentage",
           engines=shared.ORACLE, low=0, high=1000000, unit="%"),
    Option("no_invalidate", OptionKind.CHOICE, "do not invalidate dependent cursors", engines=shared.ORACLE,
           choices=("yes", "no", "auto")),
    Option("force_locked", OptionKind.FLAG, "also replace locked statistics", engines=shared.ORACLE,
           topic=Topic.SAFETY),
)  # fmt: skip


def _check(options: Options, levels: Levels) -> None:
    """Refuse a time that is none, and the name of a set without its table.

    Raises:
        ToolkitError: TK-0102, TK-0107.
    """
    del levels
    if "stat_id" in options and "stat_table" not in options:
        raise ToolkitError(
            "`--stat-id` needs `--stat-table`", code="TK-0107", hint="it names one of several sets in that table"
        )
    given = options.get("as_of")
    if given is None:
        return
    try:
        datetime.fromisoformat(str(given))
    except ValueError:
        raise ToolkitError(
            f"`{str(given)[:40]}` is not a date and time",
            code="TK-0102",
            hint="as in 2026-11-25T22:00, by the clock of the database, or 2026-11-25T22:00+01:00",
        ) from None


DECLARATION = OperationDeclaration(
    name="stats-publish",
    command=("stats", "publish"),
    help="Publish or delete pending statistics, restore those of an earlier time, or import exported ones.",
    options=(
        replace(shared.TABLE, help="table whose statistics are published"),
        replace(shared.SCHEMA, help="all tables in these schemas that have such statistics"),
        *_WHICH,
        *_HOW,
        *shared.LOCKS,
    ),
    examples=(
        "dbatk stats publish -t orcl --schema SHOP --max-difference 50",
        "dbatk stats publish -t orcl --table SHOP.ORDERS --as-of 2026-11-25T22:00",
    ),
    planned_by="toolkit.operations.stats_publish.plan",
    required=(("table", "schema"),),
    common=("as_of", "discard", "stat_table", "max_difference"),
    object=ObjectKind.STATISTICS,
    degree="",
    excludes=(
        ("discard", "as_of", "only pending statistics are deleted"),
        ("discard", "stat_table", "only pending statistics are deleted"),
        ("as_of", "stat_table", "statistics come from the history or from a table"),
        ("discard", "max_difference", "what is deleted is not compared"),
        ("discard", "no_invalidate", "no cursor depends on pending statistics"),
        ("discard", "force_locked", "pending statistics are deleted whether locked or not"),
    ),
    check=_check,
    several="tables",
    keeps=False,
    publishes_statistics=True,
    cookbook="gather-statistics.md",
    order=5,
)
