"""Users at work on a database: the same on every engine, but for the SQL of its tables and transactions.

Built in are `tpcb`, with the transaction and the data of the script of that name of pgbench (PostgreSQL manual),
and `order_entry`, a shop: orders of three items, payments, and two questions. Their tables are scratch objects of
the run.
"""

# ruff: noqa: ARG002 (every implementation answers with the same arguments)

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from toolkit.dialects.answers import Granted, TrialFindings
from toolkit.dialects.implementations import Implementation, Implementations, Kept
from toolkit.dialects.loops import Loop
from toolkit.dialects.work import Call, ContextValue, Work
from toolkit.model.facts import Facts
from toolkit.model.records import Metric, Sample
from toolkit.model.steps import ObjectRef
from toolkit.model.values import Row, Support
from toolkit.model.words import OperationName, Role, StepKind, SupportState
from toolkit.model.workload import (
    CALL_SECONDS,
    CALL_TRANSACTIONS,
    Draw,
    Drawn,
    Transaction,
    UsersAct,
    UsersStep,
    Workload,
    percentile,
)
from toolkit.units import counted, number, percent, seconds

Tables = Mapping[str, ObjectRef]
SOURCE = "users"
SERVER_CLOCK = "the server's clock"
_PERCENTILES = (50, 90, 95, 99, 99.9)
_BUSY_PART = 0.9
_BEHIND_PART = 0.01


@dataclass(frozen=True, slots=True)
class BuiltInTable:
    """A table of a built-in workload: its template makes it, with so many rows for each unit of scale."""

    name: str
    rows: int
    key: tuple[str, ...] = ()
    bytes_a_row: int = 120
    emptied: bool = False
    """Whether each trial begins with it empty."""
    grows_by: str = ""
    """The column whose values beyond `last`, times the scale, users added; they are deleted before each trial."""
    last: int = 0


@dataclass(frozen=True, slots=True)
class BuiltInTransaction:
    """A transaction of a built-in workload; the parameters in `grow` have their high ends times the scale."""

    name: str
    weight: float
    parameters: tuple[Drawn, ...]
    grow: frozenset[str] = frozenset()
    follows: tuple[tuple[str, str, str], ...] = ()
    """Parameters that go on after the highest value of a column: parameter, table, column."""


@dataclass(frozen=True, slots=True)
class BuiltIn:
    """A built-in workload."""

    name: str
    tables: tuple[BuiltInTable, ...]
    transactions: tuple[BuiltInTransaction, ...]

    def template(self, name: str) -> str:
        """Name the template of one of its tables or transactions."""
        return f"{self.name}_{name}"


TPCB = BuiltIn(
    "tpcb",
    (
        BuiltInTable("branches", 1, ("bid",)),
        BuiltInTable("tellers", 10, ("tid",)),
        BuiltInTable("accounts", 100_000, ("aid",)),
        BuiltInTable("history", 0, emptied=True),
    ),
    (
        BuiltInTransaction(
            "tpcb", 1,
            (
                Drawn("aid", high=100_000), Drawn("bid", high=1), Drawn("tid", high=10),
                Drawn("delta", low=-5000, high=5000),
            ),
            frozenset({"aid", "bid", "tid"}),
        ),
    ),
)  # fmt: skip
_CUSTOMER, _QUANTITY = Drawn("customer", high=3000), Drawn("quantity", high=9)
_ITEMS = tuple(Drawn(name, Draw.ZIPF, high=10_000, skew=0.8) for name in ("item_a", "item_b", "item_c"))
_GROW = frozenset({"customer", "item_a", "item_b", "item_c", "known"})
ORDER_ENTRY = BuiltIn(
    "order_entry",
    (
        BuiltInTable("customers", 3000, ("id",)),
        BuiltInTable("items", 10_000, ("id",)),
        BuiltInTable("orders", 30_000, ("id",), 60, grows_by="id", last=30_000),
        BuiltInTable("order_lines", 90_000, ("order_id", "line"), 60, grows_by="order_id", last=30_000),
    ),
    (
        BuiltInTransaction(
            "new_order", 45, (_CUSTOMER, Drawn("order_no", Draw.SEQUENCE), *_ITEMS, _QUANTITY), _GROW,
            (("order_no", "orders", "id"),),
        ),
        BuiltInTransaction("payment", 43, (_CUSTOMER, Drawn("amount", high=500)), _GROW),
        BuiltInTransaction("order_status", 6, (Drawn("known", high=30_000),), _GROW),
        BuiltInTransaction("stock_level", 6, (_ITEMS[0], Drawn("threshold", low=150, high=250)), _GROW),
    ),
)  # fmt: skip
BUILT_IN: Mapping[str, BuiltIn] = {one.name: one for one in (TPCB, ORDER_ENTRY)}


