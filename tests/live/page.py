"""Writes what the live suite found into the page of what is proved."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from pathlib import Path

BEGIN, END = "<!-- live suite: begin -->", "<!-- live suite: end -->"
_WORDS = {"passed": "held", "failed": "**did not hold**", "skipped": "not tried"}


@dataclass(frozen=True)
class Finding:
    """One test: its name is the claim."""

    test: str
    outcome: str
    observed: tuple[str, ...] = ()


def told(check: Mapping[str, object]) -> str | None:
    """Return what the page says of a check that is not in order: never its evidence, which has names."""
    return f"doctor: {check['name']}: {check['state']}" if check["state"] in ("warning", "problem") else None


def write_findings(page: Path, server: str, day: date, findings: Sequence[Finding]) -> None:
    """Put the findings on one server between the marks of the page; those on other servers stay."""
    text = page.read_text(encoding="utf-8") if page.exists() else f"{BEGIN}\n{END}\n"
    before, _, rest = text.partition(BEGIN)
    kept, _, after = rest.partition(END)
    others = [part for part in kept.split("\n#### ")[1:] if part.splitlines()[0] != server]
    sections = "".join(f"\n#### {part.rstrip()}\n" for part in (*others, _section(server, day, findings)))
    page.write_text(f"{before}{BEGIN}{sections}{END}{after}", encoding="utf-8")


def _section(server: str, day: date, findings: Sequence[Finding]) -> str:
    lines = [server, f"On {day.isoformat()}:", "", "| claim | |", "| --- | --- |"]
    for finding in findings:
        claim = finding.test.removeprefix("test_").replace("_", " ").replace("|", "\\|")
        lines.append(f"| {claim} | {_WORDS.get(finding.outcome, finding.outcome)} |")
    observed = [sentence for finding in findings for sentence in finding.observed]
    if observed:
        lines += ["", "Observed:", *(f"- {sentence}" for sentence in observed)]
    return "\n".join(lines)
