"""How far clocks are apart, and that what several hosts counted is what they would have counted together."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.for_each import for_each
from toolkit.app.hosts import watching
from toolkit.dialects.workloads import _of_hosts_over_time
from toolkit.executors import hosts
from toolkit.executors.users.hosts import HOST_LOST, Act, Look, Order
from toolkit.executors.users.users import Users
from toolkit.model.hosts import Clock, HostSample, RoundTrip, clock_of
from toolkit.model.protocols import Answer, DatabaseError
from toolkit.model.workload import Measured, Told, Transaction, UsersAct, UsersStep, Workload, bucket_of
from toolkit.report.labels import label_of

WORK = Workload((Transaction("t", ("SELECT 1",)),), users=5, measure_seconds=1.0)
_DELAYS = st.floats(0.0, 5.0)


@given(st.floats(-1e6, 1e6), st.lists(st.tuples(_DELAYS, _DELAYS), min_size=1))
def test_the_clock_of_a_host_is_known_to_within_half_of_the_quickest_round_trip(
    ahead: float, delays: list[tuple[float, float]]
) -> None:
    trips = [RoundTrip(10.0, 10.0 + there + back, 10.0 + there + ahead) for there, back in delays]
    found = clock_of(trips)
    assert found.uncertainty_seconds == pytest.approx(min(map(sum, delays)) / 2, abs=1e-6)
    assert abs(found.ahead_seconds - ahead) <= found.uncertainty_seconds + 1e-6


def test_the_time_of_day_of_a_host_is_told_beside_its_other_clock() -> None:
    found = clock_of([RoundTrip(1.0, 1.2, 501.1, wall_here=1000.0, wall_there=1003.1), RoundTrip(2.0, 4.0, 0.0)])
    assert found == Clock(pytest.approx(500.0), pytest.approx(0.1), pytest.approx(3.0))


@dataclass
class Host:
    """A host whose clock is ahead; it takes down what it is told."""

    name: str
    latencies: list[float] = field(default_factory=list)
    ahead: float = 0.0
    lost: Act | None = None
    lead_seconds: float = 0.01
    told: list[Order] = field(default_factory=list)
    closed: int = 0

    @property
    def clock(self) -> Clock:
        return Clock(self.ahead, 0.002, 0.5)

    def ask(self, order: Order) -> None:
        self.told.append(order)

    def answer(self, look: Look) -> Measured:
        look()
        if self.told[-1].act is self.lost:
            raise DatabaseError(f"host `{self.name}` was lost", code=HOST_LOST)
        if self.told[-1].act is not Act.MEASURE:
            return Measured()
        counts: dict[int, int] = {}
        for each in self.latencies:
            counts[bucket_of(each)] = counts.get(bucket_of(each), 0) + 1
        return Measured({"t": Told(counts)}, [len(self.latencies)], 0.25)

    def samples(self, begin: float, end: float) -> tuple[HostSample, ...]:
        return (HostSample((begin + end) / 2, {"host_cpu_pct": 50.0}),)

    def check(self) -> None: ...

    def cancel(self) -> None: ...

    def close(self) -> None:
        self.closed += 1


def worked(*hosts: Host, work: Workload = WORK) -> Answer:
    users = Users(None, "run", {}, lambda: False)
    users.hosts = hosts
    users.run(UsersStep(UsersAct.BEGIN, work))
    found = users.run(UsersStep(UsersAct.MEASURE, work))
    users.run(UsersStep(UsersAct.END, work))
    return found


def counts_of(answer: Answer) -> dict[int, int]:
    return {int(str(row["bucket"])): int(str(row["count"])) for row in answer.rows if row["kind"] == "latency"}


def drawn() -> Iterator[float]:
    own = random.Random(11)
    return (own.lognormvariate(-5, 2) for _ in iter(int, 1))


def test_the_histogram_of_several_hosts_is_that_of_all_their_latencies() -> None:
    latencies = [seconds for _, seconds in zip(range(3000), drawn(), strict=False)]
    parts = latencies[:17], latencies[17:1700], latencies[1700:]
    several = worked(*(Host(str(n), list(part)) for n, part in enumerate(parts)))
    one = worked(Host("all", latencies))
    assert counts_of(several) == counts_of(one)
    assert sum(counts_of(one).values()) == 3000
    done = [row["done"] for row in several.rows if row["kind"] == "host"]
    assert done == [17, 1683, 1300]


def test_users_are_dealt_out_over_the_hosts_and_each_has_a_number_of_its_own() -> None:
    hosts = Host("a", [0.1]), Host("b", [0.1]), Host("c", [0.1])
    worked(*hosts)
    assert [host.told[0].numbers for host in hosts] == [(0, 3), (1, 4), (2,)]
    assert {order.at for host in hosts for order in host.told if order.act is Act.MEASURE} == {hosts[0].told[3].at}


def test_a_workload_for_fewer_hosts_takes_the_first_ones_and_no_host_is_without_users() -> None:
    hosts = Host("a", [0.1]), Host("b", [0.1]), Host("c", [0.1])
    worked(*hosts, work=Workload(WORK.transactions, users=5, measure_seconds=1.0, hosts=2))
    assert [len(host.told) > 0 for host in hosts] == [True, True, False]
    few = Host("a", [0.1]), Host("b", [0.1])
    worked(*few, work=Workload(WORK.transactions, users=1, measure_seconds=1.0))
    assert not few[1].told


@for_each("when", [Act.CONNECT, Act.BEGIN, Act.LOOK, Act.MEASURE, Act.END])
def test_a_host_that_is_lost_fails_the_trial_and_ends_the_users_of_all(when: Act) -> None:
    hosts = Host("a", [0.1]), Host("b", [0.1], lost=when)
    with pytest.raises(DatabaseError) as caught:
        worked(*hosts)
    assert caught.value.code == HOST_LOST and "`b`" in caught.value.message
    assert all(host.closed for host in hosts)


def test_what_a_host_saw_of_itself_is_told_from_the_begin_of_the_interval_on() -> None:
    answer = worked(Host("a", [0.1], ahead=1000.0))
    (sample,) = [row for row in answer.rows if row["kind"] == "host-sample"]
    assert sample["at"] == pytest.approx(0.5) and sample["what"] == "host_cpu_pct"
    (host,) = [row for row in answer.rows if row["kind"] == "host"]
    assert (host["uncertainty_seconds"], host["ahead_seconds"], host["users"]) == (0.002, 0.5, 5)


def test_samples_of_hosts_are_few_in_a_long_interval_and_keep_their_means() -> None:
    one: dict[str, str | float] = {"kind": "host-sample", "name": "db.example-2", "what": "host_cpu_pct"}
    rows = [{**one, "at": float(at), "value": float(at % 7)} for at in range(3600)]
    samples = list(_of_hosts_over_time(tuple(rows)))
    assert len(samples) == 600 and {one.name for one in samples} == {"host.db.example-2.cpu_pct"}
    assert [one.at_seconds for one in samples[:2]] == [2.5, 8.5]
    assert sum(one.value for one in samples) / 600 == pytest.approx(sum(at % 7 for at in range(3600)) / 3600)
    assert label_of("host.db.example-2.cpu_pct_mean") == "db.example-2: CPU busy, mean"
    assert label_of("host.db.example-2.tps") == "db.example-2: transactions per second"


@dataclass
class Watched:
    """A host with one sample a second, whose clock is taken to be `off` seconds more behind than it is."""

    begun: float
    off: float = 0.0
    taken: int = 2
    name: str = "a"

    def samples(self, begin: float, end: float) -> tuple[HostSample, ...]:
        every = (HostSample(self.begun + n + self.off, {"host_cpu_pct": float(n)}) for n in range(self.taken))
        return tuple(one for one in every if begin <= one.at <= end)


def test_a_sample_is_taken_once_however_the_clock_of_its_host_is_known_meanwhile(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    now = 100.0
    monkeypatch.setattr(watching, "time", SimpleNamespace(monotonic=lambda: now))
    host = Watched(now + 0.1)
    provider = watching.HostsProvider(lambda: (cast("hosts.Host", host),))
    provider.begin()
    seen: list[float] = []
    for now, off, taken in ((101.5, 0.0, 2), (101.6, 0.002, 2), (102.6, 0.004, 3), (103.6, -0.01, 4)):
        host.off, host.taken = off, taken
        seen += [one.value for one in provider.sample(now - 100.0)]
    assert seen == [0.0, 1.0, 2.0, 3.0]
