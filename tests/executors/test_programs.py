"""Programs of this host: arguments and environment as they are, output with its time, and an end when asked."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import psutil
import pytest

from toolkit.dialects.backups import failed
from toolkit.errors import ToolkitError
from toolkit.executors import orphans, programs
from toolkit.executors.orphans import OrphansEnded, end_orphans
from toolkit.executors.programs import Programs
from toolkit.model.protocols import DatabaseError
from toolkit.model.steps import Step
from toolkit.model.words import Effect, StepKind
from toolkit.runner.leftovers import Orphans
from toolkit.targets.base import ProgramAccess

RUN = "20261121-200000-abcd"


def judge(name: str, status: int, lines: object) -> DatabaseError | None:
    assert isinstance(lines, list)
    return None if status == 0 else failed(name, status, lines)


def python(text: str, *arguments: str, **more: object) -> Step:
    argv = (sys.executable, "-u", "-c", text, *arguments)
    return Step("engine/tool", "", kind=StepKind.COMMAND, argv=argv, **more)  # type: ignore[arg-type]


def said(step: Step, access: ProgramAccess | None = None) -> list[str]:
    answer = Programs(RUN).run(step, access or ProgramAccess(), judge)
    return [line.text for line in answer.lines]


def test_arguments_reach_a_program_without_a_shell() -> None:
    odd = "a b; $(x) `y` 'z' \" *\n"
    assert said(python("import sys; print(repr(sys.argv[1]))", odd)) == [repr(odd)]


def test_a_program_gets_its_variables_and_none_of_ours(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DBATK_PASSWORD", "hidden")
    monkeypatch.setenv("PGBACKREST_REPO1_PATH", "/real")
    show = "import os; print(sorted(k for k in os.environ if k.startswith(('DBATK', 'PGB', 'OWN', 'PGH'))))"
    access = ProgramAccess({"PGHOST": "h"})
    step = python(show, environment={"OWN": "1"}, without=("PGBACKREST_",))
    assert said(step, access) == ["['DBATK_RUN', 'OWN', 'PGHOST']"]


def test_a_secret_never_shows_in_what_a_program_wrote() -> None:
    access = ProgramAccess(secrets={"PGPASSWORD": "tiger-42"})
    assert said(python("import os; print('with ' + os.environ['PGPASSWORD'] + '!')"), access) == ["with ********!"]


def test_a_script_is_read_after_the_opening_of_the_target() -> None:
    step = Step("oracle/x", "BACKUP", kind=StepKind.RMAN, argv=(sys.executable, "-c", "print(input(), input())"))
    assert said(step, ProgramAccess(opening="connect\n")) == ["connect BACKUP"]


def test_a_program_that_reads_nothing_of_a_long_script_is_stopped_when_asked() -> None:
    run, raised = "20261121-200000-feed", list[BaseException]()
    argv = (sys.executable, "-c", "import time; print('begun', flush=True); time.sleep(600)")
    step = Step("oracle/x", "x" * 1_000_000, kind=StepKind.RMAN, argv=argv)
    asked = threading.Event()
    programs = Programs(run)
    programs.asked_to_end, programs.listener = asked.is_set, lambda *_: asked.set()

    def work() -> None:
        try:
            programs.run(step, ProgramAccess(), judge)
        except DatabaseError as error:
            raised.append(error)

    watched = threading.Thread(target=work, daemon=True)
    watched.start()
    try:
        watched.join(120)
        assert not watched.is_alive(), "it hangs"
    finally:
        end_orphans(run)
    assert [str(each) for each in raised] and "was stopped" in str(raised[0])


def test_lines_of_both_outputs_carry_their_time_and_the_row_tells_the_end() -> None:
    text = "import sys; print('a'); print('b', file=sys.stderr)"
    answer = Programs(RUN).run(python(text), ProgramAccess(), judge)
    assert [line.text for line in answer.lines] == ["a", "b"]
    assert all(line.at_seconds >= 0 for line in answer.lines)
    assert answer.rows[0]["exit_status"] == 0
    assert float(answer.rows[0]["cpu_seconds"] or 0) > 0


def test_a_failure_keeps_all_that_was_written() -> None:
    with pytest.raises(DatabaseError) as caught:
        said(python("print('first'); print('out of room'); raise SystemExit(7)"))
    assert (caught.value.code, caught.value.sentence) == ("exit 7", "out of room")
    assert [line.text for line in caught.value.lines] == ["first", "out of room"]


def test_a_program_ended_by_a_signal_is_a_failure() -> None:
    with pytest.raises(DatabaseError) as caught:
        said(python("import os, signal; os.kill(os.getpid(), signal.SIGKILL)"))
    assert caught.value.sentence == "tool was ended by signal 9"


def test_a_program_that_is_not_there_is_said_with_a_hint() -> None:
    with pytest.raises(ToolkitError, match="cannot be run: no such file") as caught:
        said(Step("x/y", "", kind=StepKind.COMMAND, argv=("/nowhere/pg_basebackup",)))
    assert "--bin-dir" in str(caught.value.hint)


STUBBORN = """
import signal, subprocess, sys, time
for each in (signal.SIGINT, signal.SIGTERM):
    signal.signal(each, signal.SIG_IGN)
