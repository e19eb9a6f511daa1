"""Groups of columns that have statistics together, as the catalogue shows them."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

from toolkit.dialects.work import Work
from toolkit.model.facts import Facts
from toolkit.model.values import QualifiedName, Row

GROUPS = "column_groups"
"""The file of each engine that reads them: group_name, column_list (`("A","B")`), schema_name, table_name."""


def columns_of(work: Work, parse: Callable[[str], QualifiedName]) -> tuple[str, ...]:
    """Return the columns of the group that is asked for, as the catalogue spells them, each once."""
    given = work.option("columns")
    texts = given if isinstance(given, tuple) else () if given is None else (str(given),)
    return tuple(dict.fromkeys(parse(str(text)).name for text in texts))


def existing(work: Work, facts: Facts, columns: tuple[str, ...]) -> Row | None:
    """Return the statistics that a table has of these columns, in any order; None without."""
    name, wanted = work.source or work.object.name, frozenset(columns)
    for key, rows in facts.answers.items():
        if key.partition(":")[0] != GROUPS:
            continue
        for row in rows:
            if row.get("table_name") == name.name and _columns(row) == wanted:
                return row
    return None


def were_read(facts: Facts) -> bool:
    """Tell whether the groups of the table are known."""
    return any(key.partition(":")[0] == GROUPS for key in facts.answers)


def ended_before(work: Work, begun: Facts, now: Facts, columns: tuple[str, ...]) -> bool:
    """Tell whether what a job that was cut off should make is there, or what it should drop is gone."""
    was, there = (existing(work, facts, columns) is not None for facts in (begun, now))
    return was != there


def _columns(row: Mapping[str, object]) -> frozenset[str]:
    return frozenset(re.findall(r'"([^"]+)"', str(row.get("column_list") or "")))
