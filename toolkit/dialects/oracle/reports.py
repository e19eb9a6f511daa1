"""Oracle's own AWR reports: the functions of DBMS_WORKLOAD_REPOSITORY (PL/SQL Packages Reference)."""

from __future__ import annotations

from collections.abc import Iterable

from toolkit.dialects.repositories import RepositorySnapshot
from toolkit.dialects.work import Call
from toolkit.model.values import Row


def report_call(
    begin: RepositorySnapshot,
    end: RepositorySnapshot,
    other: tuple[RepositorySnapshot, RepositorySnapshot] | None = None,
    *,
    whole: bool = False,
    html: bool = True,
) -> Call:
    """Return the call of a report.

    Args:
        begin: the first snapshot.
        end: the last one.
        other: those of a second period: then Oracle's own comparison of the two.
        whole: of the whole cluster instead of one instance.
        html: as a page; else as text.
    """
    values: dict[str, str | int] = {
        "dbid": begin.dbid, "instance": begin.instance, "first_snap": begin.snapshot, "last_snap": end.snapshot,
    }  # fmt: skip
    words = ["AWR", *(["GLOBAL"] if whole else []), *(["DIFF"] if other else []), "REPORT"]
    values["function"] = "_".join([*words, "HTML" if html else "TEXT"])
    if other is not None:
        values |= {"other_first": other[0].snapshot, "other_last": other[1].snapshot}
    return Call("_".join(words).lower(), values)


def report_text(rows: Iterable[Row]) -> str:
    """Join the lines of a report with line ends, as SQL*Plus spools it: a null row is an empty line."""
    lines = ("" if row.get("output") is None else str(row["output"]).rstrip("\n") for row in rows)
    return "\n".join(lines) + "\n"
