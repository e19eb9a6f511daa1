"""`import`: what each of the other benchmark programs writes, in the form it writes it, with other numbers."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.conftest import Dbatk


def put(home: Path, name: str, text: str) -> str:
    (home / name).write_text(text, encoding="utf-8")
    return name


def shown(dbatk: Dbatk, *files: str) -> dict[str, object]:
    """Import files as one run, and return its JSON."""
    taken = dbatk("import", *files, "--json")
    assert taken.status == 0, taken
    (imported,) = json.loads(taken.out)["runs"]
    found: dict[str, object] = json.loads(dbatk("runs", "show", imported["run"], "--json").out)
    return found


def medians(run: dict[str, object]) -> list[tuple[object, object]]:
    cells = run["cells"]
    assert isinstance(cells, list)
    return [(cell["factors"], cell["median"]) for cell in cells]


def of_sysbench(threads: int, tps: float, *, end: str = "total time:                          2.0296s") -> str:
    """What sysbench 1.0.20 printed of `oltp_read_write`."""
    return f"""sysbench 1.0.20 (using system LuaJIT 2.1.0-beta3)

Running the test with following options:
Number of threads: {threads}
Report intermediate results every 1 second(s)

Threads started!

[ 1s ] thds: 2 tps: 123.25 qps: 2659.83 (r/w/o: 1878.58/488.03/293.22) lat (ms,95%): 23.10 err/s: 8.95
SQL statistics:
    queries performed:
        read:                            2548
        total:                           3619
    transactions:                        172    ({tps} per sec.)
    queries:                             3619   (1782.79 per sec.)
    ignored errors:                      10     (4.93 per sec.)
    reconnects:                          0      (0.00 per sec.)

General statistics:
    {end}
    total number of events:              172

Latency (ms):
         min:                                    1.25
         avg:                                   23.54
         max:                                 1006.76
         95th percentile:                       26.20
         sum:                                 4048.21
"""


CPU = """sysbench 1.0.20 (using system LuaJIT 2.1.0-beta3)

Running the test with following options:
Number of threads: 2

Prime numbers limit: 10000

CPU speed:
    events per second:  1818.33

General statistics:
    total time:                          1.0082s
    total number of events:              1834
"""
FILES = """sysbench 1.0.20 (using system LuaJIT 2.1.0-beta3)

Running the test with following options:
Number of threads: 1

2 files, 2MiB each
Block size 16KiB
Doing random r/w test

File operations:
    reads/s:                      5273.50
    writes/s:                     3515.67
    fsyncs/s:                     176.77

Throughput:
    read, MiB/s:                  82.40
    written, MiB/s:               54.93

General statistics:
    total time:                          1.0121s
    total number of events:              9077
"""
OLD = """sysbench 0.4.12:  multi-threaded system evaluation benchmark

Running the test with following options:
Number of threads: 64

Doing OLTP test.
OLTP test statistics:
    transactions:                        1003085 (16717.59 per sec.)
    read/write requests:                 1003085 (16717.59 per sec.)

Test execution summary:
    total time:                          60.0018s
    total number of events:              1003085
    per-request statistics:
         min:                                  0.21ms
         avg:                                  3.82ms
         approx.  95 percentile:               5.10ms
