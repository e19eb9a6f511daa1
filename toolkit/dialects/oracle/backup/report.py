"""Reports on backups by RMAN: REPORT, CROSSCHECK and LIST EXPIRED in one script, and what its log answers.

Sources: RMAN Reference, REPORT (without a policy of its own it takes the configured one; with `NONE` configured it
fails, RMAN-06525), CROSSCHECK (marks records, deletes nothing), LIST.
"""

# ruff: noqa: ARG002 (every implementation answers with the same arguments)

from __future__ import annotations

from collections.abc import Iterator, Mapping

from toolkit.dialects.answers import Granted, TrialFindings
from toolkit.dialects.implementations import Kept, Options
from toolkit.dialects.oracle import support
from toolkit.dialects.oracle.backup import client, values
from toolkit.dialects.oracle.backup import facts as known
from toolkit.dialects.oracle.backup.ways import OracleBackups
from toolkit.dialects.oracle.places import ServiceLimit, service_of
from toolkit.dialects.work import Call, Work
from toolkit.errors import ToolkitError
from toolkit.model.facts import Facts, Probe, Query
from toolkit.model.records import Metric
from toolkit.model.steps import ObjectRef, Takes
from toolkit.model.values import QualifiedName, Row, Support
from toolkit.model.words import Effect, Mode, ObjectKind, Role, StepKind, SupportState

DEFAULT = ("need_backup", "obsolete", "unrecoverable", "expired")
ALL = (*DEFAULT, "schema")
BY_POLICY = frozenset({"need_backup", "obsolete"})
ANSWERS = "rman_reports"
"""Under which key the log's answers are kept: kind, count and sentence of each report."""
_METRICS: Mapping[str, tuple[str, str]] = {
    "need backup": ("files_needing_backup", "files"),
    "obsolete": ("obsolete_backups", "backups"),
    "unrecoverable": ("unrecoverable_files", "files"),
    "expired": ("expired_backups", "backups"),
    "schema": ("data_files", "files"),
}


class OracleReports(OracleBackups):
    """What RMAN's repository says of the backups there are; an object of it there is none."""

    def reads(self, options: Options, facts: Facts) -> tuple[Query, ...]:
        files = (known.CONFIGURATION, "cloud_service", "doctor_database", client.INSTANCE)
        return tuple(Query(file, file, optional=True) for file in files if file not in facts.answers)

    def probes(self, options: Options, facts: Facts) -> tuple[Probe, ...]:
        return () if service_of(facts).code else client.probes()

    def object(self, options: Options, name: str, *, measuring: bool) -> ObjectRef:
        return ObjectRef(ObjectKind.BACKUP, QualifiedName(name.upper()))

    def label(self, work: Work) -> str:
        return f"report: {', '.join(name.replace('_', ' ') for name in reports_of(work))}"

    def refuse(self, work: Work, facts: Facts) -> None:
        """Refuse to measure a report.

        Raises:
            ToolkitError: TK-0107.
        """
        if work.mode is Mode.MEASUREMENT:
            raise ToolkitError(
                "a report on backups is made once and not measured", code="TK-0107", hint="omit `--repeat`"
            )

    def drops(self, work: Work) -> bool:
        return False

    def takes(self, work: Work, facts: Facts) -> tuple[Takes, ...]:
        return ()

    def support(self, work: Work, facts: Facts) -> Support:
        values.catalog(work)
        barred = service_of(facts).barred.get(ServiceLimit.RMAN)
        if barred is not None:
            return Support(SupportState.UNSUPPORTED, barred)
        asked = BY_POLICY & set(reports_of(work))
        own = work.option("redundancy") is not None or work.option("recovery_days") is not None
        if asked and not own and known.retention(facts).upper() == "TO NONE":
            return Support(
                SupportState.UNSUPPORTED,
                "the retention policy is NONE: RMAN cannot say what needs a backup or is obsolete (RMAN-06525)",
                "add `--redundancy N` or `--recovery-days N`, or leave it out: `--reports unrecoverable,expired`",
            )
        return support.SUPPORTED

    def timed(self, work: Work, facts: Facts) -> tuple[Call, ...]:
        asked = reports_of(work)
        call = Call(
            "backup_report",
            {
                "catalog": values.catalog(work),
                "crosscheck": work.option("crosscheck") is True,
                "redundancy": values.integer(work, "redundancy"),
                "recovery_days": values.integer(work, "recovery_days"),
                **{name: name in asked for name in ALL},
            },
            kind=StepKind.RMAN,
            session=Role.WORKER,
            effect=Effect.CHANGES if work.option("crosscheck") is True else Effect.READS,
        )
        return (client.called(call),)

    def tell(self, work: Work, kept: Kept, deltas: Mapping[str, float], seconds: float) -> TrialFindings:
        rows = kept.get(ANSWERS, ())
        metrics = tuple(_metrics(rows))
        return TrialFindings(metrics, (*(str(row["sentence"]) for row in rows), *_unanswered(work, kept)))

    def granted(self, work: Work, kept: Kept, peaks: Mapping[str, float], notices: tuple[str, ...]) -> Granted:
        return Granted(1, "one client")

    def remarks(self, work: Work, facts: Facts) -> tuple[str, ...]:
        return tuple(_remarks(work, facts))


def reports_of(work: Work) -> tuple[str, ...]:
    """Return the reports that are asked for, in the order of the script."""
    given = {name.lower() for name in values.texts(work, "reports")}
    return tuple(name for name in ALL if name in (given or DEFAULT))


def _metrics(rows: tuple[Row, ...]) -> Iterator[Metric]:
    for row in rows:
        count, known_as = row.get("count"), _METRICS.get(str(row.get("kind")))
        if isinstance(count, int) and known_as is not None:
            yield Metric(known_as[0], float(count), known_as[1], "RMAN log")


def _unanswered(work: Work, kept: Kept) -> Iterator[str]:
    """Name the reports whose answers the log does not have; LIST says nothing where nothing is expired."""
    told = {str(row.get("kind")).replace(" ", "_") for row in kept.get(ANSWERS, ())}
    for name in reports_of(work):
        if name in told:
            continue
        yield (
            "nothing is listed as expired" if name == "expired"
            else f"the log has no answer to the report `{name}` that dbatk can read: see the log"
        )  # fmt: skip


def _remarks(work: Work, facts: Facts) -> Iterator[str]:
    yield "nothing is deleted: dbatk never runs DELETE OBSOLETE or DELETE EXPIRED"
    if work.option("crosscheck") is True:
        yield (
            "CROSSCHECK looks for every backup piece, copy and archived log on the devices that channels are "
            "configured for, and changes RMAN's records alone: EXPIRED where nothing is found, AVAILABLE where it "
            "is found again; a disk that is not mounted makes its backups EXPIRED until the next CROSSCHECK"
        )
    elif "expired" in reports_of(work):
        yield "what is expired is as the last CROSSCHECK left it: add `--crosscheck` to look now"
    if (
        work.option("redundancy") is None
        and work.option("recovery_days") is None
        and BY_POLICY & set(reports_of(work))
    ):
        if known.CONFIGURATION in facts.answers:
            yield f"judged by the retention policy `{known.retention(facts)}`"
        else:
            yield "judged by the configured retention policy, which could not be read"
    if work.option("catalog") is not None:
        yield "RMAN brings the recovery catalog up to date with the control file when it connects"
