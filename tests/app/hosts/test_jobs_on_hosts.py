"""Jobs of a mix on two hosts of a cluster: each runs the whole mix; a host that is lost fails the trial."""

from __future__ import annotations

import json
import signal
from pathlib import Path

import pytest

from tests.app.hosts.conftest import Begin, processes_of, until
from tests.servers.dask import TIMEOUT_SECONDS, DaskCluster
from tests.servers.forks import Forked
from tests.tiers import thinned
from toolkit.errors import ExitCode

pytestmark = pytest.mark.postgresql
JOBS = """
[[job]]
name = "where"
command = "sh -c 'cat /proc/$PPID/cmdline > {folder}/$$; sleep 0.4'"

[[job]]
name = "burn"
command = "sh -c 'i=0; while [ $i -lt 20000 ]; do i=$((i+1)); done'"
after = ["where"]

[[job]]
name = "own"
command = "./own.sh"
cwd = "{folder}/.."

[[job]]
name = "found"
command = "own.sh"
env = ["PATH={folder}/.."]
"""
LONG = """
[[job]]
name = "long"
command = "sh -c 'touch {folder}/begun-$$; sleep 300'"
"""


def mix(folder: Path, text: str) -> str:
    (folder / "out").mkdir()
    (folder / "mix.toml").write_text(text.replace("{folder}", str(folder / "out")))
    return "mix.toml"


def test_each_host_runs_the_whole_mix_and_its_jobs_are_told_by_one_clock(
    begin: Begin, cluster: DaskCluster, tmp_path: Path
) -> None:
    (tmp_path / "own.sh").write_text("#!/bin/sh\n")
    (tmp_path / "own.sh").chmod(0o755)
    run = begin("mix", mix(tmp_path, JOBS), "--on", cluster.url, "--nodes", "2")
    _, err = run.communicate(timeout=TIMEOUT_SECONDS)
    assert run.returncode == 0, err
    assert "the jobs run on 2 hosts of dask://" in err and ": alpha, beta" in err
    assert len(list((tmp_path / "out").iterdir())) == 2
    shown, _ = begin("report", "last", "--json").communicate(timeout=TIMEOUT_SECONDS)
    (trial,) = json.loads(shown)["trials"]
    assert {item["label"] for item in trial["items"]} == {
        f"{name} on node {node}" for name in ("where", "burn", "own", "found") for node in (1, 2)
    }
    found = {each["name"]: each["value"] for each in trial["metrics"]}
    assert found["node_1_cores_busy"] > 0 < found["node_2_cores_busy"]
    assert 0 < found["host.beta.clock_uncertainty_seconds"] < 100
    assert 0.4 < trial["elapsed_seconds"] < 100, "begin and end of what ran on another clock are told by this one"
    assert 0 <= found["waited_for_a_turn_seconds"] < 100
    until(lambda: not processes_of(cluster, "alpha") and not processes_of(cluster, "beta"))


PREPARED = """
[mix]
prepare = ["sh -c 'cp /proc/$PPID/cmdline {folder}/prepared-$PPID'"]
conclude = ["sh -c 'cp /proc/$PPID/cmdline {folder}/concluded-$PPID'"]

[[job]]
name = "a"
command = "sh -c 'ls {folder} | grep -c prepared; touch {folder}/ran-$$'"

[[job]]
name = "b"
command = "true"
after = ["a"]
"""


@pytest.mark.parametrize("number", thinned([4, 3], 2))
def test_three_and_four_hosts_each_prepare_run_and_conclude(
    begin: Begin, cluster: DaskCluster, tmp_path: Path, number: int
) -> None:
    further = ("gamma", "delta")[: number - 2]
    for host in further:
        cluster.begin_worker(host)
    cluster.wait_for_workers(number)
    try:
        run = begin("mix", mix(tmp_path, PREPARED), "--on", cluster.url, "--nodes", str(number), "--json")
        out, err = run.communicate(timeout=TIMEOUT_SECONDS)
    finally:
        for host in further:
            cluster.kill(host)
        cluster.wait_for_as_many_workers(2)
    assert run.returncode == 0, err
    (trial,) = json.loads(out)["trials"]
    assert len(trial["items"]) == 2 * number and {item["outcome"] for item in trial["items"]} == {"ok"}
    names = [one.name.split("-")[0] for one in (tmp_path / "out").iterdir()]
    assert {name: names.count(name) for name in names} == {"prepared": number, "ran": number, "concluded": number}
    found = {each["name"] for each in trial["metrics"]}
    assert {f"node_{node}_cores_busy" for node in range(1, number + 1)} <= found
    assert {f"host.{host}.clock_uncertainty_seconds" for host in ("alpha", "beta", *further)} <= found


