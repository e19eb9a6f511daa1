"""EXPORT DATABASE: the schema as SQL and a file for each table, in a folder made by dbatk."""

from __future__ import annotations

from collections.abc import Mapping

from toolkit.dialects import backups
from toolkit.dialects.answers import TrialFindings
from toolkit.dialects.backups import Backups
from toolkit.dialects.implementations import Options
from toolkit.dialects.work import Call, Work
from toolkit.model.facts import Facts, Probe, Query
from toolkit.model.steps import ObjectRef, Takes, content_of
from toolkit.model.values import Row, Support
from toolkit.model.words import Effect, Keep, Mode, Role, SupportState

_SIZE = "backup_size"
_COMPRESSIONS = {
    "parquet": {"none": "UNCOMPRESSED", "snappy": "SNAPPY", "gzip": "GZIP", "zstd": "ZSTD", "lz4": "LZ4_RAW",
                "brotli": "BROTLI"},
    "csv": {"none": "NONE", "gzip": "GZIP", "zstd": "ZSTD"},
}  # fmt: skip
"""Source: DuckDB manual, "COPY Statement", options of each format."""
_SHRINKS_TO = 0.5
"""Share of the database that a compressed export takes at most, as a rule of thumb."""
_GROWS_TO = 3.0
"""A database file is compressed itself, and text is bigger."""


def format_of(work: Work) -> str:
    """Return the file format: parquet if not given."""
    return str(work.option("file_format") or "parquet")


class DuckdbBackups(Backups):
    """Into a folder of this host, in a folder of its own."""

    def reads(self, options: Options, facts: Facts) -> tuple[Query, ...]:
        del options, facts
        return (Query(_SIZE, _SIZE, optional=True),)

    def probes(self, options: Options, facts: Facts) -> tuple[Probe, ...]:
        del facts
        return backups.folder_probes(options)

    def object(self, options: Options, name: str, *, measuring: bool) -> ObjectRef:
        del measuring
        return backups.folder_of(options, name)

    def label(self, work: Work) -> str:
        return backups.final_path(work) if work.mode is Mode.JOB else "export"

    def refuse(self, work: Work, facts: Facts) -> None:
        backups.refuse_folder(work, facts)

    def refuse_keeping(self, keep: Keep) -> None:
        del keep

    def drops(self, work: Work) -> bool:
        del work
        return True

    def takes(self, work: Work, facts: Facts) -> tuple[Takes, ...]:
        size = facts.value(_SIZE, "byte_count")
        shrinks = format_of(work) == "parquet" or work.option("compression") not in (None, "none")
        times = _SHRINKS_TO if shrinks else _GROWS_TO
        return backups.takes_of_folder(float(size) * times if isinstance(size, int | float) else None, work)


def support(work: Work) -> Support | None:
    """Say what cannot be had of an export."""
    form = format_of(work)
    if form not in _COMPRESSIONS:
        return _refused(f"DuckDB exports parquet or csv, not `{form}`")
    compression = work.option("compression")
    known = _COMPRESSIONS[form]
    if compression is not None and compression not in known:
        return _refused(f"DuckDB writes {form} with compression {', '.join(known)}, not `{compression}`")
    level = work.option("compression_level")
    if level is None:
        return None
    if (form, compression) != ("parquet", "zstd") or not 1 <= int(str(level)) <= 22:
        return _refused("a compression level is for parquet with zstd, from 1 to 22")
    return None


def _refused(sentence: str) -> Support:
    return Support(SupportState.UNSUPPORTED, sentence)


def prepare(work: Work) -> tuple[Call, ...]:
    """Make the folder that the export goes to."""
    return (backups.make(work.object, str(work.mark)),)


def timed(work: Work) -> tuple[Call, ...]:
    """Export the whole database."""
    form, compression = format_of(work), work.option("compression")
    level = work.option("compression_level")
    values = {
        "folder": content_of(work.object),
        "format": form.upper(),
        "compression": None if compression is None else _COMPRESSIONS[form][str(compression)],
        "level": None if level is None else int(str(level)),
    }
    return (Call("export_database", values, session=Role.WORKER, effect=Effect.CHANGES, object=work.object),)


def evidence(work: Work) -> tuple[Call, ...]:
    """Ask how big it is; then the backup of a job goes where it stays."""
    read = Call(_SIZE, file=True, session=Role.WORKER, keep_as="read")
    size = backups.measure(work.object)
    if work.mode is not Mode.JOB:
        return (read, size)
    return (read, size, backups.seal(work.object), backups.publish(work))


def tell(kept: Mapping[str, tuple[Row, ...]], seconds: float) -> TrialFindings:
    """Tell bytes in and out, and the rates."""
    read, written = (kept.get(key, ({},))[0].get("byte_count") for key in ("read", "bytes"))
    return TrialFindings(backups.volume(read, written, seconds, "EXPORT DATABASE"))
