"""Read runs: heads for a list, whole records for analysis and reports.

A list is one query, a run a fixed number of them, however many trials there are.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from difflib import get_close_matches

from sqlalchemy import Connection, Select, Table, func, or_, select

from toolkit.errors import ToolkitError
from toolkit.model.records import Artifact, ItemRecord, Metric, RunHead, RunRecord, Sample, TrialRecord
from toolkit.model.values import Cell, Level, Scalar
from toolkit.model.words import Outcome, RunState
from toolkit.store import rows, schema
from toolkit.store.codec import experiment_from_json
from toolkit.store.database import StorePart, checked_id, unknown_run
from toolkit.store.rows import newest_first, unpack

ARTIFACT_LIMIT_BYTES = 256 * 1024
ITEM_COLUMNS = tuple(column.name for column in schema.item.c if column.name not in ("trial_id", "position"))
_PART = 500
_TEXT_TYPES = ("application/json", "application/sql", "application/toml", "application/xml")


class RunReader(StorePart):
    """Reads runs."""

    def load_run(self, run: str, *, samples: bool = True) -> RunRecord:
        """Return a run with its trials in the order run, and its artifacts of text below 256 KB.

        Args:
            run: a whole run id.
            samples: leave the samples out to read less.

        Raises:
            ToolkitError: TK-0109 when no such run is stored.
        """
        with self._database.read() as connection:
            return read_run(connection, run, samples=samples)

    def list_runs(self, limit: int | None = None) -> list[RunHead]:
        """Return the heads of the newest runs, newest first; of all runs without a limit."""
        with self._database.read() as connection:
            return [head_of(row) for row in connection.execute(newest_first(heads(), schema.run, limit))]

    def runs_with_trials(self, runs: Sequence[str], outcomes: Collection[Outcome]) -> frozenset[str]:
        """Return those of some runs that have a trial whose last attempt ended so, or has no end."""
        table, found = schema.trial, set[str]()
        newest = func.max(table.c.attempt).over(partition_by=(table.c.run, table.c.trial)).label("newest")
        with self._database.read() as connection:
            for at in range(0, len(runs), _PART):
                some = select(table.c.run, table.c.outcome, table.c.attempt, newest)
                last = some.where(table.c.run.in_(runs[at : at + _PART])).subquery()
                undone = last.c.outcome.is_(None) | last.c.outcome.in_([one.value for one in outcomes])
                query = select(last.c.run).distinct().where(last.c.attempt == last.c.newest, undone)
                found.update(connection.execute(query).scalars())
        return frozenset(found)

    def load_head(self, run: str) -> RunHead:
        """Return the head of one run.

        Raises:
            ToolkitError: TK-0109 when no such run is stored.
        """
        with self._database.read() as connection:
            return _read_head(connection, run)

    def has_run(self, run: str) -> bool:
        """Tell whether a run of this id is stored."""
        with self._database.read() as connection:
            return connection.execute(select(schema.run.c.run).where(schema.run.c.run == run)).first() is not None

    def children_of(self, run: str, target: str | None = None) -> list[RunHead]:
        """Return the heads of the runs that a plan's run consists of, on one target or all, oldest first."""
        query = heads().where(schema.run.c.parent_run == run)
        if target is not None:
            query = query.where(schema.run.c.target == target)
        with self._database.read() as connection:
            return [head_of(row) for row in connection.execute(query.order_by(schema.run.c.began_at))]

    def previous_run(self, run: str) -> str | None:
        """Return the newest run that began on the same target before this one, or None.

        Raises:
            ToolkitError: TK-0109 when no such run is stored.
        """
        table = schema.run
        with self._database.read() as connection:
            head = _read_head(connection, run)
            query = select(table.c.run).where(
                table.c.target == head.experiment.target, table.c.target_name == head.target_name,
                table.c.began_at < head.began_at, table.c.run != run,
            )  # fmt: skip
            return connection.execute(query.order_by(table.c.began_at.desc()).limit(1)).scalar()


