"""A network that is cut holds nobody: not a run at any of its points, nor the user who asks it to end.

The network stops handing bytes over and closes nothing, so that nobody learns of it. How long is waited is made
short here, and who waits longer than a minute fails the test.
"""

from __future__ import annotations

import gc
import signal
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.chaos.proxy import Proxy
from tests.engines.arena import Heard
from tests.oracle import wreck
from tests.oracle.standin import Standin, breaks, running_standin
from tests.oracle.standin.faults import AFTER, BEFORE, Act, Fault, Struck
from tests.oracle.standin.state import State
from tests.servers import forks
from tests.tiers import thinned
from toolkit.app.approvals import Approvals
from toolkit.app.runs.execute import start
from toolkit.app.runs.repair import clean
from toolkit.errors import ToolkitError
from toolkit.executors import waiting
from toolkit.model.address import Address
from toolkit.model.experiment import Experiment
from toolkit.model.values import Factor
from toolkit.model.words import Mode, Outcome
from toolkit.runner import Stop, leftovers, sweep
from toolkit.store import open_store
from toolkit.targets import oracle_driver
from toolkit.targets.base import Access
from toolkit.targets.oracle import OracleTarget

# The driver leaves a socket that was reset to the garbage collector.
pytestmark = [
    pytest.mark.filterwarnings("ignore:unclosed <socket:ResourceWarning"),
    pytest.mark.filterwarnings("ignore:Exception ignored in. <socket:pytest.PytestUnraisableExceptionWarning"),
]
_WATCHDOG_SECONDS = 60.0
_BUSY_SECONDS = 10.0
"""How long answers may take while the network is whole: a busy machine is not taken for one that is silent."""
_COPY = 'CREATE TABLE "DBATK"."DBATK_'


class Cut:
    """A run over a network that is cut when a statement comes to the server, or before it answers."""

    def __init__(
        self, standin: Standin, proxy: Proxy, folder: Path, wait_for: Callable[[float], None] = lambda _: None
    ) -> None:
        self.standin, self.proxy, self.folder = standin, proxy, folder
        self.wait_for = wait_for
        self.store = folder / "store.db"
        self.url = standin.url.replace(f":{standin.port}/", f":{proxy.port}/")
        self.before = wreck.look(standin)
        self.stop, self.heard = Stop(), Heard()

    def target(self) -> OracleTarget:
        address = Address("oracle", self.standin.engine.scenario.service, "dbatk", "127.0.0.1", self.proxy.port)
        return OracleTarget(Access(address, lambda: self.standin.password))

    def at(self, words: str, act: Callable[[], object], when: str = BEFORE) -> None:
        self.standin.engine.faults.append(Fault(lambda *_: act(), words=words, when=when))

    def hang(self, *, stopping: bool = False) -> None:
        self.wait_for(0.3)
        self.proxy.hang()
        if stopping:
            self.stop.request()

    def run(self) -> ToolkitError | None:
        """Run a sweep in a thread of its own; return its error."""
        errors: list[ToolkitError] = []
        experiment = Experiment(
            self.url, "ctas", {"source": "GTEST", "table": "MADE"}, (Factor("degree", (1, 4)),), Mode.MEASUREMENT,
            repeat=1, warmup=0, seed=3,
        )  # fmt: skip

        def work() -> None:
            try:
                with open_store(self.store) as store:
                    start(
                        experiment, self.target(), store=store, approvals=Approvals(not_production=True),
                        events=self.heard, stop=self.stop,
                    )  # fmt: skip
            except ToolkitError as error:
                errors.append(error)

        thread = threading.Thread(target=work, daemon=True)
        thread.start()
        thread.join(_WATCHDOG_SECONDS)
        assert not thread.is_alive(), "the run waits for a network that is gone"
        assert all(fault.struck is not None for fault in self.standin.engine.faults), errors
        return errors[0] if errors else None

    def swept_up(self, *, open_before: bool = True) -> None:
        """Let the network come back: what is left is in the journal, and `clean` removes it."""
        self.proxy.flow()
        self.wait_for(_BUSY_SECONDS)
        with open_store(self.store) as store:
            (head,) = store.list_runs()
            assert bool(store.open_entries_all()) is open_before
            report = clean(self.target(), run=head.run, store=store, events=self.heard)
            assert report.left == ()
            assert store.open_entries_all() == ()
        assert wreck.look(self.standin) == self.before


@pytest.fixture
def cut(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Cut]:
    for name in ("LOOK_SECONDS", "HURRIED_LOOK_SECONDS", "HURRIED_PROBE_SECONDS"):
        monkeypatch.setattr(waiting, name, 0.3)

    def wait_for(seconds: float) -> None:
        for name in ("PROBE_SECONDS", "_ON_THE_WAY_SECONDS"):
            monkeypatch.setattr(waiting, name, seconds)

    wait_for(_BUSY_SECONDS)
    monkeypatch.setattr(waiting, "_HURRIED_ON_THE_WAY_SECONDS", 0.2)
    monkeypatch.setattr(sweep, "_RECONNECT_SECONDS", (0.0,))
    monkeypatch.setattr(leftovers, "_LOOK_SECONDS", 0.01)
    with running_standin() as standin:
        proxy = Proxy(standin.port)
        yield Cut(standin, proxy, tmp_path, wait_for)
        proxy.close()
    gc.collect()


def test_a_read_of_the_catalogue_that_gets_no_answer_is_given_up(cut: Cut) -> None:
    cut.at("v$option", cut.hang)
    error = cut.run()
    assert error is not None
    assert error.code in {"TK-0201", "TK-0202"}
    assert wreck.look(cut.standin) == cut.before


