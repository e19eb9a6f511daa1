"""Columns and expressions that have statistics together, as the catalogue shows them."""

from __future__ import annotations

import re
from collections.abc import Callable

from toolkit.design.user_sql import expressions_of
from toolkit.dialects.work import Work
from toolkit.model.facts import Facts
from toolkit.model.values import QualifiedName, Row

GROUPS = "column_groups"
"""The file of each engine that reads them: group_name, column_list (`("A","B")`), schema_name, table_name."""
_COLUMNS = re.compile(r'\("[^"]+"(?:,"[^"]+")*\)')


def columns_of(work: Work, parse: Callable[[str], QualifiedName]) -> tuple[str, ...]:
    """Return the columns of the group that is asked for, as the catalogue spells them, each once."""
    given = work.option("columns")
    texts = given if isinstance(given, tuple) else () if given is None else (str(given),)
    return tuple(dict.fromkeys(parse(str(text)).name for text in texts))


def named(work: Work, columns: tuple[str, ...]) -> str:
    """Return what a sentence calls the group."""
    return ", ".join((*columns, *(f"({text})" for text in expressions_of(work.options))))


def existing(work: Work, facts: Facts, is_it: Callable[[Row], bool]) -> Row | None:
    """Return the statistics of a table that are those asked for; None without."""
    name = work.source or work.object.name
    for key, rows in facts.answers.items():
        if key.partition(":")[0] != GROUPS:
            continue
        for row in rows:
            if row.get("table_name") == name.name and is_it(row):
                return row
    return None


def were_read(facts: Facts) -> bool:
    """Tell whether the groups of the table are known."""
    return any(key.partition(":")[0] == GROUPS for key in facts.answers)


def ended_before(work: Work, begun: Facts, now: Facts, is_it: Callable[[Row], bool]) -> bool:
    """Tell whether what a job that was cut off should make is there, or what it should drop is gone."""
    was, there = (existing(work, facts, is_it) is not None for facts in (begun, now))
    return was != there


def columns_in(row: Row) -> frozenset[str]:
    """Return the columns of statistics; none where the text of the catalogue is an expression."""
    text = str(row.get("column_list") or "")
    return frozenset(re.findall(r'"([^"]+)"', text) if _COLUMNS.fullmatch(text) else ())
