"""What Oracle writes besides, and users mistake for an AWR or Statspack report."""

from __future__ import annotations

import re

_HEAD = 20_000
_LONGEST = 100
"""Characters of any mark: what begins later than a report of ours does not count, but for what is sure."""
_SURE = re.compile(r"WORKLOAD REPOSITORY COMPARE PERIOD|AWR Compare Period|WORKLOAD REPOSITORY SQL Report", re.I)
"""What no report of an interval says of itself; the other marks stand within such a report as well."""
_OURS = re.compile(
    r"WORKLOAD REPOSITORY (?:RAC |PDB )?report|AWR (?:RAC |PDB )?Report for|STATSPACK\b.*report", re.I
)
_OTHERS = tuple(
    (re.compile(pattern, re.IGNORECASE), why, hint)
    for pattern, why, hint in (
        (
            r"WORKLOAD REPOSITORY COMPARE PERIOD|AWR Compare Period",
            "it is Oracle's own comparison of two periods, not the report of one",
            "write the report of each period by awrrpt.sql, and give both to `dbatk compare`",
        ),
        (
            r"WORKLOAD REPOSITORY SQL Report|AWR SQL Report",
            "it is the AWR report of a single statement (awrsqrpt.sql)",
            "give the report of the whole interval that awrrpt.sql wrote",
        ),
        (
            r"<title>ASH Report|\bASH Report For\b",
            "it is an ASH report: samples of sessions, without the counters of an interval",
            "give the report that awrrpt.sql wrote of the same time",
        ),
        (
            r"\bADDM Report for Task\b|Automatic Database Diagnostic Monitor",
            "it is an ADDM report: findings, without the figures behind them",
            "give the report that awrrpt.sql wrote of the same snapshots",
        ),
        (
            r"<!--FXTMODEL-->|id=[\"']?fxtmodel|activeReportInit",
            "it is an active report (Performance Hub, SQL Monitor): its figures are packed for a viewer",
            "give the report that awrrpt.sql wrote, as html or text",
        ),
    )
)


def other_report(text: str) -> tuple[str, str] | None:
    """Return what a file is that is another report of Oracle's, and what to give instead; None for any other."""
    own = _OURS.search(text, 0, _HEAD)
    counts = _HEAD if own is None or _SURE.search(text, 0, _HEAD) else own.start() + _LONGEST
    for pattern, why, hint in _OTHERS:
        found = pattern.search(text, 0, counts)
        if found is not None and (own is None or found.start() <= own.start() or _SURE.fullmatch(found[0])):
            return why, hint
    return None
