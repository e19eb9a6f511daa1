"""What Oracle writes besides that users mistake for an AWR report, and what is said of it."""

from __future__ import annotations

import re

from toolkit.errors import ToolkitError


def refused(name: str, why: str, hint: str = "") -> ToolkitError:
    """Return the refusal of what is no report, with what to give instead."""
    return ToolkitError(
        f"`{name}` is not an AWR or Statspack report: {why}",
        code="TK-0113",
        hint=hint or "give the file written by awrrpt.sql, awrgrpt.sql or spreport.sql, html or text",
    )


# -- Oracle's other reports -------------------------------------------------------------------------------------
_HEAD = 20_000
_LONGEST = 100
"""Characters of any mark: what begins later than in the known reports does not count, but for what is sure."""
_SURE = re.compile(r"WORKLOAD REPOSITORY COMPARE PERIOD|AWR Compare Period|WORKLOAD REPOSITORY SQL Report", re.I)
"""What no report of an interval says of itself; the other marks stand within such a report as well."""
_OURS = re.compile(
    r"WORKLOAD REPOSITORY (?:RAC |PDB )?report|AWR (?:RAC |PDB )?Report for|STATSPACK\b.*report", re.I
)
_OTHERS = tuple(
    (re.compile(pattern, re.IGNORECASE | re.MULTILINE), why, hint)
    for pattern, why, hint in (
        (
            r"WORKLOAD REPOSITORY COMPARE PERIOD|AWR Compare Period",
            "it is Oracle's comparison of two periods, not the report of one",
            "create the report of each period with awrrpt.sql, and give both to `dbatk compare`",
        ),
        (
            r"WORKLOAD REPOSITORY SQL Report|AWR SQL Report",
            "it is the AWR report of a single statement (awrsqrpt.sql)",
            "give the report of the whole interval, written by awrrpt.sql",
        ),
        (
            r"\bSTATSPACK SQL report\b",
            "it is the Statspack report of a single statement (sprepsql.sql)",
            "give the report of the whole interval, written by spreport.sql",
        ),
        (
            r"~~BEGIN-[A-Z-]+~~|AWR_MINER_VER",
            "it is an extract of AWR-Miner: rows of DBA_HIST views, an hour each",
            "give the awrrpt.sql reports of the same snapshots, or fetch them: `dbatk awr fetch`",
        ),
        (
            r"SQL Monitoring Report|\[Real-time SQL Monitoring List"
            r"|<title>\s*(?:SQL Monitor|SQL Details?\b|SQL Id )|<sql_monitor_report\b",
            "it is a SQL Monitor report: the executions of single statements, not the counters of an interval",
            "read it as it is; for the whole database give the awrrpt.sql report of the same time",
        ),
        (
            r"^Recovery Manager: Release |^RMAN-\d{5}: |^(?:channel \S+: starting|allocated channel: )",
            "it is the output of RMAN",
            "read it with `dbatk backup read`",
        ),
        (
            r"\bTKPROF: Release ",
            "it is the output of tkprof: the statements of traced sessions",
            "give the awrrpt.sql report for the same time",
        ),
        (
            r"<title>ASH Report|\bASH Report For\b",
            "it is an ASH report: samples of sessions, without the counters of an interval",
            "give the awrrpt.sql report for the same time",
        ),
        (
            r"\bADDM Report for (?:Task|Analysis)\b|Automatic Database Diagnostic Monitor",
            "it is an ADDM report: findings without the underlying figures",
            "give the awrrpt.sql report for the same snapshots",
        ),
        (
            r"<!--FXTMODEL-->|id=[\"']?fxtmodel|activeReportInit",
            "it is an active report (Performance Hub, SQL Monitor): its figures are packed for a viewer",
            "give the awrrpt.sql report, as html or text",
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
