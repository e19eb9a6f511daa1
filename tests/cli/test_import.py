"""`import`: numbers that others measured, as runs."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.cli.conftest import Dbatk
from toolkit.store import open_store

SWEEP = """# source: by hand
# published: 4 is enough
# note: of one host
degree,compression,elapsed_seconds,cpu[s,lower]
1,none,10.0,9
1,none,10.1,9
1,none,9.9,9
4,none,3.0,11
4,none,3.1,11
4,none,2.9,11
8,none,2.9,12
8,none,3.1,12
8,none,3.0,12
"""


def of_hyperfine(**fields: object) -> str:
    """One result as hyperfine 1.15 and later write it."""
    result = {"command": "sort -S 1M a", "mean": 0.2, "times": [0.2, 0.25], "exit_codes": [0, 0]} | fields
    return json.dumps({"results": [result]}, indent=2)


def of_hyperfine_2(seconds: float, level: str, *, schema: int = 2, unit: str = "second", **run: object) -> str:
    """What hyperfine 2.0.0 wrote for `-L n LEVEL`, one run, with other numbers and without its summary."""
    measured = {
        "time_wall_clock": {"value": seconds, "unit": unit}, "time_cpu": {"value": 0.03, "unit": "second"},
        "time_user": {"value": 0.02, "unit": "second"}, "time_system": {"value": 0.01, "unit": "second"},
        "memory_peak_resident": {"value": 2936832.0, "unit": "byte"}, "exit_code": 0, **run,
    }  # fmt: skip
    result = {"command": f"sort -S {level}", "measurements": [measured], "parameters": {"n": {"value": level}}}
    document = {
        "metadata": {"hyperfine_version": "2.0.0"},
        "primary_metric": "time_wall_clock",
        "results": [result],
    }
    return json.dumps({"schema_version": schema, **document}, indent=2)


def put(home: Path, name: str, text: str) -> str:
    (home / name).write_text(text, encoding="utf-8")
    return name


def aggregated(home: Path, *names: str) -> list[str]:
    """Logs of pgbench runs of 10 transactions a second, each begun 1,000 seconds after the one before."""
    for number, name in enumerate(names):
        (home / name).parent.mkdir(exist_ok=True)
        begin = 1_795_653_686 + 1000 * number
        put(home, name, "".join(f"{begin + at} 10 19468 37553 1658 2587\n" for at in range(6)))
    return list(names)


@pytest.mark.parametrize(
    "names",
    [("l1/pgbench_log.1234", "l2/pgbench_log.1234"), ("pg.15.1234", "pg.15.1235"), ("l1/pg.1", "l2/pg.1.1")],
)
def test_logs_of_two_pgbench_runs_are_two_trials(dbatk: Dbatk, home: Path, names: tuple[str, ...]) -> None:
    taken = dbatk("import", *aggregated(home, *names), "--label", "mine", "--json")
    (found,) = json.loads(taken.out)["runs"]
    assert (taken.status, found["trials"], found["configurations"]) == (0, 2, 1)
    shown = json.loads(dbatk("runs", "show", "mine", "--json").out)
    assert [cell["median"] for cell in shown["cells"]] == [pytest.approx(10.0)]


def test_the_log_of_a_thread_needs_that_of_its_pgbench(dbatk: Dbatk, home: Path) -> None:
    refused = dbatk("import", *aggregated(home, "a/pgbench_log.7", "b/pgbench_log.7.1"))
    says = "`b/pgbench_log.7.1` is the log of one thread, and `b/pgbench_log.7` is not given"
    assert (refused.status, says in " ".join(refused.err.split())) == (2, True), refused
    assert json.loads(dbatk("runs", "list", "--json").out)["runs"] == []


def test_a_refusal_names_the_folder_of_a_file_where_there_are_several(dbatk: Dbatk, home: Path) -> None:
    for folder, text in (("a", SWEEP), ("b", SWEEP + "16,none,-,1\n")):
        (home / folder).mkdir()
        put(home, f"{folder}/t.csv", text)
    refused = dbatk("import", "a/t.csv", "b/t.csv")
    assert (refused.status, "`b/t.csv`, line 14" in refused.err) == (2, True), refused


def test_a_table_becomes_a_run_that_everything_reads(dbatk: Dbatk, home: Path) -> None:
    taken = dbatk("import", put(home, "t.csv", SWEEP), "--label", "mine", "--json")
    (found,) = json.loads(taken.out)["runs"]
    assert (taken.status, found["trials"], found["configurations"]) == (0, 9, 3)
    shown = json.loads(dbatk("runs", "show", "mine", "--json").out)
    assert [cell["median"] for cell in shown["cells"]] == [10.0, 3.0, 3.0]
    assert shown["environment"] == {
        "measured_by": "imported, CSV of trials", "source": "by hand", "published": "4 is enough",
    }  # fmt: skip
    assert shown["warnings"][0] == "of one host"
    assert [trial["repeat"] for trial in shown["trials"]] == [1, 2, 3] * 3
    advice = json.loads(dbatk("advise", "mine", "--json").out)
    assert (advice["verdict"], advice["recommended"]["degree"], advice["next"]) == ("conclusive", 4, None)
    pair = json.loads(dbatk("compare", "mine/degree=1", "mine/degree=4", "--json").out)["pairs"][0]
    assert (pair["verdict"], pair["ratio"]) == ("faster", pytest.approx(0.3, rel=0.01))
    for form in ("text", "html", "markdown", "json", "csv"):
        assert dbatk("report", "mine", "--format", form).status == 0
    assert "dbatk did not measure this" in " ".join(dbatk("report", "mine", "--format", "text").out.split())
    refused = dbatk("runs", "resume", "mine")
    assert (refused.status, "was imported" in refused.err) == (2, True)


def test_a_table_of_rates_without_times_is_told_and_reported(dbatk: Dbatk, home: Path) -> None:
    rows = "".join(f"{users},{100 * users + noise}\n" for noise in range(5) for users in (1, 2, 4, 8))
    assert dbatk("import", put(home, "t.csv", "users,tps[1/s,higher]\n" + rows), "--label", "mine").status == 0
    advice = json.loads(dbatk("advise", "mine", "--json").out)
    assert (advice["verdict"], advice["recommended"]) == ("conclusive", {"users": 8})
    assert dbatk("runs", "show", "mine").status == 0
    for form in ("text", "html"):
        assert dbatk("report", "mine", "--format", form).status == 0
    assert dbatk("compare", "mine/users=1", "mine/users=8").status == 0


def test_the_hint_of_an_import_shows_what_was_imported_however_old_it_is(dbatk: Dbatk, home: Path) -> None:
    assert dbatk("import", put(home, "t.csv", SWEEP), "--label", "mine").status == 0
    rows = "1,10,2025-01-05T10:00:00Z\n2,6,2025-01-05T10:01:00Z\n"
    old = put(home, "u.csv", "degree,elapsed_seconds,began_at\n" + rows)
    said = dbatk("import", old).err
    shown = re.search(r"dbatk (runs show \S+)`", said)
    assert shown is not None, said
    assert "2025-01-05" in dbatk(*shown[1].split()).out


def test_a_file_is_imported_once_whatever_it_is_called(dbatk: Dbatk, home: Path) -> None:
    assert dbatk("import", put(home, "t.csv", SWEEP)).status == 0
    again = dbatk("import", put(home, "u.csv", SWEEP))
    assert (again.status, "was imported before" in again.err) == (2, True)
    twice = dbatk("import", put(home, "v.csv", SWEEP + "16,none,2,1\n"), "v.csv")
    assert (twice.status, "given twice" in twice.err) == (2, True)
    assert len(json.loads(dbatk("runs", "list", "--json").out)["runs"]) == 1


def test_several_files_and_a_column_run_make_the_runs_they_say(dbatk: Dbatk, home: Path) -> None:
    head = "threads;run;throughput[MB/s];operation;target;outcome;repeat\n"
    one = put(home, "a.csv", head + "1;before;10.5;backup;oracle;;1\n1;after;12;backup;oracle;;1\n")
    two = put(home, "b.csv", head + "2;before;20;backup;oracle;;1\n2;after;;backup;oracle;failed;1\n")
    assert dbatk("import", one, two).status == 0
    shown = json.loads(dbatk("runs", "show", "before", "--json").out)
    assert (shown["engine"], shown["operation"]) == ("oracle", "backup")
    assert shown["judged_by"] == {"metric": "throughput", "unit": "MB/s", "better": "higher"}
    assert [cell["median"] for cell in shown["cells"]] == [10.5, 20]
    after = json.loads(dbatk("runs", "show", "after", "--json").out)
    assert [(trial["outcome"], trial["elapsed_seconds"]) for trial in after["trials"]] == [
        ("ok", None), ("failed", None),
    ]  # fmt: skip
    assert dbatk("report", "before", "after", "--format", "html").status == 0


def test_a_large_file_of_many_runs_is_kept_once_and_still_imported_once(
    dbatk: Dbatk, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = "".join(f"r{number},{degree},{degree + 1}\n" for number in range(3) for degree in (1, 2))
    file = put(home, "many.csv", "run,degree,elapsed_seconds\n" + rows)
    monkeypatch.setattr("toolkit.app.importing._MOST_KEPT", 2 * len((home / file).read_bytes()))
    assert dbatk("import", file).status == 0
    with open_store(home / "store.sqlite") as store:
        kept = [store.load_run(store.resolve(f"r{number}")).artifacts[0].content for number in range(3)]
        first = store.resolve("r0")
    assert kept == [(home / file).read_bytes(), *[f"the file is kept with run {first}\n".encode()] * 2]
    assert dbatk("runs", "delete", first, "--yes").status == 0
    again = dbatk("import", file)
    assert (again.status, "was imported before" in again.err) == (2, True)


def test_many_runs_are_said_in_one_line_and_the_same_note_once(dbatk: Dbatk, home: Path) -> None:
    for many, lines in ((20, 20), (21, 1)):
        rows = "".join(f"of{many}-{number},{degree},1.5\n" for number in range(many) for degree in (1, 2))
        said = dbatk("import", put(home, f"{many}.csv", "run,degree,elapsed_seconds\n" + rows)).err
        assert len([line for line in said.splitlines() if "CSV of trials" in line]) == lines
        assert said.count("note: ") == 1
    assert "21 runs of 42 trials (CSV of trials)" in said


@pytest.mark.skipif(shutil.which("hyperfine") is None, reason="hyperfine is not installed")
def test_what_hyperfine_writes_is_read(dbatk: Dbatk, home: Path) -> None:
    line = ("hyperfine", "-N", "-r", "2", "-P", "n", "1", "2", "echo {n}", "--export-json", "h.json")
    subprocess.run(line, check=True, capture_output=True)
    results = json.loads((home / "h.json").read_text())["results"]
    times = [
        result.get("times") or [run["time_wall_clock"]["value"] for run in result["measurements"]]
        for result in results
    ]
    assert dbatk("import", "h.json").status == 0
    shown = json.loads(dbatk("runs", "show", "last", "--json").out)
    assert [trial["elapsed_seconds"] for trial in shown["trials"]] == [*times[0], *times[1]]
    assert [trial["factors"] for trial in shown["trials"]] == [{"n": 1}, {"n": 1}, {"n": 2}, {"n": 2}]


def test_commands_without_parameters_are_the_levels_and_a_failure_is_a_result(dbatk: Dbatk, home: Path) -> None:
    one = put(home, "a.json", of_hyperfine(memory_usage_byte=[4096, 8192]))
    two = put(home, "b.json", of_hyperfine(command="sort -S 9M a", exit_codes=[0, 3]))
    assert dbatk("import", one, two).status == 0
    shown = json.loads(dbatk("runs", "show", "last", "--json").out)
    assert [trial["factors"]["command"] for trial in shown["trials"]] == ["sort -S 1M a"] * 2 + [
        "sort -S 9M a"
    ] * 2
    assert [trial["reason"] for trial in shown["trials"]] == [None, None, None, "exit status 3"]
    assert shown["trials"][1]["metrics"][0]["value"] == 8192


def test_each_run_that_hyperfine_2_writes_is_a_trial_with_its_cpu_and_memory(dbatk: Dbatk, home: Path) -> None:
    one = put(home, "a.json", of_hyperfine_2(0.25, "1M"))
    two = put(home, "b.json", of_hyperfine_2(0.5, "9M", exit_code=3))
    assert dbatk("import", one, two).status == 0
    shown = json.loads(dbatk("runs", "show", "last", "--json").out)
    assert [trial["factors"] for trial in shown["trials"]] == [{"n": "1M"}, {"n": "9M"}]
    assert [trial["elapsed_seconds"] for trial in shown["trials"]] == [0.25, None]
    assert [trial["reason"] for trial in shown["trials"]] == [None, "exit status 3"]
    metrics = {one["name"]: (one["value"], one["unit"]) for one in shown["trials"][0]["metrics"]}
    assert metrics == {
        "peak_memory_bytes": (2936832.0, "bytes"), "user_cpu_seconds": (0.02, "seconds"),
        "system_cpu_seconds": (0.01, "seconds"),
    }  # fmt: skip


def of_pgbench(clients: int, tps: float, *, told: str = "tps = {} (without initial connection time)") -> str:
    """What pgbench 15.18 printed, with other numbers."""
    return f"""pgbench (15.18 (Debian 15.18-0+deb12u1))