def read_run(connection: Connection, run: str, *, samples: bool = True) -> RunRecord:
    """Return a run within a transaction.

    Raises:
        ToolkitError: TK-0109 when no such run is stored.
    """
    return RunRecord(
        head=_read_head(connection, run),
        trials=_Trials(connection, run, samples=samples).records(),
        environment=_environment(connection, run),
        warnings=_warnings(connection, run),
        artifacts=_artifacts(connection, run),
    )


def heads() -> Select[*tuple[object, ...]]:
    """Select heads with the number of trials that ended; an interrupted trial is still to be done."""
    ended = (
        select(func.count(schema.trial.c.trial.distinct()))
        .where(schema.trial.c.run == schema.run.c.run)
        .where(schema.trial.c.outcome != Outcome.INTERRUPTED.value)
        .scalar_subquery()
    )
    return select(schema.run, ended.label("trials_ended"))


def _read_head(connection: Connection, run: str) -> RunHead:
    row = connection.execute(heads().where(schema.run.c.run == run)).first()
    if row is None:
        raise unknown_run(run)
    return head_of(row)


def head_of(row: rows.AnyRow) -> RunHead:
    values = row._mapping
    return RunHead(
        run=checked_id(values["run"]),
        experiment=experiment_from_json(values["experiment"]),
        engine=values["engine"],
        state=RunState(values["state"]),
        began_at=values["began_at"],
        ended_at=values["ended_at"],
        operation_version=values["operation_version"],
        tool_version=values["tool_version"],
        parent=values["parent_run"],
        trials_planned=values["trials_planned"],
        trials_ended=values["trials_ended"],
        target_name=values["target_name"],
    )


class _Trials:
    """All trials of a run: one query for each table, sorted to their trials here."""

    def __init__(self, connection: Connection, run: str, *, samples: bool) -> None:
        self._connection, self._run = connection, run
        self._levels: dict[int, list[tuple[str, Level]]] = defaultdict(list)
        self._items: dict[int, list[ItemRecord]] = defaultdict(list)
        self._phases: dict[int, dict[str, float]] = defaultdict(dict)
        self._metrics: dict[int, list[Metric]] = defaultdict(list)
        self._samples: dict[int, list[Sample]] = defaultdict(list)
        self._read_parts()
        if samples:
            for trial_id, at, name, value in self._of(schema.sample, "at_seconds", "name", "value"):
                self._samples[trial_id].append(Sample(at, name, value))

    def records(self) -> tuple[TrialRecord, ...]:
        """Return the trials that ended, in the order they began."""
        table = schema.trial
        ended = select(table).where(table.c.run == self._run, table.c.outcome.is_not(None))
        return tuple(self._record(row) for row in self._connection.execute(ended.order_by(table.c.trial_id)))

    def _read_parts(self) -> None:
        for trial_id, factor, level, kind in self._of(schema.trial_factor, "factor", "level", "level_type"):
            self._levels[trial_id].append((factor, rows.level_of(level, kind)))
        for row in self._of(schema.item, *ITEM_COLUMNS):
            self._items[row[0]].append(rows.item_of(row))
        for trial_id, name, seconds in self._of(schema.phase, "phase", "elapsed_seconds"):
            self._phases[trial_id][name] = seconds
        for trial_id, *values in self._of(schema.metric, "name", "value", "unit", "source"):
            self._metrics[trial_id].append(Metric(*values))

    def _of(self, table: Table, *names: str) -> list[rows.AnyRow]:
        columns = [table.c.trial_id, *(table.c[name] for name in names)]
        query = (
            select(*columns)
            .join_from(schema.trial, table, table.c.trial_id == schema.trial.c.trial_id)
            .where(schema.trial.c.run == self._run)
            .order_by(table.c.trial_id, table.c.position)
        )
        return list(self._connection.execute(query))

    def _record(self, row: rows.AnyRow) -> TrialRecord:
        values = row._mapping
        trial_id = values["trial_id"]
        return TrialRecord(
            trial=values["trial"],
            attempt=values["attempt"],
            cell=Cell(tuple(self._levels.get(trial_id, ()))),
            repeat=values["repeat"],
            outcome=Outcome(values["outcome"]),
            began_at=values["began_at"],
            ended_at=values["ended_at"],
            reason=values["reason"],
            error_code=values["error_code"],
            elapsed_seconds=values["elapsed_seconds"],
            requested_degree=values["requested_degree"],
            granted_degree=values["granted_degree"],
            granted_source=values["granted_source"],
            effective_parallelism=values["effective_parallelism"],
            rows=values["row_count"],
            bytes=values["size_bytes"],
            disturbed=values["disturbed"],
            phases=self._phases.get(trial_id, {}),
            items=tuple(self._items.get(trial_id, ())),
            metrics=tuple(self._metrics.get(trial_id, ())),
            samples=tuple(self._samples.get(trial_id, ())),
        )