class RunUsers(Implementation):
    """Users by sessions in processes of their own; an engine says how its tables are made."""

    begin = "BEGIN"
    """What opens a transaction of several statements."""

    def support(self, work: Work, facts: Facts) -> Support:
        judged = self.judge(work.users, facts) if work.users is not None else None
        return judged or Support(SupportState.SUPPORTED)

    def judge(self, workload: Workload, facts: Facts) -> Support | None:
        """Say what keeps so many users from working here; None where nothing does."""
        return None

    @abstractmethod
    def makes(
        self, built: BuiltIn, table: BuiltInTable, tables: Tables, scale: int, mark: str, facts: Facts
    ) -> tuple[Call, ...]:
        """Make one table of a built-in workload, with its rows, key and statistics."""

    @abstractmethod
    def renews(self, built: BuiltIn, tables: Tables, scale: int) -> tuple[Call, ...]:
        """Put, before a trial, what the trials before left where it matters to the next one."""

    def settings(self, work: Work) -> tuple[Call, ...]:
        """Set each session of a user up."""
        return ()

    def loop(self, transactions: Sequence[Transaction]) -> Loop | None:
        """Let the server run many transactions for one call; None where it cannot."""
        return None

    def worker_begin(self, work: Work, facts: Facts) -> tuple[Call, ...]:
        return (_call(work, UsersAct.BEGIN, "\n".join(lines_of(_users(work)))),)

    def timed(self, work: Work, facts: Facts) -> tuple[Call, ...]:
        return (_call(work, UsersAct.MEASURE, f"measure for {seconds(_users(work).measure_seconds)}"),)

    def worker_end(self, work: Work, facts: Facts) -> tuple[Call, ...]:
        after = _users(work).ramp_down_seconds
        return (_call(work, UsersAct.END, f"let the users end{f' after {seconds(after)}' if after else ''}"),)

    def granted(self, work: Work, kept: Kept, peaks: Mapping[str, float], notices: tuple[str, ...]) -> Granted:
        return Granted(_users(work).users, "sessions of users")

    def tell(self, work: Work, kept: Kept, deltas: Mapping[str, float], seconds: float) -> TrialFindings:
        rows = kept.get("program", ())
        cpu = deltas.get("cpu_seconds")
        return TrialFindings(
            tuple(_metrics(rows, seconds, cpu, SERVER_CLOCK if _users(work).loop else SOURCE)),
            tuple(_doubts(rows, _users(work))),
            cpu_seconds=cpu,
            samples=(*_over_time(rows, seconds), *_of_hosts_over_time(rows)),
        )


def workloads_of(work: Implementations, operation: OperationName) -> RunUsers | None:
    """Return how an engine lets users work; None where it does not."""
    found = work.of(operation)
    return found if isinstance(found, RunUsers) else None


def _users(work: Work) -> Workload:
    assert work.users is not None
    return work.users


def _call(work: Work, act: UsersAct, text: str) -> Call:
    return Call(
        f"users_{act}", kind=StepKind.USERS, session=Role.WORKER, users=UsersStep(act, _users(work)), text=text
    )


# -- how it is shown ----------------------------------------------------------------------------------------------
def lines_of(work: Workload) -> Iterator[str]:
    """Yield what is done, for a script that is read: all that is sent to the database is among it."""
    pace = (
        f"{number(work.rate)} transactions/s are begun, their latency counts from when they were to begin"
        if work.rate
        else "each begins as soon as it is done"
    )
    think = f", after a think time of {seconds(work.think_seconds)} on average" if work.think_seconds else ""
    yield f"{counted(work.users, 'user')}: {pace}{think}; tried {counted(work.tries, 'time')} at most"
    if work.on:
        hosts = counted(work.hosts, "host") if work.hosts else "all hosts"
        yield f"they live on {hosts} of the cluster {work.on}, and begin together"
    yield from (f"{statement};" for statement in work.settings)
    for one in work.transactions:
        yield f"transaction {one.name}, weight {number(one.weight)}"
        yield from (f"  :{each.name} = {_drawn(each)}" for each in one.parameters)
        if work.loop:
            continue
        opening = (work.begin,) if work.begin else ()
        whole = (*opening, *one.statements, "COMMIT") if one.several else one.statements
        yield from (f"  {line}" for statement in whole for line in f"{statement};".split("\n"))
    if work.loop:
        yield (
            f"the server runs them, {counted(CALL_TRANSACTIONS, 'transaction')} or {seconds(CALL_SECONDS)} a call "
            "at most:"
        )
        yield from (f"  {line}" for text in work.loop for line in f"{text};".replace(";;", ";").split("\n"))
    yield f"all are at work after {seconds(work.ramp_up_seconds)}"


