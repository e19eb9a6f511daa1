"""Loads of data files: COPY FROM STDIN, by n sessions, each chunk in a transaction of its own."""

# ruff: noqa: ARG002 (every implementation answers with the same arguments)

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from toolkit.dialects import transfers
from toolkit.dialects.answers import TrialFindings
from toolkit.dialects.implementations import Kept, Options
from toolkit.dialects.postgresql import space, support
from toolkit.dialects.postgresql.objects import transaction
from toolkit.dialects.postgresql.work.base import InSession, Values, change
from toolkit.dialects.postgresql.work.loads import place_of_rows
from toolkit.dialects.postgresql.work.parts import BlockRanges
from toolkit.dialects.transfers import FileParts
from toolkit.dialects.work import Call, Work
from toolkit.model.facts import Facts, Probe
from toolkit.model.steps import Takes
from toolkit.model.transfers import CsvStyle, FileFormat, Transfer
from toolkit.model.values import QualifiedName, Scalar, Support
from toolkit.model.words import Effect, Mode, Role

_COMMIT_BYTES = 64 * 2**20
_ENCODINGS = {
    "utf-8": "UTF8", "ascii": "UTF8", "iso8859-1": "LATIN1", "iso8859-2": "LATIN2", "iso8859-9": "LATIN5",
    "iso8859-15": "LATIN9", "cp1250": "WIN1250", "cp1251": "WIN1251", "cp1252": "WIN1252", "cp1254": "WIN1254",
    "koi8-r": "KOI8R",
}  # fmt: skip
_NO_QUOTE = "\x01"
"""COPY needs one in CSV; this character is in no text."""


class _FileParts(FileParts):
    """Chunks whose rows are known by their transactions."""

    def still_there(self, table: QualifiedName, noted: Sequence[Mapping[str, Scalar]]) -> Call | None:
        return BlockRanges().still_there(table, noted)

    def delete_by_hand(self, table: QualifiedName, noted: Sequence[Mapping[str, Scalar]]) -> Call | None:
        return BlockRanges().delete_by_hand(table, noted)


class CopyFiles(InSession):
    """COPY FROM STDIN."""

    degree_by_sessions, ends_by_commit = True, True
    parts = _FileParts()
    sizes = ("object_bytes",)

    def probes(self, options: Options, facts: Facts) -> tuple[Probe, ...]:
        size = transfers.bytes_of_commit(options, _COMMIT_BYTES)
        return transfers.probes_of(options, size, transfers.sessions_of(options))

    def judge(self, work: Work, facts: Facts) -> Support | None:
        found = support.table_logging(work)
        encoding = "utf-8" if work.transfer is None else work.transfer.style.encoding
        if found is None and encoding not in _ENCODINGS:
            return support.refused(
                f"PostgreSQL does not read {encoding}", f"convert it first: iconv -f {encoding} -t utf-8"
            )
        return found

    def remarks(self, work: Work, facts: Facts) -> tuple[str, ...]:
        hosts = transfers.on_hosts(work)
        if work.mode is not Mode.JOB or work.transfer is None or work.transfer.chunk.whole:
            return hosts
        return (
            *hosts,
            "each chunk is a transaction of its own: a failure leaves what others have committed, and "
            "`dbatk runs resume` loads the rest",
        )

    def takes(self, work: Work, facts: Facts) -> tuple[Takes, ...]:
        size, why = transfers.file_bytes(work)
        rows = Takes(size, place_of_rows(work, facts), unknown=why)
        row = facts.first("target")
        if not row or (work.object.scratch and work.option("bare")):
            return (rows,)
        table = QualifiedName(str(row["table_name"]), str(row["schema_name"]))
        return (rows, *space.of_entries(table, size, facts, why))

    def prepare(self, work: Work, facts: Facts) -> tuple[Call, ...]:
        """Turn our own, still empty table UNLOGGED where the level says nologging; check the first rows."""
        if work.option("logging") == "nologging" and work.object.scratch:
            values: Values = {"table": work.object.name}
            unlogged = Call("set_unlogged", values, effect=Effect.CHANGES, object=work.object)
            return (unlogged, *_checks(work))
        return _checks(work)

    def timed(self, work: Work, facts: Facts) -> tuple[Call, ...]:
        assert work.transfer is not None
        load = replace(change("load", _values(work.transfer, work.object.name), work), transfer=work.transfer)
        return transaction(load)

    def tell(self, work: Work, kept: Kept, deltas: Mapping[str, float], seconds: float) -> TrialFindings:
        return transfers.told(work, kept, seconds)


def _values(transfer: Transfer, table: QualifiedName) -> Values:
    # what is made of parquet has the usual style, whatever the text files have
    style = transfer.style if transfer.chunk.format is FileFormat.CSV else CsvStyle()
    return {
        "table": table, "columns": transfer.columns, "delimiter": style.delimiter,
        "quote": style.quote or _NO_QUOTE, "null": style.null,
        "encoding": _ENCODINGS.get(style.encoding, style.encoding),
    }  # fmt: skip


def _checks(work: Work) -> tuple[Call, ...]:
    """Load the first rows of each file into a table that goes with its transaction."""
    if not work.samples:
        return ()
    table, control = work.samples[0].table, Role.CONTROL
    sample = QualifiedName(table.name, "pg_temp")  # what the server says of a row names it
    like = Call("create_sample", {"table": table, "sample": sample}, session=control)
    rows = (Call("load", _values(each, sample), session=control, transfer=each) for each in work.samples)
    return (Call("begin_check", session=control), like, *rows, Call("rollback", session=control))
