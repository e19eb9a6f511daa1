"""Kills `dbatk purge` at random moments and resumes it, also killed: every row is worked on once, or not at all.

    python -m tests.series.purge --engine duckdb --times 50 --seed 7

On Oracle the server is the stand-in.

A table of numbered rows, half of which match, is deleted from, moved to an archive or changed in small chunks.
dbatk is killed with SIGKILL after a random time, the first resume often too. When one ends well, what is
there is compared row by row with what must be.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.engines.torn import mend_torn
from tests.oracle.standin import Scenario, running_standin
from tests.oracle.standin.engine import Engine
from tests.oracle.standin.privileges import PRIVILEGES
from tests.servers import forks
from tests.servers.postgresql import Server, running_postgresql

ROWS = 4_000
MATCHING = ROWS // 2
Ask = Callable[[str], list[tuple[object, ...]]]
_RESUMED = 8


@dataclass(frozen=True, slots=True)
class Way:
    """What is done to the rows, and the options for it."""

    name: str
    options: tuple[str, ...] = ()


WAYS = (
    Way("delete"),
    Way("delete by address"),
    Way("move", ("--archive-to", "kills.archive")),
    Way("change", ("--set", "n = n + 1")),
)


@dataclass
class Place:
    """A database with the table, how it is asked, and the arguments that name it."""

    engine: str
    url: str
    ask: Ask

    def make(self, way: Way) -> None:
        """Create the table anew, with an empty archive."""
        key = "" if way.name == "delete by address" else "PRIMARY KEY"
        for statement in (
            "DROP TABLE IF EXISTS kills.rows", "DROP TABLE IF EXISTS kills.archive",
            f"CREATE TABLE kills.rows (id int {key}, k int, n int, word text)",
            "CREATE TABLE kills.archive (id int, k int, n int, word text)",
            f"INSERT INTO kills.rows SELECT g, g % 2, 0, repeat('x', 60) FROM generate_series(1, {ROWS}) AS s(g)",
        ):  # fmt: skip
            self.ask(statement)


@dataclass
class Played:
    """What one series saw."""

    killed: int = 0
    runs: int = 0
    between: int = 0
    """Runs that were killed after some of their chunks and before the last."""
    wrong: list[str] = field(default_factory=list)


def play(place: Place, way: Way, chance: random.Random, folder: Path, played: Played) -> None:
    """Kill one run, resume it until it ends well, and compare."""
    place.make(way)
    degree = 1 if place.engine == "duckdb" else chance.choice((1, 2, 3))
    sizes = ("--chunk", str(chance.choice((20, 40, 100))), "--commit-every", str(chance.choice((1, 3))))
    asked = ("purge", "--table", "kills.rows", "--where", "k = 0", *sizes, "--degree", str(degree), *way.options)
    store = folder / "store.sqlite"
    ended = _run((*asked, "--target", place.url, "--not-production"), store, chance, 0.0)
    played.runs += 1
    played.killed += ended < 0
    played.between += ended < 0 and 0 < _still_to_do(place, way) < MATCHING
    for attempt in range(_RESUMED):
        if ended == 0:
            break
        again = chance if attempt < 2 and chance.random() < 0.5 else None
        ended = _run(("runs", "resume", "last", "--not-production"), store, again, 0.0)
        played.killed += ended < 0
    told = _told(store)
    found = _difference(place, way)
    if ended or found or told != MATCHING:
        played.wrong.append(
            f"{place.engine} {way.name} {sizes}: ended {ended}, told {told} rows; {found or 'as it must be'}"
        )


def _run(arguments: Sequence[str], store: Path, chance: random.Random | None, least: float) -> int:
    environment = os.environ | {"DBATK_STORE": str(store), "DBATK_CONFIG": str(store.parent / "config")}
    began = time.monotonic()
    process = forks.Forked("toolkit", *arguments, env=environment, stderr=subprocess.STDOUT)
    said = []
    if chance is not None:
        for line in process.stdout:  # from here on it works: before, a kill finds nothing begun
            said.append(line)
            if "undo script" in line or "attempt" in line or "chunk" in line:
                break
        wait = least + chance.random() * _SPAN
        try:
            process.wait(wait)
        except subprocess.TimeoutExpired:
            process.kill()
    output, _ = process.communicate(timeout=300)
    if chance is not None:
        mend_torn(store.parent / "base.duckdb")
    status = process.wait()
    if status > 0:
        told = "".join(said) + output
        sys.stderr.write(f"ended {status} after {time.monotonic() - began:.1f} s:\n{told}\n")
    return status


_SPAN = 0.6
"""Seconds within which the moment of a kill lies, from the beginning of the work on."""


def _told(store: Path) -> int:
    own = os.environ | {"DBATK_STORE": str(store)}
    shown = forks.run("toolkit", "runs", "show", "last", "--json", env=own)
    trials = json.loads(shown.stdout)["trials"] if shown.returncode == 0 else []
    return trials[-1]["rows"] if trials else -1


def _still_to_do(place: Place, way: Way) -> int:
    condition = "k = 0 AND n = 0" if way.name == "change" else "k = 0"
    return int(str(place.ask(f"SELECT count(*) FROM kills.rows WHERE {condition}")[0][0]))


def _difference(place: Place, way: Way) -> str:
    """Return how the database differs from what must be there; empty where it does not."""
    rows = Counter(row[0] for row in place.ask("SELECT id FROM kills.rows"))
    archive = Counter(row[0] for row in place.ask("SELECT id FROM kills.archive"))
    odd, even = Counter(range(1, ROWS + 1, 2)), Counter(range(2, ROWS + 1, 2))
    wanted = odd + even if way.name == "change" else odd
    found = []
    if rows != wanted:
        found.append(f"{(rows - wanted).total()} rows too many, {(wanted - rows).total()} missing")
    if archive != (even if way.name == "move" else Counter()):
        found.append(f"the archive has {archive.total()} rows")
    if way.name == "change":
        changed = place.ask("SELECT k, n, count(*) FROM kills.rows GROUP BY k, n ORDER BY k")
        if changed != [(0, 1, MATCHING), (1, 0, MATCHING)]:
            found.append(f"changed: {changed}")
    left = place.ask("SELECT table_name FROM information_schema.tables WHERE table_name ILIKE 'dbatk%'")
    return "; ".join([*found, *(f"left behind: {name}" for (name,) in left)])


# -- places -------------------------------------------------------------------------------------------------------
def duckdb_place(folder: Path) -> Place:
    """A DuckDB file, opened for each question."""
    import duckdb

    path = folder / "base.duckdb"

    def ask(text: str) -> list[tuple[object, ...]]:
        with duckdb.connect(str(path)) as session:
            return session.execute(text).fetchall()

    ask("CREATE SCHEMA kills")
    return Place("duckdb", f"duckdb:///{path}", ask)


def postgresql_place(server: Server) -> Place:
    """A schema of a test server."""

    def ask(text: str) -> list[tuple[object, ...]]:
        with server.connect() as session:
            cursor = session.execute(text.encode())
            return cursor.fetchall() if cursor.description else []

    ask("DROP SCHEMA IF EXISTS kills CASCADE")
    ask("CREATE SCHEMA kills")
    return Place("postgresql", server.url, ask)


@dataclass
class OraclePlace(Place):
    """A schema of the stand-in, which must know of its tables."""

    engine_behind: Engine | None = None

    def make(self, way: Way) -> None:
        engine = self.engine_behind
        assert engine is not None
        del way  # keys are not looked at there
        for name in (("KILLS", "ROWS"), ("KILLS", "ARCHIVE")):
            if ("TABLE", name) in engine.state.objects:
                engine.run_as_dba(f'DROP TABLE "{name[0]}"."{name[1]}" PURGE')
            engine.data.execute(f'CREATE TABLE "{name[0]}"."{name[1]}" (ID int, K int, N int, WORD text)')
        engine.data.execute(
            f"INSERT INTO kills.rows SELECT g, g % 2, 0, repeat('x', 60) FROM generate_series(1, {ROWS}) AS s(g)"
        )
        for name in (("KILLS", "ROWS"), ("KILLS", "ARCHIVE")):
            engine.enter_table(name)


@contextmanager
def places(engine: str, folder: Path) -> Iterator[Place]:
    if engine == "duckdb":
        yield duckdb_place(folder)
        return
    if engine == "oracle":
        with running_standin(Scenario(user="KILLS", privileges=(*PRIVILEGES, "UNLIMITED TABLESPACE"))) as standin:
            os.environ["DBATK_PASSWORD"] = standin.password
            behind = standin.engine
            yield OraclePlace(engine, standin.url, lambda text: behind.cursor().execute(text).fetchall(), behind)
        return
    with running_postgresql() as server:
        yield postgresql_place(server)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--engine", choices=("duckdb", "postgresql", "oracle"), default="duckdb")
    parser.add_argument("--times", type=int, default=50)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    chance, played = random.Random(given.seed), Played()
    with TemporaryDirectory(prefix="dbatk-kills-") as name, places(given.engine, Path(name)) as place:
        for number in range(given.times):
            way = WAYS[number % len(WAYS)]
            own = Path(name) / f"store-{number}"
            own.mkdir()
            play(place, way, chance, own, played)
    sys.stdout.write(
        f"{given.engine}, seed {given.seed}: {played.runs} runs, {played.killed} kills, "
        f"{played.between} of them between two chunks of a run\n"
    )
    sys.stdout.writelines(f"WRONG {line}\n" for line in played.wrong)
    return 1 if played.wrong else 0


if __name__ == "__main__":
    sys.exit(main())
