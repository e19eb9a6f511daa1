"""DBMS_DATAPUMP as far as it dumps and imports schemas or a table: jobs with a control table, files of the server.

A job goes on without the session that began it; so what `ends` is `forever` stays until somebody ends it.
Errors: 31626 no such job, or one of another instance, 31627 it began and has something to say, 31634 the name
is taken, 39001 a value that is none, 39002 with 39087 no such directory.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from tests.oracle.standin.errors import ora

VIEWS = {"ALL_DIRECTORIES": "OWNER DIRECTORY_NAME DIRECTORY_PATH"}
FORMS: tuple[tuple[str, str], ...] = (
    (
        "datapump_job",
        r"DECLARE\s+job\s+NUMBER\s*;\s*job_state\s+VARCHAR2\(30\)\s*;\s*BEGIN\s+job\s*:=\s*DBMS_DATAPUMP\.OPEN\("
        r"(?P<open>[^;]*)\);\s*BEGIN\s+(?P<calls>.*?)EXCEPTION\s+WHEN\s+OTHERS\s+THEN\s+BEGIN\s+DBMS_DATAPUMP\.STOP_JOB\("
        r"handle\s*=>\s*job,\s*immediate\s*=>\s*1,\s*keep_master\s*=>\s*0,\s*delay\s*=>\s*0\);\s*EXCEPTION\s+WHEN\s+OTHERS\s+"
        r"THEN\s+NULL;\s*END;\s*RAISE;\s*END;\s*IF\s+job_state\s+<>\s+'COMPLETED'\s+THEN\s+RAISE_APPLICATION_ERROR\(-20903,\s*"
        r"(?P<said>'[^']*')\s*\|\|\s*job_state\);\s*END\s+IF;\s*END;",
    ),
    (
        "datapump_remove",
        r"DECLARE\s+job\s+NUMBER;\s*jobs\s+NUMBER;\s*there\s+BOOLEAN;\s*bytes\s+NUMBER;\s*block_bytes\s+BINARY_INTEGER;\s*BEGIN\s+BEGIN\s+"
        r"job\s*:=\s*DBMS_DATAPUMP\.ATTACH\(job_name\s*=>\s*(?P<job>'[^']*'),\s*job_owner\s*=>\s*USER\);\s*"
        r"DBMS_DATAPUMP\.STOP_JOB\(handle\s*=>\s*job,\s*immediate\s*=>\s*1,\s*keep_master\s*=>\s*0,\s*delay\s*=>\s*0\);\s*"
        r"EXCEPTION\s+WHEN\s+OTHERS\s+THEN\s+IF\s+SQLCODE\s+<>\s+-31626\s+THEN\s+RAISE;\s*END\s+IF;\s*"
        r"SELECT\s+COUNT\(\*\)\s+INTO\s+jobs\s+FROM\s+user_datapump_jobs\s+WHERE\s+job_name\s*=\s*(?P=job);\s*"
        r"IF\s+jobs\s*>\s*0\s+THEN\s+RAISE_APPLICATION_ERROR\(-20904,\s*(?P<said>[^;]*)\);\s*END\s+IF;\s*END;\s*"
        r"(?P<table>(?:BEGIN\s+EXECUTE\s+IMMEDIATE\s+'(?:[^']|'')*';\s*EXCEPTION\s+WHEN\s+OTHERS\s+THEN\s+"
        r"IF\s+SQLCODE\s+<>\s+-942\s+THEN\s+RAISE;\s*END\s+IF;\s*END;\s*)?)(?P<files>.*)END;",
    ),
)
_TEXT = r"'(?:[^']|'')*'"
_CALL = re.compile(rf"DBMS_DATAPUMP\.(\w+)\s*\(((?:{_TEXT}|[^'])*?)\)\s*;", re.DOTALL)
_ARGUMENT = re.compile(rf"(\w+)\s*=>\s*({_TEXT}|[\w.$]+)")
_HEARD = re.compile(
    r"START_JOB\(handle => job\);\s*EXCEPTION\s+WHEN\s+OTHERS\s+THEN\s+IF\s+SQLCODE\s*<>\s*"
    r"DBMS_DATAPUMP\.SUCCESS_WITH_INFO_NUM\s+THEN\s+RAISE;"
)
_OPTIONAL = re.compile(
    r"BEGIN\s+DBMS_DATAPUMP\.SET_PARAMETER\([^;]*'METRICS'[^;]*;\s*EXCEPTION\s+WHEN\s+OTHERS\s+THEN\s+NULL;"
)
_REMOVED = re.compile(r"UTL_FILE\.FREMOVE\('([^']*)',\s*'([^']*)'\)")
_PARAMETERS = {
    "COMPRESSION": {"NONE", "METADATA_ONLY", "DATA_ONLY", "ALL"}, "METRICS": {"1"}, "INCLUDE_METADATA": {"0"},
    "TABLE_EXISTS_ACTION": {"SKIP", "APPEND", "TRUNCATE", "REPLACE"},
}  # fmt: skip


@dataclass
class DataPump:
    """The jobs that are at work, the files of the server, and what the next job meets."""

    jobs: set[str] = field(default_factory=set)
    files: dict[tuple[str, str], str] = field(default_factory=dict)
    directories: set[str] = field(default_factory=lambda: {"DUMPS"})
    ends: str = "COMPLETED"
    errors: tuple[str, ...] = ()
    workers: int | None = None
    """How many workers it gets, where that is fewer than asked for."""
    informs: bool = False
    """Whether a job that begins raises that it has something to say."""
    metrics: bool = True
    """Whether the parameter METRICS is taken."""
    elsewhere: bool = False
    """Whether jobs run on another instance, from which this one cannot attach to them."""
    language: str = "AMERICAN"
    dumped: dict[tuple[str, str], str] = field(default_factory=dict)
    """What the dump has: the query that gives the rows of each table."""
    refuses: bool = False
    """Whether the directory is taken away from the next job."""
    loses: int = 0
    """How many of the rows that its log tells of an import does not load."""
    begun: threading.Event = field(default_factory=threading.Event)
    calls: list[tuple[str, dict[str, str]]] = field(default_factory=list)

    def rows(self) -> list[dict[str, object]]:
        return [
            {"OWNER": "SYS", "DIRECTORY_NAME": name, "DIRECTORY_PATH": f"/dumps/{name.lower()}"}
            for name in sorted(self.directories)
        ]

    def length(self, directory: str, file: str) -> int | None:
        content = self.files.get((directory, file))
        return None if content is None else len(content)

    def begin(self, opened: str, calls: str) -> str:
        """Set a job up and begin it; return its name."""
        given = _named(opened)
        job = given["job_name"]
        if given["operation"] not in ("EXPORT", "IMPORT") or given["job_mode"] not in ("SCHEMA", "TABLE"):
            raise ora(39001, given["job_mode"])
        if job in self.jobs:
            raise ora(31634, job)
        self.calls = [(name.upper(), _named(arguments)) for name, arguments in _CALL.findall(calls)]
        self.jobs.add(job)
        try:
            self._set_up(dict(_named(opened)), calls)
        except Exception:
            self.jobs.discard(job)  # the block ends it
            raise
        self.begun.set()
        return job

    def _set_up(self, opened: dict[str, str], calls: str) -> None:
        if self.informs and not _HEARD.search(calls):
            raise ora(31627)
        if not self.metrics and not _OPTIONAL.search(calls):
            raise ora(39001, "METRICS")
        names = [name for name, _ in self.calls]
        assert names[-2:] == ["START_JOB", "WAIT_FOR_JOB"], names
        for name, given in self.calls:
            if name == "ADD_FILE" and (self.refuses or given["directory"] not in self.directories):
                raise ora(39002, f"ORA-39087: directory name {given['directory']} is invalid")
            if name == "ADD_FILE":
                self._file(opened["operation"], given)
            if name == "SET_PARAMETER" and given["value"] not in _PARAMETERS.get(given["name"], ()):
                raise ora(39001, given["name"])
        if ("NAME_LIST" in str(self.calls)) != (opened["job_mode"] == "TABLE"):
            raise ora(39001, "NAME_LIST")

    def _file(self, operation: str, given: dict[str, str]) -> None:
        """Refuse to write a file that is there, and to read one that is not."""
        name = given["filename"].replace("%U", "01")
        there = (given["directory"], name) in self.files
        reads = operation == "IMPORT" and given["filetype"].endswith("DUMP_FILE")
        if there and not reads:
            raise ora(39001, f"ORA-27038: {name} already exists")
        if reads and not there:
            raise ora(
                39001, f'ORA-39000: bad dump file specification ORA-31640: unable to open dump file "{name}"'
            )

    def imported(self) -> Iterator[tuple[tuple[str, str], tuple[str, str], str, str]]:
        """Name what is imported: as the dump names it, as it becomes, its query, the action where it exists."""
        given = {(name, one.get("name", "")): one for name, one in self.calls}
        schemas = _listed(given["METADATA_FILTER", "SCHEMA_LIST"]["value"])
        tables = given.get(("METADATA_FILTER", "NAME_LIST"))
        remaps = {
            kind: {given[key]["old_value"]: given[key]["value"]}
            if (key := ("METADATA_REMAP", kind)) in given
            else {}
            for kind in ("REMAP_SCHEMA", "REMAP_TABLE")
        }
        action = given.get(("SET_PARAMETER", "TABLE_EXISTS_ACTION"), {}).get("value", "SKIP")
        for (owner, table), query in self.dumped.items():
            if owner in schemas and (tables is None or table in _listed(tables["value"])):
                new = tuple(
                    remaps.get(kind, {}).get(old, old)
                    for kind, old in (("REMAP_SCHEMA", owner), ("REMAP_TABLE", table))
                )
                yield (owner, table), (new[0], new[1]), query, action

    def tell_import(self, job: str, tables: Iterable[tuple[tuple[str, str], int]], errors: Iterable[str]) -> None:
        """Write the log of an import that ends."""
        log = next(
            (given["directory"], given["filename"]) for name, given in self.calls
            if name == "ADD_FILE" and given["filetype"].endswith("LOG_FILE")
        )  # fmt: skip
        degree = next(int(given["degree"]) for name, given in self.calls if name == "SET_PARALLEL")
        workers = min(degree, self.workers or degree)
        lines = [
            "Import: Release 19.0.0.0.0 - Production on Thu Nov 26 22:00:00 2026",
            f'Master table "DBATK"."{job}" successfully loaded/unloaded',
        ]
        for place, ((owner, table), rows) in enumerate(tables):
            who = f"W-{place % workers + 1} "
            lines.append(
                f'{who}. . imported "{owner}"."{table}"    8.781 KB  {rows} rows in 2 seconds using direct_path'
            )
        lines += (found := [*errors, *self.errors])
        how = f"completed with {len(found)} error(s)" if found else "successfully completed"
        lines.append(f'Job "DBATK"."{job}" {how} at Thu Nov 26 22:01:10 2026 elapsed 0 00:01:10')
        self.files[log] = "\n".join(lines)

    def write(self, job: str, tables: Iterable[tuple[tuple[str, str], int]]) -> None:
        """Write the dump files and the log of a job that ends."""
        files = [(given["directory"], given["filename"]) for name, given in self.calls if name == "ADD_FILE"]
        degree = next(int(given["degree"]) for name, given in self.calls if name == "SET_PARALLEL")
        workers = min(degree, self.workers or degree)
        for file in files[:-1]:
            self.files[file] = "x" * 4096
        lines = [
            "Export: Release 19.0.0.0.0 - Production on Thu Nov 26 22:00:00 2026",
            f'Starting "DBATK"."{job}":  ',
        ]
        for place, ((owner, table), rows) in enumerate(tables):
            who = f"W-{place % workers + 1} " if self.metrics else ""
            lines.append(
                f'{who}. . exported "{owner}"."{table}"    8.781 KB  {rows} rows in 2 seconds using direct_path'
            )
        lines += self.errors
        how = f"completed with {len(self.errors)} error(s)" if self.errors else "successfully completed"
        if self.language == "AMERICAN":
            lines.append(f'Job "DBATK"."{job}" {how} at Thu Nov 26 22:01:10 2026 elapsed 0 00:01:10')
        else:
            lines.append(f'Job "DBATK"."{job}" wurde beendet um Do Nov 26 22:01:10 2026')
        self.files[files[-1]] = "\n".join(lines)

    def remove(self, job: str, files: str, said: str) -> None:
        """End a job if it is there, and remove files."""
        if self.elsewhere and job.strip("'") in self.jobs:
            raise ora(20904, said=f"the Data Pump job {job.strip(chr(39))} {said.rpartition('|| ')[2][2:-1]}")
        self.jobs.discard(job.strip("'"))
        for each in _REMOVED.findall(files):
            self.files.pop(each, None)


def _listed(literals: str) -> list[str]:
    """Read a list of literals."""
    return [each.replace("''", "'") for each in re.findall(r"'((?:[^']|'')*)'", literals)]


def _named(arguments: str) -> dict[str, str]:
    return {
        name.lower(): value[1:-1].replace("''", "'") if value.startswith("'") else value
        for name, value in _ARGUMENT.findall(arguments)
    }