def _environment(connection: Connection, run: str) -> Mapping[str, Scalar]:
    table = schema.environment
    query = select(table.c.name, table.c.value, table.c.value_type).where(table.c.run == run)
    found = connection.execute(query.order_by(table.c.position))
    return {name: unpack(value, kind) for name, value, kind in found}


def _warnings(connection: Connection, run: str) -> tuple[str, ...]:
    table = schema.warning
    query = select(table.c.text).where(table.c.run == run).order_by(table.c.position)
    return tuple(connection.execute(query).scalars())


def _artifacts(connection: Connection, run: str) -> tuple[Artifact, ...]:
    table = schema.artifact
    text = or_(table.c.media_type.startswith("text/"), table.c.media_type.in_(_TEXT_TYPES))
    query = select(table).where(table.c.run == run, table.c.size_bytes < ARTIFACT_LIMIT_BYTES, text)
    return tuple(
        Artifact(row.name, row.media_type, bytes(row.content), row.trial or None)
        for row in connection.execute(query.order_by(table.c.trial, table.c.name))
    )


# -- by name ------------------------------------------------------------------------------------------------------
_LOOKED_AT = 500
_SAME_RUN = 0.9
_AFTER_ANY = "\x7f"
"""Sorts behind every character of a run id."""


class Names(StorePart):
    """Finds runs by name."""

    def resolve(self, ref: str) -> str:
        """Return the id of the run that a user means.

        Args:
            ref: a run id, a label (the newest run of it), a unique beginning of an id, `last`, or `last:ctas`
                (the newest run of an operation); after a label or `last`, `~1` means the one before.

        Raises:
            ToolkitError: TK-0109 when there is none, or more than one of that beginning.
        """
        with self._database.read() as connection:
            found = _exact(connection, ref) or _newest(connection, ref) or _beginning(connection, ref)
            if found is None:
                raise _unknown(connection, ref)
        return found

    def of_one_name(self, ref: str) -> tuple[RunHead, ...]:
        """Return the runs of a label, newest first; none for any other name of a run."""
        table = schema.run
        with self._database.read() as connection:
            query = newest_first(heads(), table, None, table.c.label == ref)
            return tuple(head_of(row) for row in connection.execute(query))


_BEFORE = re.compile(r"(?P<name>.+)~(?P<back>\d{1,6})")
_LAST, _LAST_OF = "last", "last:"
_TURNED = re.compile(r"last(?P<back>~\d{1,6})(?P<of>:.+)")


def _exact(connection: Connection, ref: str) -> str | None:
    table = schema.run
    found: str | None = connection.execute(select(table.c.run).where(table.c.run == ref)).scalar()
    return found


def _newest(connection: Connection, ref: str) -> str | None:
    """Return the newest run of a label, an operation or all, or one before it; a label may hold a `~` itself."""
    counted = _BEFORE.fullmatch(ref)
    for name, back in ((ref, 0), *(((counted["name"], int(counted["back"])),) if counted else ())):
        found = (
            _of_any_name(connection, back)
            if name == _LAST
            else list(connection.execute(_of_name(name, back + 1)).scalars())
        )
        if len(found) > back:
            return str(found[back])
    return None