"""


def test_outputs_of_sysbench_are_a_run_over_what_varies(dbatk: Dbatk, home: Path) -> None:
    fatal = "sysbench 1.0.20\nNumber of threads: 8\nFATAL: unable to connect to the server, aborting...\n"
    many = put(home, "a.txt", of_sysbench(2, 84.73) + of_sysbench(4, 160) + fatal)
    run = shown(dbatk, many, put(home, "b.txt", of_sysbench(2, 85.73)))
    assert run["judged_by"] == {"metric": "tps", "unit": "1/s", "better": "higher"}
    assert medians(run)[:2] == [({"threads": 2}, 85.23), ({"threads": 4}, 160)]
    trials = run["trials"]
    assert isinstance(trials, list)
    assert {m["name"]: m["value"] for m in trials[0]["metrics"]} == {
        "tps": 84.73, "queries_per_second": 1782.79, "ignored_errors": 10, "latency_average_ms": 23.54,
        "latency_max_ms": 1006.76, "latency_p95_ms": 26.2, "total_time_seconds": 2.0296,
    }  # fmt: skip
    assert [trial["reason"] for trial in trials] == [None, None, "sysbench ended with a fatal error", None]


@pytest.mark.parametrize(
    ("text", "metric", "unit", "value"),
    [
        (CPU, "events_per_second", "1/s", 1818.33),
        (FILES, "throughput", "MiB/s", pytest.approx(137.33)),
        (OLD, "tps", "1/s", 16717.59),
    ],
)
def test_other_tests_and_releases_of_sysbench_are_judged_by_what_they_print(
    dbatk: Dbatk, home: Path, text: str, metric: str, unit: str, value: object
) -> None:
    run = shown(dbatk, put(home, "a.txt", text))
    assert run["judged_by"] == {"metric": metric, "unit": unit, "better": "higher"}
    assert medians(run) == [({}, value)]


HAMMERDB = """HammerDB CLI v4.9
Vuser 1:RUNNING
Vuser 1:DBVersion:16.1
Vuser 1:Beginning rampup time of 2 minutes
Vuser 2:RUNNING
Vuser 1:Timing test period of 5 in minutes
Vuser 1:5  ...,
Vuser 1:{users} Active Virtual Users configured
Vuser 1:TEST RESULT : System achieved {nopm} NOPM from {tpm} PostgreSQL TPM
Vuser 1:FINISHED SUCCESS
Vuser 2:FINISHED {ended}
ALL VIRTUAL USERS COMPLETE
"""


def of_hammerdb(users: int, nopm: int, ended: str = "SUCCESS") -> str:
    return HAMMERDB.format(users=users, nopm=nopm, tpm=nopm * 2, ended=ended)


def test_logs_of_hammerdb_are_a_run_over_virtual_users(dbatk: Dbatk, home: Path) -> None:
    one = put(home, "a.log", of_hammerdb(2, 8043) + of_hammerdb(4, 12450) + of_hammerdb(8, 13000, "FAILED"))
    old = "Timestamp 1 @ Tue\nVuser 1:2 Active Virtual Users configured\nVuser 1:TEST RESULT : System achieved "
    two = put(home, "b.log", old + "14999 PostgreSQL TPM at 6461 NOPM\n")
    run = shown(dbatk, one)
    assert (run["engine"], run["judged_by"]) == (
        "postgresql",
        {"metric": "nopm", "unit": "1/min", "better": "higher"},
    )
    assert medians(run)[:2] == [({"virtual_users": 2}, 8043), ({"virtual_users": 4}, 12450)]
    trials, environment = run["trials"], run["environment"]
    assert isinstance(trials, list)
    assert trials[2]["reason"] == "1 virtual users ended as failed"
    assert isinstance(environment, dict)
    assert {environment[name] for name in ("duration_minutes", "dbms", "dbms_version", "hammerdb")} == {
        "5", "PostgreSQL", "16.1", "4.9",
    }  # fmt: skip
    assert medians(shown(dbatk, two)) == [({}, 6461)]


SWINGBENCH = """<?xml version="1.0" encoding="UTF-8"?>
<Results xmlns="http://www.dominicgiles.com/swingbench/results">
   <Overview>
      <BenchmarkName>"Order Entry (PLSQL) V2"</BenchmarkName>
      <TimeOfRun>17 Nov 2023, 10:58:37</TimeOfRun>
      <TotalRunTime>0:01:00</TotalRunTime>
      <TotalCompletedTransactions>22774</TotalCompletedTransactions>
      <TotalFailedTransactions>3</TotalFailedTransactions>
      <AverageTransactionsPerSecond>{tps}</AverageTransactionsPerSecond>
   </Overview>
   <Configuration>
      <NumberOfUsers>{users}</NumberOfUsers>
   </Configuration>
   <TransactionResults>
      <Result id="Customer Registration"><TransactionCount>5</TransactionCount></Result>
   </TransactionResults>
