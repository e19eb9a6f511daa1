"""`dbatk notify`: as a user types it."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path

import pytest

from tests.notify.runs import run, step
from tests.notify.sinks import Hook, serving
from toolkit.cli.main import main
from toolkit.cli.notices import tell_of, told_of_refusals
from toolkit.errors import ToolkitError
from toolkit.model.words import RunState
from toolkit.store import open_store


@pytest.fixture
def settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("DBATK_CONFIG", str(tmp_path / "config"))
    monkeypatch.setenv("DBATK_STORE", str(tmp_path / "store.sqlite"))
    (tmp_path / "config").mkdir()
    return tmp_path / "config" / "notify.toml"


def recipient(settings: Path, port: int, *when: str) -> None:
    secret = settings.with_name("hook.url")
    secret.write_text(f"json://user:s3cret@127.0.0.1:{port}\n")
    secret.chmod(0o600)
    settings.write_text(f'[[to]]\nname = "dba"\nurl = {{file = "{secret}"}}\nwhen = {json.dumps(when)}\n')


def enter(state: str, began: datetime) -> None:
    record = run(step(state), began_at=began, state=RunState.RUNNING)
    with open_store() as store:
        store.begin_plan_run(record)
        store.end_plan_run(record.plan_run, RunState.FAILED if state == "failed" else RunState.DONE, began)
        tell_of(store, "nightly")


def test_a_test_message_shows_who_is_reached(settings: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with serving(Hook) as (port, received):
        recipient(settings, port, "failure")
        assert main(["notify", "test"]) == 0
    assert capsys.readouterr().err == "sent 1 of 1\n" and len(received) == 1
    assert main(["notify", "test", "--json"]) == 1
    captured = capsys.readouterr()
    document = json.loads(captured.out)
    assert (document["told"], len(document["problems"])) == (0, 1)
    assert "s3cret" not in captured.out + captured.err


def test_nobody_to_tell_is_a_sentence(settings: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["notify", "test"]) == 2
    assert "notify.toml" in capsys.readouterr().err


def test_a_secret_that_others_may_read_is_not_used(settings: Path, capsys: pytest.CaptureFixture[str]) -> None:
    recipient(settings, 1, "failure")
    settings.with_name("hook.url").chmod(0o644)
    assert main(["notify", "test"]) == 1
    assert "can be read by others" in capsys.readouterr().err


def test_what_came_of_a_plan_in_the_store_is_told(settings: Path) -> None:
    with serving(Hook) as (port, received):
        recipient(settings, port, "failure", "recovery")
        enter("failed", datetime(2026, 11, 21, 21, tzinfo=UTC))
    assert [body["title"] for body in received] == ["dbatk: plan nightly failed: statistics on dwh"]  # type: ignore[index]


def test_the_digest_has_what_the_store_has(settings: Path) -> None:
    with serving(Hook) as (port, received):
        recipient(settings, port, "digest")
        enter("done", datetime.now(UTC))
        assert main(["notify", "digest"]) == 0
    (body,) = received
    assert body["title"].startswith("dbatk: 1 plan run, 0 failed")  # type: ignore[index]


def test_a_plan_that_cannot_begin_at_run_does_not_fail_in_silence(
    settings: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with serving(Hook) as (port, received):
        recipient(settings, port, "failure")
        for code in ("TK-0201", "TK-0310"):
            with pytest.raises(ToolkitError), told_of_refusals("nightly"):
                raise ToolkitError("the database is\ndown", code=code)
        monkeypatch.setattr("sys.stdin.isatty", lambda: True, raising=False)
        with pytest.raises(ToolkitError), told_of_refusals("nightly"):
            raise ToolkitError("the database is down", code="TK-0201")
    assert [body["title"] for body in received] == ["dbatk: plan nightly could not start: the database is"]  # type: ignore[index]
