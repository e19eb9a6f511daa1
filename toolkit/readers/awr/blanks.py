"""Cells of a copied page where blanks stand for its tabs, or where empty cells left no mark."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence

from toolkit.readers.awr.fields import SectionSpec
from toolkit.readers.awr.forms import FORMS, FieldKind, column
from toolkit.readers.awr.sections import layout_of
from toolkit.readers.awr.tables import AwrTable, Numbers

AMBIGUOUS = "\x02"
"""What makes a cell none of any kind."""
_RUN = re.compile(r"(?<=\S) {2,}(?=\S)")
_NEARLY_ALL = 0.99
_LEAST_RUNS = 20


def tabs_again(text: str) -> str:
    """Return a text with the tabs again for which as many blanks were written each.

    More blanks are empty cells; `AMBIGUOUS` stands where their number is open. Where all cells stand
    equally far apart, empty cells left no mark or there were none, and the text stays as it is.
    """
    lines = text.replace("\xa0", " ").split("\n")
    lengths = Counter(len(run) for line in lines for run in _RUN.findall(line))
    if lengths.total() < _LEAST_RUNS or len(lengths) < 2:
        return text
    usual = lengths.most_common(1)[0][0]
    tabs = {length: _tabs(length, usual) for length in lengths}
    if sum(many for length, many in lengths.items() if tabs[length]) < _NEARLY_ALL * lengths.total():
        return text
    marks = {length: "\t" * ways[0] if len(ways) == 1 else AMBIGUOUS for length, ways in tabs.items()}
    return "\n".join(_RUN.sub(lambda run: marks[len(run[0])], line.rstrip(" ")) for line in lines)


def _tabs(length: int, usual: int) -> list[int]:
    """Return for how many tabs blanks may stand, where an empty cell is nothing or one blank."""
    return [tabs for tabs in range(1, length // usual + 1) if length < tabs * usual + tabs]


# -- rows without their empty cells -----------------------------------------------------------------------------
_SPREAD = "avg_wait_of_instances_ms least_wait_of_instances_ms most_wait_of_instances_ms std_dev_of_instances_ms"
_BLANK: Mapping[str, Sequence[str]] = {
    "top_events": ("avg_wait_ms wait_class waits",),
    "wait_classes": ("avg_wait_ms waits",),
    "host_cpu": ("sockets",),
    "time_model": ("pct_db_time pct_total_cpu", "pct_db_time", "pct_total_cpu"),
    "os_stats": ("end_value",),
    "foreground_wait_classes": ("avg_wait_ms pct_timeouts waits", "avg_wait_ms pct_timeouts"),
    "foreground_events": ("pct_timeouts", "pct_db_time pct_timeouts", "std_dev_of_instances_ms", "pct_db_time"),
    "background_events": (
        "pct_timeouts", "pct_bg_time", "pct_bg_time pct_timeouts", "std_dev_of_instances_ms",
        f"avg_wait_ms {_SPREAD} pct_timeouts",
    ),
    "instance_activity": ("per_second_std_dev",),
    "global_messages": ("per_second_std_dev",),
    "io_by_function": ("avg_wait_ms",),
    "io_by_file_type": ("large_read_ms", "large_read_ms small_read_ms", "small_read_ms"),
    "io_by_function_and_file_type": ("avg_wait_ms",),
    "tablespace_io": ("pct_optimized_reads", "pdb"),
    "mttr_advice": ("total_io_factor total_ios", "total_io_factor total_ios total_write_factor total_writes"),
    "enqueues": ("avg_wait_ms",),
    "latches": (
        "pct_no_wait_misses sleeps_per_miss", "pct_no_wait_misses", "sleeps_per_miss",
        "pct_misses sleeps_per_miss",
    ),
    "dictionary_cache": ("pct_scan_misses",),
    "library_cache": ("pct_pin_misses", "pct_get_misses"),
    "init_parameters": ("end", "end pdb", "begin end", "begin end pdb"),
    "gc_load": ("per_txn",),
    "gc_remastering": ("per_operation total", "begin end"),
    "rac_events": (
        f"{_SPREAD} instances", f"{_SPREAD} instances avg_wait_ms pct_timeouts wait_class waits",
        f"{_SPREAD} avg_wait_ms pct_timeouts wait_class waits",
    ),
    "sql": (
        "module", "executions module", "executions module text", "module pct_opt", "pct_opt",
        "module pct_opt unoptimized_reqs_per_exec",
        *(
            f"{share}{also}"
            for share in ("elapsed_time_per_exec_s", "cpu_per_exec_s")
            for also in ("", " executions module pct_io", " executions module pct_io text")
        ),
        *(
            f"{rate}{also}"
            for rate in ("reads_per_exec", "uio_per_exec_s", "unoptimized_reqs_per_exec", "gets_per_exec")
            for also in ("", " module")
        ),
    ),
    "file_io": (
        "avg_read_ms avg_single_block_read_ms blocks_per_read", "avg_buffer_wait_ms", "avg_single_block_read_ms",
        "avg_read_ms avg_single_block_read_ms blocks_per_read pct_optimized_reads", "pct_optimized_reads",
        "avg_buffer_wait_ms avg_single_block_read_ms",
    ),
    "segments": ("subobject",),
    "ash_sql_by_event": ("text", "plan_hash"),
    "ash_sql_by_row_source": ("text", "plan_hash"),
    "ash_blocking_sessions": ("xids",),
}  # fmt: skip
"""The columns that are empty together in rows of real reports of 11.2 to 19c: `a b` are two of one row.

