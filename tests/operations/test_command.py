"""Programs as an operation: what is refused before anything runs, and what runs then."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from types import SimpleNamespace

import psutil
import pytest

from tests.engines.arena import Heard
from tests.for_each import for_each
from tests.servers.forks import Forked
from toolkit.app.approvals import Approvals
from toolkit.app.runs.execute import resume, start
from toolkit.app.runs.preview import script
from toolkit.app.targets import find_target
from toolkit.cli.main import main
from toolkit.cli.operations import experiment_of
from toolkit.cli.parameters import Arguments
from toolkit.design.file import dump_experiment, parse_experiment
from toolkit.design.placeholders import fill, placeholders
from toolkit.errors import ExitCode, ToolkitError
from toolkit.executors import keeper
from toolkit.model.experiment import Experiment
from toolkit.model.records import RunRecord
from toolkit.model.words import Mode, Outcome, RunState
from toolkit.report.render import Format, render
from toolkit.runner import Stop
from toolkit.store import open_store
from toolkit.store.codec import experiment_from_json, experiment_to_json
from toolkit.store.store import Store

ALLOWED = Approvals(allow_commands=True)


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with open_store(tmp_path / "store" / "store.sqlite") as opened:
        yield opened


def asked(*command: str, **given: object) -> Experiment:
    """The experiment of a command line; options by their names, several values as a list."""
    return experiment_of("command", Arguments({"command": list(command), **given}))


def ran(store: Store, experiment: Experiment, heard: Heard | None = None) -> RunRecord:
    target = find_target(experiment.target).target
    run = start(experiment, target, store=store, approvals=ALLOWED, events=heard or Heard())
    assert store.journal(run).open_entries() == ()
    return store.load_run(run)


def python(text: str, *arguments: str) -> tuple[str, ...]:
    return (sys.executable, "-c", text, *arguments)


# -- what is asked for ------------------------------------------------------------------------------------------
def test_factors_of_any_name_are_levels_of_a_sweep() -> None:
    found = asked("tool", "-p{threads}", "--how={how}", factor=["threads=1..8x2", "how=fast,safe"])
    assert [(one.name, one.levels) for one in found.factors] == [
        ("threads", (1, 2, 4, 8)),
        ("how", ("fast", "safe")),
    ]
    assert (found.mode, found.target, found.detect_pct) == (Mode.MEASUREMENT, "host://", 10.0)
    assert asked("tool").mode is Mode.JOB
    assert asked("tool", measure=True).mode is Mode.MEASUREMENT


def test_a_file_says_the_same_as_the_line_that_wrote_it() -> None:
    found = asked(
        "tool", "-p{threads}", "it's", factor=["threads=1,2"], with_=["other 'a b'"], prepare=["sync"],
        env=["A=b", "HOME"], cwd="/tmp", allow_exit="1,3", concurrency="1,2",
    )  # fmt: skip
    assert parse_experiment(dump_experiment(found)) == found
    assert experiment_from_json(experiment_to_json(found)) == found


def test_a_file_takes_argument_lists_and_lines() -> None:
    head = '[experiment]\noperation = "command"\ncommand = ["tool", "{n}"]\n'
    found = parse_experiment(head + 'prepare = [["sh", "-c", "a; b"], "sync"]\n[factors]\nn = [1, 2]\n')
    assert found.options["prepare"] == ("sh -c 'a; b'", "sync")
    assert found.target == "host://"


@for_each(
    ("given", "code", "said"),
    [
        ({"factor": ["n=1,2"]}, "TK-0107", "used by no program"),
        ({"command": ["tool", "{n}"]}, "TK-0107", "`{n}`, which is no factor"),
        ({"command": ["tool", "{n}"], "factor": ["n=1,2"], "setup": ["make {n}"]}, "TK-0107", "runs once"),
        ({"command": ["tool", "--password=x"]}, "TK-0108", "all who list the processes"),
        ({"env": ["DB_PASSWORD=x"]}, "TK-0108", "looks like a secret"),
        ({"env": ["1=x"]}, "TK-0102", "does not name a variable"),
        ({"prepare": ["sh -c 'open"]}, "TK-0102", "no closing quotation"),
        ({"prepare": ["''"]}, "TK-0102", "names no program"),
        ({"allow_exit": "1,256"}, "TK-0102", "--allow-exit"),
        ({"concurrency": "3", "with_": ["other"]}, "TK-0107", "more than the 2 programs"),
        ({"factor": ["n"]}, "TK-0102", "no levels"),
        ({"factor": ["a b=1"]}, "TK-0102", "cannot name a factor"),
        ({"command": ["tool", "{command}"], "factor": ["command=1,2"]}, "TK-0107", "name of an option"),
        ({"command": []}, "TK-0107", "needs `--command`"),
    ],
)
def test_what_cannot_be_right_is_refused(given: dict[str, object], code: str, said: str) -> None:
    command = given.pop("command", ["tool"])
    assert isinstance(command, list)
    with pytest.raises(ToolkitError) as caught:
        asked(*command, **given)
    assert (caught.value.code, said in caught.value.message) == (code, True), caught.value.message


@for_each(
    "kept",
    ["{{n}}", "${n}", "awk '{print $1}'", "{}", "{ n }", "{1}", "a{b c}d"],
)
def test_braces_that_name_no_factor_stay(kept: str) -> None:
    assert placeholders(kept) == ()
    assert fill(kept, {}) == kept.replace("{{n}}", "{n}")


# -- what runs ----------------------------------------------------------------------------------------------------
def test_a_program_is_swept_with_its_levels_among_the_arguments(store: Store) -> None:
    text = "import sys, time; time.sleep(float(sys.argv[1]))"
    record = ran(store, asked(*python(text, "{seconds}"), factor=["seconds=0,0.2"], repeat=2, warmup=0))
    assert (record.head.state, [trial.outcome for trial in record.trials]) == (RunState.DONE, [Outcome.OK] * 4)
    slow = [trial.elapsed_seconds for trial in record.trials if str(trial.cell) == "seconds=0.2"]
    assert all(found is not None and found >= 0.2 for found in slow)
    told = {metric.name: metric.value for metric in record.trials[0].metrics}
    assert told["user_seconds"] + told["system_seconds"] > 0
    assert told["peak_memory_bytes"] > 1e6


def test_the_memory_of_the_whole_tree_is_that_of_all_its_processes_together() -> None:
    size = 40 * 2**20
    held = f"x = bytearray({size}); print(flush=True); input()"
    text = f"""
