"""What happened between two snapshots of one database: counters subtracted, changes of settings and objects."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from toolkit.errors import ToolkitError
from toolkit.model.state import BEGUN, DATABASE, INSTANT, ColumnRole, Snapshot, SnapshotHead, StateSection
from toolkit.model.values import Scalar
from toolkit.units import counted

_BOTH, _NEW, _GONE = "both", "new", "gone"
_TELLS_SINCE = {
    "database_counts_since": "the statistics of the database were reset (pg_stat_reset)",
    "server_counts_since": "the statistics of the server were reset (pg_stat_reset_shared, or a crash)",
    "wal_counts_since": "the statistics of the write-ahead log were reset (pg_stat_reset_shared, or a crash)",
    "statements_count_since": "pg_stat_statements was reset (pg_stat_statements_reset)",
    BEGUN: "the instance was restarted",
    "host_begun": "the host was restarted",
}
WATCHED = "watched"
"""The section of what sessions were seen waiting for."""
_THROWN_OUT = "statements_thrown_out"


@dataclass(frozen=True, slots=True)
class RowDelta:
    """One row: what its counters grew by, what its gauges were and are; `fate` is both, new or gone."""

    key: tuple[Scalar, ...]
    fate: str
    counters: Mapping[str, float]
    gauges: Mapping[str, tuple[float | None, float | None]]
    words: Mapping[str, Scalar]

    @property
    def name(self) -> str:
        """Its key as one text."""
        return ".".join(str(part) for part in self.key if part is not None)


@dataclass(frozen=True, slots=True)
class SectionDelta:
    """The rows of a section that could be compared, and the units of its columns."""

    rows: tuple[RowDelta, ...]
    units: Mapping[str, str] = field(default_factory=dict)
    cut: bool = False
    counted: bool = True
    """Whether its counters count from the same begin; else only gauges and words are compared."""

    def sum(self, counter: str) -> float | None:
        """Return the sum of a counter over all rows; None where no row has it."""
        found = [row.counters[counter] for row in self.rows if counter in row.counters]
        return sum(found) if found else None


@dataclass(frozen=True, slots=True)
class Changed:
    """A word that is another one now (a setting), or a row that came or went (None: was not, is not there)."""

    section: str
    name: str
    before: Scalar
    after: Scalar


@dataclass(frozen=True, slots=True)
class SnapshotDiff:
    """What happened between two snapshots.

    Attributes:
        before: the earlier one.
        after: the later one.
        seconds: between them, by the server's own clock.
        sections: by name.
        changed: settings and definitions that are other ones, objects that came and went.
        sentences: what a reader must know of the comparison itself.
        whole: whether nothing had to be left out.
        watched_seconds: how long sessions were watched just before each of the two was read; None where not.
    """

    before: SnapshotHead
    after: SnapshotHead
    seconds: float
    sections: Mapping[str, SectionDelta]
    changed: tuple[Changed, ...] = ()
    sentences: tuple[str, ...] = ()
    whole: bool = True
    watched_seconds: tuple[float | None, float | None] = (None, None)

    @property
    def active_seconds(self) -> float | None:
        """The time that sessions of users were active between the two; None where the server does not count it."""
        for section, name, column in (
            ("time_model", "DB time", "total_seconds"), (self.after.provider, "active_seconds", "total"),
        ):  # fmt: skip
            rows = self.sections[section].rows if section in self.sections else ()
            for row in rows:
                if row.name == name and row.counters.get(column):
                    return row.counters[column]
        return None


def between(a: Snapshot, b: Snapshot) -> SnapshotDiff:
    """Subtract the earlier of two snapshots from the later one.

    Raises:
        ToolkitError: TK-0110 for the same snapshot twice, for another database, for another provider.
    """
    _refuse(a, b)
    swapped = _instant(a) > _instant(b)
    before, after = (b, a) if swapped else (a, b)
    sentences = (
        [f"`{before.head.label}` was taken before `{after.head.label}`: the two were swapped"] if swapped else []
    )
    moved = tuple(_moved(before, after))
    sentences += [_TELLS_SINCE.get(name, f"`{name}` changed") + " between the two" for name in moved]
    sections: dict[str, SectionDelta] = {}
    changed: list[Changed] = []
    for name, late in after.state.sections.items():
        early = before.state.sections.get(name)
        if early is None and name == WATCHED:
            early = replace(late, rows=())  # what is watched needs no earlier state: it is no counter
        if early is None:
            sentences.append(f"`{name}` exists only in `{after.head.label}` and is omitted")
            continue
        kept = not set(late.since) & set(moved)
        sections[name], reset = _delta(early, late, counted=kept)
        changed += _changed(name, early, late)
        if not kept and late.places(ColumnRole.COUNTER):
            sentences.append(f"`{name}`: its counters were reset and are left out")
        elif reset:
            sentences.append(f"`{name}`: left out, because reset or evicted in between: {counted(reset, 'row')}")
    sentences += _cluster_sentences(before, after)
    sentences += _own_snapshots(before, after)
    lost = _thrown_out(before, after)
    return SnapshotDiff(
        before.head,
        after.head,
        max(0.0, _instant(after) - _instant(before)),
        sections,
        tuple(changed),
        tuple(dict.fromkeys([*sentences, *lost, *before.state.warnings, *after.state.warnings])),
        whole=not moved,
        watched_seconds=(_watched_seconds(before), _watched_seconds(after)),
    )


def _watched_seconds(snapshot: Snapshot) -> float | None:
    said = snapshot.state.identity.get("watched_seconds")
    return float(said) if isinstance(said, int | float) and said > 0 else None


def _refuse(a: Snapshot, b: Snapshot) -> None:
    if a.head.number == b.head.number:
        raise ToolkitError(
            f"`{a.head.label}` is the same snapshot twice",
            code="TK-0110",
            hint="take another one after the change: `dbatk snapshot take LABEL`",
        )
    known = a.state.identity.get(DATABASE), b.state.identity.get(DATABASE)
    if known[0] != known[1]:
        raise ToolkitError(
            f"`{a.head.label}` belongs to another database than `{b.head.label}`: {known[0]} and {known[1]}",
            code="TK-0110",
            hint="see `dbatk snapshot list`; compare intervals of two databases as A1..A2 and B1..B2",
        )
    if a.state.provider != b.state.provider:
        raise ToolkitError(
            f"`{a.head.label}` was read by {a.state.provider}, `{b.head.label}` by {b.state.provider}: they count "
            "differently and are not compared",
            code="TK-0110",
            hint="take both with the same `--provider`",
        )


def _instant(snapshot: Snapshot) -> float:
    """Return the time by the server's own clock, or by this host's if the server gives none."""
    instant = snapshot.state.identity.get(INSTANT)
    return float(instant) if isinstance(instant, int | float) else snapshot.head.taken_at.timestamp()


def _moved(before: Snapshot, after: Snapshot) -> Iterator[str]:
    """Yield what tells since when is counted, and is another one now."""
    for name, late in after.state.identity.items():
        if name == BEGUN or name.endswith(("_since", "_begun")):
            early = before.state.identity.get(name)
            if name in before.state.identity and early != late:
                yield name


def _cluster_sentences(before: Snapshot, after: Snapshot) -> list[str]:
    sentences = []
    one, other = (each.state.identity.get("instance") for each in (before, after))
    if one != other:
        sentences.append(f"instance {one} was read before and {other} after: their counters cannot be compared")
    elif str(after.state.identity.get("is_cluster")) == "YES":
        sentences.append(f"this is a cluster: only the counters of instance {other} are included")
    return sentences


def _own_snapshots(before: Snapshot, after: Snapshot) -> list[str]:
    """Name the database's own snapshots of the two, where it took some."""
    numbers = [each.state.identity.get("snapshot") for each in (before, after)]
    if None in numbers:
        return []
    what = f"{after.state.provider} snapshots {numbers[0]} to {numbers[1]} were taken at the same two instants"
    more = f": `dbatk awr fetch {numbers[0]}-{numbers[1]} -t T --out F.html` gets Oracle's own report"
    return [what + (more if after.state.provider == "awr" else "")]


