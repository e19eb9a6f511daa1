"""RMAN."""

# ruff: noqa: ARG002 (every implementation answers with the same arguments)

from __future__ import annotations

from collections.abc import Mapping

from toolkit.dialects.answers import Granted, TrialFindings
from toolkit.dialects.implementations import Implementation, Kept
from toolkit.dialects.oracle import redo, support
from toolkit.dialects.oracle.backup import findings as backup_findings
from toolkit.dialects.oracle.backup import remarks as backup_remarks
from toolkit.dialects.oracle.backup import work as rman
from toolkit.dialects.oracle.backup.report import OracleReports
from toolkit.dialects.oracle.backup.ways import OracleBackups
from toolkit.dialects.work import Call, Work
from toolkit.model.facts import Facts
from toolkit.model.values import Support
from toolkit.model.words import OperationName


class _Backup(OracleBackups):
    """RMAN."""

    def support(self, work: Work, facts: Facts) -> Support:
        return rman.judge(work, facts) or support.SUPPORTED

    def perishable(self, work: Work) -> tuple[str, ...]:
        return rman.perishable(work)

    def worker_end(self, work: Work, facts: Facts) -> tuple[Call, ...]:
        return rman.after(work)

    def prepare(self, work: Work, facts: Facts) -> tuple[Call, ...]:
        return rman.prepare(work, facts)

    def timed(self, work: Work, facts: Facts) -> tuple[Call, ...]:
        return redo.marked(rman.timed(work, facts), work, facts)

    def evidence(self, work: Work, facts: Facts) -> tuple[Call, ...]:
        return rman.evidence(work, facts)

    def tell(self, work: Work, kept: Kept, deltas: Mapping[str, float], seconds: float) -> TrialFindings:
        return backup_findings.tell(work, kept, seconds)

    def granted(self, work: Work, kept: Kept, peaks: Mapping[str, float], notices: tuple[str, ...]) -> Granted:
        return backup_findings.granted(work, kept)

    def remarks(self, work: Work, facts: Facts) -> tuple[str, ...]:
        return backup_remarks.remarks(work, facts)


WORK: Mapping[OperationName, Implementation] = {"backup": _Backup(), "backup-report": OracleReports()}
