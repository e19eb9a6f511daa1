"""What must hold after a night, and when all is over."""

from __future__ import annotations

import contextlib
import json
import os
import re
import sqlite3
import time
from collections.abc import Iterator
from pathlib import Path

import duckdb

from tests.chaos.plan import FILE, LINKS, MORE, ROWS, SERVER, Chain, backups, chains
from tests.chaos.runs import Night
from tests.chaos.world import World
from toolkit.model.plan import KILLED, StepState
from toolkit.store import open_store

_STATUSES = frozenset({0, 1, 3, 5, 6, 130, -9})
_LATEST_SECONDS = 20.0 if "PYTEST_XDIST_WORKER" in os.environ else 5.0
"""How late a night may end. Beside other tests it waits for processors, too: alone (`make chaos`) it is judged."""
_GONE_SECONDS = 10.0
_FAULTS_OF_OURS = re.compile(r"Traceback|internal error of dbatk|something unexpected|unexpected error: TK-0901")
_UNDECIDED = ": the load was interrupted"


def after_a_night(world: World, night: Night) -> Iterator[str]:
    """Yield what is wrong with how a night ended."""
    text = "\n".join([*night.lines, night.out])
    assert night.status != 2, f"the plan was not understood: {text}"
    if night.status not in _STATUSES:
        yield f"it ended with status {night.status}"
    for found in sorted(set(_FAULTS_OF_OURS.findall(text))):
        line = next(each for each in text.splitlines() if found in each)
        yield f"`{found}`: {line[:600]}"
    for step, (state, reason) in night.steps.items():
        if state in ("waiting", "running"):
            yield f"step {step} is still {state}"
        if state in ("failed", "stopped", "skipped") and not reason:
            yield f"step {step} {state} without a reason"
    if night.status in (1, 3, 5, 6) and not night.steps and '"hint"' not in text:
        yield f"it exited {night.status} and gave neither steps nor an error with a hint"
    if night.late_seconds is not None and night.late_seconds > _LATEST_SECONDS:
        yield f"it ended {night.late_seconds:.1f} s after its window had closed"
    for status, said in night.twins:
        if status not in _STATUSES:
            yield f"its twin ended with status {status}: {said[-600:]}"
        for found in sorted(set(_FAULTS_OF_OURS.findall(said))):
            yield f"its twin said `{found}`: {said[-1500:]}"
    yield from _loads_are_not_doubled(world)


def _loads_are_not_doubled(world: World) -> Iterator[str]:
    for chain, rows in rows_of_all(world).items():
        if rows not in (None, ROWS, ROWS + MORE):
            yield f"{chain.table} of {chain.target} has {rows:,} rows"


def rows_of_all(world: World) -> dict[Chain, int | None]:
    """Count the rows of each chain's table; None where it is not there."""
    server = [chain for chain in chains() if chain.target == SERVER]
    file = [chain for chain in chains() if chain.target == FILE]
    rows: dict[Chain, int | None] = dict.fromkeys(chains())
    with world.server.connect() as session:
        found = session.execute(
            "SELECT relname FROM pg_class WHERE relnamespace = to_regnamespace(%s)", [world.schema]
        )
        names = {name for (name,) in found}
        for chain in server:
            if chain.table in names:
                rows[chain] = _one(
                    session.execute(f"SELECT count(*) FROM {world.schema}.{chain.table}").fetchone()
                )
    with duckdb.connect(str(world.duckdb)) as session:
        names = {name for (name,) in session.execute("SELECT table_name FROM duckdb_tables()").fetchall()}
        for chain in file:
            if chain.table in names:
                rows[chain] = _one(session.execute(f"SELECT count(*) FROM {chain.table}").fetchone())
    return rows


def _one(found: tuple[object, ...] | None) -> int:
    assert found is not None
    return int(str(found[0]))


def unsettled(night: Night) -> list[str]:
    """Return the steps that are neither done nor waiting for a person's word, with their reasons."""
    said: list[str] = []
    for step, (state, reason) in night.steps.items():
        done = state == "done" or (state == "skipped" and reason.startswith("it was done"))
        if not done and not (_UNDECIDED in reason or _waits_for_a_load(step, night)):
            said.append(f"{step}: {state} ({reason})")
    return said if night.steps else ["the night gave no answer"]