transaction type: <builtin: TPC-B (sort of)>
scaling factor: 1
query mode: simple
number of clients: {clients}
number of threads: 2
maximum number of tries: 1
duration: 2 s
number of transactions actually processed: 458
number of failed transactions: 0 (0.000%)
latency average = 8.710 ms
initial connection time = 29.044 ms
{told.format(tps)}
"""


def test_outputs_of_pgbench_are_a_run_over_what_varies(dbatk: Dbatk, home: Path) -> None:
    older = "tps = 1.0 (including connections establishing)\ntps = {} (excluding connections establishing)"
    many = "".join(of_pgbench(clients, 100.5 * clients) for clients in (1, 2, 4, 1, 2, 4))
    one, two = put(home, "a.txt", many), put(home, "b.txt", of_pgbench(8, 900, told=older))
    three = put(home, "c.txt", of_pgbench(8, 1, told="pgbench: error: Run was aborted; the above results ..."))
    assert dbatk("import", one, two, three).status == 0
    shown = json.loads(dbatk("runs", "show", "last", "--json").out)
    assert shown["judged_by"] == {"metric": "tps", "unit": "1/s", "better": "higher"}
    assert [(cell["factors"], cell["median"]) for cell in shown["cells"]] == [
        ({"clients": 1}, 100.5), ({"clients": 2}, 201), ({"clients": 4}, 402), ({"clients": 8}, 900),
    ]  # fmt: skip
    assert (shown["engine"], shown["environment"]["duration"]) == ("postgresql", "2 s")
    assert shown["environment"]["pgbench"] == "15.18 (Debian 15.18-0+deb12u1)"
    assert shown["trials"][0]["metrics"][2] == {
        "name": "latency_average_ms", "value": 8.71, "unit": "ms", "source": "pgbench",
    }  # fmt: skip
    assert shown["trials"][-1]["reason"] == "the run was aborted"
    assert dbatk("report", "last", "--format", "html").status == 0


@pytest.mark.thin(3)
@pytest.mark.parametrize(
    ("text", "says"),
    [
        (of_pgbench(1, 1, told=""), "line 2: this output of pgbench does not say how many"),
        ("transaction type: x\n", "line 1: this output of pgbench has no number of clients"),
        (
            of_pgbench(1, 9) + "pgbench (15.18)\nstarting vacuum...end.\n",
            "line 14: the output of pgbench that begins here is cut off",
        ),
        ("pgbench (15.18)\nstarting vac\n" + of_pgbench(1, 9), "line 1: the output of pgbench that begins"),
        ("", "is empty: no trial is in it"),
        ("begin 600\nnothing", "line 1: this is not a file of trials"),
        ('{"results": []', "line 1: neither JSON"),
        ('{"other": 1}', "line 1: this is not a file of trials"),
        (of_hyperfine(times=[0.2, None]), "not a number above 0"),
        (of_hyperfine_2(0.2, "1M", schema=3), "a newer hyperfine"),
        (of_hyperfine_2(200.0, "1M", unit="millisecond"), "not in the unit `second`"),
        (of_hyperfine_2(0.2, "1M", time_wall_clock=None), "not a number above 0"),
        ('{"results": ' + "1" * 5000 + "}", "has a number too long"),
        (of_hyperfine(times=[10**400, 1]), "not a number above 0"),
        (of_hyperfine(exit_codes=[0]), "another number of `exit_codes`"),
        ("degree,elapsed_seconds\n", "no trial"),
        (
            "degree,elapsed_seconds,outcome\n1,,failed\n2,,failed\n",
            "no trial has a value, so that there is nothing",
        ),
        ("degree,elapsed_seconds\n1,2\n\n2\n", "line 4: 1 values under 2 columns"),
        ("degree,elapsed_seconds\n1,fast\n", "line 2: `fast` under `elapsed_seconds` is not a number"),
        ("degree,elapsed_seconds\n1,-2\n", "line 2: an elapsed time"),
        ("degree,elapsed_seconds\n1,2\n2,1e308\n", "line 3: an elapsed time"),
        ("degree,elapsed_seconds\n1,2\n2,1e-200\n", "line 3: 1e-200 seconds cannot be analysed"),
        ("degree,value,unit\n1,2,MB/s\n2,1e308,MB/s\n", "line 3: 1e+308 MB/s cannot be analysed"),
        ("degree,tps[1/s,higher]\n1,-1e300\n2,3\n", "line 2: -1e+300 1/s cannot be analysed"),
        ("degree,elapsed_seconds\n,2\n", "line 2: the factor `degree` has no level"),
        ("degree,degree,elapsed_seconds\n1,1,2\n", "is there twice"),
        ("degree,value\n1,2\n", "`value` and `unit` need each other"),
        ("degree,value,unit\n1,2,MB/s\n2,3,kB/s\n", "the value is in `kB/s`, before it was in `MB/s`"),
        ("degree,value,unit\n1,2,s\n2,3,MB/s\n", "line 3: the value is in `MB/s`, before it was in `seconds`"),
        ("degree,x[1/s,higher],value,unit\n1,5,2,s\n2,5,3,MB/s\n", "line 3: the value is in `MB/s`"),
        ("degree,throughput\n1,2\n", "has no unit"),
        ("degree,value,unit\n1,2,score\n", "which way is better"),
        ("degree,elapsed_seconds,outcome\n1,2,fine\n", "line 2: there is no outcome `fine`"),
        ("degree,elapsed_seconds,repeat\n1,2,1\n1,3,1\n", "line 3: repeat 1 of `degree=1` is there already"),
        ("degree,elapsed_seconds,began_at\n1,2,noon\n", "line 2: `noon` is not a date and time"),
        ("degree,elapsed_seconds,operation\n1,2,dance\n", "there is no operation `dance`"),
        ("degree,elapsed_seconds,target\n1,2,postgresql://u:secret@h/d\n", "contains a password"),
        ('degree,elapsed_seconds\n"1,2\n', "this is not CSV"),
    ],
)
def test_anything_else_is_refused_whole(dbatk: Dbatk, home: Path, text: str, says: str) -> None:
    good, bad = put(home, "good.csv", SWEEP), put(home, "bad.csv", text)
    refused = dbatk("import", bad)
    assert (refused.status, refused.out, says in " ".join(refused.err.split())) == (2, "", True), refused
    assert "hint:" in refused.err
    assert dbatk("import", good, bad).status == 2
    assert json.loads(dbatk("runs", "list", "--json").out)["runs"] == []


def test_bytes_that_are_no_text_and_files_that_are_not_there_are_refused(dbatk: Dbatk, home: Path) -> None:
    (home / "b.csv").write_bytes(b"degree,elapsed_seconds\n1,\xff\n")
    refused = dbatk("import", "b.csv")
    assert (refused.status, "line 2: this is not UTF-8 text" in refused.err) == (2, True)
    (home / "b.db").write_bytes(b"DUCK\xff\0\0\0\0")
    refused = dbatk("import", "b.db")
    assert (refused.status, "`b.db` is not a text file" in refused.err) == (2, True)
    assert dbatk("import", "none.csv").status == 2
    assert dbatk("import", ".").status == 2


@pytest.mark.parametrize("codec", ["utf-16", "utf-16-le", "utf-16-be", "utf-32", "utf-32-le", "utf-32-be"])
def test_text_that_windows_saved_is_refused_by_the_name_of_its_encoding(
    dbatk: Dbatk, home: Path, codec: str
) -> None:
    (home / "wide.csv").write_bytes(SWEEP.encode(codec))
    refused = dbatk("import", "wide.csv")
    assert refused.status == 2
    assert f"`wide.csv` is {codec[:6].upper()} text, not UTF-8" in refused.err
    known = codec.upper().replace("-LE", "LE").replace("-BE", "BE")
    assert f"convert it first: iconv -f {known} -t UTF-8" in refused.err


def test_the_metric_that_is_judged_can_be_chosen(dbatk: Dbatk, home: Path) -> None:
    name = put(home, "t.csv", SWEEP)
    assert dbatk("import", name, "--judge", "cups:lower").status == 2
    assert dbatk("import", name, "--judge", "cpu").status == 0
    shown = json.loads(dbatk("runs", "show", "last", "--json").out)
    assert shown["judged_by"] == {"metric": "cpu", "unit": "seconds", "better": "lower"}
    assert [cell["median"] for cell in shown["cells"]] == [9, 11, 12]


def test_an_exported_run_comes_back_byte_for_byte(dbatk: Dbatk, home: Path) -> None:
    assert dbatk("import", put(home, "t.csv", SWEEP), "--label", "mine").status == 0
    assert dbatk("runs", "export", "mine", "--out", "a.json").status == 0
    assert dbatk("import", "a.json").status == 2
    assert dbatk("import", "a.json", "--store", "other.sqlite").status == 0
    assert dbatk("runs", "export", "mine", "--out", "b.json", "--store", "other.sqlite").status == 0
    assert (home / "a.json").read_bytes() == (home / "b.json").read_bytes()
