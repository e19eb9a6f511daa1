"""Strikes operations on DuckDB at random moments, resumes and cleans in any order, and looks at what is there.

    python -m tests.series.duckdb --seed 7 --kill 20 --full 20 --work checkpoint,compaction

dbatk is killed with SIGKILL, or the file system of the database, of the store or of the backups (a small one) is
full for a while. The engine is part of the process: there is no server to restart, and no network to cut.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import shutil
import signal
import sqlite3
import sys
import time
import traceback
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path

import duckdb
import psutil

from tests.chaos.world import Disk
from tests.engines.torn import mend_torn
from tests.series.case import ORDERS, Ended, _Said
from tests.servers import forks
from tests.tidy import short_folder
from toolkit.app.results import listed_runs
from toolkit.errors import ToolkitError
from toolkit.model.words import RunState
from toolkit.store import open_store

ROWS = 120_000
_OURS = f"coalesce(id BETWEEN 1 AND {ROWS} AND k = id % 2 AND word = md5(id::text), false)"
"""Whether a row is as it was made; of each `id` there was one."""
DISKS = ("base", "store", "backups")
_DONE = frozenset({"ok", "downgraded"})


@dataclass(frozen=True, slots=True)
class Work:
    """A command, what it does to the rows of `base.rows` where `k = 0`, and whether its backup stays."""

    name: str
    arguments: tuple[str, ...]
    to_rows: str = ""
    backs_up: bool = False
    measures: bool = False


_TABLE = ("--table", "kept.rows")
_PURGE = ("purge", *_TABLE, "--where", "k = 0", "--chunk", "1000")
_ONCE = ("--repeat", "2", "--warmup", "0")
_OUT = ("--destination", "{backups}")
WORKS = (
    Work("checkpoint", ("vacuum", *_TABLE)),
    Work("checkpoint measured", ("vacuum", *_TABLE, *_ONCE), measures=True),
    Work("compaction", ("table", "move", *_TABLE)),
    Work("compaction of a schema", ("table", "move", "--schema", "kept")),
    Work("compaction measured", ("table", "move", *_TABLE, *_ONCE), measures=True),
    Work("purge", _PURGE, "deleted"),
    Work("purge into an archive", (*_PURGE, "--archive-to", "kept.archive"), "moved"),
    Work("change in chunks", (*_PURGE, "--set", "n = n + 1"), "changed"),
    Work("export", ("backup", "run", *_OUT, "--tag", "made"), backs_up=True),
    Work("export measured", ("backup", "run", *_OUT, *_ONCE), measures=True),
    Work("restore", ("restore", "try", *_OUT, "--backup", "{given}", "--tables", "kept.rows")),
    Work("restore measured", ("restore", "try", *_OUT, "--backup", "{given}", *_ONCE), measures=True),
)


@dataclass
class Place:
    """Three small disks, a database on the first, and an export of it that is restored."""

    folder: Path
    disks: dict[str, Disk]

    @property
    def file(self) -> Path:
        return self.disks["base"].folder / "base.duckdb"

    @property
    def store(self) -> Path:
        return self.disks["store"].folder / "store.sqlite"

    @property
    def backups(self) -> Path:
        return self.disks["backups"].folder

    def ask(self, *texts: str) -> list[tuple[object, ...]]:
        """Ask the database in a session of its own; return the rows of the last text."""
        with duckdb.connect(str(self.file)) as session:
            for text in texts[:-1]:
                session.execute(text)
            return session.execute(texts[-1]).fetchall()

    def begin_case(self) -> None:
        """Put the tables back as they were made, and forget store and backups."""
        for disk in self.disks.values():
            for each in disk.folder.iterdir():
                shutil.rmtree(each) if each.is_dir() else each.unlink()
        shutil.copy(self.folder / self.file.name, self.file)

    def make_tables(self) -> None:
        """Make them, keep the file for all cases, and export what is restored."""
        self.ask(
            "CREATE SCHEMA kept",
            "CREATE TABLE kept.rows (id int PRIMARY KEY, k int, n int, word text)",
            f"INSERT INTO kept.rows SELECT g, g % 2, 0, md5(g::text) FROM range(1, {ROWS + 1}) AS s(g)",
            "CREATE TABLE kept.archive (id int, k int, n int, word text)",
            "CREATE TABLE kept.others AS SELECT g AS id, md5(g::text) AS word FROM range(1, 30001) AS s(g)",
            "DELETE FROM kept.others WHERE id % 3 = 0",
            "CHECKPOINT",
        )
        shutil.copy(self.file, self.folder)
        self.ask(f"EXPORT DATABASE '{self.folder / 'given'}'")

    def begin(self, arguments: Sequence[str]) -> forks.Forked:
        own = {name: value for name, value in os.environ.items() if not name.startswith("DBATK_")}
        given = {"DBATK_CONFIG": str(self.folder / "config"), "DBATK_STORE": str(self.store)}
        return forks.Forked("toolkit", *arguments, env=own | given, cwd=self.folder)

    def wait_for_run(self, process: forks.Forked) -> None:
        """Return when the store knows a run, or the process is over."""
        while process.poll() is None:
            with (
                suppress(sqlite3.OperationalError),  # not there, or without tables
                closing(sqlite3.connect(f"file:{self.store}?mode=ro", uri=True)) as looked,
            ):
                if looked.execute("SELECT 1 FROM run LIMIT 1").fetchall():
                    return
            time.sleep(0.002)

    def command(self, work: Work) -> tuple[str, ...]:
        places = {"backups": str(self.backups), "given": str(self.folder / "given")}
        own = (each.format(**places) for each in work.arguments)
        return *own, "--target", f"duckdb:///{self.file}", "--not-production", "--json"


@contextmanager
def made_place() -> Iterator[Place]:
    """Make a place and take it away again."""
    with ExitStack() as ending:
        folder = short_folder("duckdb-")
        ending.callback(shutil.rmtree, folder, ignore_errors=True)
        (folder / "config").mkdir(mode=0o700)
        disks = {}
        for name in DISKS:
            disks[name] = Disk(folder / name)
            ending.callback(disks[name].close)
        place = Place(folder, disks)
        place.make_tables()
        yield place


@dataclass(slots=True)
class Case:
    """A work, a fault after so many seconds, and the words in their order.

    Attributes:
        recorded: whether the seconds count from when the store knows the run: on a busy machine getting ready may
            take longer than the work.
        lasted: how long the work took from then on, where it was over before the fault.
    """

    work: Work
    kind: str
    after: float
    recorded: bool
    order: Sequence[str]
    again: float | None
    disk: str
    lasts: float | None
    lasted: float | None = None
    tell: Callable[[str], None] = print
    began: bool = False
    wrong: list[str] = field(default_factory=list)

    def play(self, place: Place) -> bool:
        """Strike, repair, look; tell whether the fault came while the work was being done."""
        ended = self._run(place, "run", place.command(self.work), self.kind, self.after)
        struck = ended.struck is not None
        self._look(place, "run", ended, in_peace=False)
        for number, word in enumerate(self.order):
            if self.again is not None and number == 0:
                ended = self._run(place, word, self._words(place, word), "kill", self.again)
                self._look(place, word, ended, in_peace=False)
            ended = self._run(place, word, self._words(place, word))
            self._look(place, word, ended, in_peace=True)
        return struck

    @staticmethod
    def _words(place: Place, word: str) -> tuple[str, ...]:
        where = ("--target", f"duckdb:///{place.file}", "--json")
        if word == "clean":
            return "clean", *where
        with open_store(place.store) as store:
            runs = [head.run for head in store.list_runs()]
        return ("runs", "resume", runs[0], *where, "--not-production") if runs else ("runs", "list", "--json")

    def _run(self, place: Place, word: str, command: Sequence[str], kind: str = "", after: float = 0.0) -> Ended:
        """Run a command, and keep how it ended; what it said too, where that was not well."""
        process = place.begin(command)
        said = _Said(process)
        try:
            ended = self._struck(place, process, said, kind, after)
        except BaseException:
            self.tell(f"{self.work.name}: {word} was cut off, and had said:\n{said.so_far}")
            raise
        self.began = True
        how = f"{ended.struck or 'calm'}: " if kind else ""
        texts = f"\n{ended.out}{ended.err}" if ended.status > 0 else ""
        self.tell(f"{self.work.name}: {word}: {how}{ended.how}{texts}")
        return ended

    def _struck(self, place: Place, process: forks.Forked, said: _Said, kind: str, after: float) -> Ended:
        if not kind:
            return said.ended()
        if self.recorded and not self.began:
            place.wait_for_run(process)
        begun = time.monotonic()
        while process.poll() is None and time.monotonic() < begun + after:
            time.sleep(0.002)
        if process.poll() is not None:
            self.lasted = time.monotonic() - begun if self.recorded and not self.began else None
            return said.ended()
        if kind == "kill":
            os.kill(process.pid, signal.SIGKILL)
            ended = said.ended(f"killed after {after:.2f} s")
            if mend_torn(place.file):
                ended = replace(ended, struck=f"{ended.struck}, a block of the file half written")
            return ended if ended.status < 0 else Ended(ended.status, ended.out, ended.err)
        with place.disks[self.disk].full(process.pid):
            until = None if self.lasts is None else time.monotonic() + self.lasts
            while process.poll() is None and (until is None or time.monotonic() < until):
                time.sleep(0.005)
        lasted = "" if self.lasts is None else f" for {self.lasts:g} s"
        return said.ended(f"disk of {self.disk} full after {after:.2f} s{lasted}")

    # -- what must hold
    def _say(self, sentence: str) -> None:
        if sentence not in self.wrong:
            self.wrong.append(f"{self.work.name}: {sentence}")

    def _look(self, place: Place, word: str, ended: Ended, *, in_peace: bool) -> None:
        said = ended.out + ended.err
        if "Traceback" in said or "TK-0901" in said or ended.status not in {0, 1, 3, 5, -9}:
            self._say(f"{word} ended with {ended.status}: {said[-900:]}")
        self._look_at_rows(place, whole=in_peace and word == "resume" and self._is_known(place))
        if not in_peace:
            return
        in_part = word == "clean" and ended.status == 3 and "is done in part" in said
        if ended.status and not in_part:
            self._say(f"{word} ended with {ended.status}: {said[-900:]}")
        self._look_at_leftovers(place)
        if word == "resume" and self._is_known(place):
            self._look_at_end(place)

    @staticmethod
    def _is_known(place: Place) -> bool:
        if not place.store.exists():
            return False
        with open_store(place.store) as store:
            return bool(store.list_runs())

    def _look_at_rows(self, place: Place, *, whole: bool) -> None:
        doing = self.work.to_rows
        both = "(SELECT id, k, word FROM kept.rows UNION ALL SELECT id, k, word FROM kept.archive)"
        [(many, lost, unasked, moved, left)] = place.ask(
            f"SELECT count(*) - count(DISTINCT id) FILTER ({_OURS}), {ROWS} - count(DISTINCT id) FILTER ({_OURS}),"
            f" {ROWS // 2} - count(DISTINCT id) FILTER ({_OURS} AND k <> 0), (SELECT count(*) FROM kept.archive),"
            f" (SELECT count(*) FROM kept.rows WHERE k = 0) FROM {both}"
        )
        if many or (doing != "deleted" and lost) or (doing != "moved" and moved):
            self._say(f"{many} rows too many, {lost} gone, {moved} moved")
        if unasked:
            self._say("rows are gone that nobody asked for")
        states = place.ask("SELECT (k, n)::text, count(*) FROM kept.rows GROUP BY ALL")
        found = {str(state): count for state, count in states}
        if doing == "changed":
            if not found.keys() <= {"(0, 0)", "(0, 1)", "(1, 0)"} or (whole and "(0, 0)" in found):
                self._say(f"rows by k and n: {found}")
        elif any(not each.endswith(", 0)") for each in found):
            self._say(f"rows were changed: {found}")
        if whole and doing in ("deleted", "moved") and left:
            self._say(f"the resumed run is over, and {left} rows are there still")
        if place.ask("SELECT count(*), sum(id) FROM kept.others") != [(20000, 300000000)]:
            self._say("the rows of another table changed")

    def _look_at_end(self, place: Place) -> None:
        with open_store(place.store) as store:
            record = store.load_run(store.list_runs()[0].run)
        if record.head.state is not RunState.DONE or not any(
            each.outcome.value in _DONE for each in record.trials
        ):
            outcomes = [f"{each.outcome} {each.reason}" for each in record.trials]
            self._say(f"the resumed run is {record.head.state}: {outcomes}")
        if self.work.backs_up and not (place.backups / "made" / "schema.sql").is_file():
            self._say("the resumed run is over, and its export is not there")

    def _look_at_leftovers(self, place: Place) -> None:
        for (name,) in place.ask("SELECT table_name FROM duckdb_tables() WHERE table_name ILIKE 'dbatk%'"):
            self._say(f"left behind: {name}")
        made = {"made"} if self.work.backs_up else set()
        if left := {each.name for each in place.backups.iterdir()} - made:
            self._say(f"left of backups: {sorted(left)}")
        if made and (place.backups / "made").exists() and not (place.backups / "made" / "schema.sql").is_file():
            self._say("the export is there in part")
        for each in psutil.process_iter(["cmdline"]):
            if any(str(place.folder) in text for text in each.info["cmdline"] or ()):
                self._say(f"a process is there: {each.info['cmdline']}")
        if not place.store.exists():
            return
        with closing(sqlite3.connect(place.store)) as looked:
            if looked.execute("PRAGMA integrity_check").fetchall() != [("ok",)]:
                self._say("the store is damaged")
        with open_store(place.store) as store:
            for entry in store.open_entries_all():
                self._say(f"the journal is open: {entry.state} {entry.effect} {entry.name}")
            for head in listed_runs(store, 9):
                if head.state is RunState.RUNNING:
                    self._say(f"run {head.run} is shown as running")


def spans(place: Place, works: Sequence[Work]) -> dict[str, tuple[float, float]]:
    """Return how long each work takes in peace, in seconds: until the store knows its run, and from then on."""
    found = {}
    place.begin(("runs", "list")).communicate(timeout=300)  # what only the first process takes
    for work in works:
        place.begin_case()
        begun = time.monotonic()
        process = place.begin(place.command(work))
        said = _Said(process)
        place.wait_for_run(process)
        recorded = time.monotonic()
        ended = said.ended()
        assert ended.status == 0, (work.name, ended)
        document = json.loads(ended.out)
        assert all(trial["outcome"] in _DONE for trial in document["trials"]), document
        found[work.name] = recorded - begun, time.monotonic() - recorded
    return found


def drawn(work: Work, kind: str, took: tuple[float, float], chance: random.Random) -> Case:
    """Draw a case; most faults come while the work is being done, not while dbatk gets ready."""
    ready, doing = took
    recorded = chance.random() < 0.8
    after, again = chance.uniform(0.0, 0.98) * (doing if recorded else ready), sum(took) * chance.uniform(0.1, 0.9)
    disk = chance.choice(DISKS if "{backups}" in work.arguments else DISKS[:2])
    lasts = chance.choice((0.3, 1.5, None))
    order = chance.choice(ORDERS)
    return Case(work, kind, after, recorded, order, again if chance.random() < 0.3 else None, disk, lasts)


def play(
    place: Place, works: Sequence[Work], counts: dict[str, int], seed: int, tell: Callable[[str], None] = print
) -> list[str]:
    """Play so many faults of each kind for each work; return what was wrong."""
    wrong: list[str] = []
    took = spans(place, works)
    for work in works:
        struck: Counter[str] = Counter()
        for kind, count in counts.items():
            chance = random.Random(f"{seed} {work.name} {kind}")
            for _ in range(count * 3):
                if struck[kind] == count:
                    break
                place.begin_case()
                case = drawn(work, kind, took[work.name], chance)
                case.tell = tell
                try:
                    struck[kind] += case.play(place)
                except (AssertionError, OSError, ToolkitError, duckdb.Error):
                    case.wrong.append(f"{work.name}: {traceback.format_exc()}")
                if case.lasted is not None:
                    took[work.name] = took[work.name][0], case.lasted
                for sentence in case.wrong:
                    tell(f"WRONG {sentence}")
                wrong += case.wrong
        tell(f"== {work.name} ({sum(took[work.name]):.1f} s in peace): {dict(struck)}; wrong in all: {len(wrong)}")
    return wrong


def main() -> int:
    """Play the series that the arguments name."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--work", default="", help="only what has one of these in its name")
    parser.add_argument("--kill", type=int, default=20)
    parser.add_argument("--full", type=int, default=20)
    told = parser.parse_args()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: sys.exit(130))
    works = [work for work in WORKS if any(word in work.name for word in told.work.split(","))]
    with made_place() as place:
        wrong = play(
            place, works, {"kill": told.kill, "full": told.full}, told.seed, lambda line: print(line, flush=True)
        )
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
