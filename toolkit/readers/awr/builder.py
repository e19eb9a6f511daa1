"""The tables of a report sorted into its sections."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence

from toolkit.model.values import Scalar
from toolkit.readers.awr import labels, rac
from toolkit.readers.awr.details import DETAILS
from toolkit.readers.awr.fields import SectionSpec
from toolkit.readers.awr.impossible import has_minus
from toolkit.readers.awr.parameters import keep_parameters, parameters_in
from toolkit.readers.awr.sections import metric_of, records, section_of
from toolkit.readers.awr.tables import AwrTable, Numbers, reduce, snake

DETAIL_NAMES = frozenset(section.name for section in DETAILS)


class SectionBuilder:
    """Sorts the tables of a report into its sections."""

    def __init__(self, numbers: Numbers, container: Scalar = None) -> None:
        self.numbers = numbers
        self.container = container
        self.sections: dict[str, object] = {}
        self.others: list[AwrTable] = []
        self.warnings: list[str] = []
        self.details: dict[str, list[tuple[SectionSpec, AwrTable]]] = {}
        self.recognised = 0
        self.signed = False
        """Whether a list that is read at once has a number below zero."""
        self._cluster: list[tuple[str, list[dict[str, Scalar]]]] = []

    def add(self, table: AwrTable) -> None:
        """Read one table, by its labels or by its headings; what is neither is kept as it is."""
        section = section_of(table)
        if section is not None and section.name in DETAIL_NAMES:
            self.details.setdefault(section.name, []).append((section, table))
            self.recognised += bool(table.rows)
            return
        if self._labelled(table):
            self.recognised += 1
            return
        if section is None:
            self.others.append(table)
            return
        typed = records(section, table, self.numbers, _ALWAYS.get(section.name, ()))
        rows = typed.rows
        self.signed = self.signed or has_minus(table)
        self.warnings += typed.warnings
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
        found = [rows for _, rows in self._cluster]
        names = [match[1] if (match := _TIMED.search(words)) else "" for words, _ in self._cluster]
        lists = list(zip(names if any(names) else _unnamed(found), found, strict=True))
        named = [rows for name, rows in lists if name == "foreground"]
        foreground = [rows for rows in found if _holds(rows, "DB CPU")]
        chosen = (named or foreground[-1:] or found[:1] or [[]])[0]
        self._first("top_events", self._by_instance(chosen, known, "top_events"))
        for name, rows in lists:
            if name == "events":
                self._first("top_timed_events", self._by_instance(rows, known, "top_timed_events"))
            elif name == "background":
                shares = [{**row, "pct_db_time": None, "pct_bg_time": row["pct_db_time"]} for row in rows]
                whole = self._by_instance(shares, known, "background_events")
                self._first("top_background_events", whole)

    def _by_instance(
        self, rows: Sequence[Mapping[str, Scalar]], known: Sequence[rac.Record], name: str
    ) -> list[dict[str, Scalar]]:
        """Put the events of each instance into its record, and return those of the whole."""
        by_number = {str(record["inst_num"]): record for record in known}
        whole: list[dict[str, Scalar]] = []
        at = ""
        for row in rows:
            at = str(row["inst_num"] or at).strip()
            if not row.get("event"):
                continue
            events = whole if at == "*" else by_number.get(at, {}).setdefault(name, [])
            if isinstance(events, list):
                events.append({key: value for key, value in row.items() if key != "inst_num"})
        return whole

    def whole(self) -> dict[str, object]:
        """Return the sections, with an empty value for each that the report lacks."""
        nothing: dict[str, object] = {
            "load_profile_per_sec": None, "load_profile_per_txn": None, "instance_efficiency_pct": {},
            "buffer_hit_pct": None, "top_events": [], "host_cpu": None, "instance_cpu": None, "time_model": [],
            "wait_classes": [], "io_profile": {}, "captured_sql_pct": None, "sql_by_elapsed": None,
            "sql_by_cpu": None, "sql_by_gets": None, "sql_by_reads": None, "segments": {},
            "init_parameters": {}, "instances": [],
        }  # fmt: skip
        found = {**nothing, **self.sections}
        kept, changed = (self.sections.get(name) for name in ("init_parameters", "init_parameters_changed"))
        if isinstance(kept, dict) and isinstance(changed, dict):
            found.update(parameters_in(kept, changed, self.container))
        ratios = found["instance_efficiency_pct"]
        found["buffer_hit_pct"] = ratios.get("Buffer Hit") if isinstance(ratios, dict) else None
        if not found["wait_classes"] and (classes := found.get("foreground_wait_classes")):
            found["wait_classes"] = classes
        return found


_TIMED = re.compile(r"top timed (events|foreground|background)")
"""The list of a cluster's events, by the words above it: a heading, or its text where headings are lost."""


def _holds(rows: Sequence[Mapping[str, Scalar]], event: str) -> bool:
    return any(row["event"] == event for row in rows)


def _unnamed(lists: Sequence[Sequence[Mapping[str, Scalar]]]) -> list[str]:
    """Return what the lists of events of a cluster are where the report was saved without their headings.

    Only the background has `background cpu time` and no `DB CPU`; of two lists with `DB CPU` the first, as the
    report prints them, is of all events and the second of the foreground. What is neither has no name.
    """
    busy = [place for place, rows in enumerate(lists) if _holds(rows, "DB CPU")]
    names = [
        "background" if place not in busy and _holds(rows, "background cpu time") else ""
        for place, rows in enumerate(lists)
    ]
    if len(busy) == 2:
        names[busy[0]], names[busy[1]] = "events", "foreground"
    return names


_LABELLED: tuple[tuple[str, Callable[[AwrTable, Numbers], Mapping[str, object] | None]], ...] = (
    ("instance_efficiency_pct", labels.efficiency),
    ("io_profile", labels.io_profile),
    ("instance_cpu", labels.instance_cpu),
)


def _keep_list(sections: dict[str, object], name: str, table: AwrTable, rows: list[dict[str, Scalar]]) -> None:
    del table
    kept = sections.setdefault(name, [])
    assert isinstance(kept, list)
    if name == "instance_activity":  # the key statistics have a list of their own above that of all
        known = {row["name"] for row in kept}
        kept.extend(row for row in rows if row["name"] not in known)
    elif name not in {"top_events", "time_model", "wait_classes"} or not kept:
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
    "segments": _keep_segments, "init_parameters": keep_parameters,
}  # fmt: skip
