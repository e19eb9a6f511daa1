"""Data Pump by DBMS_DATAPUMP: a job of the server, whose workers write or read files on the server.

Job, control table and the files that it writes have the generated name of the trial; so nothing that was there
before is overwritten or removed. The session waits for the job, which goes on without it: whatever ends the
session before the job, the journal ends the job.
Source: PL/SQL Packages, DBMS_DATAPUMP: OPEN, ADD_FILE, METADATA_FILTER, METADATA_REMAP, DATA_FILTER,
SET_PARALLEL, SET_PARAMETER, START_JOB, WAIT_FOR_JOB, ATTACH, STOP_JOB; UTL_FILE: FGETATTR, FREMOVE.
"""

# ruff: noqa: ARG002 (every implementation answers with the same arguments)

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from toolkit.dialects.answers import Granted
from toolkit.dialects.implementations import Implementation, Kept
from toolkit.dialects.oracle import session, support
from toolkit.dialects.oracle.datapump import client
from toolkit.dialects.oracle.datapump.log import DumpLog, read
from toolkit.dialects.oracle.directories import DIRECTORIES, unseen
from toolkit.dialects.oracle.names import parse_name
from toolkit.dialects.oracle.releases import Feature, has
from toolkit.dialects.work import Call, ContextValue, Work
from toolkit.model.facts import Facts
from toolkit.model.records import ItemRecord
from toolkit.model.steps import ObjectRef
from toolkit.model.values import QualifiedName, Support
from toolkit.model.words import Effect, ObjectKind, Outcome, Role, StepKind
from toolkit.units import counted

LOG = "datapump_log"
LOG_SOURCE = "log of Data Pump"
_UNREAD = frozenset({"ORA-00904", "ORA-00932", "ORA-01031", "ORA-22285", "ORA-22288"})
"""A release without the function, a directory that may be written but not read."""
UNREAD_LOG = "the log of Data Pump was not read: READ on the directory, and 12.2, are needed for that"


class DatapumpJobs(Implementation):
    """What jobs that dump and jobs that import share: session, log, workers, errors."""

    privileges = ("CREATE TABLE",)
    worked = "wrote"
    """What workers did to tables or partitions."""

    def option_files(self, asked: Mapping[str, Sequence[object]]) -> tuple[str, ...]:
        return (DIRECTORIES,)

    def support(self, work: Work, facts: Facts) -> Support:
        on = ObjectRef(ObjectKind.STATISTICS, work.object.name)
        if work.source is not None:
            on = ObjectRef(ObjectKind.TABLE, work.source)
        # the session and its degree are judged as of any work; of Oracle's own schemas Data Pump moves nothing
        found = support.of_session(replace(work, object=on), facts) or unseen(work.object.name.schema, facts)
        return found or self.judge(work, facts) or self._of_program(work, facts) or support.SUPPORTED

    def _of_program(self, work: Work, facts: Facts) -> Support | None:
        """Say what a program could not be told; None when nothing stands in the way."""
        if not client.is_asked(work):
            return None
        values = self.timed(work, facts)[0].values
        files = (*_texts(values["files"]), str(values["log"]))
        table = () if work.source is None else (work.source.name,)
        names = (*schemas(work), *table)
        renames = [values[key] for key in ("old_schema", "new_schema", "new_table")]
        renames += table if values["new_table"] else ()
        several = not table and len(names) > 1
        return client.judge(str(work.object.name.schema), files, names, renames, several=several)

    def judge(self, work: Work, facts: Facts) -> Support | None:
        """Say what of its own options stands in the way; None when nothing does."""
        return None

    def worker_begin(self, work: Work, facts: Facts) -> tuple[Call, ...]:
        return session.begin(work, facts)

    def worker_end(self, work: Work, facts: Facts) -> tuple[Call, ...]:
        return session.end(work, facts)

    def refuted(self, work: Work, kept: Kept) -> str | None:
        found = log_of(kept)
        told = found is not None and (found.error_count or (found.error_count is None and found.errors))
        if found is None or not (told or client.ended_with_errors(kept)):
            return None  # where it is not known, `tell` says so
        first = f", the first {found.errors[0]}" if found.errors else ""
        count = found.error_count or len(found.errors) or 1
        return f"the job of Data Pump completed with {counted(count, 'error')}{first}"

    def granted(self, work: Work, kept: Kept, peaks: Mapping[str, float], notices: tuple[str, ...]) -> Granted:
        found = log_of(kept)
        if work.degree == 1:
            return Granted(1, "one worker")
        if found is None or found.workers is None:
            unknown = f"how many workers {self.worked} tables is not known: the log does not name them"
            return Granted(None, LOG_SOURCE, unknown)
        if found.workers >= work.degree:
            return Granted(work.degree, LOG_SOURCE)
        sentence = f"{found.workers} of {work.degree} workers {self.worked} tables or partitions"
        return Granted(found.workers, LOG_SOURCE, sentence)


