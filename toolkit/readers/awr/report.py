"""A report as values: the header, every section that is known, every other table as it is printed."""

from __future__ import annotations

import re
from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain, islice

from toolkit.errors import ToolkitError
from toolkit.model.values import Scalar
from toolkit.readers.awr import rac
from toolkit.readers.awr.averages import with_averages
from toolkit.readers.awr.builder import DETAIL_NAMES, SectionBuilder
from toolkit.readers.awr.completeness import captured_shares, gaps, wholeness
from toolkit.readers.awr.consistency import (
    contradictions,
    inconsistencies,
    lost,
    under_their_headings,
    with_percent,
)
from toolkit.readers.awr.counts import whole_counts
from toolkit.readers.awr.decode import refused
from toolkit.readers.awr.document import LARGE, SILENT, document_of
from toolkit.readers.awr.fields import SectionSpec
from toolkit.readers.awr.forms import without_the_implausible
from toolkit.readers.awr.impossible import impossible
from toolkit.readers.awr.labels import read_header
from toolkit.readers.awr.parts import REPORT, REPORTS
from toolkit.readers.awr.sections import metric_named, records
from toolkit.readers.awr.tables import AwrTable, Numbers, ReportDocument, guess_comma, reduce
from toolkit.readers.awr.twins import twins
from toolkit.readers.parts import PACKED, Part, is_mail, parts_of
from toolkit.readers.texts import UnreadableError, text_of, undone

_PROMISED = {
    "load_profile_per_sec": "load profile", "top_events": "top events", "time_model": "time model",
    "wait_classes": "wait classes", "sql_by_elapsed": "SQL by elapsed time", "sql_by_cpu": "SQL by CPU time",
    "sql_by_gets": "SQL by gets", "sql_by_reads": "SQL by reads",
}  # fmt: skip
_STATSPACK = re.compile(r"STATSPACK", re.IGNORECASE)
_INVALID = re.compile(r"Snapshots chosen span an instance shutdown")
"""What spreport.sql writes above its first section, and nothing below it."""
_TOP = 20_000
_TABLESPACES = "tablespace_io"


@dataclass(frozen=True, slots=True)
class Report:
    """What one file says.

    `faults` are sentences about what makes the file less than a whole report (cut off, contradicting itself);
    `warnings` name what is missing or could not be read, the faults first; `details` are the tables of the
    sections that are read when the document is made; `paged` is True for a text.
    """

    facts: Mapping[str, Scalar]
    sections: Mapping[str, object]
    tables: Sequence[AwrTable]
    warnings: Sequence[str]
    faults: Sequence[str]
    details: Mapping[str, Sequence[tuple[SectionSpec, AwrTable]]]
    numbers: Numbers
    paged: bool

    def document(self, wanted: Container[str] = DETAIL_NAMES) -> dict[str, object]:
        """Return the report as a JSON document: as printed, but for averages that time and number tell better.

        Args:
            wanted: The sections of `details` to read; the others are left out.
        """
        return with_averages(self.printed(wanted))

    def printed(self, wanted: Container[str] = DETAIL_NAMES) -> dict[str, object]:
        """Return the report as it is printed; tables that are no known section stand under `tables`."""
        tables = [
            {"section": table.section, "title": table.title, "columns": table.columns, "rows": table.rows}
            for table in self.tables
        ]
        warnings = list(self.warnings)
        details: dict[str, list[dict[str, Scalar]]] = {}
        for name, found in self.details.items():
            for section, table in found if name in wanted else ():
                typed = records(section, table, self.numbers)
                details.setdefault(name, []).extend(typed.rows)
                warnings += [*typed.warnings, *impossible(name, table, typed.rows)]
        if _TABLESPACES in details:
            rows, displaced = under_their_headings(details[_TABLESPACES], self.facts["elapsed_min"])
            details[_TABLESPACES] = list(rows)
            warnings += displaced
        warnings += whole_counts(details, self.sections)
        whole = {**self.facts, **self.sections, **details}
        warnings += twins(whole, self.tables)
        sections = with_plans(self.sections, details)
        lists = wholeness(whole, self.tables) if self.paged else None
        return {
            **self.facts, **sections, **details,
            "tables": tables, "completeness": lists, "warnings": list(dict.fromkeys(warnings)),
        }  # fmt: skip


