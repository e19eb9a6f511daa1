"""What the loads of all engines share: what is asked of the files, and what chunks that are committed leave."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import PurePath

from toolkit.design.csv_style import style_of
from toolkit.dialects.answers import TrialFindings
from toolkit.dialects.implementations import Kept, Options
from toolkit.dialects.work import Call, Work
from toolkit.dialects.workloads import HOSTS, host_metric
from toolkit.errors import ToolkitError
from toolkit.model.experiment import OptionValue
from toolkit.model.facts import Facts, Probe
from toolkit.model.operations import degree_level
from toolkit.model.records import Metric
from toolkit.model.transfers import FileFormat
from toolkit.model.values import QualifiedName, Row, Scalar
from toolkit.model.words import ProbeKind
from toolkit.units import counted, parse_bytes

FILES = "files"
"""Key of what the files hold."""
MOVED = "moved"
"""Key of what a trial moved: a row for each chunk."""
_CHECKED_ROWS = 1000


def probes_of(options: Options, commit_every: int, sessions: int) -> tuple[Probe, ...]:
    """Ask what the files hold, and where they may be divided.

    Args:
        options: with the levels of a configuration.
        commit_every: bytes of a transaction; 0 for a whole file.
        sessions: that divide the files.
    """
    given = options.get("files")
    names = tuple(map(str, given)) if isinstance(given, tuple) else ()
    style = style_of(options)
    key = f"chunks of {commit_every} bytes for {sessions}"
    return (
        Probe(FILES, ProbeKind.DATA_FILES, names, style=style),
        Probe(key, ProbeKind.CHUNKS, names, style=style, chunk_bytes=commit_every, sessions=sessions),
    )


def bytes_of_commit(options: Options, default: int) -> int:
    """Return after how many bytes of the files is committed; 0 for each whole file."""
    level = options.get("commit_every")
    if level is None:
        return default
    return 0 if level == "file" else parse_bytes(str(level))


def sessions_of(options: Options) -> int:
    """Return how many sessions a degree means."""
    level = degree_level(options)
    return int(level) if isinstance(level, int | float) else 1


def checked_rows(options: Mapping[str, OptionValue]) -> int:
    """Return how many rows of each file are checked before the first one moves."""
    given = options.get("check_rows")
    return int(given) if isinstance(given, int) else _CHECKED_ROWS


def file_bytes(work: Work) -> tuple[float | None, str]:
    """Return about how many bytes a chunk becomes; None, and why, where the file does not tell."""
    assert work.transfer is not None
    chunk = work.transfer.chunk
    if chunk.gzipped or chunk.format is FileFormat.PARQUET:
        return None, f"`{PurePath(chunk.path).name}` is compressed"
    return (chunk.bytes or None), "" if chunk.bytes else "the files were not read"


class FileParts:
    """A load in parts whose parts are chunks of files."""

    even_alone = True
    """There may be several with one session."""

    def divided(self, work: Work, sessions: int, facts: Facts) -> tuple[tuple[str, Work], ...]:
        del sessions, facts
        return (("", work),)

    def as_begun(self, facts: Facts, recorded: Facts) -> Facts:
        """Go on with the chunks as they were.

        Raises:
            ToolkitError: TK-0211 for a file that was changed.
        """
        begun = {str(row["path"]): row for row in recorded.rows(FILES)}
        now = {str(row["path"]): row for row in facts.rows(FILES)}
        for path, row in begun.items():
            found = now.get(path)
            if found is None or any(found[name] != row[name] for name in ("byte_count", "modified", "columns")):
                raise ToolkitError(
                    f"`{path}` was changed since the load began: the rest would not fit",
                    code="TK-0211",
                    hint="put the file back as it was, or take what is loaded out of the table and begin anew",
                )
        kept = {key: rows for key, rows in recorded.answers.items() if key == FILES or key.startswith("chunks of")}
        return replace(facts, answers={**facts.answers, **kept})

    def source_changed(self, source: QualifiedName, proof: Mapping[str, Scalar]) -> Call:
        raise NotImplementedError(str(source))

    def still_there(self, table: QualifiedName, noted: Sequence[Mapping[str, Scalar]]) -> Call | None:
        """Ask whether there are rows at all: which of them a chunk became cannot be told here."""
        del noted
        return Call("has_rows", {"table": table})

    def delete_by_hand(self, table: QualifiedName, noted: Sequence[Mapping[str, Scalar]]) -> Call | None:
        """Return nothing: which rows a chunk became cannot be told here."""
        del table, noted
        return None


def told(work: Work, kept: Kept, seconds: float, rejects: str = "") -> TrialFindings:
    """Tell rates, and where the time of the chunks went.

    Args:
        work: one chunk of the load.
        kept: what was moved, by `MOVED`.
        seconds: the trial's elapsed time.
        rejects: what has the rejected rows; the file of the transfer if not given.
    """
    rows = kept.get(MOVED, ())
    if not rows:
        return TrialFindings()
    sums = {name: sum(_number(row, name) for row in rows) for name in ("file_bytes", "text_bytes", "row_count")}
    found = [Metric("file_bytes", sums["file_bytes"], "bytes", "size of the files")]
    if seconds > 0:
        mb, count = sums["file_bytes"] / 1e6, sums["row_count"]
        found += [
            Metric("load_mb_per_second", mb / seconds, "MB/s", "bytes of the files over time"),
            Metric("load_rows_per_second", count / seconds, "rows/s", "rows loaded over time"),
        ]
    if sums["text_bytes"] and sums["text_bytes"] != sums["file_bytes"]:
        found.append(Metric("text_bytes", sums["text_bytes"], "bytes", "what the files unpack to"))
    if work.object.scratch:  # which was empty: all that it takes was loaded
        found += _written(kept, sums["text_bytes"] or sums["file_bytes"], seconds)
    for name, what in _PHASES.items():
        if any(name in row for row in rows):
            found.append(Metric(name, sum(_number(row, name) for row in rows), "s", what))
    rejected = sum(_number(row, "rejected_rows") for row in rows)
    found.append(Metric("rejected_rows", rejected, "rows", "rows left out"))
    found += _by_host(rows)
    sentences: tuple[str, ...] = ()
    if rejected:
        name = "" if work.transfer is None else work.transfer.rejects
        where = rejects or f"`{name}` has each with its line and the reason"
        many = "1 row was" if rejected == 1 else f"{rejected:.0f} rows were"
        sentences = (f"{many} left out: {where}",)
    return TrialFindings(metrics=tuple(found), sentences=sentences)


def _written(kept: Kept, text_bytes: float, seconds: float) -> Iterator[Metric]:
    """Tell what became of the files in the table, where its size was read."""
    size = sum(_number(row, "byte_count") for row in kept.get("bytes", ()))
    if size > 0 and seconds > 0:
        yield Metric("table_mb_per_second", size / 1e6 / seconds, "MB/s", "bytes of the table over time")
    if size > 0:
        what = "bytes of the files, unpacked, over bytes of the table"
        yield Metric("compression_ratio", text_bytes / size, "ratio", what)


def on_hosts(work: Work) -> tuple[str, ...]:
    """Say on which other hosts the sessions are, if they are."""
    if (address := work.option("on")) is None:
        return ()
    given = work.option("hosts")
    hosts = counted(given, "host") if isinstance(given, int) else "all hosts"
    return (
        f"the sessions are on {hosts} of the cluster {address}; the files are compared with those there, by size "
        "and digest, before the first row moves",
    )


def _by_host(rows: Sequence[Row]) -> Iterator[Metric]:
    """Yield what the sessions of each of several hosts loaded."""
    for host in dict.fromkeys(str(row["host"]) for row in rows if "host" in row):
        own = [row for row in rows if row.get("host") == host]
        count = sum(_number(row, "row_count") for row in own)
        size = sum(_number(row, "file_bytes") for row in own)
        yield Metric(host_metric(host, "loaded_rows"), count, "rows", HOSTS)
        yield Metric(host_metric(host, "file_bytes"), size, "bytes", HOSTS)


_PHASES = {
    "read_seconds": "reading and unpacking the files, in all sessions together",
    "convert_seconds": "making text of parquet, in all sessions together",
    "write_seconds": "sending and waiting for the server, in all sessions together",
}


def _number(row: Row, name: str) -> float:
    value = row.get(name)
    return float(value) if isinstance(value, int | float) else 0.0
