"""How a cluster is asked: nothing of it may hang the run, and the run may keep nothing of it from its work."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable
from types import SimpleNamespace
from typing import cast

import pytest
from distributed import Client

from toolkit import __version__
from toolkit.app import clusters
from toolkit.app.clusters import WorkerCheck, check_workers
from toolkit.app.hosts import agent, talk
from toolkit.app.hosts.serving import SessionTold
from toolkit.app.hosts.sessions import SessionsElsewhere
from toolkit.app.hosts.talk import ClusterHost, Roll
from toolkit.errors import ToolkitError
from toolkit.model.protocols import Answer
from toolkit.model.workload import Measured
from toolkit.targets.base import Target

WORKER = "tcp://alpha:1"


def asked(run: Callable[..., object], workers: Callable[[], object] = dict) -> Client:
    """Return a client of which only this is there."""
    made = SimpleNamespace(
        run=run, scheduler=SimpleNamespace(identity=lambda **_: {"workers": workers()}),
        sync=lambda ask, **given: ask(**given), scheduler_info=lambda **_: {"workers": {}}, status="closed",
    )  # fmt: skip
    return cast("Client", made)


def test_a_worker_goes_on_with_its_other_runs_while_it_is_looked_at() -> None:
    talked = threading.Event()

    def look() -> WorkerCheck:
        return WorkerCheck("alpha", __version__, () if talked.wait(5) else ("nobody was heard meanwhile",))

    async def work(function: Callable[..., object], *arguments: object) -> object:
        """Do what the event loop of a worker does: run what is called, and hear others."""
        asyncio.get_running_loop().call_soon(talked.set)
        found = function(*arguments)
        return await found if asyncio.iscoroutine(found) else found

    def run(function: Callable[..., object], *arguments: object, on_error: str) -> object:
        assert on_error == "return"
        return {WORKER: asyncio.run(work(function, *arguments))}

    found = check_workers(asked(run), "dask://here:1", "take part", look)
    assert found == {WORKER: WorkerCheck("alpha", __version__)}


@pytest.fixture
def never() -> Callable[..., object]:
    """What a scheduler that hangs says."""
    return lambda *_, **__: threading.Event().wait()


def test_workers_that_hang_are_not_waited_for_without_end(
    never: Callable[..., object], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(clusters, "_LOOK_SECONDS", 0.05)
    with pytest.raises(ToolkitError) as caught:
        check_workers(asked(never), "dask://here:1", "take part", lambda: WorkerCheck("a", __version__))
    assert caught.value.code == "TK-0201" and "nothing was heard for 50.0 ms" in caught.value.message


def test_a_scheduler_that_hangs_keeps_no_trial_from_being_tried_again(
    never: Callable[..., object], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(talk, "LOST_SECONDS", 0.05)
    client = asked(never, never)
    place = ClusterHost(client, Roll(client, (WORKER,)), WORKER, "alpha")
    followed = threading.Thread(target=place._has_worker, daemon=True)
    followed.start()
    followed.join(5)
    assert not followed.is_alive() and place.worker == WORKER


def test_a_scheduler_that_says_nothing_says_of_no_worker_that_it_ended(
    never: Callable[..., object], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(talk, "LOST_SECONDS", 0.05)
    assert Roll(asked(never, never), (WORKER,)).workers == {WORKER}


def test_a_new_worker_that_hangs_keeps_no_trial_from_being_tried_again(
    never: Callable[..., object], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(talk, "LOST_SECONDS", 0.05)
    client = asked(never, lambda: {"tcp://alpha:2": {}})
    place = ClusterHost(client, Roll(client, (WORKER,)), WORKER, "alpha")
    followed = threading.Thread(target=place._has_worker, daemon=True)
    followed.start()
    followed.join(5)
    assert not followed.is_alive() and place.worker == WORKER


def of_alpha(rolls: list[dict[str, object]]) -> ClusterHost:
    """A host whose scheduler gives these answers, the last one again and again; all its workers are on it."""
    found = {"tcp://alpha:2": WorkerCheck("alpha", __version__)}
    client = asked(lambda *_, **__: found, lambda: rolls.pop(0) if len(rolls) > 1 else rolls[0])
    return ClusterHost(client, Roll(client, (WORKER,)), WORKER, "alpha", frozenset({WORKER}))


def test_a_worker_that_its_nanny_begins_anew_is_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(talk, "_RESTS", 0.001)
    place = of_alpha([{WORKER: {}}, {}, {}, {}, {"tcp://alpha:2": {}}])
    place._wait_for_worker()
    assert place.worker == "tcp://alpha:2"


def test_a_worker_that_does_not_come_back_is_waited_for_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(talk, "_RESTS", 0.001)
    monkeypatch.setattr(talk, "BACK_SECONDS", 0.02)
    waits: list[float | None] = []
    place = of_alpha([{WORKER: {}}, {}])
    monkeypatch.setattr(place.given_up, "wait", waits.append)
    place._wait_for_worker()
    before = len(waits)
    monkeypatch.setattr(talk, "BACK_SECONDS", 60.0)
    place._wait_for_worker()
    assert len(waits) == before > 0 and place.worker == WORKER


def test_who_ends_the_run_waits_for_no_worker() -> None:
    place = of_alpha([{WORKER: {}}, {}])
    host = SessionsElsewhere(place, cast("agent.Assignment", SimpleNamespace(run="r")), cast("Target", None))
    host.cancel()
    waited = threading.Thread(target=place._wait_for_worker, daemon=True)
    waited.start()
    waited.join(talk.BACK_SECONDS / 2)
    assert not waited.is_alive()


def test_a_worker_is_not_gone_because_the_client_looked_without_workers_meanwhile() -> None:
    """`scheduler_info` then answers with no worker at all."""
    assert Roll(asked(dict, lambda: {WORKER: {}}), ()).workers == {WORKER}


def test_a_session_is_asked_for_when_its_agent_is_there_however_late_that_is() -> None:
    """Both are asked for at once otherwise, and a busy worker may hear of the session first."""
    asked_for_session, heard = threading.Event(), list[str]()

    def run(work: object, *_: object, **__: object) -> object:
        if work is agent.talk:
            if not heard:
                asked_for_session.wait(0.2)
            heard.append("agent")
            return {WORKER: agent.Reply(time.monotonic(), time.time(), 0, Measured(), {}, ())}
        heard.append("session")
        asked_for_session.set()
        return {WORKER: SessionTold(answer=Answer(), identity="7")}

    client = asked(run, lambda: {WORKER: {}})
    place = ClusterHost(client, Roll(client, (WORKER,)), WORKER, "alpha")
    assignment = cast("agent.Assignment", SimpleNamespace(run="r"))
    host = SessionsElsewhere(place, assignment, cast("Target", None))
    assert host.connect().identity == "7"
    host.close()
    assert heard[0] == "agent" and "session" in heard