@dataclass(frozen=True, slots=True)
class Reading:
    """What became of one text of a file: its report, or why it is none.

    `name` tells it from the others of the file (`two.html#2`); `aside` is True for a member of an archive or a
    mail that is no report, where others are.
    """

    name: str
    report: Report | None
    fault: ToolkitError | None = None
    aside: bool = False


def read_reports(raw: bytes, name: str) -> list[Reading]:
    """Read all reports of a file.

    Args:
        raw: The file: a report, several, an archive or a mail with reports, in any encoding.
        name: What to call the file in messages.

    Raises:
        ToolkitError: TK-0113 when there is only one text in it, and that is no report.
    """
    parts = _parts(raw, name)
    if len(parts) == 1:
        return [Reading(name, _read_text(parts[0].text, name))]
    found = []
    for number, part in enumerate(parts, 1):
        own = f"{name}#{number}" + (f" ({part.source})" if part.source else "")
        try:
            if part.fault is not None:
                raise refused(part.source, part.fault.why, part.fault.hint)
            found.append(Reading(own, _read_text(part.text, own)))
        except ToolkitError as error:
            found.append(Reading(own, None, error))
    some = any(one.report is not None for one in found)
    return [
        replace(one, aside=some and part.contained and one.report is None)
        for one, part in zip(found, parts, strict=True)
    ]


def _parts(raw: bytes, name: str) -> list[Part]:
    plain = not (raw.startswith(PACKED) or is_mail(raw))
    try:
        if plain and len(raw) > LARGE and not REPORT.search(undone(text_of(raw[:LARGE]))):
            raise refused(name, SILENT)
        return parts_of(raw, REPORTS)
    except UnreadableError as error:
        raise refused(name, error.why, error.hint) from None


def read_report(raw: bytes, name: str) -> Report:
    """Read the one report of a file.

    Args:
        raw: The file, compressed or not, in any encoding reports are saved in.
        name: What to call the file in messages.

    Raises:
        ToolkitError: TK-0113 when it is no such report, or holds several.
    """
    one = one_of(read_reports(raw, name), name)
    if one.report is None:
        assert one.fault is not None
        raise one.fault
    return one.report


def one_of(found: Sequence[Reading], name: str) -> Reading:
    """Return the one report of a file; where it holds several, the fault that says how to name one."""
    reports = [one for one in found if one.report is not None]
    if len(reports) < 2:
        return reports[0] if reports else found[0]
    names = ", ".join(f"`{one.name.partition(' (')[0]}`" for one in reports[:3])
    fault = ToolkitError(
        f"`{name}` holds {len(reports)} reports", code="TK-0113",
        hint=f"name one of them: {names}{' ...' if len(reports) > 3 else ''}",
    )  # fmt: skip
    return Reading(name, None, fault)


def _read_text(text: str, name: str) -> Report:
    document = document_of(text, name)
    numbers = Numbers(guess_comma(_sample(document.tables)))
    facts, remarks = read_header(document, numbers)
    facts["file"] = name
    facts["kind"] = "statspack" if _STATSPACK.search(document.title) else "awr"
    builder = SectionBuilder(numbers, facts["container_name"])
    for table in document.tables:
        builder.add(table)
    known = rac.instances(document.tables, numbers)
    if known:
        _cluster(document, known, numbers, facts, builder)
    else:
        facts["scope"] = "pdb" if re.search(r"\bPDB report", document.title, re.IGNORECASE) else "instance"
    builder.sections["instances"] = known
    captured = captured_shares(text)
    shares = {metric_named(words): numbers.number(share) for words, share in captured.items() if words}
    if share := captured.get(""):
        builder.sections["captured_sql_pct"] = numbers.number(share)
    doubtful = without_the_implausible(facts)
    if not (facts["dbid"] or facts["db_name"]) or not (builder.recognised or known):
        why = "it has no database name, or no report sections"
        raise refused(name, why if document.ended else f"{why}; it may be truncated")
    builder.warnings[:0] = [*doubtful, *([] if known else remarks)]
    faults = _faults(document, facts)
    if _INVALID.search(text, 0, _TOP):
        faults.insert(
            0, "the report itself states that an instance shutdown lies within it: its results are invalid"
        )
    return _report(builder, document, facts, faults, shares)


