"""The target: addresses, connecting, errors, binds, the guard, cancelling and closing."""

from __future__ import annotations

import datetime
import decimal
import socket
from dataclasses import replace
from types import SimpleNamespace

import oracledb
import pytest

from tests.for_each import for_each
from tests.oracle.make import RUN, connect, target
from tests.oracle.standin import Scenario, running_standin
from toolkit.errors import ToolkitError
from toolkit.model.address import Address
from toolkit.model.protocols import DatabaseError
from toolkit.model.words import Role
from toolkit.targets import oracle_driver as driver
from toolkit.targets import oracle_way as way
from toolkit.targets.base import Access, SessionTag
from toolkit.targets.base import plain as plain_value
from toolkit.targets.oracle import OracleTarget


def address(
    database: str = "svc", host: str | None = "db1", port: int | None = 1521, **parameters: str
) -> Address:
    return Address("oracle", database, "dba", host, port, tuple(parameters.items()))


@for_each(
    ("place", "expected"),
    [
        (address(), "db1:1521/svc"),
        (address(port=None), "db1:1521/svc"),
        (address("", service_name="svc.example"), "db1:1521/svc.example"),
        (address("svc:dedicated/inst1"), "db1:1521/svc:dedicated/inst1"),
        (address(retry_delay="2", expire_time="1"), "db1:1521/svc?retry_delay=2&expire_time=1"),
        (address("PROD_DWH", host=None, port=None), "PROD_DWH"),
    ],
)
def test_an_address_becomes_easy_connect_or_an_alias(place: Address, expected: str) -> None:
    assert way.connect_string(place, {}) == expected


@for_each(
    "place",
    [
        address(""),
        address("sid=ORCL"),
        address(sid="ORCL"),
        address("a/b/c"),
        address("svc?x=1"),
        address("(DESCRIPTION=(ADDRESS=))", host=None),
        address(host="db 1"),
        address(retries="3"),
        address(wallet_location="/w)(x"),
    ],
    ids=lambda place: f"{place.host}/{place.database}?{place.parameters}",
)
def test_an_address_the_driver_would_misread_is_refused_with_the_right_form(place: Address) -> None:
    with pytest.raises(ToolkitError) as refused:
        way.connect_string(place, {})
    assert refused.value.code == "TK-0102"
    assert "oracle://user@host:1521/service" in refused.value.hint


def test_a_session_can_be_found_by_its_run() -> None:
    with running_standin() as standin:
        connection = connect(standin, Role.WORKER)
        connection.tag("ctas degree=8 trial 3")
        connection.execute("SELECT 1 AS one FROM dual")
        (session,) = standin.sessions()
        assert (session.module, session.action, session.client_identifier) == (
            "dbatk",
            "ctas degree=8 trial 3",
            RUN,
        )
        assert connection.identity == f"sid {session.sid},{session.serial}"
        connection.close()


def test_rows_come_with_lower_case_names_and_plain_values() -> None:
    with running_standin() as standin:
        connection = connect(standin)
        answer = connection.execute("SELECT i.startup_time, i.status, i.instance_number FROM v$instance i")
        assert answer.rows == ({"startup_time": "2026-11-01T06:30:00", "status": "OPEN", "instance_number": 1},)
        assert answer.rowcount == 1
        connection.close()


@for_each(
    ("value", "plain"),
    [
        (datetime.datetime(2026, 11, 21, 5, 31), "2026-11-21T05:31:00"),
        (datetime.timedelta(minutes=2, milliseconds=500), 120.5),
        (decimal.Decimal("12"), 12),
        (decimal.Decimal("0.5"), 0.5),
        (b"\x01\xff", "01ff"),
        (None, None),
    ],
)
def test_fetched_values_become_plain_scalars(value: object, plain: object) -> None:
    assert plain_value(value) == plain


def test_only_binds_the_text_names_are_sent() -> None:
    with running_standin() as standin:
        connection = connect(standin)
        answer = connection.execute(
            "SELECT u.username AS name FROM all_users u WHERE u.username = :schema AND :schema IS NOT NULL",
            {"schema": "APP", "name": "not named"},
        )
        assert answer.rows == ({"name": "APP"},)
        connection.close()