import subprocess, sys
from toolkit.executors.keeper import _TreeMemory
held = [subprocess.Popen([sys.executable, "-c", {held!r}], stdin=-1, stdout=-1) for _ in range(3)]
for each in held: each.stdout.readline()
memory = _TreeMemory()
memory.look()
for each in held: each.communicate(b"x")
memory.look()
print(memory.found()["tree_memory_bytes"])
"""
    seen = float(subprocess.run([*python(text)], capture_output=True, check=True, text=True).stdout)
    assert 3 * size < seen < 6 * size, "the most of two looks"


@pytest.mark.parametrize(("cost", "seconds"), [(0.0, 0.036), (0.001, 1.0), (0.1, 100.0)])
def test_a_look_at_memory_that_costs_much_comes_seldom(
    monkeypatch: pytest.MonkeyPatch, cost: float, seconds: float
) -> None:
    """The looks take 0.1 % of one processor from the program that they look at, however large its tree is."""
    clock = [100.0]

    def look_below(_pid: int) -> list[int]:
        clock[0] += cost
        return []

    monkeypatch.setattr(keeper, "time", SimpleNamespace(perf_counter=lambda: clock[0]))
    monkeypatch.setattr(keeper, "below", look_below)
    memory = keeper._TreeMemory()
    clock[0] += 0.3
    memory.look()
    assert memory.due_seconds() == pytest.approx(seconds)


def test_a_trial_has_the_memory_of_its_processes(store: Store) -> None:
    trial = ran(store, asked(*python("import time; time.sleep(1)"))).trials[0]
    told = {metric.name: metric for metric in trial.metrics}
    assert (told["tree_memory_bytes"].unit, told["tree_memory_bytes"].source) == ("bytes", "/proc, sampled")
    assert told["tree_memory_bytes"].value > 1e6


@pytest.mark.parametrize("chosen", [Format.TEXT, Format.MARKDOWN, Format.HTML])
def test_a_report_says_how_cpu_time_and_memory_were_measured(store: Store, chosen: Format) -> None:
    record = ran(store, asked(*python("import time; x = bytearray(2**24); time.sleep(0.3)")))
    told = " ".join(render(record, chosen).replace("\n  ", " ").split())
    assert "memory of the largest process, peak" in told
    assert "the memory of their largest process are what wait4 told at their end" in told
    assert "is the highest of samples of /proc; no cgroup was used" in told


def test_no_shell_reads_an_argument(store: Store, tmp_path: Path) -> None:
    strange = f"$(touch {tmp_path}/x); `id` 'a' \"b\" \\ * > {tmp_path}/y"
    found = asked(*python("import sys; sys.exit(sys.argv[1] != open(0).read())", strange), stdin="given")
    (tmp_path / "given").write_text(strange)
    record = ran(store, asked(*found.options["command"], stdin=str(tmp_path / "given")))  # type: ignore[misc]
    assert record.all_ok, record.trials[0].reason
    assert [path.name for path in tmp_path.iterdir() if path.name in "xy"] == []


def test_several_programs_run_at_once_each_with_its_time(store: Store) -> None:
    beside = ["sleep 0.3", "sleep 0.3"]
    record = ran(store, asked("sleep", "0.3", with_=beside, concurrency="1,3", repeat=1, warmup=0))
    by = {trial.cell["concurrency"]: trial for trial in record.trials}
    assert sorted(item.label for item in by[3].items) == ["sleep 0.3", "sleep 0.3 #2", "sleep 0.3 #3"]
    assert all((item.elapsed_seconds or 0) >= 0.3 for item in by[3].items)
    assert (by[1].elapsed_seconds or 0) >= 0.9
    begun = [item.begin_seconds or 0 for item in by[3].items]
    assert max(begun) - min(begun) < 0.3, "together"


@pytest.mark.thin(3)
@pytest.mark.parametrize(
    ("command", "more", "reason"),
    [
        (("false",), {}, "`false` ended with exit status 1"),
        (("sh", "-c", "echo out of room >&2; exit 7"), {}, "ended with exit status 7: out of room"),
        (("sh", "-c", "kill -9 $$"), {}, "`sh` was ended by SIGKILL"),
        (("/dev/null",), {"prepare": ["true"]}, "cannot be run: permission denied"),
        (("cat",), {"stdin": "/nowhere/x"}, "cannot be run: no such file or directory (`/nowhere/x`)"),
        (("true",), {"cwd": "/nowhere"}, "cannot be run in `/nowhere`: no such file or directory"),
        (("sh", "-c", "read x < /dev/tty"), {}, "exit status"),
        (("true",), {"prepare": ["sh -c 'echo no; exit 2'"]}, "`sh` ended with exit status 2: no"),
    ],
)
def test_a_failed_program_is_a_failed_trial_that_says_why(
    store: Store, command: Sequence[str], more: dict[str, object], reason: str
) -> None:
    (trial,) = ran(store, asked(*command, **more)).trials
    assert (trial.outcome, reason in str(trial.reason)) == (Outcome.FAILED, True), trial.reason


def test_an_exit_status_may_be_allowed(store: Store) -> None:
    assert ran(store, asked("sh", "-c", "exit 3", allow_exit="1,3")).all_ok


def test_a_file_that_is_no_program_is_refused_as_such(store: Store, tmp_path: Path) -> None:
    (tmp_path / "notes").write_text("x")
    for path in (tmp_path / "notes", tmp_path):
        with pytest.raises(ToolkitError, match=f"`{path}` is no program that can be run") as caught:
            ran(store, asked(str(path)))
        assert (caught.value.exit_code, "may be executed" in str(caught.value.hint)) == (2, True)


def test_a_program_that_is_not_there_is_refused_before_anything_runs(store: Store, tmp_path: Path) -> None:
    with pytest.raises(ToolkitError, match="`nosuchprogram` was not found") as caught:
        ran(store, asked("nosuchprogram", setup=[f"touch {tmp_path}/x"]))
    assert (caught.value.exit_code, list(tmp_path.glob("x"))) == (2, [])
    record = ran(store, asked("{tool}", factor=["tool=true,nosuchprogram"], repeat=1, warmup=0))
    assert [trial.outcome for trial in record.trials if "nosuch" in str(trial.cell)] == [Outcome.UNSUPPORTED]


def test_consent_is_needed_where_nobody_typed_the_program(store: Store) -> None:
    with pytest.raises(ToolkitError, match="runs programs on this host") as caught:
        start(asked("true"), find_target("host://").target, store=store, approvals=Approvals(), events=Heard())
    assert caught.value.code == "TK-0309"


def test_output_of_any_size_and_kind_is_bounded(store: Store) -> None:
    text = "import os\nfor _ in range(100): os.write(1, b'\\xff\\xfe x' * 65536)\nos.write(1, b'\\nlast\\n')"
    record = ran(store, asked(*python(text)))
    (log,) = [each for each in record.artifacts if each.name == "command.log"] or [
        store.artifact(record.head.run, "command.log")
    ]
    kept = log.content.decode()
    assert kept.endswith("last\n")
    assert "left out here]" in kept
    assert len(log.content) < 3_000_000


def test_a_secret_is_neither_stored_nor_shown(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TOOL_TOKEN", "s3cr3t-value")
    record = ran(store, asked("sh", "-c", "echo got $TOOL_TOKEN; exit 4", env=["TOOL_TOKEN"]))
    assert "got ********" in str(record.trials[0].reason)
    whole = b"".join(path.read_bytes() for path in (tmp_path / "store").rglob("*") if path.is_file())
    assert b"s3cr3t-value" not in whole
    monkeypatch.delenv("TOOL_TOKEN")
    (trial,) = ran(store, asked("true", env=["TOOL_TOKEN"])).trials
    assert "`TOOL_TOKEN` of `--env` is not set" in str(trial.reason)


def test_what_surrounds_the_trials_runs_in_order_and_off_the_clock(store: Store, tmp_path: Path) -> None:
    log = tmp_path / "log"

    def note(word: str) -> list[str]:
        return [f"sh -c 'echo {word} >> log'"]

    record = ran(
        store,
        asked("sh", "-c", "echo run{n} >> log; exit {n}", factor=["n=0,1"], repeat=1, warmup=0, seed=1,
              cwd=str(tmp_path), setup=note("setup"), prepare=note("prepare{n}"), conclude=note("conclude{n}"),
              cleanup=note("cleanup")),
    )  # fmt: skip
    order = [int(trial.cell["n"]) for trial in record.trials]
    each = [word for n in order for word in (f"prepare{n}", f"run{n}", f"conclude{n}")]
    assert log.read_text().split() == ["setup", *each, "cleanup"], "after a failed trial too"


def test_a_script_can_be_pasted(tmp_path: Path) -> None:
    found = asked(
        "sh", "-c", "echo $A-{n} '{{n}}' \"$PWD\"", factor=["n=1,2"], env=["A=a b"], cwd=str(tmp_path),
        prepare=["echo p{n}"], cleanup=["echo end"],
    )  # fmt: skip
    shown, _ = script(found, find_target("host://").target)
    done = subprocess.run(["sh"], input=shown, capture_output=True, text=True, check=True)
    one = f"{{n}} {tmp_path}"
    assert done.stdout.splitlines() == ["p1", f"a b-1 {one}", "p2", f"a b-2 {one}", "end"]


def test_a_bundle_of_programs_is_refused_with_what_to_do(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("e.toml").write_text(dump_experiment(asked("true", target="oracle://x@y/z", measure=True)))
    assert main(["export", "e.toml", "--assume", "19-ee", "--out", "bundle"]) == 5
    assert "a bundle runs SQL and RMAN scripts" in capsys.readouterr().err
    assert not Path("bundle").exists()


PLAN = """[plan]
name = "programs"
targets = ["host://"]
[[step]]
name = "one"
operation = "command"
command = ["sh", "-c", "exit {status}"]
"""


def test_programs_are_steps_of_a_plan_which_needs_consent_and_can_be_approved(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("DBATK_STORE", str(tmp_path / "store.sqlite"))
    monkeypatch.setenv("DBATK_CONFIG", str(tmp_path / "config"))
    Path("p.toml").write_text(PLAN.replace("{status}", "0"))
    assert main(["run", "p.toml", "-q"]) == 5
    assert "runs programs on this host" in capsys.readouterr().err
    assert main(["plan", "approve", "p.toml", "--allow-commands"]) == 0
    assert main(["run", "p.toml", "-q", "--approved-only", "--allow-commands"]) == 0
    Path("p.toml").write_text(PLAN.replace("{status}", "1"))
    assert main(["run", "p.toml", "-q", "--approved-only", "--allow-commands"]) == 5, "another program"


# -- nothing is left ----------------------------------------------------------------------------------------------
def left(word: str) -> list[psutil.Process]:
    found = []
    for process in psutil.process_iter(["cmdline"]):
        if word in " ".join(process.info["cmdline"] or ()) and process.pid != os.getpid():
            found.append(process)
    return found


def until(what: Callable[[], bool], why: str) -> None:
    deadline = time.monotonic() + 300
    while not what():
        assert time.monotonic() < deadline, why
        time.sleep(0.05)


DAEMON = "setsid sh -c 'trap \"\" TERM HUP; sleep {0}' & sleep {0}"


def test_a_daemon_that_a_program_leaves_is_ended_and_said(store: Store) -> None:
    (trial,) = ran(store, asked("sh", "-c", "setsid sleep 7171.1 & exit 0")).trials
    assert trial.outcome is Outcome.FAILED
    assert "left running: sleep" in str(trial.reason)
    assert left("7171.1") == []


def test_the_whole_tree_is_ended_by_the_time_limit(store: Store) -> None:
    (trial,) = ran(store, asked("sh", "-c", DAEMON.format("7272.1"), time_limit="1s")).trials
    assert trial.reason == "the time limit of 1 s passed"
    assert left("7272.1") == []


def test_the_whole_tree_is_ended_by_a_signal(store: Store) -> None:
    work, stop = asked("sh", "-c", DAEMON.format("7272.2")), Stop()

    def later() -> None:
        until(lambda: len(left("7272.2")) == 4, "it never began")
        stop.request()

    threading.Thread(target=later, daemon=True).start()
    with pytest.raises(ToolkitError, match="was interrupted"):
        start(work, find_target("host://").target, store=store, approvals=ALLOWED, events=Heard(), stop=stop)
    assert left("7272.2") == []


KILLED = ("setsid", "sh", "-c", "trap '' TERM HUP INT; sleep 7373.1; sleep 7373.1")


def test_a_killed_dbatk_leaves_nothing_running_and_its_run_goes_on(tmp_path: Path) -> None:
    place = tmp_path / "store.sqlite"
    line = [sys.executable, "-m", "toolkit", "command", "--store", str(place), "--measure", "--repeat", "1",
            "--setup", f"touch {tmp_path}/made", "--cleanup", f"rm {tmp_path}/made", "--", *KILLED]  # fmt: skip
    dbatk = subprocess.Popen(line, stderr=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
    try:
        # a child of dbatk bears its line until it is another program: `touch` does, too
        until(lambda: (tmp_path / "made").exists() and len(left("7373.1")) >= 2, "it never began")
    finally:
        dbatk.send_signal(signal.SIGKILL)
        dbatk.wait()
    until(lambda: left("7373.1") == [], "it goes on without dbatk")
    assert (tmp_path / "made").exists()
    with open_store(place) as opened:
        (head,) = opened.list_runs()
        assert len(opened.journal(head.run).open_entries()) == 1
        stop = Stop()
        stop.request()
        with pytest.raises(ToolkitError):
            resume(
                head.run, find_target("host://").target, store=opened, approvals=ALLOWED, events=Heard(), stop=stop
            )
        assert opened.journal(head.run).open_entries() == ()
    assert not (tmp_path / "made").exists(), "what --cleanup names is done after a crash, too"


def test_a_cleanup_that_fails_is_told_and_stays_to_be_done_by_hand_or_by_clean(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    place, made = str(tmp_path / "store.sqlite"), tmp_path / "made"
    line = f"test -e {made}"
    assert main(["command", "--store", place, "-q", "--cleanup", line, "--", "true"]) == ExitCode.INCOMPLETE
    assert f"program `{line}`: `test` ended with 1" in capsys.readouterr().out
    (by_hand,) = (tmp_path / "undo").iterdir()
    shown = by_hand.read_text()
    assert "SELECT" not in shown and "session" not in shown, "a shell has none"
    assert subprocess.run(["sh", str(by_hand)], check=False).returncode == 1
    made.touch()
    assert subprocess.run(["sh", str(by_hand)], check=False).returncode == 0
    assert main(["command", "--store", place, "-q", "--", "true"]) == ExitCode.DONE
    said = " ".join(capsys.readouterr().out.split())
    assert f"has not cleaned up (program `{line}`)" in said and said.count(" --allow-commands") == 1
    assert main(["clean", "-t", "host://", "--store", place, "--allow-commands"]) == ExitCode.DONE
    assert f"ran program `{line}`" in capsys.readouterr().out
    assert not by_hand.exists()


def test_a_setup_that_fails_is_an_error_of_a_program_and_not_of_a_database(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    place = str(tmp_path / "store.sqlite")
    assert main(["command", "--store", place, "-q", "--setup", "false", "--", "true"]) == ExitCode.FAILED
    assert capsys.readouterr().err.startswith(
        "error: `false` ended with exit status 1 [TK-0203]\n\nhint: run it by hand first\n"
    )


@pytest.mark.parametrize(
    ("number", "more", "text", "count"),
    [
        ("1", (), "sleep {0}; sleep {0}", 2),
        ("2", ("--cleanup", "true"), "sleep {0}; sleep {0}", 2),
        ("3", (), "env -i sleep {0}; sleep {0}", 2),  # below one that is known
        ("4", (), "(env -i sleep {0} &); sleep {0}; sleep {0}", 3),  # in its session alone
        ("5", (), "exec env -i sleep {0}", 1),  # by what it writes to alone
        ("6", (), "env -i setsid sh -c 'sleep {0}; sleep {0}' & exec env -i sleep {0}", 3),
    ],
)
def test_programs_that_outlive_dbatk_and_their_keeper_are_ended_by_clean_which_says_so(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], number: str, more: tuple[str, ...], text: str, count: int
) -> None:
    place, word = str(tmp_path / "store.sqlite"), f"7474.{number}{os.getpid()}"  # another run may be at work here
    line = ("command", "--store", place, "--measure", "--repeat", "1", *more, "--", "sh", "-c", text.format(word))
    with Forked("toolkit", *line) as dbatk:
        try:
            until(lambda: len(at_work(dbatk, word)) == count, "it never began")
            dbatk.send_signal(signal.SIGSTOP)  # or it would see that its keepers are gone
            for keeper in psutil.Process(dbatk.pid).children():
                keeper.kill()
        finally:
            dbatk.kill()
    assert len(left(word)) == count, "nobody ended them"
    status = main(["clean", "-t", "host://", "--store", place])
    assert left(word) == []
    told = capsys.readouterr().out
    assert f"{count} process{'es' if count > 1 else ''} that went on without dbatk: ended" in told
    assert (status, "not cleaned: " in told) == ((ExitCode.INCOMPLETE, True) if more else (ExitCode.DONE, False))


def at_work(dbatk: subprocess.Popen[bytes] | Forked, word: str) -> list[psutil.Process]:
    """The programs of a trial, once they are what they are to be."""
    below = psutil.Process(dbatk.pid).children(recursive=True)
    return [one for one in left(word) if one in below and one.name() in ("sh", "sleep")]