def _texts(value: ContextValue) -> tuple[str, ...]:
    return tuple(map(str, value)) if isinstance(value, tuple) else ()


def job_call(work: Work, facts: Facts, undo: Call, **values: ContextValue) -> Call:
    """Spell a job, by the package or a program; `values`: of `datapump_job`, those that its operation decides."""
    content = work.option("content")
    shared: dict[str, ContextValue] = {
        "job": work.object.name.name,
        "directory": work.object.name.schema,
        "log": log_file(work),
        "mode": "SCHEMA" if work.source is None else "TABLE",
        "schemas": literals(schemas(work)),
        "tables": None if work.source is None else literals((work.source.name,)),
        "degree": work.degree,
        "metrics": has(facts.release, Feature.LONG_NAMES),
        "compression": None,
        "content": None if content is None else str(content),
        "if_exists": None,
        "old_schema": None,
        "new_schema": None,
        "old_table": None,
        "new_table": None,
        "excluded": None,
    }
    if client.is_asked(work):
        return client.called(work, shared | values, schemas(work), undo)
    return Call(
        "datapump_job", shared | values, kind=StepKind.BLOCK, session=Role.WORKER, effect=Effect.CHANGES,
        object=work.object, undo=(undo,),
    )  # fmt: skip


def remove(work: Work, files: Sequence[str], table: QualifiedName | None = None) -> Call:
    """End the job if it is left, and remove what it made under its generated name: files, a table."""
    values: dict[str, ContextValue] = {
        "job": work.object.name.name,
        "directory": work.object.name.schema,
        "files": tuple(files),
        "has_table": table is not None,
    }
    return Call(
        "datapump_remove", values, kind=StepKind.BLOCK, effect=Effect.CHANGES, object=work.object,
        inside=() if table is None else (Call("drop_table", {"name": table}, effect=Effect.DROPS),),
    )  # fmt: skip


def asked(file: str, key: str, work: Work, name: str) -> Call:
    """Ask about a file of the directory, where it can be read."""
    binds = {"directory": work.object.name.schema, "file": name}
    return Call(file, file=True, session=Role.WORKER, keep_as=key, binds=binds, tolerates=_UNREAD)


def log_file(work: Work) -> str:
    """Name the log of a job."""
    return f"{work.object.name.name}.log"


def log_of(kept: Kept) -> DumpLog | None:
    """Read the log that the evidence kept, or what a program wrote, which is the same; None without both."""
    pieces = sorted((int(str(row["piece"])), str(row["log_text"])) for row in kept.get(LOG, ()))
    text = "".join(piece.strip()[1:-1] for _, piece in pieces).replace("<br>", "\n") or client.lines_of(kept)
    return None if text is None else read(text)


def items_of(log: DumpLog) -> tuple[ItemRecord, ...]:
    """Return the tables and partitions of a log."""
    return tuple(
        ItemRecord(table.name, Outcome.OK, table.seconds, rows=table.rows, bytes=table.bytes)
        for table in log.tables
    )


def schemas(work: Work) -> tuple[str, ...]:
    """Return the schemas whose objects the job moves, as the catalogue spells them."""
    if work.source is not None:
        return (str(work.source.schema),)
    names = work.option("schema")
    return tuple(parse_name(str(each)).name for each in names) if isinstance(names, tuple | list) else ()


def literals(names: Sequence[str]) -> str:
    """Spell names as a list of literals, which the package takes within a literal."""
    return ",".join("'" + name.replace("'", "''") + "'" for name in names)