def test_every_statement_is_told_to_the_observer_as_it_is_sent() -> None:
    with running_standin() as standin:
        seen: list[str] = []
        where = target(standin)
        where.observer = seen.append
        connection = where.connect(Role.CONTROL, SessionTag(RUN))
        connection.execute("SELECT 1 AS one FROM dual")
        with pytest.raises(DatabaseError):
            connection.execute("SELECT x.y FROM nowhere x")
        assert seen == standin.statements
        connection.close()


def test_the_guard_stops_a_statement_before_it_is_sent_or_told() -> None:
    with running_standin() as standin:
        connection = connect(standin)
        with pytest.raises(ToolkitError) as refused:
            connection.execute('SELECT * FROM SYS . "DBA_HIST_SYSSTAT"')
        assert refused.value.code == "TK-0303"
        assert not any("DBA_HIST" in text.upper() for text in standin.statements)
        connection.close()


def test_a_declared_pack_lets_the_statement_through_to_the_database() -> None:
    with running_standin() as standin:
        where = target(standin, licences=frozenset({"diagnostics_pack"}))
        connection = where.connect(Role.CONTROL, SessionTag(RUN))
        with pytest.raises(DatabaseError) as error:
            connection.execute("SELECT s.stat_name FROM dba_hist_latch s")
        assert error.value.code == "ORA-00942"
        connection.close()


def test_a_session_that_only_reads_sends_nothing_else() -> None:
    with running_standin() as standin:
        connection = target(standin).connect(Role.CONTROL, SessionTag(RUN), read_only=True)
        with pytest.raises(ToolkitError):
            connection.execute("DROP TABLE gtest PURGE")
        assert connection.execute("SELECT 1 AS one FROM dual").rows == ({"one": 1},)
        assert "DBATK.GTEST" in standin.tables()
        connection.close()


def test_an_error_keeps_oracles_code_and_drops_the_drivers_help() -> None:
    with running_standin() as standin:
        connection = connect(standin)
        with pytest.raises(DatabaseError) as error:
            connection.execute("SELECT t.nothing FROM all_tables t")
        assert error.value.code == "ORA-00904"
        assert "Help:" not in error.value.message
        assert not error.value.lost
        connection.close()


def test_a_connection_that_breaks_in_the_middle_is_lost_and_closes_in_silence() -> None:
    with running_standin(Scenario(lose="commit")) as standin:
        connection = connect(standin)
        with pytest.raises(DatabaseError) as error:
            connection.execute("COMMIT")
        assert error.value.lost
        connection.cancel()
        connection.close()
        connection.close()


def test_a_killed_session_is_lost() -> None:
    with running_standin() as standin:
        victim, killer = connect(standin), connect(standin)
        sid, serial = victim.identity.removeprefix("sid ").split(",")
        killer.execute(f"ALTER SYSTEM KILL SESSION '{sid},{serial}' IMMEDIATE")
        with pytest.raises(DatabaseError) as error:
            victim.execute("SELECT 1 AS one FROM dual")
        assert error.value.lost
        victim.close()
        killer.close()


@pytest.mark.parametrize(
    ("number", "full", "code"),
    [(3113, "DPY-4011", "ORA-03113"), (0, "DPY-4011", "DPY-4011"), (28, "DPY-4011", "ORA-00028")],
)
def test_a_lost_session_keeps_the_servers_own_code(number: int, full: str, code: str) -> None:
    cause = SimpleNamespace(
        message=f"{full}: the database closed", code=number, full_code=full, is_session_dead=True
    )
    known = driver.translate(oracledb.DatabaseError(cause))
    assert (known.code, known.lost) == (code, True)


def test_a_cancelled_statement_is_told_apart_from_a_failed_one() -> None:
    cause = SimpleNamespace(message="ORA-01013: user requested cancel", code=1013, full_code="ORA-01013")
    known = driver.translate(oracledb.DatabaseError(cause))
    assert known.cancelled and not known.lost