def _waits_for_a_load(step: str, night: Night) -> bool:
    """Whether a step comes after a load in doubt in its chain."""
    target, link, number = step.split("-")
    load = night.steps.get(f"{target}-load-{number}", ("", ""))[1]
    return _UNDECIDED in load and link in LINKS and LINKS.index(link) > LINKS.index("load")


def decide(world: World, night: Night) -> list[str]:
    """Be the person whom a load of unknown end asks: count the rows, and begin anew what is missing.

    Where the rows are there, the plan is told nothing more: the step stays named with its reason.
    """
    decided: list[str] = []
    for chain in chains():
        step = chain.step("load")
        state, reason = night.steps.get(step, ("", ""))
        if state != "failed" or _UNDECIDED not in reason:
            continue
        run = next(each["run"] for each in json.loads(night.out)["steps"] if each["step"] == step)
        if rows_of_all(world)[chain] == ROWS:
            gone = world.dbatk("runs", "delete", run, "--yes")
            assert gone.returncode == 0, gone.stderr
            decided.append(f"{step}: rows missing, run {run} deleted")
    return decided


def _backups_are_there_once(world: World) -> Iterator[str]:
    with open_store(world.store) as store:
        nights = store.plan_runs(world.plan, limit=1000)
    for step in backups():
        made = sorted(each.name for each in (world.backups / step).iterdir())
        if len(made) != (1 if _is_done(nights, step) else 0):
            yield f"{step} is {'done' if _is_done(nights, step) else 'not done'} and has {made}"


def at_the_end(world: World, argv: set[str]) -> Iterator[str]:
    """Yield what is wrong when every step is done."""
    yield from _every_step_was_done_once(world)
    yield from _every_death_was_told_once(world)
    yield from _backups_are_there_once(world)
    yield from _only_the_users_objects_are_there(world)
    yield from _nobody_is_at_work(world)
    yield from _store_is_intact(world)
    yield from _no_file_is_left(world)
    yield from _no_secret(world, argv)


def _every_step_was_done_once(world: World) -> Iterator[str]:
    with open_store(world.store) as store:
        nights = store.plan_runs(world.plan, limit=1000)
    for step in [*(chain.step(link) for chain in chains() for link in LINKS), *backups()]:
        records = [each for night in nights for each in night.steps if each.step == step]
        done = [each for each in records if each.state is StepState.DONE]
        last = records[0]
        excused = last.state in (StepState.FAILED, StepState.STOPPED) and bool(last.reason)
        if len(done) > 1 or (not done and not excused):
            yield f"step {step} was done {len(done)} times, and at last {last.state} ({last.reason})"
    for chain, rows in rows_of_all(world).items():
        if _is_done(nights, chain.step("load")) and rows != ROWS + MORE:
            yield f"{chain.step('load')} is done, but its table has {rows} rows"


def _every_death_was_told_once(world: World) -> Iterator[str]:
    """Yield which plan runs died and were not told by one later night: neither unnoticed, nor again and again."""
    said = [file.read_text() for file in world.logs.glob("*.log")]
    with open_store(world.store) as store:
        died = [night for night in store.plan_runs(world.plan, limit=1000) if KILLED in (night.stopped_by or "")]
    for night in died:
        times = sum(f"run {night.plan_run} of plan {world.plan} died" in text for text in said)
        if times != 1:
            yield f"the death of {night.plan_run} was told by {times} nights"


def _is_done(nights: list, step: str) -> bool:  # type: ignore[type-arg]
    return any(each.state is StepState.DONE for night in nights for each in night.steps if each.step == step)


