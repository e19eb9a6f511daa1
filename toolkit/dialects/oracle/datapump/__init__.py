"""Data Pump by DBMS_DATAPUMP: a job of the server, whose workers write files on the server.

Job, control table and files have the generated name of the trial; so nothing that was there before is overwritten
or removed. Each worker needs a file of its own. The session waits for the job, which goes on without it: whatever
ends the session before the job, the journal ends the job and removes the files.
Source: PL/SQL Packages, DBMS_DATAPUMP: OPEN, ADD_FILE, METADATA_FILTER, DATA_FILTER, SET_PARALLEL, SET_PARAMETER,
START_JOB, WAIT_FOR_JOB, ATTACH, STOP_JOB; UTL_FILE: FGETATTR, FREMOVE.
"""

# ruff: noqa: ARG002 (every implementation answers with the same arguments)

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from toolkit.dialects.answers import Granted, TrialFindings
from toolkit.dialects.implementations import Implementation, Kept
from toolkit.dialects.oracle import session, support
from toolkit.dialects.oracle.datapump.log import DumpLog, read
from toolkit.dialects.oracle.directories import DIRECTORIES, unseen
from toolkit.dialects.oracle.names import parse_name
from toolkit.dialects.oracle.options import advanced_compression
from toolkit.dialects.oracle.releases import Feature, has
from toolkit.dialects.work import Call, ContextValue, Work
from toolkit.model.facts import Facts
from toolkit.model.records import ItemRecord, Metric
from toolkit.model.steps import ObjectRef
from toolkit.model.values import Support
from toolkit.model.words import Effect, Mode, ObjectKind, Outcome, Role, StepKind
from toolkit.units import counted

_LOG, _SIZE = "datapump_log", "datapump_size"
_UNREAD = frozenset({"ORA-00904", "ORA-00932", "ORA-01031", "ORA-22285", "ORA-22288"})
"""A release without the function, a directory that may be written but not read."""
_SOURCE = "log of Data Pump"
_END_UNKNOWN = (
    "whether tables failed is not known: read the end of the log of Data Pump before the dump is relied on"
)
"""A job whose tables failed completes all the same: only its log tells."""


class DatapumpExports(Implementation):
    """Dumps of schemas or of a table."""

    privileges = ("CREATE TABLE",)

    def option_files(self, asked: Mapping[str, Sequence[object]]) -> tuple[str, ...]:
        return (DIRECTORIES,)

    def support(self, work: Work, facts: Facts) -> Support:
        on = ObjectRef(ObjectKind.STATISTICS, work.object.name)
        if work.source is not None:
            on = ObjectRef(ObjectKind.TABLE, work.source)
        # the session and its degree are judged as of any work; of Oracle's own schemas Data Pump dumps nothing
        found = support.of_session(replace(work, object=on), facts) or unseen(work.object.name.schema, facts)
        return found or _compression(work, facts) or support.SUPPORTED

    def worker_begin(self, work: Work, facts: Facts) -> tuple[Call, ...]:
        return session.begin(work, facts)

    def worker_end(self, work: Work, facts: Facts) -> tuple[Call, ...]:
        return session.end(work, facts)

    def timed(self, work: Work, facts: Facts) -> tuple[Call, ...]:
        level, content = work.option("compression"), work.option("content")
        values: dict[str, ContextValue] = {
            "job": work.object.name.name,
            "directory": work.object.name.schema,
            "files": _dumps(work),
            "log": _log(work),
            "mode": "SCHEMA" if work.source is None else "TABLE",
            "schemas": _list(_schemas(work)),
            "tables": None if work.source is None else _list((work.source.name,)),
            "degree": work.degree,
            "metrics": has(facts.release, Feature.LONG_NAMES),
            "compression": None if level is None else str(level).upper(),
            "content": None if content is None else str(content),
        }
        return (
            Call(
                "datapump_export", values, kind=StepKind.BLOCK, session=Role.WORKER, effect=Effect.CHANGES,
                object=work.object, undo=(_remove(work),),
            ),
        )  # fmt: skip

    def evidence(self, work: Work, facts: Facts) -> tuple[Call, ...]:
        """Ask for the size of each file, and for the log."""
        sizes = (_asked(_SIZE, f"size:{file}", work, file) for file in _dumps(work))
        return (*sizes, _asked(_LOG, _LOG, work, _log(work)))

    def settle(self, work: Work, facts: Facts) -> tuple[Call, ...]:
        """Remove the files of a trial; those of a job stay."""
        return (_remove(work),) if work.mode is Mode.MEASUREMENT else ()

    def refuted(self, work: Work, kept: Kept) -> str | None:
        found = _read(kept)
        if found is None or found.error_count == 0 or not (found.errors or found.error_count):
            return None  # where it is not known, `tell` says so
        first = f", the first {found.errors[0]}" if found.errors else ""
        count = found.error_count or len(found.errors)
        return f"the job of Data Pump completed with {counted(count, 'error')}{first}"

    def granted(self, work: Work, kept: Kept, peaks: Mapping[str, float], notices: tuple[str, ...]) -> Granted:
        found = _read(kept)
        if work.degree == 1:
            return Granted(1, "one worker")
        if found is None or found.workers is None:
            return Granted(None, _SOURCE, "how many workers wrote tables is not known: the log does not name them")
        if found.workers >= work.degree:
            return Granted(work.degree, _SOURCE)
        sentence = f"{found.workers} of {work.degree} workers wrote tables or partitions"
        return Granted(found.workers, _SOURCE, sentence)

    def tell(self, work: Work, kept: Kept, deltas: Mapping[str, float], seconds: float) -> TrialFindings:
        sizes = [row.get("byte_count") for key, rows in kept.items() if key.startswith("size:") for row in rows]
        written = sum(int(size) for size in sizes if isinstance(size, int | float))
        found = _read(kept)
        metrics = [Metric("dump_bytes", float(written), "bytes", "files")] if sizes else []
        if found is None:
            sentence = "the log of Data Pump was not read: READ on the directory, and 12.2, are needed for that"
            return TrialFindings(tuple(metrics), (sentence, _END_UNKNOWN), bytes=written or None)
        metrics.append(Metric("dumped_rows", float(sum(table.rows for table in found.tables)), "rows", _SOURCE))
        items = tuple(
            ItemRecord(table.name, Outcome.OK, table.seconds, rows=table.rows, bytes=table.bytes)
            for table in found.tables
        )
        unknown = () if found.error_count is not None or found.errors else (_END_UNKNOWN,)
        return TrialFindings(tuple(metrics), (*unknown, *found.errors[:20]), bytes=written or None, items=items)

    def remarks(self, work: Work, facts: Facts) -> tuple[str, ...]:
        return (*_remarks(work), *session.remarks(work))