child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
print(child.pid)
time.sleep(600)
"""


def test_a_program_that_does_not_listen_is_killed_with_its_children(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(programs, "_TIMEOUT_SECONDS", {signal.SIGINT: 0.1, signal.SIGTERM: 0.1})
    works, heard = Programs(RUN), threading.Event()
    children: list[int] = []

    def listen(step: Step, line: object) -> None:
        children.append(int(line.text))  # type: ignore[attr-defined]
        heard.set()

    works.listener = listen
    threading.Thread(target=lambda: (heard.wait(300), works.cancel()), daemon=True).start()
    with pytest.raises(DatabaseError) as caught:
        works.run(python(STUBBORN), ProgramAccess(), judge)
    assert caught.value.cancelled
    gone = psutil.wait_procs([psutil.Process(pid) for pid in children if psutil.pid_exists(pid)], timeout=300)
    assert not [each for each in gone[1] if each.status() != psutil.STATUS_ZOMBIE]


def test_what_cleans_up_is_not_stopped_when_the_run_is_to_end() -> None:
    works = Programs(RUN)
    works.asked_to_end = lambda: True
    slow = "import time; time.sleep(0.3); print('done')"
    assert works.run(python(slow, effect=Effect.DROPS), ProgramAccess(), judge).lines[0].text == "done"
    with pytest.raises(DatabaseError, match="stopped"):
        works.run(python("import time; time.sleep(60)"), ProgramAccess(), judge)


def test_programs_of_a_dead_run_are_found_and_ended() -> None:
    own = {**os.environ, "DBATK_RUN": "20261121-200000-dead"}
    process = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"], env=own)
    other = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
    try:
        _until_named(process.pid)
        assert end_orphans("20261121-200000-dead") == OrphansEnded(1)
        assert process.wait(300) is not None
        assert other.poll() is None
    finally:
        for each in (other, process):
            each.kill()
            each.wait()


def test_a_program_whose_parent_takes_no_note_of_its_end_is_ended_all_the_same() -> None:
    program = (
        "import os, signal, subprocess, sys\n"
        "own = {**os.environ, 'DBATK_RUN': '20261121-200000-noun'}\n"
        "begun = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(600)'], env=own)\n"
        "print(begun.pid, flush=True)\n"
        "signal.pause()\n"
    )
    parent = subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True)
    try:
        assert parent.stdout is not None
        _until_named(int(parent.stdout.readline()))
        assert end_orphans("20261121-200000-noun") == OrphansEnded(1)
        assert parent.poll() is None
    finally:
        parent.kill()
        parent.communicate()


def test_a_program_that_may_not_be_ended_is_told_as_left(monkeypatch: pytest.MonkeyPatch) -> None:
    own = {**os.environ, "DBATK_RUN": "20261121-200000-held"}
    process = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"], env=own)

    def refuse(each: psutil.Process) -> None:
        raise psutil.AccessDenied(each.pid)

    monkeypatch.setattr(orphans, "_ORPHAN_SECONDS", 0.0)
    monkeypatch.setattr(psutil.Process, "terminate", refuse)
    monkeypatch.setattr(psutil.Process, "kill", refuse)
    try:
        _until_named(process.pid)
        found = Orphans(0, end_orphans("20261121-200000-held"))
    finally:
        monkeypatch.undo()
        process.kill()
        process.wait()
    assert found.of_programs == ()
    (told,) = found.going_on
    assert f"({process.pid}) goes on without dbatk" in told


def _until_named(pid: int) -> None:
    """Wait until the child has become the program: between fork and exec it shows our environment."""
    deadline = time.monotonic() + 300
    while b"DBATK_RUN" not in Path(f"/proc/{pid}/environ").read_bytes() and time.monotonic() < deadline:
        os.sched_yield()


def test_a_program_that_nobody_can_read_is_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    begun = threading.Thread.start

    def start(self: threading.Thread) -> None:
        if self.name == "program":
            raise RuntimeError("can't start new thread")
        begun(self)

    monkeypatch.setattr(threading.Thread, "start", start)
    with pytest.raises(RuntimeError):
        said(python("import time; time.sleep(600)"))
    assert not [each for each in psutil.Process().children() if "import time; time.sleep(600)" in each.cmdline()]


def test_messages_are_english_whatever_the_user_has_set(monkeypatch: pytest.MonkeyPatch) -> None:
    """LC_ALL would outrank LC_MESSAGES; what it says of the rest still holds."""
    monkeypatch.setenv("LC_ALL", "de_DE.UTF-8")
    monkeypatch.setenv("LC_TIME", "C")
    show = "import os; print(*(os.environ.get(n) for n in ('LC_ALL', 'LC_TIME', 'LC_MESSAGES', 'LANG')))"
    assert said(python(show)) == ["None None C de_DE.UTF-8"]
