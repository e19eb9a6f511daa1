"""Jobs of DBMS_SCHEDULER: looked at, made and dropped over one session."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime

from toolkit.app.approvals import Approvals, TargetPolicy, check_production
from toolkit.app.runs import licensing
from toolkit.app.scheduling.making import Scheduled, SchedulerKind, other_plan
from toolkit.dialects.registry import dialect_of
from toolkit.errors import ToolkitError
from toolkit.executors import Sessions, print_steps, read_facts, refused
from toolkit.model.engines import engine
from toolkit.model.facts import Facts, Query
from toolkit.model.protocols import DatabaseError
from toolkit.model.steps import Step
from toolkit.model.words import Role
from toolkit.rendering import step_of
from toolkit.schedule import SchedulerJob
from toolkit.schedule.oracle import MARK, check_place, drop, jobs, missing_privileges
from toolkit.targets.base import Target

_READS = (
    Query("server", "server"),
    Query("cloud_service", "cloud_service", optional=True),
    Query("doctor_marks", "doctor_marks", optional=True),
    Query("doctor_privileges", "doctor_privileges", optional=True),
)
_JOBS = Query("schedule_jobs", "schedule_jobs")


def show_job(job: SchedulerJob, credential: str) -> str:
    """Return the script that makes the jobs of a plan."""
    head = (f"dbatk schedule {job.name}", f"plan: {job.plan}")
    return print_steps("oracle", head, [((), _steps(job, credential))])


class OracleJobs:
    """The jobs in the schema of the user who connects."""

    def __init__(self, target: Target) -> None:
        if not engine(target.engine).keeps_jobs:
            raise ToolkitError(
                f"{target.engine} has no DBMS_SCHEDULER",
                code="TK-0304",
                hint="`--kind systemd` or `--kind cron` on the host where dbatk is installed",
            )
        self._target = target
        self._dialect = dialect_of(target.engine)
        self._sessions = Sessions(target, "dbatk schedule")

    def __enter__(self) -> OracleJobs:
        return self

    def __exit__(self, *_: object) -> None:
        self._sessions.close()

    def check(self) -> Facts:
        """Refuse places and users that cannot have such a job.

        Raises:
            ToolkitError: TK-0304 on Autonomous Database and RDS, TK-0306 with the grant that is missing.
        """
        facts = self._read(*_READS)
        check_place(facts)
        missing = missing_privileges(facts)
        if missing:
            user = facts.value("server", "user_name")
            raise ToolkitError(
                f"the user lacks the privilege {' and '.join(missing)}",
                code="TK-0306",
                hint=f"GRANT {', '.join(missing)} TO {user};",
            )
        return facts

    def install(self, job: SchedulerJob, credential: str, policy: TargetPolicy, approvals: Approvals) -> None:
        """Make the jobs of a plan, in place of former ones of it.

        Raises:
            ToolkitError: as `check`; TK-0301 on a production target nobody confirmed, TK-0205 for another plan of
                the name, TK-0203 when the database refuses.
        """
        facts = self.check()
        name = str(facts.value("server", "database_name") or "")
        names = policy.names | ({name} if name else set())
        check_production("oracle", policy, approvals, names)
        for known in self.list():
            if known.name == job.name and known.plan != job.plan:
                raise other_plan(job.name, known.plan, "the database")
        licensing.allow(self._target, unseen=True)  # the job runs dbatk, whose statements are looked at themselves
        self._run(
            *(step_of(self._dialect, drop(name)) for name in self._names(job.name)), *_steps(job, credential)
        )

    def list(self) -> Iterator[Scheduled]:
        """Yield our jobs."""
        for row in self._read(_JOBS).rows("schedule_jobs"):
            name, plan = _marked(str(row.get("comments")))
            when = str(row.get("repeat_interval") or "")
            next_at = row.get("next_utc")
            state = "" if row.get("enabled") == "TRUE" else f" ({str(row.get('state')).lower()})"
            shown = f"{str(next_at).replace('T', ' ')} UTC" if next_at is not None else None
            yield Scheduled(name, SchedulerKind.ORACLE, str(row.get("job_name")), plan, (f"{when}{state}",), shown)

    def remove(self, name: str) -> tuple[str, ...]:
        """Drop the jobs of a plan; return their names.

        Raises:
            ToolkitError: TK-0203 when the database refuses, as it does while one runs.
        """
        names = self._names(name)
        self._run(*(step_of(self._dialect, drop(one)) for one in names))
        return names

    def _names(self, name: str) -> tuple[str, ...]:
        return tuple(one.where for one in self.list() if one.name == name)

    def _read(self, *queries: Query) -> Facts:
        connection = self._sessions.get(Role.CONTROL)
        try:
            return read_facts(connection, self._dialect, queries)
        except DatabaseError as error:
            raise refused(self._dialect, error) from None

    def _run(self, *steps: Step) -> None:
        try:
            for step in steps:
                self._sessions.run(step)
        except DatabaseError as error:
            raise refused(self._dialect, error, "the scheduler refused") from None


def _steps(job: SchedulerJob, credential: str) -> list[Step]:
    dialect = dialect_of("oracle")
    return [step_of(dialect, call) for call in jobs(job, credential, datetime.now(UTC))]


def _marked(comment: str) -> tuple[str, str]:
    """Return plan name and file from a comment written by dbatk."""
    name, _, plan = comment.removeprefix(MARK).partition(": ")
    return name, plan
