"""What happened between two snapshots: sentences first, then the rows that changed most."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from toolkit.analysis.awr.families import COMMIT
from toolkit.analysis.snapshot_diff import WATCHED, RowDelta, SectionDelta, SnapshotDiff
from toolkit.report.html import environment
from toolkit.report.layout import bullets, text_table, wrapped
from toolkit.report.safe import clean
from toolkit.report.tables import Table, left, right, table
from toolkit.terminal import width
from toolkit.units import MISSING, byte_size, percent, quantity, seconds

_FEW, _MANY = 10, 200
_LONGEST_WORDS = 160


@dataclass(frozen=True, slots=True)
class _Shown:
    """How a section is shown: its title, by what it is ordered, which columns, which words stand beside them."""

    section: str
    title: str
    by: tuple[str, ...]
    columns: tuple[tuple[str, str], ...]
    words: str = ""


_SHOWN = (
    _Shown(
        "statements", "Statements, by time", ("elapsed_seconds",),
        (("time", "elapsed_seconds"), ("calls", "calls"), ("runs", "executions"), ("CPU", "cpu_seconds"),
         ("blocks", "gets"), ("hit", "blocks_hit"), ("read", "blocks_read"), ("disk", "disk_reads"),
         ("temp", "temp_blocks_written")),
        "statement_text",
    ),
    _Shown(
        "events", "Waits of user sessions, by time", ("user_wait_seconds", "wait_seconds"),
        (("users", "user_wait_seconds"), ("all", "wait_seconds"), ("waits", "waits")), "wait_class",
    ),
    _Shown("time_model", "Time breakdown", ("total_seconds",), (("time", "total_seconds"),)),
    _Shown(
        "tables", "Tables, by rows touched",
        ("full_scan_rows", "index_rows", "rows_inserted", "rows_updated", "rows_deleted"),
        (("full scans", "full_scans"), ("rows from full scans", "full_scan_rows"), ("index scans", "index_scans"),
         ("inserted", "rows_inserted"), ("updated", "rows_updated"), ("deleted", "rows_deleted"),
         ("read", "blocks_read")),
    ),
    _Shown("indexes", "Indexes, by use", ("index_scans", "blocks_read"),
           (("scans", "index_scans"), ("rows", "index_rows"), ("read", "blocks_read"))),
    _Shown("segments", "Segments", ("total",), (("count", "total"),)),
    _Shown("functions", "Input and output by function", ("read_bytes", "write_bytes"),
           (("read", "read_bytes"), ("written", "write_bytes"), ("waited", "wait_seconds"))),
    _Shown("disks", "Disks", ("read_bytes", "write_bytes"), (("read", "read_bytes"), ("written", "write_bytes"))),
    _Shown("statistics", "Counters of the instance", ("total",), (("count", "total"),)),
)  # fmt: skip
_KNOWN = frozenset(one.section for one in _SHOWN)
_MOVED_TITLE = "Values that rose or fell"


@dataclass(frozen=True, slots=True)
class SnapshotDiffView:
    """The page of a difference."""

    title: str
    about: str
    headline: str
    verdicts: tuple[str, ...]
    notes: tuple[str, ...]
    tables: tuple[Table, ...]


def between_view(found: SnapshotDiff, notes: Sequence[str], most: int) -> SnapshotDiffView:
    """Put a difference into sentences and tables of at most so many rows."""
    verdicts = tuple(_verdicts(found))
    spent = next((sentence for _, sentence in sorted(_spent(found), key=lambda one: -one[0])), "")
    apart = f"{seconds(found.seconds)} between the two snapshots"
    tables = [_changed_table(found, most), *(_table(shown, found, most) for shown in _SHOWN)]
    tables += [_plain_table(found, most), _moved_table(found, most)]
    return SnapshotDiffView(
        clean(f"{found.before.label} to {found.after.label}"),
        clean(f"{found.after.target}, by {found.after.provider}, snapshots #{found.before.number} and "
              f"#{found.after.number}{f', {apart}' if spent else ''}"),
        clean(spent) or apart,
        tuple(clean(sentence) for sentence in verdicts if sentence != spent),
        tuple(map(clean, notes)),
        tuple(one for one in tables if one is not None and one.rows),
    )  # fmt: skip


def between_text(found: SnapshotDiff, notes: Sequence[str]) -> str:
    """Return the difference for a terminal."""
    view = between_view(found, notes, _FEW)
    lines = [
        *wrapped(view.title),
        "=" * min(len(view.title), width()),
        *wrapped(view.about),
        *wrapped(view.headline),
    ]
    lines += bullets(view.verdicts)
    if view.notes:
        lines += ["", "CAVEATS", *bullets(view.notes)]
    for one in view.tables:
        lines += ["", one.caption.upper(), *text_table(one)]
    return "\n".join(lines) + "\n"


def between_page(found: SnapshotDiff, notes: Sequence[str]) -> str:
    """Return the difference as one self-contained page."""
    view = between_view(found, notes, _MANY)
    return environment().get_template("report/between.html.j2").render(view=view, many_rows=60, few_rows=15)


# -- sentences --------------------------------------------------------------------------------------------------
_OBJECTS = {"indexes": "index", "tables": "table"}
_TOTALS = (
    ("commits", "commits"), ("rollbacks", "rollbacks"), ("active_seconds", "of active session time"),
    ("blocks_read", "read from disk or the system's cache"), ("wal_bytes", "of write-ahead log"),
    ("temp_bytes", "of temporary files"), ("deadlocks", "deadlocks"),
)  # fmt: skip


def _verdicts(found: SnapshotDiff) -> Iterator[str]:
    counted = {row.name: (row, section) for section in found.sections.values() for row in section.rows}
    for name, words in _TOTALS:
        if name in counted and (total := counted[name][0].counters.get("total")):
            unit = str(counted[name][0].words.get("unit") or "")
            yield f"{quantity(total, unit if unit in {'bytes', 's', 'blocks'} else '')} {words}"
    model = found.sections.get("time_model")
    spent = {row.name: row.counters.get("total_seconds") for row in model.rows} if model is not None else {}
    for name in ("DB time", "DB CPU"):
        if total := spent.get(name):
            rate = f", {total / found.seconds:.2f} per second" if found.seconds else ""
            yield f"{name} {seconds(total)}{rate}"
    for _, sentence in sorted(_spent(found), key=lambda one: -one[0]):
        yield sentence
    objects = [one for one in found.changed if one.section in _OBJECTS]
    for kind, word in _OBJECTS.items():
        gone = [f"{word} {one.name}" for one in objects if one.section == kind and one.after is None]
        new = [f"{word} {one.name}" for one in objects if one.section == kind and one.before is None]
        for names, words in ((gone, "no longer there"), (new, "new")):
            if names:
                yield f"{words}: {', '.join(names[:5])}{' ...' if len(names) > 5 else ''}"
    settings = [one for one in found.changed if one.section == "settings"]
    if settings:
        shown = ", ".join(f"{one.name} {one.before} to {one.after}" for one in settings[:5])
        yield f"settings changed: {shown}{' ...' if len(settings) > 5 else ''}"


def _spent(found: SnapshotDiff) -> Iterator[tuple[float, str]]:
    """Yield on what most time was spent, by statement, by counted and by sampled waits, each with its share.

    The share is one of the active time, since statements do not take all of it: a COMMIT waits on its own.
    """
    active = found.active_seconds
    for section, by, words in (
        ("statements", "elapsed_seconds", "spent in"),
        ("events", "user_wait_seconds", "spent waiting for"),
    ):
        delta = found.sections.get(section)
        top = max(delta.rows, key=lambda row: row.counters.get(by, 0.0), default=None) if delta else None
        if delta is None or top is None or not top.counters.get(by):
            continue
        spent, whole = top.counters[by], delta.sum(by) or 1.0
        said = clean(str(top.words.get("statement_text") or top.name))[:100]
        if active is not None and spent <= active:
            yield (
                spent / active,
                f"{percent(100 * spent / active)} of the active time was {words} `{said}`: {seconds(spent)}",
            )
        else:  # nested or parallel statements count twice, or the server counts no active time
            of = "statements" if section == "statements" else "waits"
            yield (
                0.0,
                f"{percent(100 * spent / whole)} of the time of all {of} was {words} `{said}`: {seconds(spent)}",
            )
    yield from _sampled(found)


def _sampled(found: SnapshotDiff) -> Iterator[tuple[float, str]]:
    """Yield what sessions were seen waiting for most, the events of the write-ahead log as one."""
    section = found.sections.get(WATCHED)
    spans = found.watched_seconds
    sides: list[dict[str, float]] = [{}, {}]
    events: dict[str, dict[str, float]] = {}
    for row in section.rows if section is not None else ():
        log = COMMIT.match(row.name) is not None
        name = "the write-ahead log, as COMMIT does" if log else f"`{clean(row.name)}`"
        for side, value in zip(sides, row.gauges.get("seconds", (None, None)), strict=True):
            side[name] = side.get(name, 0.0) + (value or 0.0)
        if log:
            events.setdefault(name, {})[row.name] = row.gauges.get("seconds", (None, None))[1] or 0.0
    before, after = sides
    waits = {name: spent for name, spent in after.items() if name != "`on CPU`" and spent > 0}
    if spans[1] is None or not waits:
        return
    name = max(waits, key=lambda one: waits[one])
    share = waits[name] / sum(after.values())
    listed = sorted(events.get(name, {}), key=lambda one: -events[name][one])
    seen = f" ({', '.join(f'`{clean(one)}`' for one in listed)})" if listed else ""
    then = sum(before.values())
    earlier = f"; {percent(100 * before.get(name, 0.0) / then)} in the {seconds(spans[0])} before" if then else ""
    yield (
        share,
        (
            f"{percent(100 * share)} of the active time was spent waiting for {name}{seen}, as sampled in the "
            f"last {seconds(spans[1])}{earlier}"
        ),
    )


# -- tables -----------------------------------------------------------------------------------------------------
def _changed_table(found: SnapshotDiff, most: int) -> Table | None:
    rows = [
        (one.section, one.name, _word(one.before, "missing"), _word(one.after, "gone")) for one in found.changed
    ]
    return table("Changed", left("what", "name", "before", "after"), rows[:most]) if rows else None


def _word(value: object, absent: str) -> str:
    return absent if value is None else str(value)[:_LONGEST_WORDS]


def _weight(row: RowDelta, by: Sequence[str]) -> float:
    return sum(row.counters.get(name, 0.0) for name in by)


def _table(shown: _Shown, found: SnapshotDiff, most: int) -> Table | None:
    section = found.sections.get(shown.section)
    if section is None or not section.counted:
        return None
    rows = sorted(
        (row for row in section.rows if _weight(row, shown.by) > 0), key=lambda row: -_weight(row, shown.by)
    )
    used = [(title, name) for title, name in shown.columns if any(row.counters.get(name) for row in rows)]
    cells = [
        (
            _name(row),
            *(_cell(row.counters.get(name), section.units.get(name, "")) for _, name in used),
            *_words(row, shown),
        )
        for row in rows[:most]
    ]
    columns = left("name") + right(*(title for title, _ in used)) + (left("") if shown.words else [])
    title = shown.title if len(rows) <= most else f"{shown.title}: {most} of {len(rows)}"
    return table(title, columns, cells)


def _words(row: RowDelta, shown: _Shown) -> tuple[str, ...]:
    return (_word(row.words.get(shown.words), "")[:_LONGEST_WORDS],) if shown.words else ()


def _name(row: RowDelta) -> str:
    return f"{row.name} (new)" if row.fate == "new" else row.name


def _cell(value: float | None, unit: str) -> str:
    if value is None:
        return MISSING
    return quantity(value, unit if unit in {"s", "bytes"} else "")


def _plain(found: SnapshotDiff) -> Iterator[tuple[SectionDelta, RowDelta]]:
    for name, section in found.sections.items():
        if name not in _KNOWN:
            for row in section.rows:
                yield section, row


def _plain_table(found: SnapshotDiff, most: int) -> Table | None:
    rows = [
        (
            row.name,
            quantity(total, str(row.words.get("unit") or "")),
            quantity(total / found.seconds, "") if found.seconds else MISSING,
        )
        for _, row in _plain(found)
        if (total := row.counters.get("total"))
    ]
    title = "Counters" if len(rows) <= most * 3 else f"Counters: {most * 3} of {len(rows)}"
    return table(title, left("name") + right("total", "per second"), rows[: most * 3])


def _moved_table(found: SnapshotDiff, most: int) -> Table | None:
    rows = []
    for section in found.sections.values():
        for row in section.rows:
            for name, (before, after) in row.gauges.items():
                if before is not None and after is not None and before != after:
                    unit = section.units.get(name) or str(row.words.get("unit") or "")
                    spell = byte_size if unit == "bytes" else lambda value: quantity(value, "")
                    label = row.name if name == "value" else f"{row.name} {name}"
                    rows.append((abs(after - before), (label, spell(before), spell(after))))
    rows.sort(key=lambda one: -one[0])
    return table(_MOVED_TITLE, left("name") + right("before", "after"), [cells for _, cells in rows[:most]])