def _sample(tables: Sequence[AwrTable]) -> list[str]:
    rows = chain.from_iterable(table.rows for table in tables)
    return list(islice(chain.from_iterable(rows), 5000))


def _cluster(
    document: ReportDocument,
    known: list[rac.Record],
    numbers: Numbers,
    facts: dict[str, Scalar],
    builder: SectionBuilder,
) -> None:
    facts["scope"] = "rac_global"
    facts.update(dict.fromkeys(("instance", "inst_num", "host", "startup_time", "cpus", "cores", "sockets")))
    facts.update(
        {name: value for name, value in rac.summary(document.tables, numbers).items() if value is not None}
    )
    for name, choose in (("version", None), ("platform", None), ("begin_snap_time", min), ("end_snap_time", max)):
        values = sorted({str(record[name]) for record in known if record[name] is not None})
        if len(values) == 1 or (values and choose is not None):
            facts[name] = choose(values) if choose is not None else values[0]
    whole = rac.add_sections(document.tables, known, numbers)
    whole.pop("_shares", None)
    builder.sections.update(whole)
    builder.cluster_events(known)


def _faults(document: ReportDocument, facts: Mapping[str, Scalar]) -> list[str]:
    faults = []
    if not document.ended:
        faults.append("the report is cut off: its end is not there")
    begins = sum(reduce(row[0]) == "begin snap" for table in document.tables for row in table.rows[:3] if row)
    if begins > 1:
        faults.append(f"the file holds {begins} reports, which cannot be separated")
    lacks = [words for name, words in _MUST if facts[name] is None]
    if lacks:
        faults.append(f"the header is incomplete: {', '.join(lacks)} cannot be found")
    return [*faults, *contradictions(dict(facts))]


_MUST = (
    ("begin_snap_id", "the first snapshot"), ("end_snap_id", "the last snapshot"),
    ("begin_snap_time", "the time of the first snapshot"), ("end_snap_time", "the time of the last snapshot"),
    ("elapsed_min", "the elapsed time"),
)  # fmt: skip


def _report(
    builder: SectionBuilder,
    document: ReportDocument,
    facts: Mapping[str, Scalar],
    faults: Sequence[str],
    captured: Mapping[str, Scalar],
) -> Report:
    whole, turned = with_percent(builder.whole())
    warnings = [
        *faults,
        *builder.warnings,
        *document.remarks,
        *lost(document.unread),
        *inconsistencies(facts, whole, signed=builder.signed),
        *gaps(whole, captured),
        *turned,
    ]
    warnings.extend(
        f"the section `{name}` is in the table of contents but not in the report" for name in document.contents
    )
    expected = [name for name in _PROMISED if name != "wait_classes" or facts["kind"] == "awr"]
    missing = [_PROMISED[name] for name in expected if not whole[name]]
    if missing:
        warnings.append(f"the report has no {', '.join(missing)}")
    unique = list(dict.fromkeys(warnings))
    return Report(
        facts, whole, builder.others, unique, faults, builder.details, builder.numbers, document.paged
    )  # fmt: skip


def with_plans(
    sections: Mapping[str, object], details: Mapping[str, Sequence[Mapping[str, Scalar]]]
) -> dict[str, object]:
    """Return the sections with the plans that active session history saw beside each statement; several joined."""
    seen: dict[Scalar, dict[str, None]] = {}
    for name in PLANS:
        for row in details.get(name, ()):
            if row["sql_id"] and (plan := row.get("plan_hash")) and plan != "0":
                seen.setdefault(row["sql_id"], {})[str(plan)] = None
    plans = {key: ", ".join(sorted(found)) for key, found in seen.items()}
    return {
        name: [{**row, "plan_hash": plans.get(row["sql_id"])} for row in rows]
        if name.startswith("sql_by_") and isinstance(rows, list)
        else rows
        for name, rows in sections.items()
    }


PLANS = ("ash_sql_by_event", "ash_sql_by_row_source")
"""The sections that tell the plan hash of statements."""
