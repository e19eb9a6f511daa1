"""DBMS_SCHEDULER as far as it runs programs of the host: jobs with arguments, which nobody ever begins.

Errors as the Error Help has them: 27477 the job exists, 27475 it does not, 27486 privileges, 27457 an argument
without a value when it is enabled.
"""

from __future__ import annotations

import datetime
import re
from dataclasses import dataclass, field

from tests.oracle.standin.errors import ora

VIEWS = {
    "USER_SCHEDULER_JOBS": "JOB_NAME JOB_TYPE JOB_ACTION NUMBER_OF_ARGUMENTS:n REPEAT_INTERVAL ENABLED AUTO_DROP "
    "STATE COMMENTS NEXT_RUN_DATE:d CREDENTIAL_NAME",
}
_TEXT = r"'(?:[^']|'')*'"
FORMS: tuple[tuple[str, str], ...] = (
    (
        "schedule_job",
        r"BEGIN\s+DBMS_SCHEDULER\.CREATE_JOB\s*\((?P<arguments>.*?)\)\s*;\s*BEGIN\s+(?P<calls>.*?)\s*EXCEPTION\s+"
        r"WHEN\s+OTHERS\s+THEN\s+DBMS_SCHEDULER\.DROP_JOB\s*\([^;]*\)\s*;\s*RAISE\s*;\s*END\s*;\s*END\s*;",
    ),
    ("schedule_drop", r"BEGIN\s+DBMS_SCHEDULER\.DROP_JOB\s*\((?P<arguments>[^;]*)\)\s*;\s*END\s*;"),
)
_CALL = re.compile(rf"DBMS_SCHEDULER\.(\w+)\s*\(((?:{_TEXT}|[^'])*?)\)\s*;", re.DOTALL)
_ARGUMENT = re.compile(rf"(\w+)\s*=>\s*(TO_TIMESTAMP_TZ\(\s*{_TEXT}\s*,\s*{_TEXT}\s*\)|{_TEXT}|\w+)")


@dataclass
class Job:
    """A job with what it was given."""

    attributes: dict[str, str]
    arguments: dict[int, str] = field(default_factory=dict)
    enabled: bool = False

    def row(self) -> dict[str, object]:
        own = self.attributes
        return {
            "JOB_NAME": own["job_name"], "JOB_TYPE": own["job_type"], "JOB_ACTION": own["job_action"],
            "NUMBER_OF_ARGUMENTS": int(own["number_of_arguments"]), "REPEAT_INTERVAL": own["repeat_interval"],
            "ENABLED": "TRUE" if self.enabled else "FALSE", "AUTO_DROP": own["auto_drop"],
            "STATE": "SCHEDULED" if self.enabled else "DISABLED", "COMMENTS": own["comments"],
            "NEXT_RUN_DATE": datetime.datetime(2026, 11, 22, 21) if self.enabled else None,
            "CREDENTIAL_NAME": own.get("credential_name"),
        }  # fmt: skip


class Jobs:
    """The jobs of the one user there is."""

    def __init__(self) -> None:
        self.known: dict[str, Job] = {}

    def create(self, arguments: str, calls: str, privileges: set[str]) -> None:
        """Make a job, complete it, enable it; whatever cannot be completed is gone again."""
        given = named(arguments)
        name = given["job_name"]
        if "CREATE JOB" not in privileges:
            raise ora(27486, name)
        if name in self.known:
            raise ora(27477, name)
        self.known[name] = Job(given)
        try:
            for verb, inside in _CALL.findall(calls):
                self._call(name, verb.upper(), named(inside), privileges)
        except Exception:
            del self.known[name]
            raise

    def drop(self, arguments: str) -> None:
        """Drop a job."""
        name = named(arguments)["job_name"]
        if self.known.pop(name, None) is None:
            raise ora(27475, name)

    def _call(self, name: str, verb: str, given: dict[str, str], privileges: set[str]) -> None:
        job = self.known[name]
        assert given.get("job_name", given.get("name")) == name
        if verb == "SET_ATTRIBUTE":
            job.attributes[given["attribute"]] = given["value"]
        elif verb == "SET_JOB_ARGUMENT_VALUE":
            job.arguments[int(given["argument_position"])] = given["argument_value"]
        elif verb == "ENABLE":
            if "CREATE EXTERNAL JOB" not in privileges:
                raise ora(27486, name)
            if sorted(job.arguments) != list(range(1, int(job.attributes["number_of_arguments"]) + 1)):
                raise ora(27457, name)
            job.enabled = True
        else:
            raise ora(6550, verb)


def named(text: str) -> dict[str, str]:
    """Read the named arguments of a call; texts lose their quotes."""
    return {
        name.lower(): value[1:-1].replace("''", "'") if value.startswith("'") else value
        for name, value in _ARGUMENT.findall(text)
    }