def _drawn(one: Drawn) -> str:
    if one.draw is Draw.CHOICE:
        return f"one of {counted(len(one.values), 'value')}" if one.values else f"one of: {one.read}"
    if one.draw is Draw.SEQUENCE:
        return f"the next number after: {one.read}" if one.read else f"the next number from {one.low} on"
    skewed = f", zipf with exponent {number(one.skew)}" if one.draw is Draw.ZIPF else ""
    return f"{one.low} to {one.high}{skewed}"


# -- what is told of a trial --------------------------------------------------------------------------------------
def _of(rows: Iterable[Row], kind: str) -> list[Row]:
    return [row for row in rows if row.get("kind") == kind]


def _sum(rows: Iterable[Row], column: str = "count") -> int:
    return sum(int(str(row[column])) for row in rows)


def _latencies(rows: Iterable[Row]) -> dict[int, int]:
    found: dict[int, int] = {}
    for row in rows:
        bucket = int(str(row["bucket"]))
        found[bucket] = found.get(bucket, 0) + int(str(row["count"]))
    return found


def _metrics(rows: tuple[Row, ...], elapsed: float, cpu: float | None, clock: str) -> Iterator[Metric]:
    transactions, latencies = _of(rows, "transaction"), _of(rows, "latency")
    done = _sum(transactions, "done")
    if not done or elapsed <= 0:
        return
    yield Metric("tps", done / elapsed, "1/s", SOURCE)
    yield Metric("transactions", float(done), "count", SOURCE)
    yield from _percentiles("latency", _latencies(latencies), clock)
    if len(transactions) > 1:
        for row in transactions:
            own = _latencies(each for each in latencies if each["name"] == row["name"])
            yield Metric(f"tps_{row['name']}", int(str(row["done"])) / elapsed, "1/s", SOURCE)
            found = percentile(own, 95)
            if found is not None:
                yield Metric(f"latency_p95_{row['name']}", found, "s", clock)
    for kind, title in (("error", "errors"), ("retry", "retries")):
        yield Metric(title, float(_sum(_of(rows, kind))), "count", SOURCE)
    for code in dict.fromkeys(str(row["code"]) for row in _of(rows, "error")):
        found_errors = [row for row in _of(rows, "error") if row["code"] == code]
        yield Metric(f"errors_{code}", float(_sum(found_errors)), "count", SOURCE)
    if cpu:
        yield Metric("cpu_seconds_per_transaction", cpu / done, "s", "CPU time of the database over transactions")
        yield Metric(
            "transactions_per_cpu_second", done / cpu, "1/s", "transactions over CPU time of the database"
        )
    driver = _of(rows, "all")[0].get("driver_seconds")
    if driver is not None:
        yield Metric("driver_cpu_seconds", float(str(driver)), "s", SOURCE)
    yield from _of_hosts(rows, elapsed)


def host_metric(host: str, what: str) -> str:
    """Return the name of a figure of one of several hosts: `host.db2.cpu_pct`."""
    return f"host.{host}.{what.removeprefix('host_')}"


_HOST_UNITS = {"_pct": "%", "_bytes_per_s": "bytes/s", "_bytes": "bytes"}
HOSTS = "the hosts themselves"


def _of_hosts(rows: tuple[Row, ...], elapsed: float) -> Iterator[Metric]:
    """Yield what each of several hosts did, how far its clock was ahead, and mean and peak of what it showed."""
    samples = _of(rows, "host-sample")
    for row in _of(rows, "host"):
        host = str(row["name"])
        yield Metric(host_metric(host, "users"), float(str(row["users"])), "users", HOSTS)
        yield Metric(host_metric(host, "tps"), int(str(row["done"])) / elapsed, "1/s", HOSTS)
        for name in ("ahead", "uncertainty"):
            yield Metric(
                host_metric(host, f"clock_{name}_seconds"), float(str(row[f"{name}_seconds"])), "s", HOSTS
            )
        if row.get("driver_seconds") is not None:
            yield Metric(host_metric(host, "driver_cpu_seconds"), float(str(row["driver_seconds"])), "s", HOSTS)
        yield from means_and_peaks(
            host, [(str(one["what"]), float(str(one["value"]))) for one in samples if one["name"] == host]
        )


