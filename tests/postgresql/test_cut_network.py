"""A network that is cut holds nobody: not a run at any of its points, nor the user who asks it to end.

The network stops handing bytes over and closes nothing, so that nobody learns of it. How long is waited is made
short here, and who waits longer than a minute fails the test.
"""

from __future__ import annotations

import re
import signal
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.chaos.proxy import Proxy
from tests.engines.arena import Heard
from tests.servers import forks
from tests.servers.postgresql import Server
from toolkit.app.approvals import Approvals
from toolkit.app.runs.execute import start
from toolkit.app.runs.repair import clean
from toolkit.config.urls import parse_url
from toolkit.errors import ToolkitError
from toolkit.executors import waiting
from toolkit.model.experiment import Experiment
from toolkit.model.values import Factor
from toolkit.model.words import Keep, Mode, Outcome, RunState
from toolkit.runner import Stop
from toolkit.store import open_store
from toolkit.targets import postgresql
from toolkit.targets.base import Access
from toolkit.targets.postgresql import PostgresqlTarget

pytestmark = pytest.mark.postgresql
_WATCHDOG_SECONDS = 60.0
_SHIPPED_PROBE_SECONDS = waiting.PROBE_SECONDS
_SLOW = "SELECT i AS id, pg_sleep(0.02)::text AS word FROM generate_series(1, 3000) i"


@pytest.fixture
def proxy(postgresql_server: Server) -> Iterator[Proxy]:
    made = Proxy(postgresql_server.port)
    yield made
    made.close()


@pytest.fixture
def short_timeouts(proxy: Proxy, monkeypatch: pytest.MonkeyPatch) -> None:
    """Wait for a short time; while the network is whole, an answer may be long on its way: machines are busy."""

    def after(seconds: float, method: Callable[..., int | None]) -> Callable[..., int | None]:
        def work(**how: bool) -> int | None:
            monkeypatch.setattr(waiting, "_ON_THE_WAY_SECONDS", seconds)
            return method(**how)

        return work

    for method in (proxy.hang, proxy.hang_at_next, proxy.freeze):
        monkeypatch.setattr(proxy, method.__name__, after(0.2, method))
    monkeypatch.setattr(proxy, "flow", after(10.0, proxy.flow))
    for name in ("LOOK_SECONDS", "PROBE_SECONDS", "HURRIED_LOOK_SECONDS", "HURRIED_PROBE_SECONDS"):
        monkeypatch.setattr(waiting, name, 0.3)
    monkeypatch.setattr(waiting, "_ON_THE_WAY_SECONDS", 10.0)
    monkeypatch.setattr(waiting, "_HURRIED_ON_THE_WAY_SECONDS", 0.2)


class Cut:
    """A run over a network that is cut when a statement is about to be sent, or just after it."""

    def __init__(self, server: Server, proxy: Proxy, schema: str, folder: Path) -> None:
        self.server, self.proxy, self.schema = server, proxy, schema
        self.store = folder / "store.sqlite"
        self.url = f"postgresql://{server.user}@127.0.0.1:{proxy.port}/{server.database}"
        self.stop, self.heard, self.quick, self.keep = Stop(), Heard(), False, Keep.NONE

    def target(self, observe: Callable[[str], None] = lambda _: None) -> PostgresqlTarget:
        target = PostgresqlTarget(Access(parse_url(self.url)))
        target.observer = observe
        return target

    def experiment(self) -> Experiment:
        options = {"query": "SELECT 1 AS id" if self.quick else _SLOW, "table": f"{self.schema}.made"}
        degree = (Factor("degree", (1,)),)
        return Experiment(self.url, "ctas", options, degree, Mode.MEASUREMENT, warmup=0, seed=3, keep=self.keep)

    def run(self, observe: Callable[[str], None]) -> ToolkitError | None:
        """Run it in a thread of its own; return its error."""
        errors: list[ToolkitError] = []

        def work() -> None:
            try:
                with open_store(self.store) as store:
                    start(
                        self.experiment(), self.target(observe), store=store,
                        approvals=Approvals(not_production=True), events=self.heard, stop=self.stop,
                    )  # fmt: skip
            except ToolkitError as error:
                errors.append(error)

        thread = threading.Thread(target=work, daemon=True)
        thread.start()
        thread.join(_WATCHDOG_SECONDS)
        assert not thread.is_alive(), "the run waits for a network that is gone"
        return errors[0] if errors else None

    def swept_up(self) -> None:
        """Let the network come back: what is left is in the journal, and `clean` removes it."""
        self.proxy.flow()
        with open_store(self.store) as store:
            (head,) = store.list_runs()
            report = clean(self.target(), run=head.run, store=store, events=self.heard)
            assert report.left == ()
            assert store.journal(head.run).open_entries() == ()
        with self.server.connect() as session:
            left = session.execute("SELECT relname FROM pg_class WHERE relname ~* 'dbatk'").fetchall()
        assert left == []