def _thrown_out(before: Snapshot, after: Snapshot) -> list[str]:
    early, late = (each.state.identity.get(_THROWN_OUT) for each in (before, after))
    if isinstance(early, int | float) and isinstance(late, int | float) and late > early:
        return [
            f"pg_stat_statements evicted statements {counted(late - early, 'time')} for lack of room "
            "(pg_stat_statements.max): their sums are too small"
        ]
    return []


# -- rows -------------------------------------------------------------------------------------------------------
def _delta(early: StateSection, late: StateSection, *, counted: bool) -> tuple[SectionDelta, int]:
    """Subtract row from row; a row whose counter went down, or that may be an old one, is left out."""
    names = [column.name for column in late.columns]
    old = early.by_key()
    rows, reset = [], 0
    for key, row in late.by_key().items():
        then = old.get(key)
        if then is None and early.cut:
            continue
        found = _row(late, names, key, then, row, counted=counted, old_names=[each.name for each in early.columns])
        if found is None:
            reset += 1
        else:
            rows.append(found)
    new = late.by_key()
    if not late.cut:
        rows += [_gone(early, key, row) for key, row in old.items() if key not in new]
    units = {column.name: column.unit for column in late.columns if column.unit}
    return SectionDelta(tuple(rows), units, late.cut or early.cut, counted), reset


