"""The audit log: only added to, whole or told where it is not, and missed when it is gone."""

from __future__ import annotations

import fcntl
import json
import os
import re
import subprocess
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from toolkit import documents
from toolkit.config.actor import actor, set_command
from toolkit.errors import ToolkitError
from toolkit.model.audit import AuditEvent, AuditKind, AuditMark
from toolkit.store import audit_check, open_store
from toolkit.store.audit import AuditFile
from toolkit.store.audit_check import carry_over, verify, verify_since_sealed
from toolkit.store.audit_lines import LogEnd, after, hash_of, new_lines, parse_line
from toolkit.store.store import Store

ROOT = Path(__file__).parents[2]
WRITER = """
import resource, signal, sys
from pathlib import Path
from toolkit.errors import ToolkitError
from toolkit.model.audit import AuditEvent, AuditKind
from toolkit.store import open_store
if int(sys.argv[3]):
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
with open_store(sys.argv[1]) as store:
    if int(sys.argv[3]):
        # what a full disk does: the write ends in the middle of a line
        room = store.audit.path.stat().st_size + int(sys.argv[3])
        resource.setrlimit(resource.RLIMIT_FSIZE, (room, room))
    for at in range(int(sys.argv[2])):
        try:
            store.audit.write(AuditEvent(AuditKind.STEP, step=f"s{at}", reason="x" * 300))
        except ToolkitError as error:
            print(error.code, error.sentence)
"""


@pytest.fixture
def log(tmp_path: Path) -> Iterator[AuditFile]:
    """A log of six lines that its store has seen."""
    with open_store(tmp_path / "store.sqlite") as store:
        note(store, 5)
        assert isinstance(store.audit, AuditFile)
        yield store.audit


def note(store: Store, count: int) -> None:
    for at in range(count):
        store.audit.write(AuditEvent(AuditKind.STEP, step=f"s{at}", outcome="done"))


def lines(log: AuditFile) -> list[str]:
    return log.path.read_text().splitlines()


def put(log: AuditFile, texts: list[str]) -> None:
    log.path.write_text("".join(text + "\n" for text in texts))


def fault(log: AuditFile) -> tuple[int, str]:
    return verify(log).faults[0]


def test_each_line_says_who_what_and_when_and_knows_the_one_before(log: AuditFile) -> None:
    told = [json.loads(line) for line in lines(log)]
    assert [one["number"] for one in told] == [1, 2, 3, 4, 5, 6]
    assert told[0]["kind"] == "log-begin" and told[0]["before"] is None
    assert all(one["at"].endswith("+00:00") and one["who"]["user"] and one["who"]["host"] for one in told)
    assert log.path.stat().st_mode & 0o777 == 0o600
    assert verify(log).whole and verify(log).lines == 6


def test_an_altered_line_is_named(log: AuditFile) -> None:
    texts = lines(log)
    put(log, [texts[0], texts[1], texts[2].replace('"done"', '"gone"'), *texts[3:]])
    assert fault(log) == (3, "it was altered: line 4 refers to a different version")


def test_what_was_found_whole_is_not_read_line_by_line_again(
    log: AuditFile, monkeypatch: pytest.MonkeyPatch
) -> None:
    read: list[bytes] = []
    real = parse_line

    def parse(raw: bytes) -> object:
        read.append(raw)
        return real(raw)

    monkeypatch.setattr(audit_check, "parse_line", parse)
    assert verify_since_sealed(log).whole and len(read) == 6
    log.write(AuditEvent(AuditKind.STEP, step="more"))
    read.clear()
    verdict = verify_since_sealed(log)
    assert (verdict.whole, verdict.lines, len(read)) == (True, 7, 2)


