"""How an engine brings a backup back for a try, and what all of them share: scratch folders, checks, findings."""

from __future__ import annotations

import csv
from abc import abstractmethod
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime

from toolkit.dialects import backups
from toolkit.dialects.answers import TrialFindings
from toolkit.dialects.implementations import Implementation, Implementations, Kept, Options
from toolkit.dialects.work import Call, Work
from toolkit.errors import ToolkitError
from toolkit.model.facts import Facts, Probe, Query
from toolkit.model.records import ItemRecord, Metric
from toolkit.model.steps import ObjectRef
from toolkit.model.values import Row
from toolkit.model.words import OperationName, Outcome, ProbeKind
from toolkit.units import count, counted, parse_duration, seconds

SOURCE, RESTORED, CHECKED = "source_tables", "restored_tables", "checked"
"""Keys of what is kept: rows and checksums of the tables there and here, and the answer of the user's query."""
_TRUE = frozenset({"t", "true", "1", "yes", "y"})
_SHOWN = 3


class Restores(Implementation):
    """An engine's implementation of restores."""

    @abstractmethod
    def reads(self, options: Options, facts: Facts) -> tuple[Query, ...]:
        """Say what must be read of the database before planning."""

    @abstractmethod
    def object(self, options: Options, name: str) -> ObjectRef:
        """Name where the copy of a trial is."""

    @abstractmethod
    def label(self, work: Work) -> str:
        """Return how people call what is restored."""

    @abstractmethod
    def refuse(self, work: Work, facts: Facts) -> None:
        """Refuse what cannot be right, before anything is written.

        Raises:
            ToolkitError: TK-0102, TK-0107, TK-0204 or TK-0305.
        """

    def end(self, work: Work, facts: Facts) -> tuple[Call, ...]:
        """Say how what runs on the copy is ended, also after a failure."""
        del work, facts
        return ()


def restores_of(work: Implementations, operation: OperationName) -> Restores:
    """Return how an engine restores.

    Raises:
        ToolkitError: TK-0304 where it does not, with the sentence.
    """
    found = work.of(operation)
    if isinstance(found, Restores):
        return found
    raise work.refusal(operation)


# -- the backup and the place -------------------------------------------------------------------------------------
def backup_of(options: Options) -> str | None:
    """Return the folder of the backup, without the slash that a shell completes."""
    given = options.get("backup")
    return None if given is None else str(given).rstrip("/") or "/"


def probes(options: Options, *signs: str, in_folder: bool = True) -> tuple[Probe, ...]:
    """Ask about the folder for the copy, and about that of the backup where it is in one.

    Args:
        options: with the levels of a cell.
        signs: how the name of a file begins that such a backup has at its top.
        in_folder: whether it is in one.
    """
    path = backup_of(options) if in_folder else None
    asked = (
        Probe(f"backup:{path}", ProbeKind.FOLDER, (path,)),
        Probe(f"content:{path}", ProbeKind.CONTENT, (path,), usual=signs),
    ) if path is not None else ()  # fmt: skip
    return (*backups.folder_probes({"destination": options.get("destination") or ()}), *asked)


def content(work: Work, facts: Facts) -> Row:
    """Return what is in the folder of the backup."""
    return facts.first(f"content:{backup_of(work.options)}")


def names_in(work: Work, facts: Facts) -> frozenset[str]:
    """Return the names at the top of the backup's folder."""
    return frozenset(str(content(work, facts).get("names") or "").split("/")) - {""}


def refuse_folders(work: Work, facts: Facts) -> None:
    """Refuse a backup that is not there, and a destination that cannot take a copy.

    Raises:
        ToolkitError: TK-0102, TK-0107, TK-0204 or TK-0305, each with what to do.
    """
    path = backup_of(work.options)
    if path is None:
        raise ToolkitError("a restore needs a backup", code="TK-0107", hint="give `--backup FOLDER`")
    refuse_place(work, facts)
    found = facts.first(f"backup:{path}")
    if not path.startswith("/"):
        raise ToolkitError(
            f"`{path}` is relative to the current folder", code="TK-0102", hint="give the full path"
        )
    if found and found.get("is_folder") != "yes":
        raise ToolkitError(
            f"there is no folder `{path}` on this host",
            code="TK-0204",
            hint="give the folder of the backup",
        )
    problem = content(work, facts).get("problem")
    if problem is not None:
        raise ToolkitError(str(problem), code="TK-0305", hint="run dbatk as a user who can read the backup")
    here, there = facts.value("destination", "real_path"), found.get("real_path")
    if here and there and f"{here}/".startswith(f"{there}/"):
        raise ToolkitError(
            f"`{here}` is inside the backup: the restore would write into what it restores",
            code="TK-0305",
            hint="choose a `--destination` outside the backup",
        )


def refuse_place(work: Work, facts: Facts) -> None:
    """Refuse a destination that cannot take a copy.

    Raises:
        ToolkitError: TK-0102, TK-0107, TK-0204 or TK-0305.
    """
    if work.option("destination") is None:
        raise ToolkitError(
            "a restore needs a folder for the copy",
            code="TK-0107",
            hint="give `--destination FOLDER` on this host",
        )
    backups.refuse_folder(work, facts)


# -- what came of it ----------------------------------------------------------------------------------------------
def records(kept: Kept, key: str) -> list[list[str]]:
    """Return rows as texts: those that a program wrote as CSV, or those of a session."""
    rows = kept.get(key, ())
    if not all("line" in row for row in rows):  # of a session
        return [["" if value is None else str(value) for value in row.values()] for row in rows]
    return [row or [""] for row in csv.reader(str(row["line"] or "") for row in rows)]


