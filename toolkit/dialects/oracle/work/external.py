"""Files of the server, read through an external table that lives as long as the run (ORACLE_LOADER).

Its columns have the types of those that are filled, so that what does not fit is rejected by the access driver,
with its line in the log. A job has its log and its rejected rows written into the directory, under the table's
name; a measurement, which reads the files again and again, has neither.
Source: Database Utilities, ORACLE_LOADER access driver (12.1: FIELD NAMES; SKIP only where nothing is parallel;
`%a` the number of a parallel server); SQL Language Reference, CREATE TABLE, external_table_clause.
"""

from __future__ import annotations

from collections.abc import Iterator

from toolkit.design.csv_style import style_of
from toolkit.dialects.answers import TrialFindings
from toolkit.dialects.implementations import Kept
from toolkit.dialects.oracle import spelling
from toolkit.dialects.oracle.directories import directory_name, unseen
from toolkit.dialects.oracle.releases import Feature, has
from toolkit.dialects.work import Call, ContextValue, Work
from toolkit.model.facts import Facts
from toolkit.model.records import Metric
from toolkit.model.steps import ObjectRef
from toolkit.model.values import Row, Support
from toolkit.model.words import Effect, Mode, Role, SupportState
from toolkit.units import byte_size

SIZES = "column_sizes"
REJECTED = "rejected_bytes"
_UNREAD = frozenset({"ORA-01031", "ORA-22285", "ORA-22288"})
_CHARSETS = {
    "utf-8": "AL32UTF8", "ascii": "US7ASCII", "iso8859-1": "WE8ISO8859P1", "iso8859-15": "WE8ISO8859P15",
    "iso8859-2": "EE8ISO8859P2", "cp1250": "EE8MSWIN1250", "cp1251": "CL8MSWIN1251", "cp1252": "WE8MSWIN1252",
}  # fmt: skip
"""By Python's name of an encoding (Globalization Support Guide, character sets)."""
_PLAIN = frozenset({"BINARY_FLOAT", "BINARY_DOUBLE", "DATE"})
_TEXTS = frozenset({"VARCHAR2", "CHAR", "NVARCHAR2", "NCHAR"})
_LONGEST = 4000
"""Bytes of a text without MAX_STRING_SIZE = EXTENDED; longer ones are not tried."""
_MOST_REJECTS = 100_000
"""Range of REJECT LIMIT (error messages, OCI-30645)."""
_SHORT_FIELD = 255
"""Bytes of the text of a number or a date: what the access driver gives a field without a size."""


def is_asked(work: Work) -> bool:
    """Tell whether the rows come from files of the server."""
    return work.option("external_files") is not None


def make(source: ObjectRef, work: Work, facts: Facts, mark: str) -> tuple[Call, ...]:
    """Make the table through which the files are read, and mark it."""
    files, most, output = work.option("external_files"), work.option("max_rejects"), _output(work)
    values: dict[str, ContextValue] = {
        **fields_of(work, facts),
        "table": source.name,
        "directory": directory_name(work.option("directory")),
        "files": tuple(map(str, files)) if isinstance(files, tuple) else (str(files),),
        "most": most if isinstance(most, int) else 0,
        "bad_file": None if output is None else f"{output}%a.bad",
        "log_file": None if output is None else f"{output}%a.log",
    }
    marked: dict[str, ContextValue] = {"table": source.name, "mark": mark}
    return (
        Call("external_table", values, effect=Effect.CREATES, object=source),
        Call("comment", marked, effect=Effect.CHANGES, object=source),
    )


def fields_of(work: Work, facts: Facts) -> dict[str, ContextValue]:
    """Return what templates take of the fields of a file, as `judge_text` finds them right."""
    style, sizes = style_of(work.options), _sizes(facts)
    types = tuple(str(_type(sizes[name])) for name in work.columns)
    return {
        "columns": work.columns,
        "types": types,
        "formats": tuple(kind.partition("(")[0] for kind in types),
        "fields": tuple(f"CHAR({_field_bytes(sizes[name])})" for name in work.columns),
        "charset": _CHARSETS[style.encoding],
        "delimiter": style.delimiter,
        "quote": style.quote,
        "null": style.null,
        "header": style.header,
    }


def _output(work: Work) -> str | None:
    """Return how the names of the log and of the rejected rows begin; a measurement has none."""
    return None if work.source is None or work.mode is not Mode.JOB else f"{work.source.name}_"


def _sizes(facts: Facts) -> dict[str, Row]:
    return {str(row["column_name"]): row for row in facts.rows(SIZES)}


def _type(row: Row) -> str | None:
    """Spell the type of a column as the catalogue describes it; None for one that text is not made into."""
    kind = str(row["data_type"])
    if kind in _PLAIN or (kind.startswith("TIMESTAMP(") and kind.endswith(")")):
        return kind
    if kind in _TEXTS:
        return _text_type(kind, row)
    if kind in ("NUMBER", "FLOAT"):
        return _number_type(kind, row)
    return None