A row without marks for its empty cells is only read as one of these. Read off 25 reports with 47,000 rows.
"""
_SHARES = {"pct_db_time": "DB time", "pct_total_cpu": "total CPU time"}
"""The columns of the time model that are shares, and the row whose seconds they are of."""
_ROUNDED = 0.02
_SHAPE = re.compile(r"[-+]?[\d,]*(?P<decimals>\.\d+)?(?P<unit>\s*[a-zA-Z%µμ].*)?", re.ASCII)


class Placing:
    """Puts the cells of rows that lack their empty ones under the headings of a list, where one way fits."""

    def __init__(self, section: SectionSpec, table: AwrTable, *, marked: bool) -> None:
        """Learn from the rows of a table that have a cell under each heading how each column is printed.

        Args:
            section: What the table is.
            table: It, with rows of fewer cells among the others.
            marked: Empty cells left their mark, except for those at either end of a row.
        """
        self._marked = marked
        self._width = len(table.columns)
        self._layout = layout_of(section, table.columns)
        places = {name: place for name, place, _, _ in self._layout}
        self._needed = frozenset(place for name, place, _, _ in self._layout if name in section.needs)
        named = [frozenset(names.split()) for names in _BLANK.get(section.name, ())]
        self._blank = [frozenset(places[name] for name in names) for names in named if names <= places.keys()]
        whole = [row for row in table.rows if len(row) == self._width]
        self._shapes = [frozenset(map(_shape, filter(None, cells))) for cells in zip(*whole, strict=True)]
        self._shares = [
            (places[share], places["time_s"], next((row for row in table.rows if row[0] == name), ()))
            for share, name in _SHARES.items() if section.name == "time_model" and share in places
        ]  # fmt: skip

    def row(self, cells: Sequence[str]) -> tuple[str, ...] | None:
        """Return a row with a cell under each heading, None where there is no way or more than one."""
        lacking = self._width - len(cells)
        if lacking <= 0 or len(cells) < 2 or any(AMBIGUOUS in cell for cell in cells):
            return None
        blank = self._ends(len(cells)) if self._marked else [one for one in self._blank if len(one) == lacking]
        ways = [way for one in blank if self._fits(way := self._with(cells, one))]
        for tells in (self._has_needed, self._is_printed, self._is_share):
            if len(ways) > 1:
                ways = [way for way in ways if tells(way)]
        return ways[0] if len(ways) == 1 else None

    def _ends(self, given: int) -> Sequence[frozenset[int]]:
        """Return what may be empty around so many cells: what is behind, or before where not each row has it."""
        after, before = frozenset(range(given, self._width)), frozenset(range(self._width - given))
        return (after,) if before & self._needed else (after, before)

    def _is_share(self, row: Sequence[str]) -> bool:
        """Whether each share that a row of the time model has is that of its seconds; one of 0 tells nothing."""
        numbers, given = Numbers(), [one for one in self._shares if row[one[0]]]
        for share, seconds, base in given:
            whole = numbers.number(base[seconds]) if len(base) > seconds else None
            part, told = numbers.number(row[seconds]), numbers.number(row[share])
            if not (whole and part and told) or abs(100 * part / whole - told) > _ROUNDED:
                return False
        return bool(given)

    def _with(self, cells: Sequence[str], blank: frozenset[int]) -> tuple[str, ...]:
        given = iter(cells)
        return tuple("" if place in blank else next(given) for place in range(self._width))

    def _fits(self, row: Sequence[str]) -> bool:
        """Whether each cell is of the kind of its column."""
        for _, place, kind, unit in self._layout:
            if not row[place]:
                continue
            values, wrong = column([row[place]], kind, unit, Numbers())
            if wrong or (kind in _NUMERIC and values[0] is None):
                return False
        return True

    def _has_needed(self, row: Sequence[str]) -> bool:
        """Whether what makes a row one of its section is there, as far as its form is not that of any number."""
        return all(row[place] for _, place, kind, _ in self._layout if place in self._needed and kind in FORMS)

    def _is_printed(self, row: Sequence[str]) -> bool:
        """Whether each cell is printed as those of whole rows in its column."""
        return all(
            _shape(row[place]) in self._shapes[place]
            for _, place, kind, _ in self._layout
            if kind in _PRINTED and row[place] and self._shapes and self._shapes[place]
        )


_NUMERIC = frozenset(
    {FieldKind.NUMBER, FieldKind.COUNT, FieldKind.SHARE, FieldKind.SECONDS, FieldKind.MILLISECONDS}
)
_PRINTED = _NUMERIC | {FieldKind.ANY, FieldKind.BYTES, FieldKind.THOUSANDS}
"""What a column prints alike in all its rows."""


def _shape(cell: str) -> str:
    """Return how a cell is printed: with how many decimals, or with a unit; words as such."""
    found = _SHAPE.fullmatch(cell)
    if found is None or not any(map(str.isdigit, cell)):
        return "words"
    return "unit" if (found["unit"] or "").strip()[-1:] in {"s"} else str(len(found["decimals"] or ""))