def cell(kept: Kept, key: str, column: int) -> str | None:
    """Return a column of the first row, counted from 0; None where it is empty or missing."""
    rows = records(kept, key)
    return rows[0][column] or None if rows and len(rows[0]) > column else None


def refuted(work: Work, kept: Kept, point: datetime | None, now: datetime | None) -> str | None:
    """Say which check the restored data did not pass; None where all did."""
    wrong = [*_differing(work, kept), *_false(work, kept), *_too_old(work, point, now)]
    more = f" (and {len(wrong) - _SHOWN} more)" if len(wrong) > _SHOWN else ""
    return "; ".join(wrong[:_SHOWN]) + more if wrong else None


def _differing(work: Work, kept: Kept) -> Iterator[str]:
    there, here = ({row[0]: row[1:] for row in records(kept, key)} for key in (SOURCE, RESTORED))
    for name in tables_of(work):
        source, restored = there.get(name), here.get(name)
        if source is None or restored is None:
            yield f"table `{name}` could not be counted on the {'target' if source is None else 'copy'}"
        elif source[0] != restored[0]:
            have = counted(int(restored[0]), "row")
            yield f"table `{name}` has {have} on the copy and {count(int(source[0]))} on the target"
        elif source != restored:
            have = counted(int(source[0]), "row")
            yield f"table `{name}` has other values on the copy than on the target, and {have}"


def _false(work: Work, kept: Kept) -> Iterator[str]:
    answers = records(kept, CHECKED)
    if work.option("check") is not None and not answers:
        yield "the query of --check returned no row"
    for row in answers:
        if row[-1].strip().lower() not in _TRUE:
            what = ", ".join(row[:-1]) or "the query of --check"
            yield f"the check `{what[:100]}` is {row[-1] or 'NULL'}"


def _too_old(work: Work, point: datetime | None, now: datetime | None) -> Iterator[str]:
    limit = work.option("rpo")
    if limit is None or now is None:
        return
    if point is None:
        yield "the recovery point is unknown, so that --rpo cannot be confirmed"
    elif (now - point).total_seconds() > parse_duration(str(limit)):
        yield (
            f"the restored data end at {spelled(point)}, {seconds((now - point).total_seconds())} ago: "
            f"older than --rpo {limit} allows"
        )


def too_slow(work: Work, took: float) -> str | None:
    """Say that the restore took longer than it may."""
    limit = work.option("rto")
    if limit is None or took <= parse_duration(str(limit)):
        return None
    return f"the restore took {seconds(took)}: longer than --rto {limit} allows"


def tables_of(work: Work) -> tuple[str, ...]:
    """Return the tables to compare, as typed."""
    given = work.option("tables")
    return given if isinstance(given, tuple) else ()


def spelled(point: datetime) -> str:
    """Spell an instant for people."""
    return f"{point.astimezone(UTC):%Y-%m-%d %H:%M:%S} UTC"


def items(kept: Kept) -> tuple[ItemRecord, ...]:
    """Return each table that was the same, and each check that was true."""
    same = tuple(
        ItemRecord(f"table {row[0]}: the same as on the target", Outcome.OK, rows=_count(row[1]))
        for row in records(kept, RESTORED)
    )
    true = tuple(
        ItemRecord(f"check {', '.join(row[:-1])[:100] or 'of --check'}: true", Outcome.OK)
        for row in records(kept, CHECKED)
    )
    return (*same, *true)


def _count(text: str) -> int | None:
    return int(text) if text.isdigit() else None


def times(kept: Kept, phases: Mapping[str, int]) -> dict[str, float]:
    """Return the seconds of each phase, by how many steps on the clock, one after the other, belong to it."""
    rows = list(kept.get("program", ()))
    found: dict[str, float] = {}
    for name, steps in phases.items():
        mine, rows = rows[:steps], rows[steps:]
        found[name] = sum(float(str(row.get("elapsed_seconds") or 0.0)) for row in mine)
    return found


def recovery_seconds(took: Mapping[str, float]) -> float:
    """Return the recovery time: that of copy and start, without what only the try needs."""
    return took.get("copy", 0.0) + took.get("start", 0.0)


def findings(
    kept: Kept, took: Mapping[str, float], by: str, point: datetime | None, now: datetime | None, proof: str
) -> TrialFindings:
    """Tell phases, recovery time and point, and what was proved.

    Args:
        kept: what the trial kept.
        took: seconds by phase; `copy` and `start` are the recovery time.
        by: the program that restored it.
        point: until when data were restored, if that is known.
        now: when that was asked.
        proof: what compared the content of the files with their checksums; empty where nothing did.
    """
    metrics = [Metric("recovery_seconds", recovery_seconds(took), "seconds", by)]
    metrics += [Metric(f"{name}_seconds", value, "seconds", by) for name, value in took.items()]
    metrics.append(Metric("proved", 1.0 if proof else 0.0, "yes/no", proof or by))
    sentences: list[str] = []
    if point is not None and now is not None:
        age = max(0.0, (now - point).total_seconds())
        metrics.append(Metric("recovery_point_age_seconds", age, "seconds", spelled(point)))
    else:
        sentences.append("the recovery point is unknown")
    return TrialFindings(tuple(metrics), tuple(sentences), items=items(kept))
