"""Loads by SQL*Loader: a control file for each data file, by conventional or by direct path; in bundles.

Files are read where the bundle runs. A load by direct path becomes visible at the end of its file; a conventional
one commits after each batch of rows.
Sources: Database Utilities, SQL*Loader (control file contents: OPTIONS, UNRECOVERABLE, PRESERVE BLANKS; FIELDS CSV
since 12.1; restrictions on parallel direct path loads: no index is maintained, foreign keys, triggers and CHECK
constraints are disabled meanwhile; exit codes).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from toolkit.design.csv_style import style_of
from toolkit.dialects import transfers
from toolkit.dialects.answers import TrialFindings
from toolkit.dialects.implementations import Kept
from toolkit.dialects.oracle.catalog import indexes_of
from toolkit.dialects.oracle.releases import Feature, has
from toolkit.dialects.oracle.work import external
from toolkit.dialects.oracle.work.base import asks_nologging
from toolkit.dialects.work import Call, ContextValue, Work
from toolkit.model.facts import Facts
from toolkit.model.records import Metric
from toolkit.model.transfers import FileFormat
from toolkit.model.values import QualifiedName, Support
from toolkit.model.words import Effect, Mode, Role, StepKind, SupportState

METHODS = frozenset({"conventional", "direct"})
"""Paths of SQL*Loader, as levels of the factor `method`."""
_UNSPELLABLE = "'*?\n\r"


def is_asked(work: Work) -> bool:
    """Tell whether SQL*Loader does it."""
    return work.option("method") in METHODS


def timed(work: Work, facts: Facts) -> tuple[Call, ...]:
    """Load one file; SQL*Loader commits by itself."""
    assert work.transfer is not None
    rows, direct = work.option("batch_rows"), work.option("method") == "direct"
    parallel = direct and work.concurrency > 1
    values: dict[str, ContextValue] = {
        **external.fields_of(work, facts),
        "table": work.object.name,
        "file": work.transfer.chunk.path,
        "direct": direct,
        "parallel": parallel,
        "unrecoverable": asks_nologging(work),
        "rows": rows if isinstance(rows, int) else None,
        "most": work.transfer.max_rejects,
        "embedded": bool(style_of(work.options).quote) and has(facts.release, Feature.FIELD_NAMES),
    }
    return (
        Call(
            "sqlldr.ctl", values, kind=StepKind.SCRIPT, session=Role.WORKER, effect=Effect.CHANGES,
            object=work.object, argv=("sqlldr",), transfer=work.transfer, unlogged=asks_nologging(work),
        ),
    )  # fmt: skip


def judge(work: Work, facts: Facts) -> Support | None:
    """Judge files, columns, and what a path of SQL*Loader cannot do; None where nothing stands in the way."""
    if work.option("commit_every") is not None:
        return _no(
            "SQL*Loader commits at the end of a file by direct path, and else after each batch of rows",
            "omit --commit-every; --batch-rows is the batch",
        )
    if asks_nologging(work) and work.option("method") != "direct":
        return _no("rows that are sent by INSERT always write redo: NOLOGGING saves nothing", "--method direct")
    if work.transfer is None:
        return None
    return (
        _file(work.transfer.chunk.path) or external.judge_text(work, facts, "SQL*Loader") or _indexes(work, facts)
    )


def _file(path: str) -> Support | None:
    if FileFormat.PARQUET in path.rpartition(".")[2] or path.endswith(".gz"):
        return _no(f"SQL*Loader reads plain text, and `{path}` is not", "unpack it, or use --method array")
    if any(character in path for character in _UNSPELLABLE):
        return _no(f"`{path}` cannot be named in a control file", "name each file, without a pattern or a quote")
    return None


def _indexes(work: Work, facts: Facts) -> Support | None:
    """Refuse a parallel direct path load into a table with indexes (ORA-26002)."""
    if work.option("method") != "direct" or work.concurrency < 2 or work.option("bare"):
        return None
    row = facts.first("target")
    table = QualifiedName(str(row.get("table_name")), str(row.get("schema_name")))
    found = len(indexes_of(facts, table))
    if not found:
        return None
    return _no(
        f"several sessions maintain no index by direct path, and `{table}` has {found}",
        "measure into a copy without them (--bare), or use --degree 1 or --method conventional",
    )


def tell(work: Work, kept: Kept, seconds: float) -> TrialFindings:
    """Tell rates, and what the client itself says that it took."""
    found = transfers.told(work, kept, seconds, "spool/*.bad and *.dsc of the bundle have them, *.log the reasons")
    rows = kept.get(transfers.MOVED, ())
    times = [
        Metric(name, sum(values), "s", what)
        for name, column, what in _TIMES
        if (values := [float(str(row[column])) for row in rows if row.get(column) is not None])
    ]
    return replace(found, metrics=(*found.metrics, *times))


_TIMES = (
    ("loader_seconds", "seconds", "SQL*Loader's own elapsed time, of all files together"),
    ("loader_cpu_seconds", "cpu_seconds", "CPU time of SQL*Loader, of all files together"),
)


def remarks(work: Work) -> Iterator[str]:
    """Say what SQL*Loader does otherwise."""
    if not is_asked(work):
        return
    named = "--columns" if work.option("columns") else "the columns of the table"
    first = "; the first line of each file is passed over" if style_of(work.options).header else ""
    yield f"SQL*Loader reads the files where the bundle runs; they hold {named} in this order{first}"
    if work.option("max_rejects"):
        yield "ERRORS counts for each file, so that all of them together may reject more rows"
    if work.option("method") == "direct" and work.concurrency > 1:
        yield "foreign keys, triggers and CHECK constraints are disabled during a parallel direct path load"
    if work.mode is Mode.JOB and work.option("method") == "conventional":
        yield "a conventional load that is cut off leaves the batches that were committed: its log says how many"


def _no(sentence: str, hint: str) -> Support:
    return Support(SupportState.UNSUPPORTED, sentence, hint)