def _of_any_name(connection: Connection, back: int) -> list[str]:
    """Return the newest runs, as many as are needed; a job of a mix is not what was asked for."""
    run, parent = schema.run.c.run, schema.run.c.parent_run
    limit = back + 1
    while True:
        rows = [
            (one[0], one[1]) for one in connection.execute(newest_first(select(run, parent), schema.run, limit))
        ]
        above = {of for _, of in rows if of is not None}
        mixes = set(connection.execute(select(run).where(run.in_(above))).scalars()) if above else set()
        found = [one for one, of in rows if of not in mixes]
        if len(found) > back or len(rows) < limit:
            return found
        limit *= 8


def _of_name(name: str, limit: int) -> Select[tuple[str]]:
    table = schema.run
    own = table.c.label == name
    if name.startswith(_LAST_OF):
        own = or_(own, table.c.operation == name.removeprefix(_LAST_OF))
    return newest_first(select(table.c.run), table, limit, own)


def _beginning(connection: Connection, ref: str) -> str | None:
    if not ref:
        return None
    table = schema.run
    query = select(table.c.run).where(table.c.run >= ref, table.c.run < ref + _AFTER_ANY)
    found = connection.execute(query.order_by(table.c.run.desc()).limit(6)).scalars().all()
    if len(found) > 1:
        more = " ..." if len(found) > 5 else ""
        raise ToolkitError(
            f"several runs begin with `{ref}`",
            code="TK-0109",
            hint="give more characters: " + ", ".join(f"`{run}`" for run in found[:5]) + more,
        )
    return found[0] if found else None


def _too_few(runs: int, which: str) -> ToolkitError:
    what = "only one run is" if runs == 1 else f"only {runs} runs are"
    return ToolkitError(f"{what}{which}", code="TK-0109", hint="see `dbatk runs list`")


def _unknown(connection: Connection, ref: str) -> ToolkitError:
    table = schema.run
    counted = _BEFORE.fullmatch(ref)
    name = counted["name"] if counted else ref
    if counted and (stored := len(connection.execute(_of_name(name, _LOOKED_AT)).all())):
        return _too_few(stored, f" named `{name}`")
    if counted and name == _LAST and (stored := len(_of_any_name(connection, _LOOKED_AT))):
        return _too_few(stored, " stored")
    if name == _LAST:
        return ToolkitError("no run is stored yet", code="TK-0109", hint="`dbatk demo` creates some")
    if name.startswith(_LAST_OF):
        known = sorted(connection.execute(select(table.c.operation).distinct()).scalars())
        return ToolkitError(
            f"no run of `{name.removeprefix(_LAST_OF)}` is stored",
            code="TK-0109",
            hint="there are runs of " + ", ".join(f"`{one}`" for one in known) if known else None,
        )
    query = select(table.c.run, table.c.label).order_by(table.c.began_at.desc()).limit(_LOOKED_AT)
    found = connection.execute(query).all()
    labels = dict.fromkeys(row.label for row in found if row.label)
    # Runs of one day differ in a few characters only: another one is meant only where next to nothing differs.
    near = get_close_matches(ref, [row.run for row in found], n=1, cutoff=_SAME_RUN)
    near = near or get_close_matches(ref, labels, n=3, cutoff=0.5)
    turned = _TURNED.fullmatch(ref)
    if turned:
        hint = f"did you mean `last{turned['of']}{turned['back']}`?"
        return ToolkitError(f"no run is named `{ref}`", code="TK-0109", hint=hint)
    hint = (
        "did you mean " + " or ".join(f"`{word}`" for word in near) + "?"
        if near
        else "`dbatk runs list` lists them"
    )
    return ToolkitError(f"no run is named `{ref}`", code="TK-0109", hint=hint)