@pytest.fixture
def cut(
    postgresql_server: Server, proxy: Proxy, postgresql_schema: str, tmp_path: Path, short_timeouts: None
) -> Cut:
    return Cut(postgresql_server, proxy, postgresql_schema, tmp_path)


def wait_until_running(server: Server) -> None:
    with server.connect() as session:
        while not session.execute(
            "SELECT 1 FROM pg_stat_activity WHERE query LIKE 'CREATE TABLE%' AND wait_event = 'PgSleep'"
        ).fetchall():
            pass


def test_a_read_of_the_catalogue_that_gets_no_answer_is_given_up(cut: Cut) -> None:
    def observe(text: str) -> None:
        if "pg_settings" in text:
            cut.proxy.hang()

    error = cut.run(observe)
    assert error is not None
    assert error.code in {"TK-0201", "TK-0202"}


@pytest.mark.thin(2)
@pytest.mark.parametrize("when", ["statement", "cancel"])
def test_a_stop_ends_a_run_whose_statement_gets_no_answer(cut: Cut, when: str) -> None:
    def watch() -> None:
        wait_until_running(cut.server)
        if when == "statement":
            cut.proxy.hang()
            cut.stop.request()
        else:
            cut.proxy.hang_at_next()
            cut.stop.request()

    watcher = threading.Thread(target=watch)

    def observe(text: str) -> None:
        if re.match(r"CREATE( UNLOGGED)? TABLE", text) and not watcher.ident:
            watcher.start()

    error = cut.run(observe)
    watcher.join()
    assert error is not None
    assert error.code == "TK-0130"
    with open_store(cut.store) as store:
        (head,) = store.list_runs()
        assert [trial.outcome for trial in store.load_run(head.run).trials] == [Outcome.INTERRUPTED]
        assert store.journal(head.run).open_entries()
    assert any("run `dbatk clean`" in text for text in cut.heard.texts("warning"))
    cut.swept_up()


