"""Plays a series of cases, drawn by a seed: `python -m tests.series.play --seed 7 --kill 200 --restart 20`."""

from __future__ import annotations

import argparse
import random
import signal
import sys
import time
import traceback
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import psycopg

from tests.series.case import ORDERS, Case, traced
from tests.series.faults import drawn
from tests.series.place import Place, made_place
from tests.series.work import WORKS, Work
from tests.servers.postgresql import installed
from toolkit.errors import ToolkitError

COUNTS = {"kill": 200, "restart": 20, "cut": 20, "full": 10}
_CHANGES = (
    "CREATE", "COMMENT", "COMMIT", "BEGIN", "DROP", "ALTER", "INSERT", "REINDEX", "ANALYZE", "DO", "VACUUM",
    "DELETE",
)  # fmt: skip
_TRIES = 6


@dataclass(slots=True)
class Series:
    """Cases of one seed in a place; each is drawn by its own number alone, so that it can be played alone."""

    place: Place
    seed: int
    tell: Callable[[str], None] = print
    works: Sequence[Work] = WORKS
    at: str | None = None
    wrong: list[str] = field(default_factory=list)
    _traces: dict[str, list[str]] = field(default_factory=dict)

    def play(self, counts: Mapping[str, int], only: int | None = None) -> list[str]:
        """Play so many faults of each kind, in an order of the seed; return what was wrong."""
        kinds = [kind for kind, count in counts.items() for _ in range(count)]
        random.Random(f"{self.seed} order").shuffle(kinds)
        struck: Counter[str] = Counter()
        for number, kind in enumerate(kinds, 1):
            if only in (None, number):
                struck[kind] += self._until_it_strikes(number, kind)
        self.tell(f"faults that struck: {dict(struck)}; wrong: {len(self.wrong)}")
        return self.wrong

    def _until_it_strikes(self, number: int, kind: str) -> bool:
        for again in range(_TRIES):
            case = self._drawn(number, kind, again)
            begun = time.monotonic()
            self.place.begin_case(by_superuser=case.work.repacks)
            found = self._played(case)
            self.tell(
                f"{number:4} {kind} {time.monotonic() - begun:5.1f} s: {case.work.name}, statement {case.at}: "
                f"{'; '.join(case.told)}"
            )
            for sentence in found:
                self.wrong.append(f"seed {self.seed}, case {number}, {case.work.name}: {sentence}")
                self.tell(f"WRONG {self.wrong[-1]}")
            if case.told and not case.told[0].startswith("calm"):
                return True
        return False

    def _played(self, case: Case) -> list[str]:
        """Play a case; what raises is wrong too, and the series goes on."""
        try:
            return case.play(self.place)
        except (AssertionError, OSError, ToolkitError, psycopg.Error):
            self.place.postgresql.begin()
            return [traceback.format_exc()]

    def _drawn(self, number: int, kind: str, again: int) -> Case:
        chance = random.Random(f"{self.seed} {number} {again}")
        work = chance.choice([each for each in self.works if self.place.has_repack or not each.repacks])
        texts = self._statements(work)
        words = _CHANGES if self.at is None else (self.at,)
        changing = [at for at, text in enumerate(texts, 1) if _words(text).startswith(words)]
        # a kill is to come anywhere; the other faults are for what writes
        aimed = self.at is not None or chance.random() < (0.65 if kind == "kill" else 0.9)
        at = chance.choice(changing) if aimed and changing else chance.randint(1, len(texts))
        second = drawn("kill", chance) if chance.random() < 0.25 else None
        kind = f"{kind} of backups" if kind == "full" and "{backups}" in work.arguments else kind
        return Case(number, work, drawn(kind, chance), at, chance.choice(ORDERS), second, chance.randint(1, 25))

    def _statements(self, work: Work) -> list[str]:
        if work.name not in self._traces:
            self.place.begin_case(by_superuser=work.repacks)
            self._traces[work.name] = traced(self.place, work)
        return self._traces[work.name]


def _words(text: str) -> str:
    lines = (line for line in text.splitlines() if not line.startswith("--"))
    return " ".join(lines).lstrip()


def main() -> int:
    """Play the series that the arguments name, with a line for each case."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--server", default=None, help=f"one of {', '.join(installed())}")
    parser.add_argument("--work", default="", help="only what has one of these in its name, such as `online,load`")
    parser.add_argument("--at", default=None, help="only at statements that begin so, such as `REINDEX`")
    parser.add_argument("--only", type=int, default=None, help="play this case of the seed alone")
    for kind, count in COUNTS.items():
        parser.add_argument(f"--{kind}", type=int, default=count)
    told = parser.parse_args()
    binaries = installed()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: sys.exit(130))
    begun = time.monotonic()
    with made_place(binaries[told.server] if told.server else next(iter(binaries.values()))) as place:
        works = [work for work in WORKS if any(word in work.name for word in told.work.split(","))]

        def tell(line: str) -> None:
            print(f"{time.monotonic() - begun:6.0f} s {line}", flush=True)

        series = Series(place, told.seed, tell, works, told.at)
        wrong = series.play({kind: getattr(told, kind) for kind in COUNTS}, told.only)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
