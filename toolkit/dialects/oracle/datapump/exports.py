"""Dumps of Data Pump; each worker needs a file of its own."""

# ruff: noqa: ARG002 (every implementation answers with the same arguments)

from __future__ import annotations

from collections.abc import Iterator, Mapping

from toolkit.dialects.answers import TrialFindings
from toolkit.dialects.implementations import Kept, Options
from toolkit.dialects.oracle import session
from toolkit.dialects.oracle.datapump import client
from toolkit.dialects.oracle.datapump.job import (
    LOG,
    LOG_SOURCE,
    UNREAD_LOG,
    DatapumpJobs,
    asked,
    items_of,
    job_call,
    log_file,
    log_of,
    remove,
)
from toolkit.dialects.oracle.options import advanced_compression
from toolkit.dialects.work import Call, Work
from toolkit.model.facts import Facts, Probe
from toolkit.model.records import Metric
from toolkit.model.values import Support
from toolkit.model.words import Mode

_SIZE = "datapump_size"
_END_UNKNOWN = (
    "whether tables failed is not known: read the end of the log of Data Pump before the dump is relied on"
)
"""A job whose tables failed completes all the same: only its log tells."""


class DatapumpExports(DatapumpJobs):
    """Dumps of schemas or of a table."""

    def probes(self, options: Options, facts: Facts) -> tuple[Probe, ...]:
        return client.probes(options, "EXPORT")

    def judge(self, work: Work, facts: Facts) -> Support | None:
        level = work.option("compression")
        if level not in ("data_only", "all"):
            return None
        return advanced_compression(f"Data Pump compression `{level}`", facts)

    def timed(self, work: Work, facts: Facts) -> tuple[Call, ...]:
        level = work.option("compression")
        return (
            job_call(
                work,
                facts,
                _remove(work),
                operation="EXPORT",
                files=_dumps(work),
                compression=None if level is None else str(level).upper(),
            ),
        )

    def evidence(self, work: Work, facts: Facts) -> tuple[Call, ...]:
        """Ask for the size of each file, and for the log."""
        sizes = (asked(_SIZE, f"size:{file}", work, file) for file in _dumps(work))
        return (*sizes, asked(LOG, LOG, work, log_file(work)))

    def settle(self, work: Work, facts: Facts) -> tuple[Call, ...]:
        """Remove the files of a trial; those of a job stay."""
        return (_remove(work),) if work.mode is Mode.MEASUREMENT else ()

    def tell(self, work: Work, kept: Kept, deltas: Mapping[str, float], seconds: float) -> TrialFindings:
        sizes = [row.get("byte_count") for key, rows in kept.items() if key.startswith("size:") for row in rows]
        written = sum(int(size) for size in sizes if isinstance(size, int | float))
        found = log_of(kept)
        metrics = [Metric("dump_bytes", float(written), "bytes", "files")] if sizes else []
        if found is None:
            told = (*_where(work), UNREAD_LOG, _END_UNKNOWN)
            return TrialFindings(tuple(metrics), told, bytes=written or None)
        metrics.append(Metric("dumped_rows", float(sum(table.rows for table in found.tables)), "rows", LOG_SOURCE))
        unknown = () if found.error_count is not None or found.errors else (_END_UNKNOWN,)
        stays = () if found.error_count or found.errors else _where(work)
        sentences = (*stays, *unknown, *found.errors[:20])
        return TrialFindings(tuple(metrics), sentences, bytes=written or None, items=items_of(found))

    def remarks(self, work: Work, facts: Facts) -> tuple[str, ...]:
        return (*_remarks(work), *session.remarks(work))


def _dumps(work: Work) -> tuple[str, ...]:
    return tuple(f"{work.object.name.name}_{number:02}.dmp" for number in range(1, work.degree + 1))


def _where(work: Work) -> tuple[str, ...]:
    """Name the files that a job leaves."""
    if work.mode is not Mode.JOB:
        return ()
    first, *others = _dumps(work)
    files = f"{first} to {others[-1]}" if others else first
    return (f"the dump is in directory {work.object.name.schema}: {files}, with the log {log_file(work)}",)


def _remove(work: Work) -> Call:
    return remove(work, (*_dumps(work), log_file(work)))


def _remarks(work: Work) -> Iterator[str]:
    dump = "a dump file for each worker" if work.degree > 1 else "a dump file"
    place = f"directory {work.object.name.schema}, on its own host"
    yield f"the server writes {dump} and a log, named after the run, into {place}"
    yield "tables are dumped as they are when their turn comes: changes meanwhile may leave rows that do not match"
    if work.degree > 1:
        yield "a table without partitions is mostly dumped by one worker: more workers than tables gain little"
    if work.mode is Mode.JOB:
        yield "the dump stays; if the job fails or is cut off, its files are removed with its control table"