def means_and_peaks(host: str, samples: Sequence[tuple[str, float]]) -> Iterator[Metric]:
    """Yield mean and peak of what one of several hosts showed.

    Args:
        host: its name.
        samples: names with units, as `host_cpu_pct`, and values.
    """
    for what in dict.fromkeys(name for name, _ in samples):
        values = [value for name, value in samples if name == what]
        unit = next((unit for ending, unit in _HOST_UNITS.items() if what.endswith(ending)), "")
        yield Metric(f"{host_metric(host, what)}_mean", sum(values) / len(values), unit, HOSTS)
        yield Metric(f"{host_metric(host, what)}_peak", max(values), unit, HOSTS)


def _of_hosts_over_time(rows: tuple[Row, ...]) -> Iterator[Sample]:
    """Yield what each of several hosts showed in the interval; of a long one means, so that they are few."""
    shown: dict[str, list[tuple[float, float]]] = {}
    for row in _of(rows, "host-sample"):
        name = host_metric(str(row["name"]), str(row["what"]))
        shown.setdefault(name, []).append((float(str(row["at"])), float(str(row["value"]))))
    for name, samples in shown.items():
        step = max(1, -(-len(samples) // _MOST_SAMPLES))
        for begin in range(0, len(samples), step):
            at, values = zip(*samples[begin : begin + step], strict=True)
            yield Sample(sum(at) / len(at), name, sum(values) / len(values))


_MOST_SAMPLES = 600


def _over_time(rows: tuple[Row, ...], elapsed: float) -> Iterator[Sample]:
    """Yield the throughput of each whole second; in a long trial the means of as many as it takes to be few."""
    counts = [int(str(row["count"])) for row in _of(rows, "second")][: int(elapsed + 1e-6)]
    step = max(1, -(-len(counts) // _MOST_SAMPLES))
    for begin in range(0, len(counts), step):
        part = counts[begin : begin + step]
        yield Sample(begin + len(part) / 2, "transactions_per_s", sum(part) / len(part))


def _percentiles(name: str, counts: Mapping[int, int], clock: str) -> Iterator[Metric]:
    for percent_ in _PERCENTILES:
        found = percentile(counts, percent_)
        if found is not None:
            yield Metric(f"{name}_p{percent_:g}".replace(".", "_"), found, "s", clock)
    found = percentile(counts, 100)
    if found is not None:
        yield Metric(f"{name}_max", found, "s", clock)


def _doubts(rows: tuple[Row, ...], work: Workload) -> Iterator[str]:
    """Say what failed, and what makes the figures doubtful.

    How often it failed is a metric of the trial: what is the same in all trials is said once of a run.
    """
    for row in sorted(_of(rows, "error"), key=lambda each: -int(str(each["count"]))):
        yield (
            f"transactions `{row['name']}` failed with {row['code']}: {row['message']} (how many: metric "
            f"`errors_{row['code']}`)"
        )
    whole = _of(rows, "all")
    busiest = float(str(whole[0].get("busiest_part") or 0)) if whole else 0.0
    if busiest > _BUSY_PART:
        yield (
            f"the processes that drive users were busy {percent(100 * busiest)} of the time (one of them, or all "
            "together on their host): they may be the limit, not the database"
        )
    if work.loop:
        yield (
            "a loop in the server began the transactions: their latencies are by its clock, from one end to the "
            "next, without the way to a client"
        )
    behind = int(str(whole[0].get("behind") or 0)) if whole else 0
    if work.rate and behind > _BEHIND_PART * work.rate * work.measure_seconds:
        yield (
            f"{counted(behind, 'transaction')} of those that were to begin had not begun at the end: the users "
            f"could not keep up with {number(work.rate)} transactions/s"
        )


# -- tables -------------------------------------------------------------------------------------------------------
def table_values(tables: Tables) -> dict[str, ContextValue]:
    """Return the names of the tables for the templates of transactions."""
    return {name: ref.name for name, ref in tables.items()}