@pytest.mark.full
def test_a_statement_over_a_network_that_answers_nobody_is_lost(cut: Cut, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("toolkit.runner.sweep._RECONNECT_SECONDS", (0.0,))
    # what both have in common as shipped: the driver gives up connecting before the probe is given up
    monkeypatch.setattr(waiting, "PROBE_SECONDS", _SHIPPED_PROBE_SECONDS * 2 / postgresql.CONNECT_SECONDS)
    monkeypatch.setitem(postgresql._NETWORK, "connect_timeout", 2)
    watcher = threading.Thread(target=lambda: (wait_until_running(cut.server), cut.proxy.hang()))

    def observe(text: str) -> None:
        if re.match(r"CREATE( UNLOGGED)? TABLE", text) and not watcher.ident:
            watcher.start()

    error = cut.run(observe)
    watcher.join()
    assert error is not None
    assert error.code == "TK-0202"
    cut.swept_up()


def test_a_stop_ends_an_undo_that_gets_no_answer(cut: Cut) -> None:
    def observe(text: str) -> None:
        if text.startswith("DROP TABLE"):
            cut.proxy.hang()
            cut.stop.request()
        elif re.match(r"CREATE( UNLOGGED)? TABLE", text):
            threading.Thread(target=ended).start()

    def ended() -> None:
        wait_until_running(cut.server)
        with cut.server.connect() as session:
            session.execute("SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE query LIKE 'CREATE TABLE%'")

    error = cut.run(observe)
    assert error is None or error.code == "TK-0130"
    cut.swept_up()


@pytest.mark.thin(4)
@pytest.mark.parametrize("at", ["pg_settings", "CREATE TABLE", "AS byte_count", "DROP TABLE"])
def test_a_session_whose_answers_are_lost_holds_nobody_while_others_are_answered(
    cut: Cut, monkeypatch: pytest.MonkeyPatch, at: str
) -> None:
    monkeypatch.setattr("toolkit.runner.sweep._RECONNECT_SECONDS", (0.0,))
    frozen: list[int] = []

    def observe(text: str) -> None:
        if at in text and not frozen:
            frozen.append(cut.proxy.freeze(replies_only=False))

    cut.quick = True
    error = cut.run(observe)
    assert frozen and frozen[0] > 0
    assert error is None or error.code in {"TK-0201", "TK-0202"}, error
    if at != "pg_settings" or error is None:
        cut.swept_up()


def test_sessions_that_were_cut_off_while_they_read_do_not_keep_the_database_from_the_next_run(cut: Cut) -> None:
    frozen: list[int] = []

    def observe(text: str) -> None:
        if "AS mark" in text and not frozen:
            frozen.append(cut.proxy.freeze(replies_only=False))

    cut.quick = True
    assert cut.run(observe) is None
    assert frozen and frozen[0] > 0
    with open_store(cut.store) as store, cut.server.connect() as session:
        (head,) = store.list_runs()
        assert head.state is RunState.DONE
        asked = "SELECT query FROM pg_stat_activity WHERE application_name = %s"
        assert session.execute(asked, [head.run]).fetchall() == []
        assert session.execute("SELECT pid FROM pg_locks WHERE locktype = 'advisory'").fetchall() == []


def test_a_session_that_was_cut_off_after_the_trials_is_ended_by_clean(cut: Cut) -> None:
    claims: list[str] = []
    frozen: list[int] = []

    def observe(text: str) -> None:
        if "pg_try_advisory_lock" in text:
            claims.append(text)
        elif len(claims) == 2 and "AS version_text" in text and not frozen:  # the best is to be kept now
            frozen.append(cut.proxy.freeze(replies_only=False))
            cut.proxy.hang()

    cut.quick, cut.keep = True, Keep.BEST
    error = cut.run(observe)
    assert error is not None and error.code == "TK-0202", error
    assert frozen and frozen[0] > 0
    cut.proxy.flow()
    with open_store(cut.store) as store, cut.server.connect() as session:
        (head,) = store.list_runs()
        assert head.state is RunState.INTERRUPTED
        assert clean(cut.target(), run=None, store=store, events=cut.heard).left == ()
        asked = "SELECT query FROM pg_stat_activity WHERE application_name = %s"
        assert session.execute(asked, [head.run]).fetchall() == []
        assert session.execute("SELECT pid FROM pg_locks WHERE locktype = 'advisory'").fetchall() == []


def test_a_statement_whose_session_the_server_does_not_have_any_more_is_lost(
    cut: Cut, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("toolkit.runner.sweep._RECONNECT_SECONDS", (0.0,))

    def end_it_unheard() -> None:
        wait_until_running(cut.server)
        assert cut.proxy.freeze(replies_only=False)
        with cut.server.connect() as session:
            session.execute(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE query LIKE 'CREATE TABLE%'"
            )

    watcher = threading.Thread(target=end_it_unheard)
    begun: list[str] = []

    def observe(text: str) -> None:
        if re.match(r"CREATE( UNLOGGED)? TABLE", text):
            begun.append(text)
            if len(begun) == 1:
                watcher.start()
            else:  # it was given up, and is tried again
                cut.stop.request()

    error = cut.run(observe)
    watcher.join()
    assert error is not None
    assert error.code in {"TK-0130", "TK-0202"}, error
    with open_store(cut.store) as store:
        (head,) = store.list_runs()
        assert Outcome.OK not in [trial.outcome for trial in store.load_run(head.run).trials]
    cut.swept_up()


@pytest.mark.parametrize("at", ["metadata", "statement", "answer"])
def test_ctrl_c_ends_a_process_whose_network_is_cut(
    postgresql_server: Server, proxy: Proxy, postgresql_schema: str, tmp_path: Path, at: str
) -> None:
    url = f"postgresql://{postgresql_server.user}@127.0.0.1:{proxy.port}/{postgresql_server.database}"
    query = tmp_path / "slow.sql"
    query.write_text(_SLOW)
    if at == "metadata":
        proxy.hang_at_next()
    with forks.Forked(
        "toolkit", "ctas", "-t", url, "--query", str(query), "--table", f"{postgresql_schema}.made", "--degree",
        "1", "--repeat", "1", "--warmup", "0", "--not-production", "--store", str(tmp_path / "store.sqlite"),
    ) as client:  # fmt: skip
        if at == "metadata":
            assert proxy.held.wait(_WATCHDOG_SECONDS)
        else:
            wait_until_running(postgresql_server)
            if at == "answer":
                assert proxy.freeze(replies_only=True)
            else:
                proxy.hang()
        client.send_signal(signal.SIGINT)
        _, told = client.communicate(timeout=_WATCHDOG_SECONDS / 2)
        assert client.wait() == 130, told
    proxy.flow()
