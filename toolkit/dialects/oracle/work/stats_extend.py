"""DBMS_STATS.CREATE_EXTENDED_STATS of a column group, gathered at once; DROP_EXTENDED_STATS.

One block creates and gathers: where gathering fails, the extension is dropped again, also when the client is gone.
Sources: PL/SQL Packages, DBMS_STATS: CREATE_EXTENDED_STATS, DROP_EXTENDED_STATS, GATHER_TABLE_STATS (METHOD_OPT
takes a group in parentheses); SQL Tuning Guide, managing extended statistics (a hidden virtual column keeps them;
a group has 2 to 32 columns, none of them virtual); Database Reference, ALL_STAT_EXTENSIONS.
"""

# ruff: noqa: ARG001 (every operation answers with the same arguments)

from __future__ import annotations

from collections.abc import Iterator

from toolkit.dialects.column_groups import columns_of, existing, were_read
from toolkit.dialects.oracle import spelling
from toolkit.dialects.oracle.names import package_name, parse_name
from toolkit.dialects.work import Call, ContextValue, Work
from toolkit.model.facts import Facts
from toolkit.model.steps import Takes
from toolkit.model.values import Support
from toolkit.model.words import Effect, Role, StepKind, SupportState

_MOST = 32


def prepare(work: Work, facts: Facts) -> tuple[Call, ...]:
    """Nothing."""
    return ()


def timed(work: Work, facts: Facts) -> tuple[Call, ...]:
    """Spell the block."""
    owner = work.object.name.schema
    group = "(" + ",".join(package_name(column) for column in group_of(work)) + ")"
    values: dict[str, ContextValue] = {
        "owner": package_name(owner) if owner else None,
        "table": package_name(work.object.name.name),
        "extension": group,
        "method_opt": f"FOR COLUMNS {group} SIZE AUTO",
        "degree": None if spelling.is_serial(work) else work.degree,
    }
    template = "stats_extension_drop" if work.option("drop") else "stats_extension"
    return (
        Call(
            template, values, kind=StepKind.BLOCK, session=Role.WORKER, effect=Effect.CHANGES, object=work.object
        ),
    )  # fmt: skip


def group_of(work: Work) -> tuple[str, ...]:
    """Return the columns as the catalogue spells them."""
    return columns_of(work, parse_name)


def evidence(work: Work, facts: Facts) -> tuple[Call, ...]:
    """Nothing: an error is the only sign of what was not done."""
    return ()


def settle(work: Work, facts: Facts) -> tuple[Call, ...]:
    """Nothing."""
    return ()


def takes(work: Work, facts: Facts) -> tuple[Takes, ...]:
    """Nothing that counts: rows of the dictionary."""
    return ()


def judge(work: Work, facts: Facts) -> Support | None:
    """Refuse what is there already, or what is not there to be dropped."""
    why = next(_reasons(work, facts), None)
    return None if why is None else Support(SupportState.UNSUPPORTED, *why)


def _reasons(work: Work, facts: Facts) -> Iterator[tuple[str, str]]:
    group, table = group_of(work), work.source or work.object.name
    named = ", ".join(group)
    if len(group) > _MOST:
        yield f"a column group has {_MOST} columns at most", "name those of the conditions that come together"
    if facts.assumed or not were_read(facts):
        return
    found = existing(work, facts, group)
    if found is not None and not work.option("drop"):
        yield (
            f"`{table}` has extended statistics of {named} already (`{found.get('group_name')}`, ORA-20007)",
            "`dbatk stats gather` gathers them with the table; `--drop` removes them",
        )
    if found is None and work.option("drop"):
        yield f"`{table}` has no extended statistics of {named}", "see ALL_STAT_EXTENSIONS"
    if found is not None and found.get("droppable") == "NO":
        yield (
            f"the extension `{found.get('group_name')}` is not droppable: an index is built on it",
            "drop that index",
        )


def remarks(work: Work, facts: Facts) -> Iterator[str]:
    """Say what is locked, what cursors see, and how it is taken back."""
    table = work.object.name
    if work.option("drop"):
        yield (
            f"the hidden column of the group is dropped from `{table}` (DDL: it waits for open transactions); "
            "there is no undo but to create the statistics again, which gathers them"
        )
        return
    yield (
        f"a hidden virtual column is added to `{table}` (DDL: it waits for open transactions, and cursors that "
        "read the table are parsed again), then its statistics and the table's number of rows are gathered"
    )
    yield "if gathering fails the group is dropped again; afterwards `--drop` with the same columns takes it back"