def test_what_is_altered_while_it_is_verified_is_not_sealed(
    log: AuditFile, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = AuditFile.ends_whole

    def alter(self: AuditFile) -> bool:
        texts = lines(log)
        put(log, [*texts[:2], texts[2].replace('"done"', '"gone"'), *texts[3:]])
        return real(self)

    with monkeypatch.context() as meanwhile:
        meanwhile.setattr(AuditFile, "ends_whole", alter)
        verify_since_sealed(log)
    assert verify_since_sealed(log).faults == verify(log).faults != ()


@pytest.mark.thin(3)
@pytest.mark.parametrize("line", range(8))
def test_an_altered_line_is_found_before_and_behind_the_seal(line: int, log: AuditFile) -> None:
    assert verify_since_sealed(log).whole
    for step in ("more", "most"):
        log.write(AuditEvent(AuditKind.STEP, step=step))
    raws = log.path.read_bytes().splitlines(keepends=True)
    raws[line] = raws[line].replace(b'"who": {', b'"who": { ')
    log.path.write_bytes(b"".join(raws))
    found = verify_since_sealed(log)
    assert not found.whole and found.faults == verify(log).faults


def test_a_log_cut_behind_the_seal_is_missed_and_the_newest_lines_come_first(log: AuditFile) -> None:
    assert verify_since_sealed(log).whole
    log.write(AuditEvent(AuditKind.STEP, step="more"))
    assert [each.number for each in log.events()] == [7, 6, 5, 4, 3, 2, 1]
    raws = log.path.read_bytes().splitlines(keepends=True)
    log.path.write_bytes(b"".join(raws[:-1]))
    faults = [(7, "lines are missing: the store recorded 7 lines of it")]
    assert list(verify_since_sealed(log).faults) == list(verify(log).faults) == faults


def test_the_last_line_is_known_to_the_store(log: AuditFile) -> None:
    texts = lines(log)
    put(log, [*texts[:-1], texts[-1].replace('"done"', '"gone"')])
    assert fault(log) == (6, "it was altered: the store recorded another one")


def test_what_the_store_knew_of_an_altered_log_is_not_lost_with_the_next_line(log: AuditFile) -> None:
    texts = lines(log)
    put(log, [*texts[:-1], texts[-1].replace('"done"', '"gone"')])
    log.write(AuditEvent(AuditKind.STEP, step="next"))
    at, sentence = fault(log)
    assert at == 6 and sentence.startswith("line 6 was altered: the store recorded another one")
    put(log, lines(log)[:3])
    log.write(AuditEvent(AuditKind.STEP, step="next"))
    assert fault(log)[0] == 3 and "lines are missing: the store recorded 8 lines" in fault(log)[1]


def test_a_log_put_in_place_of_another_never_becomes_the_one_the_store_knows(
    log: AuditFile, tmp_path: Path
) -> None:
    with open_store(tmp_path / "other.sqlite") as other:
        note(other, 9)
        log.path.write_bytes(Path(f"{other.place}.audit.jsonl").read_bytes())
    log.write(AuditEvent(AuditKind.STEP, step="next"))
    assert "this is a different log" in fault(log)[1]


def test_a_line_taken_out_or_made_unreadable_is_named(log: AuditFile) -> None:
    texts = lines(log)
    put(log, [*texts[:2], *texts[3:]])
    assert fault(log)[0] == 2
    put(log, [*texts[:2], "not a line", *texts[3:]])
    assert fault(log) == (3, "it was altered: it cannot be read")
    put(log, texts[1:])
    assert fault(log)[0] in (0, 1)


@pytest.mark.parametrize("at", [1, 2, -1])
@pytest.mark.parametrize(
    ("part", "by"),
    [
        (r'"at": "[^"]*"', '"at": "yesterday"'),
        (r'"at": "[^"]*"', '"at": 20261124'),
        (r'"number": \d+', '"number": 1e999'),
        (r".+", "[" * 100_000),
        (r'"before": ', '"details": 5, "before": '),
    ],
)
def test_a_line_altered_to_what_no_line_holds_is_named_and_the_next_is_written(
    part: str, by: str, at: int, log: AuditFile
) -> None:
    texts = lines(log)
    texts[at] = re.sub(part, lambda _: by, texts[at], count=1)
    put(log, texts)
    number = range(1, len(texts) + 1)[at]
    assert fault(log) == (number, "it was altered: it cannot be read")
    log.write(AuditEvent(AuditKind.STEP, step="next"))
    assert (number, "it was altered: it cannot be read") in verify(log).faults
    assert next(log.events()).event.step == "next"


def test_a_log_that_was_cut_or_removed_is_missed_by_the_store(log: AuditFile, tmp_path: Path) -> None:
    texts = lines(log)
    put(log, texts[:4])
    assert fault(log) == (5, "lines are missing: the store recorded 6 lines of it")
    log.path.rename(tmp_path / "away.jsonl")
    assert fault(log) == (0, f"the log `{log.path}` is missing: the store recorded 6 lines of it")


def test_a_log_that_begins_anew_says_which_one_lay_there_and_takes_it_back_as_proof(
    log: AuditFile, tmp_path: Path
) -> None:
    away = log.path.rename(tmp_path / "away.jsonl")
    log.write(AuditEvent(AuditKind.STEP, step="new"))
    assert fault(log)[0] == 1 and "an earlier log was here and is missing" in fault(log)[1]
    assert verify(log, away).whole
    put(AuditFile(away), lines(AuditFile(away))[:-1])
    assert "is not the log that was here before" in verify(log, away).faults[0][1]


def test_a_log_that_was_shown_the_one_before_it_stands_alone_and_keeps_what_holds_on(
    log: AuditFile, tmp_path: Path
) -> None:
    def approved(name: str) -> AuditEvent:
        return AuditEvent(AuditKind.APPROVE, plan=name, hash=name, details=("by x", f"/{name}.approval.toml"))

    for event in (approved("old"), approved("again"), AuditEvent(AuditKind.REVOKE, plan="old", hash="old")):
        log.write(event)
    log.write(AuditEvent(AuditKind.REVOKE, plan="again", hash="again"))
    first = log.path.rename(tmp_path / "first.jsonl")
    log.write(approved("again"))
    assert not verify_since_sealed(log).whole
    assert verify(log, first).whole and carry_over(log, first) == 2
    assert carry_over(log, first) == 0, "once"
    assert verify(log).whole and verify_since_sealed(log).whole
    held = [(line.event.kind, line.event.hash) for line in log.events(AuditKind.APPROVE, AuditKind.REVOKE)]
    assert held == [(AuditKind.REVOKE, "old"), (AuditKind.APPROVE, "old"), (AuditKind.APPROVE, "again")]
    written = {line.event.carried for line in AuditFile(log.path).events(AuditKind.REVOKE)}
    assert len(written) == 1 and all(f" by {actor().user} on {actor().host}" in str(each) for each in written)
    second = log.path.rename(tmp_path / "second.jsonl")
    log.write(AuditEvent(AuditKind.STEP, step="new"))
    assert verify(log, second).whole and carry_over(log, second) == 3
    assert {line.event.carried for line in log.events(AuditKind.REVOKE)} == written, "as it was first"


def _forged(known: AuditMark) -> list[str]:
    """Return a log that says of itself that it came after another one, and that this one was shown."""
    told = AuditEvent(AuditKind.LOG_CONTINUED, details=(after(known),))
    return [line.decode() for line in new_lines(LogEnd(), told, known)]


def test_a_forged_log_that_says_that_the_one_before_it_was_shown_is_not_believed(log: AuditFile) -> None:
    known = log.mark
    assert known is not None
    put(log, _forged(known))
    assert not verify(log).whole
    log.write(AuditEvent(AuditKind.STEP, step="next"))
    assert fault(log)[0] == 1 and "an earlier log was here and is missing" in fault(log)[1]
    assert not verify_since_sealed(log).whole


def test_a_forged_log_is_not_followed_that_names_another_end_of_the_one_before_it(
    log: AuditFile, tmp_path: Path
) -> None:
    known = log.mark
    assert known is not None
    shortened = tmp_path / "shortened.jsonl"
    put(AuditFile(shortened), lines(log)[:2])
    end = AuditMark(known.log, 2, hash_of(lines(log)[1].encode()))
    put(log, _forged(end))
    log.write(AuditEvent(AuditKind.STEP, step="next"))
    assert log.mark == known
    assert any("this is a different log" in said for _, said in verify(log, shortened).faults)


def test_a_log_that_says_of_no_earlier_one_proves_nothing_of_it(log: AuditFile, tmp_path: Path) -> None:
    (tmp_path / "away.jsonl").write_text("")
    assert verify(log, tmp_path / "away.jsonl").faults == (
        (1, f"this log does not continue `{tmp_path / 'away.jsonl'}`: it says of no earlier log"),
    )


def test_another_log_in_its_place_is_seen(log: AuditFile, tmp_path: Path) -> None:
    with open_store(tmp_path / "other.sqlite") as other:
        note(other, 9)
        log.path.write_bytes(Path(f"{other.place}.audit.jsonl").read_bytes())
    assert fault(log)[0] == 0 and "this is a different log" in fault(log)[1]


@pytest.mark.parametrize("kept", [1, 40])
def test_a_line_that_a_power_failure_cut_is_told_and_is_no_fault(log: AuditFile, kept: int) -> None:
    whole = log.path.read_bytes()
    begin = whole.rstrip(b"\n").rfind(b"\n") + 1
    # the store was not told of a line that never was whole
    log.path.write_bytes(whole + whole[begin:][:kept])
    assert verify(log).whole
    log.write(AuditEvent(AuditKind.STEP, step="next"))
    told = verify(log)
    assert told.whole and told.lines == 9, told.faults
    assert json.loads(lines(log)[7])["kind"] == "line-cut"
    assert told.notes == ("line 7 was truncated, as noted in line 8",)


def test_a_line_that_lacks_only_its_end_is_kept(log: AuditFile) -> None:
    log.path.write_bytes(log.path.read_bytes()[:-1])
    assert verify(log).whole
    log.write(AuditEvent(AuditKind.STEP, step="next"))
    assert verify(log).whole and verify(log).lines == 8


def doctored(texts: list[str], count: int) -> list[str]:
    """Return a log whose last lines were cut and replaced by more of somebody's own, chained as they should be."""
    before = texts[:-count]
    for at in range(count + 2):
        values = {**json.loads(texts[-1]), "number": len(before) + 1, "step": f"invented{at}"}
        before.append(json.dumps({**values, "before": hash_of(before[-1].encode())}))
    return before


def test_a_log_cut_and_filled_with_more_invented_lines_is_found_after_the_next_one_too(log: AuditFile) -> None:
    put(log, doctored(lines(log), 3))
    assert fault(log) == (6, "it was altered: the store recorded another one")
    log.write(AuditEvent(AuditKind.STEP, step="next"))
    assert "line 6 was altered: the store recorded another one" in fault(log)[1]


def test_a_cut_log_is_missed_by_whatever_name_of_file_folder_or_host_it_is_reached(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "x"
    with open_store(folder / "store.sqlite") as store:
        note(store, 9)
    path = folder / "store.sqlite.audit.jsonl"
    path.write_text("".join(path.read_text().splitlines(keepends=True)[:-6]))
    (tmp_path / "linked").symlink_to(folder)
    (folder / "soft.sqlite").symlink_to("store.sqlite")
    missing = (5, "lines are missing: the store recorded 10 lines of it")
    monkeypatch.setattr("toolkit.config.actor._host", lambda: "elsewhere")
    for place in ("x/../x/store.sqlite", "linked/store.sqlite", "x/soft.sqlite"):
        with open_store(tmp_path / place) as reached:
            assert missing in verify(reached.audit).faults and missing in verify_since_sealed(reached.audit).faults
    with open_store(folder.rename(tmp_path / "moved") / "store.sqlite") as moved:
        moved.audit.write(AuditEvent(AuditKind.STEP))
        assert "lines are missing: the store recorded 10 lines" in verify(moved.audit).faults[0][1]


def test_a_hard_link_of_a_store_begins_no_log_of_its_own(tmp_path: Path) -> None:
    with open_store(tmp_path / "store.sqlite") as store:
        note(store, 2)
    (tmp_path / "hard.sqlite").hardlink_to(tmp_path / "store.sqlite")
    for name in ("hard.sqlite", "store.sqlite"):
        with pytest.raises(ToolkitError, match="has 2 names") as caught:
            open_store(tmp_path / name)
        assert caught.value.code == "TK-0401"
    assert not (tmp_path / "hard.sqlite.audit.jsonl").exists()
    (tmp_path / "hard.sqlite").unlink()
    with open_store(tmp_path / "store.sqlite") as store:
        assert not verify(store.audit).faults


def test_a_store_that_cannot_be_asked_for_a_moment_does_not_take_another_log_for_its_own(
    log: AuditFile, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with open_store(tmp_path / "other.sqlite") as other:
        note(other, 1)
    log.path.write_bytes(Path(f"{other.place}.audit.jsonl").read_bytes())

    def locked(_self: Store, _what: str) -> None:
        raise ToolkitError("locked", code="TK-0404")

    with monkeypatch.context() as meanwhile:
        meanwhile.setattr(Store, "audit_mark", locked)
        log.write(AuditEvent(AuditKind.STEP, step="next"))
    assert "this is a different log" in fault(log)[1]


@pytest.mark.parametrize("kind", ["pipe", "link to a pipe", "folder", "link"])
def test_a_log_that_is_no_file_is_refused_at_once(kind: str, tmp_path: Path) -> None:
    path, pipe = tmp_path / "log.jsonl", tmp_path / "pipe"
    os.mkfifo(pipe)
    if kind == "folder":
        path.mkdir()
    elif kind == "pipe":
        pipe.rename(path)
    else:
        (tmp_path / "other").write_text("")
        path.symlink_to(pipe if kind == "link to a pipe" else tmp_path / "other")
    log = AuditFile(path)
    calls = (lambda: log.write(AuditEvent(AuditKind.STEP)), lambda: verify(log), lambda: list(log.events()))
    for call in calls:
        with pytest.raises(ToolkitError, match=r"cannot be (read|written): (it is a|is a dir|too many)") as caught:
            call()
        assert caught.value.code == "TK-0314"


@pytest.mark.full
def test_processes_and_threads_write_at_once_and_no_line_is_lost(tmp_path: Path) -> None:
    path = str(tmp_path / "store.sqlite")
    with open_store(path) as store:
        environment = {**os.environ, "PYTHONPATH": str(ROOT)}
        argv = [sys.executable, "-c", WRITER, path, "15", "0"]
        others = [subprocess.Popen(argv, env=environment) for _ in range(3)]
        with ThreadPoolExecutor(4) as pool:
            list(pool.map(lambda _: note(store, 5), range(4)))
        assert [other.wait() for other in others] == [0, 0, 0]
        verdict = verify(store.audit)
        assert verdict.whole and verdict.lines == 1 + 3 * 15 + 4 * 5, verdict.faults


def test_on_a_full_disk_writing_is_refused_and_what_was_there_stays_whole(log: AuditFile, tmp_path: Path) -> None:
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    argv = [sys.executable, "-c", WRITER, str(tmp_path / "store.sqlite"), "3", "700"]
    told = subprocess.run(argv, env=environment, capture_output=True, text=True, check=True).stdout.splitlines()
    assert told and all(line.startswith("TK-0314 the audit log") for line in told), told
    assert "no space left" in told[0]
    assert verify(log).whole
    log.write(AuditEvent(AuditKind.STEP, step="there is room again"))
    assert verify(log).whole


def test_a_log_that_may_not_be_written_is_refused_in_a_sentence(tmp_path: Path) -> None:
    target = tmp_path / "elsewhere"
    target.write_text("")
    link = tmp_path / "log.jsonl"
    link.symlink_to(target)
    with pytest.raises(ToolkitError, match="cannot be written") as caught:
        AuditFile(link).write(AuditEvent(AuditKind.STEP))
    assert caught.value.code == "TK-0314" and target.read_text() == "", "a link is not followed"


def test_no_secret_of_the_command_line_is_kept() -> None:
    words = ["ctas", "-t", "oracle://dba:hidden1@db/x", "--password", "hidden2", "pwd=hidden3", "--table", "N"]
    try:
        set_command(words)
        kept = " ".join(actor().command)
    finally:
        set_command(())
    assert "hidden" not in kept and "oracle://" in kept and kept.endswith("--table N")


def test_a_log_that_a_frozen_process_keeps_locked_is_not_waited_for_without_end(
    log: AuditFile, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(documents, "LOCK_SECONDS", 0.1)
    raised: list[ToolkitError] = []

    def work() -> None:
        try:
            log.write(AuditEvent(AuditKind.STEP, step="late"))
        except ToolkitError as error:
            raised.append(error)

    with log.path.open("rb") as other:  # a lock belongs to an open file, not to a process
        fcntl.flock(other, fcntl.LOCK_EX)
        watched = threading.Thread(target=work, daemon=True)
        watched.start()
        watched.join(300)
        assert not watched.is_alive(), "it hangs"
    assert "another process has had it locked for 0.1 s" in raised[0].sentence
    assert "late" not in log.path.read_text(encoding="utf-8")
    log.write(AuditEvent(AuditKind.STEP, step="later"))
    assert "later" in log.path.read_text(encoding="utf-8")
