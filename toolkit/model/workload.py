"""What users do: transactions with drawn parameters, how often, for how long, and how what they did is told."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum


class Draw(StrEnum):
    """How the values of a parameter come about."""

    UNIFORM = "uniform"
    ZIPF = "zipf"
    SEQUENCE = "sequence"
    CHOICE = "choice"


@dataclass(frozen=True, slots=True)
class Drawn:
    """A parameter of a transaction, drawn anew each time it is run (not when it is tried again).

    Attributes:
        name: written `:name` in the statements.
        draw: how.
        low: the lowest number; of a sequence the first.
        high: the highest one.
        skew: of zipf: the exponent, above 0; the lowest number is the most frequent.
        values: of a choice: what is chosen from, all alike.
        read: of a choice, the query that tells the values; of a sequence, the one that tells its last value.
        column: of a choice that is read, the column whose values they are, as the engine writes it.
    """

    name: str
    draw: Draw = Draw.UNIFORM
    low: int = 1
    high: int = 1
    skew: float = 1.0
    values: tuple[str | int, ...] = ()
    read: str = ""
    column: str = ""


@dataclass(frozen=True, slots=True)
class Transaction:
    """What a user does at once; several statements are one transaction of the database.

    Attributes:
        name: in metrics and sentences.
        statements: with parameters as `:name`, without terminators, BEGIN and COMMIT.
        weight: how often it is chosen, relative to the others.
        parameters: of its statements.
    """

    name: str
    statements: tuple[str, ...]
    weight: float = 1.0
    parameters: tuple[Drawn, ...] = ()

    @property
    def several(self) -> bool:
        return len(self.statements) > 1


@dataclass(frozen=True, slots=True)
class Workload:
    """Users and what they do.

    Attributes:
        transactions: what they choose from, by weight.
        users: how many; each has a session of its own.
        measure_seconds: how long is measured.
        ramp_up_seconds: in which they begin one after the other, before that.
        ramp_down_seconds: how long they go on after it.
        think_seconds: how long a user pauses between two transactions, on average (exponentially distributed).
        rate: transactions per second that are to begin, whether earlier ones ended or not; 0 lets each user begin
            as soon as it is done.
        tries: how often a transaction is tried that the database gave up for others' sake.
        seed: of what is drawn: trials draw alike.
        begin: what opens a transaction of several statements; empty where the session opens it by itself.
        settings: statements that each session runs first.
        loop: what lets the server run many transactions for one call; empty where the client begins each of them.
        on: the cluster on whose hosts they live; empty for the host of the run.
        hosts: on how many of its hosts; 0 for all.
    """

    transactions: tuple[Transaction, ...]
    users: int = 1
    measure_seconds: float = 30.0
    ramp_up_seconds: float = 0.0
    ramp_down_seconds: float = 0.0
    think_seconds: float = 0.0
    rate: float = 0.0
    tries: int = 1
    seed: int = 1
    begin: str = "BEGIN"
    settings: tuple[str, ...] = ()
    loop: tuple[str, ...] = ()
    on: str = ""
    hosts: int = 0


CALL_TRANSACTIONS, CALL_SECONDS = 200, 0.25
"""How many transactions one call of a loop in the server runs at most, and how long it begins new ones."""


class UsersAct(StrEnum):
    """What is done with the users of a trial."""

    BEGIN = "begin"
    """Open their sessions and let them begin, for as long as the ramp-up takes."""
    MEASURE = "measure"
    END = "end"
    """Let them end, after the ramp-down, and close their sessions."""


@dataclass(frozen=True, slots=True)
class UsersStep:
    """One act of a trial, and the workload that it belongs to."""

    act: UsersAct
    workload: Workload


# -- latencies ----------------------------------------------------------------------------------------------------
_BUCKETS_A_DECADE = 512
"""How many buckets a factor of ten has: each is 0.45 % wide, so that a latency is known to within 0.23 %."""
SCALE = _BUCKETS_A_DECADE / math.log(10)
SHORTEST_SECONDS = 1e-9


def bucket_of(seconds: float) -> int:
    """Return the bucket of a latency: its logarithm, in whole steps."""
    return math.floor(math.log(max(seconds, SHORTEST_SECONDS)) * SCALE)


def seconds_of(bucket: int) -> float:
    """Return the middle of a bucket."""
    return math.exp((bucket + 0.5) / SCALE)


def percentile(counts: Mapping[int, int], percent: float) -> float | None:
    """Return the latency that so many per cent do not exceed; None where there is none."""
    wanted = math.ceil(sum(counts.values()) * percent / 100)
    found = 0
    for bucket in sorted(counts):
        found += counts[bucket]
        if found >= max(1, wanted):
            return seconds_of(bucket)
    return None


# -- what was measured --------------------------------------------------------------------------------------------
@dataclass(slots=True)
class Told:
    """What is known of one transaction in the measured interval.

    Attributes:
        latencies: how many ended with a latency of each bucket (`bucket_of`).
        errors: how many failed, by code of the database.
        retries: how often one was tried again, by code.
        messages: the first message of each code.
    """

    latencies: dict[int, int] = field(default_factory=dict)
    errors: dict[str, int] = field(default_factory=dict)
    retries: dict[str, int] = field(default_factory=dict)
    messages: dict[str, str] = field(default_factory=dict)

    @property
    def done(self) -> int:
        return sum(self.latencies.values())

    @property
    def failed(self) -> int:
        return sum(self.errors.values())

    def add(self, other: Told) -> None:
        """Add what another process, or another transaction, tells."""
        for bucket, count in other.latencies.items():
            self.latencies[bucket] = self.latencies.get(bucket, 0) + count
        for mine, theirs in ((self.errors, other.errors), (self.retries, other.retries)):
            for code, count in theirs.items():
                mine[code] = mine.get(code, 0) + count
        self.messages = {**other.messages, **self.messages}


@dataclass(slots=True)
class Measured:
    """What the users of one process, or all of them, did in the measured interval.

    Attributes:
        transactions: by name.
        seconds: how many ended in each second of it.
        driver_seconds: the CPU time that the driving took; None where it cannot be told from the database's.
        busiest_part: the part of one processor that the busiest driving process used, or of all those of a host
            that its driving processes used together, whichever is more.
        behind: of an open loop: how many should have begun in it and did not end in it.
    """

    transactions: dict[str, Told] = field(default_factory=dict)
    seconds: list[int] = field(default_factory=list)
    driver_seconds: float | None = None
    busiest_part: float = 0.0
    behind: int = 0

    def add(self, other: Measured) -> None:
        """Add what the users of another process did in the same interval."""
        for name, told in other.transactions.items():
            self.transactions.setdefault(name, Told()).add(told)
        longest = max(len(self.seconds), len(other.seconds))
        mine, theirs = ([*each, *[0] * (longest - len(each))] for each in (self.seconds, other.seconds))
        self.seconds = [one + two for one, two in zip(mine, theirs, strict=True)]
        if other.driver_seconds is not None:
            self.driver_seconds = (self.driver_seconds or 0.0) + other.driver_seconds
        self.busiest_part = max(self.busiest_part, other.busiest_part)
        self.behind += other.behind