</Results>
"""


def test_results_of_swingbench_are_a_run_over_users(dbatk: Dbatk, home: Path) -> None:
    files = [put(home, f"{n}.xml", SWINGBENCH.format(users=n, tps=n * 95.5)) for n in (4, 8)]
    run = shown(dbatk, *files)
    assert (run["engine"], medians(run)) == ("oracle", [({"users": 4}, 382), ({"users": 8}, 764)])
    environment = run["environment"]
    assert isinstance(environment, dict)
    assert (environment["benchmark"], environment["run_time"]) == ('"Order Entry (PLSQL) V2"', "0:01:00")


def of_benchbase(terminals: int, rate: float, **fields: object) -> str:
    """What BenchBase writes as `*.summary.json`."""
    summary = {
        "scalefactor": "1", "Current Timestamp (milliseconds)": 1723441634718, "Benchmark Type": "tpcc",
        "Start timestamp (milliseconds)": 1723441031104, "isolation": "TRANSACTION_SERIALIZABLE",
        "DBMS Version": "PostgreSQL 14.2", "DBMS Type": "POSTGRES", "terminals": str(terminals),
        "Final State": "DONE",
        "Goodput (requests/second)": rate - 1, "Throughput (requests/second)": rate,
        "Latency Distribution": {
            "95th Percentile Latency (microseconds)": 51237, "Average Latency (microseconds)": 29874,
        },
    }  # fmt: skip
    return json.dumps(summary | fields, indent=1)


def test_summaries_of_benchbase_are_a_run_over_terminals(dbatk: Dbatk, home: Path) -> None:
    files = [put(home, f"{n}.json", of_benchbase(n, 33.5 * n)) for n in (1, 2)]
    run = shown(dbatk, *files, put(home, "e.json", of_benchbase(4, 5, **{"Final State": "ERROR"})))
    assert medians(run)[:2] == [({"terminals": 1}, 33.5), ({"terminals": 2}, 67)]
    trials, warnings = run["trials"], run["warnings"]
    assert isinstance(trials, list)
    assert isinstance(warnings, list)
    assert [(m["name"], m["value"]) for m in trials[0]["metrics"]] == [
        ("requests_per_second", 33.5), ("goodput_per_second", 32.5),
        ("latency_average_ms", 29.874), ("latency_p95_ms", 51.237),
    ]  # fmt: skip
    assert trials[2]["reason"] == "its final state is ERROR"
    assert run["engine"] == "postgresql"


def of_benchbox(release: str, factor: float = 1, **fields: object) -> str:
    """What BenchBox writes, schema 2."""
    queries = [
        {"id": query, "ms": ms * factor + number, "rows": 4, "status": "SUCCESS", "stream": 0, "iter": number,
         "run_type": "warmup" if number == 0 else "measurement", "test_type": "power"}
        for query, ms in (("Q1", 14.0), ("Q2", 30.0)) for number in range(4)
    ]  # fmt: skip
    queries.append(
        {"id": "Q3", "ms": 0, "status": "ERROR", "stream": 0, "run_type": "measurement", "test_type": "power"}
    )
    result = {
        "result_schema_version": "2.2", "benchmark": {"id": "tpch", "name": "TPC-H", "scale_factor": 0.01},
        "platform": {"name": "DuckDB", "version": release}, "run": {"timestamp": "2026-05-01T12:00:00Z"},
        "queries": queries, "environment": {"os": "Linux", "cpu_model": "EPYC", "cpu_count": 8},
    }  # fmt: skip
    return json.dumps(result | fields)


def test_results_of_benchbox_compare_queries_and_releases(dbatk: Dbatk, home: Path) -> None:
    run = shown(dbatk, put(home, "a.json", of_benchbox("1.4.0")), put(home, "b.json", of_benchbox("1.5.0", 0.5)))
    trials, environment = run["trials"], run["environment"]
    assert isinstance(trials, list)
    assert isinstance(environment, dict)
    assert [trial["repeat"] for trial in trials[:4]] == [0, 1, 2, 3]
    assert trials[8]["reason"] == "its status is ERROR"
    told = {str(cell["platform_version"] + cell["query"]): median for cell, median in medians(run)}  # type: ignore[index]
    assert (told["1.4.0Q1"], told["1.5.0Q2"]) == (pytest.approx(0.016), pytest.approx(0.017))
    assert (run["engine"], environment["cpu"], environment["scale"]) == ("duckdb", "EPYC", "0.01")
    assert str(trials[0]["began_at"]).startswith("2026-05-01")


def of_pytest(*tests: tuple[str, dict[str, object] | None, list[float]]) -> str:
    """What pytest-benchmark 5.2 writes with `--benchmark-json`."""
    return json.dumps(
        {
            "machine_info": {"node": "vm", "system": "Linux", "cpu": {"brand_raw": "EPYC", "count": 2}},
            "commit_info": {"id": "unversioned"},
            "benchmarks": [
                {"group": None, "name": name, "fullname": f"test_b.py::{name}", "params": params, "extra_info": {},
                 "stats": {"min": min(times), "rounds": len(times), "data": times, "iterations": 3}}
                for name, params, times in tests
            ],
            "datetime": "2026-11-26T00:40:01.123456+00:00", "version": "5.2.3",
        }
    )  # fmt: skip


def test_rounds_of_pytest_benchmark_are_trials_over_parameters(dbatk: Dbatk, home: Path) -> None:
    alike = of_pytest(("test_sort[1]", {"n": 1}, [0.5, 0.75]), ("test_sort[2]", {"n": 2}, [1.5, 2.5]))
    run = shown(dbatk, put(home, "a.json", alike))
    assert medians(run) == [({"n": 1}, 0.625), ({"n": 2}, 2.0)]
    environment = run["environment"]
    assert isinstance(environment, dict)
    assert (environment["cpu"], environment["cores"], environment["test"]) == ("EPYC", "2", "test_b.py::test_sort")
    other = of_pytest(("test_sort[1]", {"n": 1}, [0.5, 0.75]), ("test_plain", None, [0.1, 0.2]))
    run = shown(dbatk, put(home, "b.json", other))
    assert [cell["test"] for cell, _ in medians(run)] == [  # type: ignore[index]
        "test_b.py::test_sort[1]", "test_b.py::test_plain",
    ]  # fmt: skip


def log_of(client: int, begin: int, times: list[int]) -> str:
    """Lines of pgbench 15's `--log`, one transaction after the other."""
    lines, now = [], begin
    for number, time in enumerate(times, 1):
        now += time
        lines.append(f"{client} {number} {time} 0 {now // 1_000_000} {now % 1_000_000}\n")
    return "".join(lines)