def _text_type(kind: str, row: Row) -> str | None:
    if _whole(row["byte_length"]) > _LONGEST:
        return None
    if kind.startswith("N"):
        return f"{kind}({_whole(row['char_length'])})"
    if row.get("char_used") == "C":
        return f"{kind}({_whole(row['char_length'])} CHAR)"
    return f"{kind}({_whole(row['byte_length'])} BYTE)"


def _number_type(kind: str, row: Row) -> str:
    precision, scale = row.get("number_precision"), row.get("number_scale")
    if kind == "FLOAT":
        return "FLOAT" if precision is None else f"FLOAT({_whole(precision)})"
    if precision is None:
        return "NUMBER" if scale is None else f"NUMBER(38,{_whole(scale)})"
    return f"NUMBER({_whole(precision)},{_whole(scale or 0)})"


def _whole(value: object) -> int:
    return int(float(str(value)))


def _field_bytes(row: Row) -> int:
    """Return how long the text of a column may be: twice its bytes, since quotes within are doubled."""
    return max(_SHORT_FIELD, 2 * _whole(row["byte_length"]))


def judge(work: Work, facts: Facts) -> Support | None:
    """Judge directory, encoding, header and the types of the columns; None where no files are asked for."""
    if not is_asked(work):
        return None
    if style_of(work.options).header and not has(facts.release, Feature.FIELD_NAMES):
        return _no(
            "the header of several files can be passed over since 12.1 (FIELD NAMES)",
            "remove the first line of each file, and give `--header no`",
        )
    most = work.option("max_rejects")
    if isinstance(most, int) and most > _MOST_REJECTS:
        return _no(f"REJECT LIMIT of an external table is at most {_MOST_REJECTS:,}", "lower `--max-rejects`")
    return unseen(directory_name(work.option("directory")), facts) or judge_text(work, facts, "an external table")


def judge_text(work: Work, facts: Facts, reader: str) -> Support | None:
    """Judge encoding and columns of files of the server; `reader`: what makes values of their text."""
    style, sizes = style_of(work.options), _sizes(facts)
    if style.encoding not in _CHARSETS:
        return _no(
            f"dbatk does not know what Oracle calls the encoding {style.encoding}", "convert the files to utf-8"
        )
    unknown = next((name for name in work.columns if name not in sizes), None)
    if unknown is not None or not work.columns:
        return _no("the columns of the table are not known without a look at it", "omit --assume")
    for name in work.columns:
        if _type(sizes[name]) is None:
            return _no(
                f"{reader} does not make {sizes[name]['data_type']} of text here: column `{name}`",
                "leave this column out of --columns and of the files, or read them through an external table of "
                "your own (--source)",
            )
    return None


def evidence(work: Work) -> tuple[Call, ...]:
    """Ask how many bytes of rows were rejected into files of the server."""
    output = _output(work)
    if not is_asked(work) or output is None:
        return ()
    binds = {"directory": directory_name(work.option("directory")), "prefix": output}
    return (Call(REJECTED, file=True, session=Role.WORKER, keep_as=REJECTED, binds=binds, tolerates=_UNREAD),)


def tell(work: Work, kept: Kept) -> TrialFindings:
    """Tell what was rejected, and where it is."""
    output, rows = _output(work), kept.get(REJECTED, ())
    if not is_asked(work) or output is None or not rows:
        return TrialFindings()
    size = float(str(rows[0].get("byte_count") or 0))
    if not rows[0].get("file_count"):
        return TrialFindings((Metric("rejected_bytes", 0.0, "bytes", "files of the access driver"),))
    sentence = (
        f"rows were rejected: directory {directory_name(work.option('directory'))} of the server has "
        f"{byte_size(size)} of them in {output}*.bad, and the reasons in {output}*.log"
    )
    return TrialFindings((Metric("rejected_bytes", size, "bytes", "files of the access driver"),), (sentence,))


def remarks(work: Work) -> Iterator[str]:
    """Say how the files are read, and what stays of it."""
    if not is_asked(work):
        return
    style = style_of(work.options)
    named = "--columns" if work.option("columns") else "the columns of the table"
    first = "; the first line of each file is passed over" if style.header else ""
    yield f"the files hold {named} in this order{first}; a row with fewer fields gets NULLs"
    if style.quote:
        yield "a line end within quotes ends a row for the access driver: `dbatk load` takes such files"
    if work.mode is Mode.JOB:
        yield (
            "the server writes a log (*.log), and *.bad where it rejects rows, both named after the run, into "
            f"directory {directory_name(work.option('directory'))}; both stay"
        )
    else:
        yield "a measurement writes neither log nor rejected rows: a job shows which row is bad, and why"
    if work.option("max_rejects") and not spelling.is_serial(work):
        yield "REJECT LIMIT counts for each parallel server, so that all of them may reject more rows"


def _no(sentence: str, hint: str) -> Support:
    return Support(SupportState.UNSUPPORTED, sentence, hint)
