"""Ways in that no server here can carry: what the driver is asked for, and which instance a run stays on."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace

import oracledb
import pytest

from tests.for_each import for_each
from tests.oracle.make import work
from toolkit.config.urls import parse_url
from toolkit.dialects.oracle.dialect import DIALECT
from toolkit.errors import ToolkitError
from toolkit.model.facts import Facts, Release
from toolkit.model.words import Role, SupportState
from toolkit.targets import oracle_driver as driver
from toolkit.targets.base import Access, SessionTag
from toolkit.targets.oracle import OracleTarget

TAG = SessionTag("20261121-051342-ab3f")


@dataclass
class Cluster:
    """A driver that lands sessions on instances in turn, unless the address names one."""

    turn: list[str]
    asked: list[dict[str, object]] = field(default_factory=list)
    closed: int = 0

    def connect(self, **arguments: object) -> SimpleNamespace:
        self.asked.append(arguments)
        dsn = str(arguments["dsn"])
        named = next((name for name in ("inst1", "inst2") if f"INSTANCE_NAME={name}" in dsn), None)
        return SimpleNamespace(
            session_id=1, serial_num=2, module="", action="", client_identifier="", call_timeout=-1,
            instance_name=named or self.turn.pop(0), warning=None, close=self._close,
        )  # fmt: skip

    def _close(self) -> None:
        self.closed += 1


def target(url: str, password: str | None = "pw", wallet: str | None = None, **options: str) -> OracleTarget:
    return OracleTarget(
        Access(parse_url(url), lambda: password, options=tuple(options.items()), wallet_password=lambda: wallet)
    )


@pytest.fixture(name="cluster")
def _cluster(monkeypatch: pytest.MonkeyPatch) -> Cluster:
    cluster = Cluster(["inst1", "inst2", "inst2"])
    module = SimpleNamespace(
        connect=cluster.connect, Error=oracledb.Error, ConnectParams=oracledb.ConnectParams,
        AuthMode=oracledb.AuthMode,
    )  # fmt: skip
    monkeypatch.setattr(driver, "_driver", lambda: module)
    return cluster


def test_every_session_of_a_run_is_on_the_instance_of_the_first(cluster: Cluster) -> None:
    where = target("oracle://dba@scan:1521/dwh")
    for role in (Role.CONTROL, Role.WORKER, Role.MONITOR):
        assert where.connect(role, TAG).raw.instance_name == "inst1"
    assert cluster.closed == 2
    assert "INSTANCE_NAME=inst1" in str(cluster.asked[-1]["dsn"])
    assert "HOST=scan" in str(cluster.asked[-1]["dsn"])


def test_a_session_that_cannot_be_had_there_is_refused(cluster: Cluster, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(driver, "_pinned", lambda *_: "scan:1521/dwh")
    where = target("oracle://dba@scan:1521/dwh")
    where.connect(Role.CONTROL, TAG)
    with pytest.raises(
        ToolkitError, match="connected to instance `inst2`, but the run works on `inst1`"
    ) as refused:
        where.connect(Role.WORKER, TAG)
    assert refused.value.code == "TK-0201"
    assert "/service:dedicated/instance" in str(refused.value.hint)


@pytest.mark.parametrize(
    ("url", "dsn"),
    [
        ("oracle://dba@db1:1521/dwh", "db1:1521/dwh"),
        ("oracle://dba@db1/dwh", "db1:1521/dwh"),
        ("oracle://dba@db1,db2:1521/dwh", "db1,db2:1521/dwh"),
        ("oracle://dba@db1:1521,db2:1522/dwh", "db1:1521,db2:1522/dwh"),
        ("oracle://dba@db1:1521/dwh:dedicated/inst1", "db1:1521/dwh:dedicated/inst1"),
        ("oracle://dba@db1:1521/dwh/inst1", "db1:1521/dwh/inst1"),
        ("oracle://dba@db1:1521/dwh?retry_count=3&retry_delay=2", "db1:1521/dwh?retry_count=3&retry_delay=2"),
        ("oracle://dba@DWH_HIGH", "DWH_HIGH"),
    ],
)
def test_a_url_becomes_what_the_driver_reads_alike(cluster: Cluster, url: str, dsn: str) -> None:
    target(url).connect(Role.CONTROL, TAG)
    assert cluster.asked[0]["dsn"] == dsn
    if not url.endswith("HIGH"):
        parameters = oracledb.ConnectParams()
        parameters.parse_connect_string(dsn)
        assert parameters.service_name == "dwh"


@pytest.mark.parametrize(
    ("url", "options"),
    [
        ("oracle://dba@db1:2484/dwh", {"protocol": "tcps"}),
        ("oracle://dba@db1:2484/dwh?protocol=tcps", {}),
        ("oracle://dba@db1:2484/dwh?protocol=tcp", {"protocol": "tcps"}),
    ],
)
def test_tls_asks_for_tcps(cluster: Cluster, url: str, options: dict[str, str]) -> None:
    target(url, **options).connect(Role.CONTROL, TAG)
    assert cluster.asked[0]["dsn"] == "tcps://db1:2484/dwh"


@pytest.mark.parametrize(
    ("url", "protocol"), [("oracle://dba@db1:2484/dwh?protocol=TCPS", ""), ("oracle://a@b/c", "tls")]
)
def test_a_misspelt_protocol_does_not_send_in_clear_text(cluster: Cluster, url: str, protocol: str) -> None:
    with pytest.raises(ToolkitError) as caught:
        target(url, **({"protocol": protocol} if protocol else {})).connect(Role.CONTROL, TAG)
    assert caught.value.code == "TK-0102" and "use one of tcp, tcps" in str(caught.value.hint)
    assert cluster.asked == []


@for_each(
    ("url", "words"),
    [
        ("oracle://dba@db1:1521:ORCL", "SID"),
        ("oracle://dba@db1:1521/?sid=ORCL", "SID"),
        ("oracle://dba@db1:1521/ORCL:x", "SID"),
        ("oracle://dba@db1:1521", "has no service"),
        ("oracle://dba@db1:1521/", "has no service"),
        ("oracle://dba@db1:1521/dwh:pooled", "not suitable for measurements"),
        ("oracle://dba@db1,db2:99999/dwh", "port"),
        ("oracle://dba@db1:1521,db2,db3:1/dwh", "some of its hosts"),
        ("oracle://dba@db1,,db2:1521/dwh", "host that cannot be read"),
        ("jdbc:oracle:thin:@//db1:1521/dwh", "not a target URL"),
    ],
)
def test_what_the_driver_would_misread_is_refused(url: str, words: str) -> None:
    with pytest.raises(ToolkitError, match=words) as refused:
        parse_url(url)
    assert "oracle://user@host:1521/service" in str(refused.value.hint) or "without `:pooled`" in str(
        refused.value.hint
    )


def test_a_wallet_with_certificates_gets_its_password_and_the_users(cluster: Cluster) -> None:
    target("oracle://dba@DWH_HIGH", wallet="w4llet", wallet_location="/wallet", config_dir="/wallet").connect(
        Role.CONTROL, TAG
    )
    asked = cluster.asked[0]
    assert (asked["wallet_location"], asked["wallet_password"]) == ("/wallet", "w4llet")
    assert (asked["user"], asked["password"], asked["config_dir"]) == ("dba", "pw", "/wallet")


def test_a_wallet_of_logins_is_no_way_in_for_thin_mode(cluster: Cluster) -> None:
    with pytest.raises(ToolkitError, match="no password that thin mode can read") as refused:
        target("oracle://dba@DWH", None, wallet_location="/wallet").connect(Role.CONTROL, TAG)
    assert "thick = true" in str(refused.value.hint)
    assert cluster.asked == []


def test_a_url_without_a_user_is_told_so_and_not_sent(cluster: Cluster) -> None:
    with pytest.raises(ToolkitError, match="the URL has no user") as refused:
        target("oracle://db1:1521/dwh").connect(Role.CONTROL, TAG)
    assert "oracle://user@host:1521/service" in str(refused.value.hint)
    assert cluster.asked == []


def test_a_proxy_user_and_a_mode_are_passed_on(cluster: Cluster) -> None:
    target("oracle://dba@db1:1521/dwh", proxy_user="APP", mode="sysbackup").connect(Role.CONTROL, TAG)
    assert cluster.asked[0]["proxy_user"] == "APP"
    assert cluster.asked[0]["mode"] == oracledb.AuthMode.SYSBKP


def test_only_the_monitor_has_a_limit_on_each_call_and_all_are_kept_alive(cluster: Cluster) -> None:
    where = target("oracle://dba@db1:1521/dwh/inst1")
    limits = {
        role: where.connect(role, TAG).raw.call_timeout for role in (Role.CONTROL, Role.WORKER, Role.MONITOR)
    }
    assert limits == {Role.CONTROL: 0, Role.WORKER: 0, Role.MONITOR: 60_000}
    assert all(asked["expire_time"] == 2 and asked["tcp_connect_timeout"] == 15 for asked in cluster.asked)


def test_an_alias_is_pinned_through_its_descriptor(tmp_path: Path) -> None:
    address = "(ADDRESS=(PROTOCOL=tcp)(HOST=scan)(PORT=1521))"
    alias = f"DWH=(DESCRIPTION={address}(CONNECT_DATA=(SERVICE_NAME=dwh)))"
    (tmp_path / "tnsnames.ora").write_text(alias, encoding="ascii")
    pinned = driver._pinned(oracledb, "DWH", {"config_dir": str(tmp_path)}, "inst2")  # type: ignore[arg-type]
    assert "INSTANCE_NAME=inst2" in pinned and "HOST=scan" in pinned


@pytest.mark.parametrize("user", ["SYS", "SYSBACKUP"])
def test_an_administrative_session_is_refused_the_work_but_not_the_doctor(user: str) -> None:
    rows = ({"user_name": user, "current_schema": "APP"},)
    facts = Facts("oracle", Release((19, 0), "ee"), {"server": rows})
    answer = DIALECT.work.support(work("ctas"), facts)
    assert answer.state is SupportState.UNSUPPORTED
    assert f"the session is {user}" in answer.sentence
    assert DIALECT.checks(facts)


# -- who answers ------------------------------------------------------------------------------------------------
@for_each(
    ("url", "options", "told"),
    [
        ("oracle://dba@db1:1521/dwh", {}, "nothing is encrypted (TCP)"),
        ("oracle://dba@db1:1521/dwh", {"protocol": "tcp"}, "nothing is encrypted (TCP)"),
        ("oracle://dba@db1:2484/dwh", {"protocol": "tcps"}, ""),
        ("oracle://dba@db1:2484/dwh?protocol=tcps", {}, ""),
        ("oracle://dba@db1:2484/dwh", {"protocol": "tcps", "ssl_server_dn_match": "false"}, "dn_match is off"),
        ("oracle://dba@db1:2484/dwh?ssl_server_dn_match=off", {"protocol": "tcps"}, "dn_match is off"),
        ("oracle://dba@db1:1521/dwh", {"thick": "true"}, ""),
        ("oracle://dba@DWH", {}, ""),
        ("oracle://dba@localhost:1521/dwh", {}, ""),
    ],
)
def test_what_is_at_stake_on_the_way_is_told(url: str, options: dict[str, str], told: str) -> None:
    found = target(url, **options).exposure
    assert (found is None) is (told == "") and told in (found.sentence if found else "")


def test_the_name_in_the_servers_certificate_is_given_to_the_driver(cluster: Cluster) -> None:
    options = {"protocol": "tcps", "ssl_server_dn_match": "false", "ssl_server_cert_dn": "CN=db1,O=Example"}
    target("oracle://dba@db1:2484/dwh", **options).connect(Role.CONTROL, TAG)
    asked = cluster.asked[0]
    assert str(asked["dsn"]).startswith("tcps://")
    assert (asked["ssl_server_dn_match"], asked["ssl_server_cert_dn"]) == (False, "CN=db1,O=Example")
    target("oracle://dba@db1:2484/dwh", ssl_server_dn_match="true").connect(Role.CONTROL, TAG)
    assert cluster.asked[1]["ssl_server_dn_match"] is True