def test_logs_of_pgbench_are_trials_whose_clients_are_counted(dbatk: Dbatk, home: Path) -> None:
    begin = 1_795_653_684 * 1_000_000
    one = put(home, "pgbench_log.19309", log_of(0, begin, [100_000] * 10))
    two = put(home, "pgbench_log.19309.1", log_of(1, begin, [50_000] * 20))
    skipped = "0 6 skipped 0 1795653685 1 7 0\n"
    alone = put(home, "pgbench_log.2", log_of(0, begin, [200_000] * 5) + skipped)
    run = shown(dbatk, one, two, alone)
    assert medians(run) == [({"clients": 2}, pytest.approx(30)), ({"clients": 1}, pytest.approx(5, rel=1e-4))]
    trials = run["trials"]
    assert isinstance(trials, list)
    assert {m["name"]: m["value"] for m in trials[0]["metrics"]} == {
        "tps": pytest.approx(30), "latency_average_ms": pytest.approx(2000 / 30), "latency_p50_ms": 50,
        "latency_p95_ms": 100, "latency_p99_ms": 100, "failed_transactions": 0, "skipped_transactions": 0,
    }  # fmt: skip
    assert str(trials[0]["began_at"]).startswith("2026-11-26T")
    assert trials[1]["metrics"][-1]["value"] == 1