@pytest.mark.thin(2)
@pytest.mark.parametrize("when", [BEFORE, AFTER])
def test_a_stop_ends_a_run_whose_statement_gets_no_answer(cut: Cut, when: str) -> None:
    cut.at(_COPY, lambda: cut.hang(stopping=True), when)
    error = cut.run()
    assert error is not None
    assert error.code == "TK-0130"
    with open_store(cut.store) as store:
        (head,) = store.list_runs()
        assert [trial.outcome for trial in store.load_run(head.run).trials] == [Outcome.INTERRUPTED]
    assert any("run `dbatk clean`" in text for text in cut.heard.texts("warning"))
    cut.swept_up()


def test_a_statement_over_a_network_that_answers_nobody_is_lost(cut: Cut, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as while_cut:

        def hang() -> None:
            while_cut.setattr(oracle_driver, "CONNECT_SECONDS", 1)  # not before: a busy server needs longer
            cut.hang()

        cut.at(_COPY, hang, AFTER)
        error = cut.run()
    assert error is not None
    assert error.code == "TK-0202"
    cut.swept_up()


@pytest.mark.full
@pytest.mark.parametrize("words", thinned(["v$option", _COPY, "DROP TABLE"], 2))
def test_a_session_whose_answers_are_lost_holds_nobody_while_others_are_answered(cut: Cut, words: str) -> None:
    def freeze() -> None:
        cut.wait_for(0.3)
        cut.proxy.freeze(replies_only=True)

    cut.at(words, freeze, AFTER)
    error = cut.run()
    assert error is None or error.code in {"TK-0201", "TK-0202"}, error
    if error is None:
        with open_store(cut.store) as store:
            (head,) = store.list_runs()
            trials = store.load_run(head.run).trials
        assert {trial.cell.get("degree") for trial in trials if trial.outcome is Outcome.OK} == {1, 4}
        cut.swept_up(open_before=False)


@pytest.mark.full
def test_a_stop_ends_an_undo_that_gets_no_answer(cut: Cut) -> None:
    cut.at("DROP TABLE", lambda: cut.hang(stopping=True))
    error = cut.run()
    assert error is None or error.code == "TK-0130"
    cut.swept_up()


@pytest.mark.thin(2)
@pytest.mark.parametrize(
    ("words", "when", "reset"),
    thinned(
        [
            (*at, reset)
            for at in ((_COPY, BEFORE), (_COPY, AFTER), ("DROP TABLE", BEFORE))
            for reset in (True, False)
        ],
        5,
    ),
)
def test_a_sweep_goes_on_after_every_connection_was_cut(cut: Cut, words: str, when: str, reset: bool) -> None:
    cut.at(words, lambda: cut.proxy.cut(reset=reset), when)
    error = cut.run()
    assert error is None, error
    with open_store(cut.store) as store:
        (head,) = store.list_runs()
        trials = store.load_run(head.run).trials
        assert {trial.cell.get("degree") for trial in trials if trial.outcome is Outcome.OK} == {1, 4}
    cut.swept_up(open_before=False)


@pytest.mark.full
def test_a_read_of_the_monitor_that_is_not_answered_is_ended_and_costs_no_trial(
    cut: Cut, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(oracle_driver, "MONITOR_SECONDS", 1)
    for name in ("LOOK_SECONDS", "PROBE_SECONDS"):
        monkeypatch.setattr(waiting, name, 60.0)
    cut.at("begin of the instance", lambda: breaks.wait(_WATCHDOG_SECONDS, cut.standin.engine.released))
    assert cut.run() is None
    with open_store(cut.store) as store:
        (head,) = store.list_runs()
        assert [trial.outcome for trial in store.load_run(head.run).trials] == [Outcome.OK] * 2
    cut.swept_up(open_before=False)


@pytest.mark.thin(2)
@pytest.mark.parametrize(
    ("operation", "words", "when", "ends"),
    [
        ("insert-job", "INSERT /*+", BEFORE, 130),
        ("ctas-sweep", "v$option", BEFORE, 130),
        pytest.param("index-rebuild-job", "REBUILD", AFTER, 130, marks=pytest.mark.full),
        pytest.param("index-rebuild-job", "PARALLEL 2", BEFORE, 130, marks=pytest.mark.full),
    ],
)  # fmt: skip
def test_ctrl_c_ends_a_process_whose_network_is_cut_and_clean_puts_all_back(
    operation: str, words: str, when: str, ends: int, tmp_path: Path
) -> None:
    with running_standin() as standin:
        wreck.prepare(standin)
        cut, struck = Cut(standin, Proxy(standin.port), tmp_path), threading.Event()

        def act(backend: Struck, state: State) -> None:
            del backend, state
            cut.proxy.hang()
            struck.set()

        hangs: Act = act
        standin.engine.faults.append(Fault(hangs, words=words, when=when))
        with forks.Forked(
            "toolkit", *wreck.OPERATIONS[operation], "-t", cut.url, "--not-production",
            env=wreck.environment(standin, tmp_path),
        ) as client:  # fmt: skip
            assert struck.wait(_WATCHDOG_SECONDS)
            client.send_signal(signal.SIGINT)
            _, told = client.communicate(timeout=_WATCHDOG_SECONDS)
            assert client.wait() == ends, told
        cut.proxy.flow()
        cut.proxy.close()
        assert wreck.clean(standin, tmp_path)[0] == 0
        assert wreck.look(standin) == cut.before