def _schemas(work: Work) -> tuple[str, ...]:
    if work.source is not None:
        return (str(work.source.schema),)
    names = work.option("schema")
    return tuple(parse_name(str(each)).name for each in names) if isinstance(names, tuple | list) else ()


def _list(names: Sequence[str]) -> str:
    """Spell names as a list of literals, which the package takes within a literal."""
    return ",".join("'" + name.replace("'", "''") + "'" for name in names)


def _dumps(work: Work) -> tuple[str, ...]:
    return tuple(f"{work.object.name.name}_{number:02}.dmp" for number in range(1, work.degree + 1))


def _log(work: Work) -> str:
    return f"{work.object.name.name}.log"


def _remove(work: Work) -> Call:
    values: dict[str, ContextValue] = {
        "job": work.object.name.name,
        "directory": work.object.name.schema,
        "files": (*_dumps(work), _log(work)),
    }
    return Call("datapump_remove", values, kind=StepKind.BLOCK, effect=Effect.CHANGES, object=work.object)


def _asked(file: str, key: str, work: Work, name: str) -> Call:
    binds = {"directory": work.object.name.schema, "file": name}
    return Call(file, file=True, session=Role.WORKER, keep_as=key, binds=binds, tolerates=_UNREAD)


def _read(kept: Kept) -> DumpLog | None:
    text = next((row.get("log_text") for row in kept.get(_LOG, ())), None)
    return None if text is None else read(str(text))


def _compression(work: Work, facts: Facts) -> Support | None:
    level = work.option("compression")
    if level not in ("data_only", "all"):
        return None
    return advanced_compression(f"Data Pump compression `{level}`", facts)


def _remarks(work: Work) -> Iterator[str]:
    files = f"{_dumps(work)[0]}" + (f" to {_dumps(work)[-1]}" if work.degree > 1 else "")
    yield f"the server writes {files} and {_log(work)} into directory {work.object.name.schema}, on its own host"
    yield "tables are dumped as they are when their turn comes: changes meanwhile may leave rows that do not match"
    if work.degree > 1:
        yield "a table without partitions is mostly dumped by one worker: more workers than tables gain little"
    if work.mode is Mode.JOB:
        yield "the dump stays; if the job fails or is cut off, its files are removed with its control table"