def test_an_aggregated_log_of_pgbench_counts_whole_intervals(dbatk: Dbatk, home: Path) -> None:
    numbers = (3, 400, 600, 7)
    lines = [f"{1795653686 + at} {n} {n * 2000} 9 658 55875 0 0 0 0 0 0 0 0 0\n" for at, n in enumerate(numbers)]
    run = shown(dbatk, put(home, "pgbench_log.5", "".join(lines)))
    assert medians(run) == [({}, 500)]
    assert "left out" in str(run["warnings"])


TOML = """source = "by hand"
operation = "backup"
target = "oracle"
unit = "min"

[[trial]]
channels = 1
value = 10.5

[[trial]]
channels = 4
value = 3
"""


def test_toml_has_a_table_for_each_trial(dbatk: Dbatk, home: Path) -> None:
    run = shown(dbatk, put(home, "t.toml", TOML))
    assert (run["operation"], run["engine"]) == ("backup", "oracle")
    assert medians(run) == [({"channels": 1}, 630), ({"channels": 4}, 180)]
    rates = '[[trial]]\nusers = 1\n"tps[1/s,higher]" = 100\n\n[[trial]]\nusers = 2\n"tps[1/s,higher]" = 150.5\n'
    assert medians(shown(dbatk, put(home, "u.toml", rates))) == [({"users": 1}, 100), ({"users": 2}, 150.5)]


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (of_sysbench(1, 1, end=""), "has no statistics at its end"),
        ("sysbench 1.0.20\nNumber of threads: many\n", "has no number of threads"),
        (of_sysbench(1, 1) + CPU, "outputs of different tests"),
        ("Vuser 1:RUNNING\nVuser 1:Timing test period of 5 in minutes\n", "ends without a result"),
        (of_hammerdb(2, 8043) + of_hammerdb(4, 1).partition("Vuser 1:4")[0], "line 16: the run of HammerDB that"),
        ("<Results><a>", "line 1: this is not XML, or it is cut off"),
        ("<Report></Report>", "not a results file of Swingbench"),
        ("<!DOCTYPE html><html></html>", "not a file of trials that dbatk reads"),
        ('<!DOCTYPE x [<!ENTITY a "b">]><Results/>', "declares entities"),
        (SWINGBENCH.format(users=1, tps="many"), "does not say how many transactions a second"),
        (of_benchbase(1, 1, **{"Throughput (requests/second)": "fast"}), "does not say how many requests"),
        (of_benchbox("1", result_schema_version="3.0"), "schema 3.0 of BenchBox, and schema 2 is read"),
        (of_benchbox("1", queries=[]), "holds no queries"),
        (of_benchbox("1", queries=[{"id": "Q1", "ms": 0, "status": "SUCCESS"}]), "query 1 has a time that is"),
        (of_pytest(("test_a", None, [0.5])).replace('"data"', '"other"'), "test 1 has no name or no single times"),
        (of_pytest(("test_a", None, [0.5, 0])), "test 1 has a time that is not a number above 0"),
        ("0 1 3502 0 1795653684 811057\n0 3 3502 0 1795653684 911057\n", "numbers of transactions are missing"),
        ("0 1 3502 0 1795653684 811057\n0 2 35", "line 2: this is not a line of such a log"),
        ("1795653686 179 1946817 37553845531 658 55875\n", "no rate follows of fewer than 4"),
        ("[[trial]]\ndegree = \n", "this is not TOML"),
        ("elapsed_seconds = 1\n[[trial]]\ndegree = 1\n", "cannot stand above the trials"),
        ("[[trial]]\ndegree = [1]\nelapsed_seconds = 1\n", "trial 1: `degree` is neither a text nor a number"),
        ("[[trial]]\ndegree = 1\nelapsed_seconds = 1\n[[trial]]\nelapsed_seconds = 2\n", "the factor `degree`"),
    ],
)  # fmt: skip
def test_what_is_damaged_or_newer_is_refused_whole(dbatk: Dbatk, home: Path, text: str, says: str) -> None:
    refused = dbatk("import", put(home, "bad", text))
    assert (refused.status, refused.out, says in " ".join(refused.err.split())) == (2, "", True), refused
    assert "hint:" in refused.err
    assert json.loads(dbatk("runs", "list", "--json").out)["runs"] == []
