"""A report as values: the header, every section that is known, every other table as it is printed."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice

from toolkit.errors import ToolkitError
from toolkit.model.values import Scalar
from toolkit.readers.awr import labels, rac
from toolkit.readers.awr.decode import other_report, text_of
from toolkit.readers.awr.html import preformatted, read_html
from toolkit.readers.awr.labels import contradictions, read_header
from toolkit.readers.awr.sections import lacking, metric_of, records, section_of
from toolkit.readers.awr.tables import AwrTable, Numbers, ReportDocument, guess_comma, reduce, snake
from toolkit.readers.awr.text import read_text
from toolkit.units import counted

_PROMISED = {
    "load_profile_per_sec": "load profile", "top_events": "top events", "time_model": "time model",
    "wait_classes": "wait classes", "sql_by_elapsed": "SQL by elapsed time", "sql_by_cpu": "SQL by CPU time",
    "sql_by_gets": "SQL by gets", "sql_by_reads": "SQL by reads",
}  # fmt: skip
_HTML = re.compile(r"<(?:html|table|head|body|pre)\b", re.IGNORECASE)
_REPORT = re.compile(
    r"WORKLOAD REPOSITORY|STATSPACK\s+(?:STATISTICS\s+)?report|AWR (?:RAC )?Report|DB/Inst:|Begin Snap\b|DB Id\b",
    re.IGNORECASE,
)
_STATSPACK = re.compile(r"STATSPACK", re.IGNORECASE)
_INVALID = re.compile(r"Snapshots chosen span an instance shutdown")
"""What spreport.sql writes above its first section, and nothing below it."""
_TOP = 20_000
_SEARCHED = 4_000_000
_LARGE = 8_000_000
_LARGEST, _HEAD = 100_000_000, 1_000_000
"""The largest report of a cluster that is known has a fortieth of the first; its header stands at its top."""
_SILENT = "it contains no AWR or Statspack data"


@dataclass(frozen=True, slots=True)
class Report:
    """What one file says.

    `faults` are sentences about what makes the file less than a whole report (cut off, contradicting itself);
    `warnings` name what is missing or could not be read, the faults first.
    """

    facts: Mapping[str, Scalar]
    sections: Mapping[str, object]
    tables: Sequence[AwrTable]
    warnings: Sequence[str]
    faults: Sequence[str]

    def document(self) -> dict[str, object]:
        """Return the report as a JSON document; tables that are no known section stand under `tables`."""
        tables = [
            {"section": table.section, "title": table.title, "columns": table.columns, "rows": table.rows}
            for table in self.tables
        ]
        return {**self.facts, **self.sections, "tables": tables, "warnings": list(self.warnings)}


def read_report(raw: bytes, name: str) -> Report:
    """Read one AWR or Statspack report.

    Args:
        raw: The file, compressed by gzip or not, in any encoding reports are saved in.
        name: What to call the file in messages.

    Raises:
        ToolkitError: TK-0113 when it is no such report.
    """
    if len(raw) > _LARGE and not _REPORT.search(text_of(raw[:_LARGE], name)):
        raise _no_report(name, _SILENT)
    text = text_of(raw, name)
    if len(text) > _LARGE:
        _refuse_large(text, name)
    document = _document(text, name)
    numbers = Numbers(guess_comma(_sample(document.tables)))
    facts = read_header(document, numbers)
    facts["file"] = name
    facts["kind"] = "statspack" if _STATSPACK.search(document.title) else "awr"
    builder = _Builder(numbers, facts["container_name"])
    for table in document.tables:
        builder.add(table)
    known = rac.instances(document.tables, numbers)
    if known:
        _cluster(document, known, numbers, facts, builder)
    else:
        facts["scope"] = "pdb" if re.search(r"\bPDB report", document.title, re.IGNORECASE) else "instance"
    builder.sections["instances"] = known
    if not (facts["dbid"] or facts["db_name"]) or not (builder.recognised or known):
        why = "it has no database name, or no report sections"
        raise _no_report(name, why if document.ended else f"{why}; it may be truncated")
    faults = _faults(document, facts)
    if _INVALID.search(text, 0, _TOP):
        faults.insert(
            0, "the report itself states that an instance shutdown lies within it: its results are invalid"
        )
    return _report(builder, document, facts, faults)


def _refuse_large(text: str, name: str) -> None:
    """Refuse what is too large for a report, or names no database where each report does, before it is read."""
    if len(text) > _LARGEST:
        raise _no_report(name, f"it has {len(text) / 1e6:,.0f} million characters, too large for a report")
    document = _document(text[:_HEAD], name)
    facts = read_header(document, Numbers())
    if not (facts["dbid"] or facts["db_name"]):
        raise _no_report(name, "it has no database name")


def _document(text: str, name: str) -> ReportDocument:
    if other := other_report(text):
        raise _no_report(name, *other)
    if not _REPORT.search(text, 0, _SEARCHED):
        raise _no_report(name, _SILENT)
    if _HTML.search(text, 0, 20_000):
        document = read_html(text)
        if document.tables:
            return document
        if inside := preformatted(text):
            return replace(read_text(inside), format="html")
    return read_text(text)


def _sample(tables: Sequence[AwrTable]) -> list[str]:
    return list(islice((cell for table in tables for row in table.rows for cell in row), 5000))


def _no_report(name: str, why: str, hint: str = "") -> ToolkitError:
    return ToolkitError(
        f"`{name}` is not an AWR or Statspack report: {why}",
        code="TK-0113",
        hint=hint or "give the file written by awrrpt.sql, awrgrpt.sql or spreport.sql, html or text",
    )


def _cluster(
    document: ReportDocument,
    known: list[rac.Record],
    numbers: Numbers,
    facts: dict[str, Scalar],
    builder: _Builder,
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
    builder: _Builder, document: ReportDocument, facts: Mapping[str, Scalar], faults: Sequence[str]
) -> Report:
    warnings = [*faults, *builder.warnings]
    warnings.extend(
        f"the section `{name}` is in the table of contents but not in the report" for name in document.contents
    )
    whole = builder.whole()
    expected = [name for name in _PROMISED if name != "wait_classes" or facts["kind"] == "awr"]
    missing = [_PROMISED[name] for name in expected if not whole[name]]
    if missing:
        warnings.append(f"the report has no {', '.join(missing)}")
    return Report(facts, whole, builder.others, list(dict.fromkeys(warnings)), faults)


class _Builder:
    """Sorts the tables of a report into its sections."""

    def __init__(self, numbers: Numbers, container: Scalar = None) -> None:
        self.numbers = numbers
        self.container = container
        self.sections: dict[str, object] = {}
        self.others: list[AwrTable] = []
        self.warnings: list[str] = []
        self.recognised = 0
        self._cluster: list[tuple[str, list[dict[str, Scalar]]]] = []

    def add(self, table: AwrTable) -> None:
        """Read one table, by its labels or by its headings; what is neither is kept as it is."""
        if self._labelled(table):
            self.recognised += 1
            return
        section = section_of(table)
        if section is None:
            self.others.append(table)
            return
        always = dict.fromkeys(_ALWAYS.get(section.name, ()))
        rows = [{**always, **row} for row in records(section, table, self.numbers)]
        broken = lacking(section, table, rows)
        if broken:
            shown = broken[0][:40]
            self.warnings.append(
                f"in `{table.section or section.name}` "
                f"{counted(len(broken), 'value is no number', 'values are no numbers')}: `{shown}`"
            )
        self.recognised += bool(rows)
        if section.name == "rac_events":
            self._cluster.append((table.words, rows))
        else:
            _KEEP.get(section.name, _keep_list)(self.sections, section.name, table, rows)

    def _labelled(self, table: AwrTable) -> bool:
        if not table.rows:
            return False
        if profile := labels.load_profile(table, self.numbers):
            self._first("load_profile_per_sec", profile[0])
            self._first("load_profile_per_txn", profile[1])
            return True
        for name, read in _LABELLED:
            if found := read(table, self.numbers):
                self._first(name, found)
                return True
        if sizes := labels.begin_and_end(table, self.numbers):
            self._first(*sizes)
            return True
        return False

    def _first(self, name: str, value: object) -> None:
        self.sections.setdefault(name, value)

    def cluster_events(self, known: Sequence[rac.Record]) -> None:
        """Sort the events of a cluster report: `*` is the whole, a number one instance."""
        named = [rows for words, rows in self._cluster if "top timed foreground" in words]
        foreground = [rows for _, rows in self._cluster if any(row["event"] == "DB CPU" for row in rows)]
        chosen = (named or foreground[-1:] or [rows for _, rows in self._cluster[:1]] or [[]])[0]
        by_number = {str(record["inst_num"]): record for record in known}
        whole: list[dict[str, Scalar]] = []
        at = ""
        for row in chosen:
            at = str(row.pop("inst_num") or at).strip()
            if not row.get("event"):
                continue
            events = whole if at == "*" else by_number.get(at, {}).setdefault("top_events", [])
            if isinstance(events, list):
                events.append(row)
        self._first("top_events", whole)

    def whole(self) -> dict[str, object]:
        """Return the sections, with an empty value for each that the report lacks."""
        nothing: dict[str, object] = {
            "load_profile_per_sec": None, "load_profile_per_txn": None, "instance_efficiency_pct": {},
            "buffer_hit_pct": None, "top_events": [], "host_cpu": None, "instance_cpu": None, "time_model": [],
            "wait_classes": [], "io_profile": {}, "sql_by_elapsed": None, "sql_by_cpu": None, "sql_by_gets": None,
            "sql_by_reads": None, "segments": {}, "init_parameters": {}, "instances": [],
        }  # fmt: skip
        found = {**nothing, **self.sections}
        if isinstance(kept := self.sections.get("init_parameters"), dict):
            found.update(_parameters(kept, self.container))
        ratios = found["instance_efficiency_pct"]
        found["buffer_hit_pct"] = ratios.get("Buffer Hit") if isinstance(ratios, dict) else None
        if not found["wait_classes"] and (classes := found.get("foreground_wait_classes")):
            found["wait_classes"] = classes
        return found


_LABELLED: tuple[tuple[str, Callable[[AwrTable, Numbers], Mapping[str, object] | None]], ...] = (
    ("instance_efficiency_pct", labels.efficiency),
    ("io_profile", labels.io_profile),
    ("instance_cpu", labels.instance_cpu),
)


def _keep_list(sections: dict[str, object], name: str, table: AwrTable, rows: list[dict[str, Scalar]]) -> None:
    del table
    kept = sections.setdefault(name, [])
    assert isinstance(kept, list)
    if name not in {"top_events", "time_model", "wait_classes"} or not kept:
        kept.extend(rows)


def _keep_one(sections: dict[str, object], name: str, table: AwrTable, rows: list[dict[str, Scalar]]) -> None:
    del table
    if rows:
        sections.setdefault(name, rows[0])


def _keep_sql(sections: dict[str, object], name: str, table: AwrTable, rows: list[dict[str, Scalar]]) -> None:
    del name
    _keep_list(sections, f"sql_by_{metric_of(table)}", table, rows)


def _keep_texts(sections: dict[str, object], name: str, table: AwrTable, rows: list[dict[str, Scalar]]) -> None:
    del table
    texts = sections.setdefault(name, {})
    assert isinstance(texts, dict)
    for row in rows:
        if row["sql_id"]:
            texts.setdefault(row["sql_id"], row["text"])


def _keep_segments(sections: dict[str, object], name: str, table: AwrTable, rows: list[dict[str, Scalar]]) -> None:
    segments = sections.setdefault(name, {})
    assert isinstance(segments, dict)
    share = next((i for i, key in enumerate(table.keys) if re.match(r"%|pct\b", key)), len(table.columns))
    metric = table.columns[share - 1] if share else ""
    for row in rows:
        row["value"] = row.get(snake(reduce(metric)))
    segments.setdefault(metric, []).extend(rows)


def _keep_parameters(
    sections: dict[str, object], name: str, table: AwrTable, rows: list[dict[str, Scalar]]
) -> None:
    """Keep parameters by the container they are set in, none where the report knows no containers."""
    del table
    found, changed = sections.setdefault(name, {}), sections.setdefault(f"{name}_changed", {})
    assert isinstance(found, dict)
    assert isinstance(changed, dict)
    above: Scalar = None
    for row in rows:
        parameter = above = row["name"] or above
        begin = row["begin"]
        if not parameter or not (row["name"] or begin):
            continue
        parameters = found.setdefault(row.get("pdb"), {})
        parameters[parameter] = _both(parameters.get(parameter), begin)
        if row.get("end"):
            changed[parameter] = {"begin": begin, "end": row["end"]}


def _parameters(found: Mapping[Scalar, Mapping[str, Scalar]], container: Scalar) -> dict[str, object]:
    """Return the parameters that hold in a container, and those of every container that is named.

    Args:
        found: Parameters by the container they are set in; None for what is inherited or has no container.
        container: The container a report is of, None for the root or a database without containers.
    """
    order = [container, None, _ROOT] if container else [_ROOT, None]
    others = [name for name in found if name not in order]
    return {
        "init_parameters": {
            name: value
            for place in reversed([*order, *others])
            for name, value in found.get(place, {}).items()
        },
        "init_parameters_by_container": {str(name): values for name, values in found.items() if name is not None},
    }  # fmt: skip


_ROOT = "CDB$ROOT"


def _both(known: Scalar, more: Scalar) -> Scalar:
    """Return a value that is printed whole in one table and in parts in another."""
    if not known or not more:
        return known or more
    parts, others = str(known).split(", "), str(more).split(", ")
    if set(parts) <= set(others):
        return more
    return known if set(others) <= set(parts) else f"{known}, {more}"


_EVENT = ("event", "waits", "time_s", "avg_wait_ms", "pct_db_time", "wait_class")
_ALWAYS = {
    "host_cpu": ("load_begin", "load_end", "user_pct", "sys_pct", "wio_pct", "idle_pct"),
    "sql": ("sql_id", "elapsed_s", "executions", "pct_total", "module", "text"),
    "top_events": _EVENT, "foreground_events": _EVENT, "background_events": _EVENT, "wait_events": _EVENT,
    "rac_events": _EVENT, "time_model": ("name", "time_s", "pct_db_time"),
    "wait_classes": ("wait_class", "waits", "time_s", "avg_wait_ms", "pct_db_time"),
    "foreground_wait_classes": ("wait_class", "waits", "time_s", "avg_wait_ms", "pct_db_time"),
}  # fmt: skip
"""The values each row has, null where its release does not print them."""
_KEEP = {
    "host_cpu": _keep_one, "instance_cpu": _keep_one, "sql": _keep_sql, "sql_text": _keep_texts,
    "segments": _keep_segments, "init_parameters": _keep_parameters,
}  # fmt: skip