def begun(begin: Begin, cluster: DaskCluster, folder: Path) -> Forked:
    run = begin("mix", mix(folder, LONG), "--on", cluster.url, "--nodes", "2", "--json")
    until(lambda: run.poll() is not None or len(list((folder / "out").iterdir())) == 2)
    assert run.poll() is None, run.communicate()
    return run


def test_a_host_that_is_killed_fails_the_mix_and_what_runs_on_the_other_can_be_ended(
    begin: Begin, cluster: DaskCluster, tmp_path: Path
) -> None:
    run = begun(begin, cluster, tmp_path)
    below = processes_of(cluster, "beta")
    cluster.kill("beta")
    until(lambda: not any(one.is_running() and one.status() != "zombie" for one in below))
    run.send_signal(signal.SIGINT)
    out, err = run.communicate(timeout=TIMEOUT_SECONDS)
    assert run.returncode == ExitCode.INTERRUPTED and "Traceback" not in err, err
    until(lambda: not processes_of(cluster, "alpha"))
    shown, _ = begin("report", "last", "--json").communicate(timeout=TIMEOUT_SECONDS)
    (trial,) = json.loads(shown)["trials"]
    (lost,) = [item for item in trial["items"] if item["label"] == "long on node 2"]
    assert lost["outcome"] == "failed" and "host `beta` was lost" in lost["reason"], out


@pytest.mark.full
def test_programs_end_when_the_run_is_killed(begin: Begin, cluster: DaskCluster, tmp_path: Path) -> None:
    run = begun(begin, cluster, tmp_path)
    run.kill()
    run.communicate(timeout=TIMEOUT_SECONDS)
    until(lambda: not any(processes_of(cluster, host) for host in ("alpha", "beta")))


@pytest.mark.parametrize(
    ("job", "more", "said"),
    [
        ('command = "no-such-program"', ("--nodes", "2"), "cannot take part: it has no program `no-such-program`"),
        ('command = "/no/such/program"', ("--nodes", "2"), "it has no program `/no/such/program`"),
        ('command = "true"', ("--nodes", "3"), "has workers on 2 hosts, and 3 are asked for"),
        ('command = "true"', (), "`--on` does not say how many hosts"),
        ('command = "true"', ("--nodes", "2", "setup"), "`setup` runs once, on this host"),
        (
            'command = "true"', ("--nodes", "2", "prepare"),
            "cannot take part: it has no program `no-such-program`",
        ),
        (
            'operation = "stats-gather"\ntarget = "crm"\nschema = "s"', ("--nodes", "2"),
            "the job `j` is dbatk itself, which runs on this host",
        ),
    ],
)  # fmt: skip
def test_what_cannot_run_there_is_refused_before_anything_begins(
    begin: Begin, cluster: DaskCluster, tmp_path: Path, job: str, more: tuple[str, ...], said: str
) -> None:
    around = [each for each in more if each in ("setup", "prepare")]
    more = tuple(each for each in more if each not in around)
    text = "".join(f'[mix]\n{each} = ["no-such-program"]\n' for each in around) + f'[[job]]\nname = "j"\n{job}\n'
    run = begin("mix", mix(tmp_path, text), "--on", cluster.url, *more)
    _, err = run.communicate(timeout=TIMEOUT_SECONDS)
    assert said in err and run.returncode in (ExitCode.USAGE, ExitCode.REFUSED)
    listed, _ = begin("runs", "list", "--json").communicate(timeout=TIMEOUT_SECONDS)
    assert '"runs": []' in listed or '"error"' in listed