@pytest.mark.parametrize(
    ("user", "service", "password", "code", "words"),
    [
        ("dbatk", "FREEPDB1", "c4n4ry", "ORA-01017", "password"),
        ("nobody", "FREEPDB1", "tiger", "ORA-01017", "password"),
        ("dbatk", "OTHER", "tiger", "ORA-12514", "lsnrctl"),
    ],
)
def test_a_refused_login_says_what_to_do_and_no_secret(
    user: str, service: str, password: str, code: str, words: str
) -> None:
    with running_standin() as standin:
        place = Address("oracle", service, user, standin.host, standin.port)
        with pytest.raises(ToolkitError) as refused:
            OracleTarget(Access(place, lambda: password)).connect(Role.CONTROL, SessionTag(RUN))
        assert (refused.value.code, refused.value.database_code) == ("TK-0201", code)
        assert words in refused.value.hint
        assert password not in refused.value.message + refused.value.hint


def test_a_port_where_nobody_listens_says_so() -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        place = Address("oracle", "svc", "dba", "127.0.0.1", free.getsockname()[1])
        with pytest.raises(ToolkitError) as refused:
            OracleTarget(Access(place, lambda: "x")).connect(Role.CONTROL, SessionTag(RUN))
    assert refused.value.database_code == "DPY-6005"
    assert "firewall" in refused.value.hint


def test_an_unknown_host_is_told_as_such() -> None:
    place = address(host="no-such-host.invalid")
    known = driver._cannot_connect(socket.gaierror(-2, "Name or service not known"), place)
    assert known.code == "TK-0201"
    assert "no-such-host.invalid" in known.message


def test_an_unknown_alias_is_told_as_such() -> None:
    where = OracleTarget(Access(address("NO_SUCH_ALIAS", host=None, port=None), lambda: "x"))
    with pytest.raises(ToolkitError) as refused:
        where.connect(Role.CONTROL, SessionTag(RUN))
    assert refused.value.code == "TK-0201"
    assert "tnsnames.ora" in refused.value.hint


def test_an_unknown_mode_of_connection_names_the_known_ones() -> None:
    with pytest.raises(ToolkitError, match="is not a connection mode"):
        driver._auth_mode(oracledb, "SYSGOD")
    assert driver._auth_mode(oracledb, "sysbackup") == oracledb.AuthMode.SYSBKP


def test_thick_mode_is_begun_with_the_folders_of_the_profile() -> None:
    begun: list[dict[str, str]] = []
    module = SimpleNamespace(init_oracle_client=lambda **places: begun.append(places), Error=oracledb.Error)
    driver._choose_mode(module, {"thick": "yes", "lib_dir": "/client", "config_dir": "/net"})  # type: ignore[arg-type]
    driver._choose_mode(module, {"thick": "no", "lib_dir": "/client"})  # type: ignore[arg-type]
    assert begun == [{"lib_dir": "/client", "config_dir": "/net"}]


def test_thick_mode_that_cannot_begin_says_why() -> None:
    def init(**_: str) -> None:
        cause = SimpleNamespace(message="DPI-1047: cannot locate the client", code=0, full_code="DPI-1047")
        raise oracledb.DatabaseError(cause)

    module = SimpleNamespace(init_oracle_client=init, Error=oracledb.Error)
    with pytest.raises(ToolkitError) as refused:
        driver._choose_mode(module, {"thick": "yes", "lib_dir": "/nowhere"})  # type: ignore[arg-type]
    assert (refused.value.code, refused.value.database_code) == ("TK-0206", "DPI-1047")
    assert "lib_dir" in refused.value.hint


@pytest.mark.parametrize(
    ("options", "password", "expected"),
    [
        ((), "pw", {"user": "dba", "password": "pw"}),
        ((), None, {"user": "dba", "password": None}),
        ((("thick", "yes"),), None, {"externalauth": True}),
    ],
)
def test_a_wallet_vouches_in_thick_mode_only(
    options: tuple[tuple[str, str], ...], password: str | None, expected: dict[str, object]
) -> None:
    assert driver._credentials(Access(address(), lambda: password, options=options)) == expected


def test_one_database_has_one_lease_whoever_connects_and_however_it_is_written() -> None:
    one = OracleTarget(Access(address("SVC", host="DB1", port=None)))
    two = OracleTarget(Access(replace(address("svc"), user="other")))
    assert one.lease_key == two.lease_key
    assert one.lease_key != OracleTarget(Access(address("svc2"))).lease_key


def test_nothing_of_the_driver_is_loaded_before_a_connect() -> None:
    import subprocess
    import sys

    code = "import sys, toolkit.targets.oracle; sys.exit('oracledb' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