def _only_the_users_objects_are_there(world: World) -> Iterator[str]:
    tables = {"source", "more"} | {chain.table for chain in chains()}
    indexes = {f"{chain.table}_ix" for chain in chains()}
    with world.server.connect() as session:
        found = session.execute(
            "SELECT relname, relkind, coalesce(indisvalid, true) FROM pg_class c"
            " JOIN pg_namespace n ON n.oid = relnamespace LEFT JOIN pg_index i ON i.indexrelid = c.oid"
            " WHERE nspname = %s AND relkind IN ('r', 'i', 'v', 'm', 'S')",
            [world.schema],
        ).fetchall()
        others = session.execute("SELECT relname FROM pg_class WHERE relname ILIKE 'dbatk%'").fetchall()
    for name, kind, valid in found:
        if name not in (tables if kind == "r" else indexes) or not valid:
            yield f"postgresql has `{name}` ({kind}), valid: {valid}"
    yield from (f"postgresql has `{name}`" for (name,) in others)
    with duckdb.connect(str(world.duckdb)) as session:
        names = session.execute("SELECT table_name FROM duckdb_tables()").fetchall()
        built = session.execute("SELECT index_name FROM duckdb_indexes()").fetchall()
    yield from (f"duckdb has `{name}`" for (name,) in names if name not in tables)
    yield from (f"duckdb has `{name}`" for (name,) in built if name not in indexes)


def _nobody_is_at_work(world: World) -> Iterator[str]:
    """Yield which sessions are still there; a server needs a moment to see that a client is gone."""
    until = time.monotonic() + _GONE_SECONDS
    with world.server.connect() as session:
        while True:
            found = session.execute(
                "SELECT application_name, state, query FROM pg_stat_activity"
                " WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()"
            ).fetchall()
            if not found or time.monotonic() > until:
                break
            session.execute("SELECT pg_sleep(0.1)")
    yield from (f"a session is there: {row}" for row in found)


def _store_is_intact(world: World) -> Iterator[str]:
    with sqlite3.connect(world.store) as looked:
        for check in ("integrity_check", "foreign_key_check"):
            answer = looked.execute(f"PRAGMA {check}").fetchall()
            if answer not in ([], [("ok",)]):
                yield f"{check}: {answer[:5]}"
        leases = looked.execute("SELECT target, run, pid FROM lease").fetchall()
    looked.close()
    yield from (f"a lease is left: {lease}" for lease in leases)
    with open_store(world.store) as store:
        for entry in store.open_entries_all():
            yield f"the journal of {entry.run} is open: {entry.state} {entry.effect} {entry.name}"
        for night in store.plan_runs(limit=1000):
            if night.ended_at is None:
                yield f"night {night.plan_run} has no end"
            for step in night.steps:
                if step.state in (StepState.WAITING, StepState.RUNNING):
                    yield f"{step.step} of {night.plan_run} is {step.state}"
            for head in store.children_of(night.plan_run):
                if head.ended_at is None:
                    yield f"run {head.run} of {head.experiment.name} has no end ({head.state})"


def _no_file_is_left(world: World) -> Iterator[str]:
    undo, audit = world.store.parent / "undo", world.store.parent / "store.sqlite.audit.jsonl"
    known = {world.store, world.duckdb, undo, audit}
    for folder in (world.store_disk.folder, world.file_disk.folder, world.temporary, undo):
        for file in sorted(folder.iterdir()) if folder.exists() else ():
            if file not in known and file.name not in ("store.sqlite-wal", "store.sqlite-shm"):
                yield f"`{file}` is left"


def _no_secret(world: World, argv: set[str]) -> Iterator[str]:
    secret = world.secret
    yield from (f"the password was an argument: {word}" for word in argv if secret in word)
    page = world.folder / "report.html"
    said = [
        world.dbatk("plan", "report", "last", "--out", str(page)),
        world.dbatk("plan", "report", "last", "--json"),
        world.dbatk("runs", "list"),
    ]
    for answer in said:
        if answer.returncode != 0:
            yield f"`{' '.join(answer.args[1:])}` exited {answer.returncode}: {answer.stderr[-500:]}"
        if secret in answer.stdout + answer.stderr:
            yield f"the password is in what `{' '.join(answer.args[1:])}` says"
    for file in sorted(_files(world.folder)):
        # the server removes old parts of its write-ahead log meanwhile
        with contextlib.suppress(FileNotFoundError):
            if secret.encode() in file.read_bytes():
                yield f"the password is in `{file}`"


def _files(folder: Path) -> Iterator[Path]:
    return (each for each in folder.rglob("*") if each.is_file())


TARGETS = (SERVER, FILE)