def _row(
    section: StateSection, names: Sequence[str], key: tuple[Scalar, ...], then: tuple[Scalar, ...] | None,
    now: tuple[Scalar, ...], *, counted: bool, old_names: Sequence[str],
) -> RowDelta | None:  # fmt: skip
    before = dict(zip(old_names, then, strict=True)) if then is not None else {}
    after = dict(zip(names, now, strict=True))
    counters: dict[str, float] = {}
    for place in section.places(ColumnRole.COUNTER) if counted else ():
        late, early = after[names[place]], before.get(names[place], 0.0 if then is None else None)
        if isinstance(late, int | float) and isinstance(early, int | float):
            if late < early:
                return None
            counters[names[place]] = float(late - early)
    gauges = {
        names[place]: (_number(before.get(names[place])), _number(after[names[place]]))
        for place in section.places(ColumnRole.GAUGE)
        if after[names[place]] is not None or before.get(names[place]) is not None
    }
    words = {names[place]: now[place] for place in section.places(ColumnRole.WORD)}
    return RowDelta(key, _NEW if then is None else _BOTH, counters, gauges, words)


def _gone(section: StateSection, key: tuple[Scalar, ...], row: tuple[Scalar, ...]) -> RowDelta:
    names = [column.name for column in section.columns]
    gauges = {names[place]: (_number(row[place]), None) for place in section.places(ColumnRole.GAUGE)}
    return RowDelta(
        key, _GONE, {}, gauges, {names[place]: row[place] for place in section.places(ColumnRole.WORD)}
    )


def _number(value: Scalar) -> float | None:
    return float(value) if isinstance(value, int | float) else None


_OBJECTS = frozenset({"tables", "indexes"})
_QUIET_WORDS = frozenset({"statement_text", "unit", "wait_class"})


def _changed(name: str, early: StateSection, late: StateSection) -> Iterator[Changed]:
    """Yield settings and definitions that are others now, and objects that came or went."""
    before, after = early.by_key(), late.by_key()
    places = [place for place in late.places(ColumnRole.WORD) if late.columns[place].name not in _QUIET_WORDS]
    for key, row in after.items():
        shown = ".".join(str(part) for part in key if part is not None)
        then = before.get(key)
        if then is None:
            if name in _OBJECTS and not early.cut:
                yield Changed(name, shown, None, "there")
            continue
        for place in places if len(then) == len(row) else ():
            if then[place] != row[place]:
                yield Changed(name, shown, then[place], row[place])
    if name in _OBJECTS and not late.cut:
        for key in before.keys() - after.keys():
            yield Changed(name, ".".join(str(part) for part in key if part is not None), "there", None)


def document(found: SnapshotDiff) -> dict[str, object]:
    """Return the document of `compare --json` for two snapshots."""
    return {
        "before": _head(found.before),
        "after": _head(found.after),
        "elapsed_seconds": found.seconds,
        "whole": found.whole,
        "warnings": list(found.sentences),
        "changed": [
            {"section": one.section, "name": one.name, "before": one.before, "after": one.after}
            for one in found.changed
        ],
        "sections": {name: _section_document(section) for name, section in found.sections.items()},
    }


def _section_document(section: SectionDelta) -> dict[str, object]:
    return {
        "counted": section.counted,
        "cut": section.cut,
        "units": dict(section.units),
        "rows": [
            {
                "key": list(row.key),
                "fate": row.fate,
                "counters": dict(row.counters),
                "gauges": {name: list(pair) for name, pair in row.gauges.items()},
                "words": dict(row.words),
            }
            for row in section.rows
            if row.fate != _BOTH or any(row.counters.values()) or any(a != b for a, b in row.gauges.values())
        ],
    }


def _head(head: SnapshotHead) -> dict[str, object]:
    return {
        "snapshot": head.number, "label": head.label, "target": head.target, "database": head.database,
        "provider": head.provider, "taken_at": head.taken_at.isoformat(), "size_bytes": head.size_bytes,
    }  # fmt: skip


head_document = _head
