"""DBMS_STATS.CREATE_EXTENDED_STATS of a column group or an expression, gathered at once; DROP_EXTENDED_STATS.

One block creates and gathers: where gathering fails, the extension is dropped again, also when the client is gone.
Sources: PL/SQL Packages, DBMS_STATS: CREATE_EXTENDED_STATS, DROP_EXTENDED_STATS, GATHER_TABLE_STATS (METHOD_OPT
takes a group in parentheses); SQL Tuning Guide, managing extended statistics (a hidden virtual column keeps them;
a group has 2 to 32 columns, none of them virtual, and no expressions); Database Reference, ALL_STAT_EXTENSIONS.
"""

# ruff: noqa: ARG001 (every operation answers with the same arguments)

from __future__ import annotations

from collections.abc import Callable, Iterator

from toolkit.design.lexis import ORACLE, Token, TokenKind, tokens
from toolkit.design.user_sql import expressions_of
from toolkit.dialects.column_groups import columns_in, columns_of, existing, named, were_read
from toolkit.dialects.oracle import spelling
from toolkit.dialects.oracle.names import package_name, parse_name
from toolkit.dialects.work import Call, ContextValue, Work
from toolkit.model.facts import Facts
from toolkit.model.steps import Takes
from toolkit.model.values import Row, Support
from toolkit.model.words import Effect, Role, StepKind, SupportState

_MOST = 32


def prepare(work: Work, facts: Facts) -> tuple[Call, ...]:
    """Nothing."""
    return ()


def timed(work: Work, facts: Facts) -> tuple[Call, ...]:
    """Spell the block."""
    owner = work.object.name.schema
    parts = (*map(package_name, group_of(work)), *expressions_of(work.options))
    group = "(" + ",".join(parts) + ")"
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


def matching(work: Work) -> Callable[[Row], bool]:
    """Return what tells whether an extension is the one that is asked for; the catalogue quotes all names."""
    columns = frozenset(group_of(work))
    asked = [_plain(text) for text in expressions_of(work.options)]
    if asked:
        return lambda row: _plain(str(row.get("column_list") or "")) in asked
    return lambda row: columns_in(row) == columns


def _plain(text: str) -> list[tuple[TokenKind, str]]:
    """Read an expression without the parentheses around all of it, and names as the catalogue has them."""
    found = list(tokens(text, ORACLE))
    while len(found) > 2 and found[0].sign == "(" and _closes(found):
        found = found[1:-1]
    return [(TokenKind.NAME if each.word else each.kind, each.text) for each in found]


def _closes(found: list[Token]) -> bool:
    """Tell whether the parenthesis that is opened first is closed last."""
    outer = found[0].depth
    return found[-1].sign == ")" and not any(each.sign == ")" and each.depth == outer for each in found[1:-1])


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
    expressions, said = expressions_of(work.options), named(work, group)
    if len(expressions) > 1 or (expressions and group):
        yield (
            "on Oracle an extension is a group of columns, or one expression",
            "give `--columns`, or one `--expression`; one command for each",
        )
    if len(group) > _MOST:
        yield f"a column group has {_MOST} columns at most", "name those of the conditions that come together"
    if facts.assumed or not were_read(facts):
        return
    found = existing(work, facts, matching(work))
    if found is not None and not work.option("drop"):
        yield (
            f"`{table}` has extended statistics of {said} already (`{found.get('group_name')}`, ORA-20007)",
            "`dbatk stats gather` gathers them with the table; `--drop` removes them",
        )
    if found is None and work.option("drop"):
        yield f"`{table}` has no extended statistics of {said}", "see ALL_STAT_EXTENSIONS"
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
            f"the hidden column is dropped from `{table}` (DDL: it waits for open transactions); "
            "there is no undo but to create the statistics again, which gathers them"
        )
        return
    yield (
        f"a hidden virtual column is added to `{table}` (DDL: it waits for open transactions, and cursors that "
        "read the table are parsed again), then its statistics and the table's number of rows are gathered"
    )
    yield "if gathering fails it is dropped again; afterwards `--drop` with the same words takes it back"
