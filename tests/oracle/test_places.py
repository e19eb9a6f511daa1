"""Services, roles, containers and releases: told at run time, kept in one place, read by everything else."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.for_each import for_each
from tests.oracle.make import ON_TABLES, SCHEMA, assumed, target, texts, work
from tests.oracle.standin import Scenario, running_standin, scenarios
from toolkit.app.doctor import doctor
from toolkit.dialects.oracle import places, releases
from toolkit.dialects.oracle.dialect import DIALECT
from toolkit.dialects.oracle.places import Service, ServiceLimit, refusal_of, service_of
from toolkit.dialects.oracle.releases import Feature, Since, has
from toolkit.model.facts import Facts
from toolkit.model.protocols import DatabaseError
from toolkit.model.values import Row
from toolkit.model.words import Mode, Role, SupportState
from toolkit.rendering import sql_file
from toolkit.targets.base import SessionTag

CTAS = "ctas"
AUTONOMOUS: tuple[Row, ...] = ({"cloud_service": "DWCS"},)
RDS: tuple[Row, ...] = ({"schema_mark": "RDSADMIN"},)


def read(scenario: Scenario) -> Facts:
    """Return what doctor reads of a stand-in."""
    with running_standin(scenario) as standin:
        return doctor(target(standin)).facts


@for_each(
    ("name", "code"), [("ee-19c", ""), ("11g", ""), ("pdb-12c", ""), ("autonomous", "autonomous"), ("rds", "rds")]
)
def test_the_service_is_told_at_run_time(name: str, code: str) -> None:
    assert service_of(read(scenarios.EVERY[name]())).code == code


def test_every_service_says_where_it_is_written_and_what_it_keeps_back() -> None:
    for service in places.SERVICES:
        assert service.source
        assert all(service.barred.values())
        assert service.cloud or service.schema, "nothing would tell it"
        assert not service.tablespaces or ServiceLimit.TABLESPACES in service.barred


# -- where no work is done --------------------------------------------------------------------------------------
REFUSED = [
    (scenarios.standby(), "PHYSICAL STANDBY"),
    (scenarios.container("CDB$ROOT"), "the root container"),
    (scenarios.container("PDB$SEED"), "the seed"),
    (Scenario(views={"V$DATABASE": [scenarios.database(open_mode="READ ONLY")], "V$PDBS": []}), "open READ ONLY"),
    (
        Scenario(views={"V$PDBS": [{"CON_ID": 3, "NAME": "X", "OPEN_MODE": "READ ONLY", "RESTRICTED": "NO"}]}),
        "open READ ONLY",
    ),
    (
        Scenario(views={"V$PDBS": [{"CON_ID": 3, "NAME": "X", "OPEN_MODE": "READ WRITE", "RESTRICTED": "YES"}]}),
        "RESTRICTED SESSION",
    ),
    (Scenario(views={"V$INSTANCE": [scenarios.instance(logins="RESTRICTED")]}), "restricted mode"),
]


@pytest.mark.thin(3)
@pytest.mark.parametrize(("scenario", "words"), REFUSED, ids=[words for _, words in REFUSED])
def test_no_operation_can_be_had_where_nothing_may_be_made(scenario: Scenario, words: str) -> None:
    facts = read(scenario)
    for operation in ON_TABLES:
        support = DIALECT.work.support(work(operation), facts)
        assert support.state is SupportState.UNSUPPORTED
        assert words in support.sentence


@pytest.mark.thin(3)
@pytest.mark.parametrize("name", ["ee-19c", "ee-19c-rac", "11g", "pdb-12c", "autonomous", "rds"])
def test_work_is_refused_nowhere_else(name: str) -> None:
    assert refusal_of(read(scenarios.EVERY[name]())) is None


def test_a_snapshot_standby_is_open_for_work_and_says_what_becomes_of_it() -> None:
    facts = read(Scenario(views={"V$DATABASE": [scenarios.database(role="SNAPSHOT STANDBY")]}))
    assert refusal_of(facts) is None
    role = next(check for check in DIALECT.checks(facts) if check.name == "role")
    assert (role.state, "lost" in role.consequence) == ("note", True)


def test_a_schema_of_oracles_own_is_refused_by_what_the_catalogue_says() -> None:
    ref = replace(SCHEMA, name=replace(SCHEMA.name, name="NEWSYS"))
    known = assumed(doctor_maintained=({"schema_name": "NEWSYS", "oracle_maintained": "Y"},))
    assert DIALECT.work.support(work("stats-gather", ref=ref), known).state is SupportState.UNSUPPORTED
    assert DIALECT.work.support(work("stats-gather", ref=ref), assumed()).ok
    old = replace(SCHEMA, name=replace(SCHEMA.name, name="CTXSYS"))
    assert not DIALECT.work.support(work("stats-gather", ref=old), assumed("11.2-ee")).ok


# -- what a service forbids -------------------------------------------------------------------------------------
def test_a_session_sets_what_the_service_lets_it_and_what_it_needs() -> None:
    asked = work(CTAS, 4)
    own = texts(DIALECT.work.worker_begin(asked, assumed()))
    there = texts(DIALECT.work.worker_begin(asked, assumed(cloud_service=AUTONOMOUS)))
    assert any("PARALLEL_MIN_PERCENT" in text for text in own)
    assert not any("PARALLEL_MIN_PERCENT" in text for text in there)
    assert "ALTER SESSION SET OPTIMIZER_IGNORE_HINTS = FALSE" in there
    assert not any("OPTIMIZER_IGNORE_HINTS" in text for text in own)


def test_ignored_hints_are_heeded_for_the_time_of_the_work_and_ignored_again() -> None:
    known = assumed(settings=({"name": "optimizer_ignore_hints", "value": "TRUE"},))
    asked = work(CTAS, 4)
    assert "ALTER SESSION SET OPTIMIZER_IGNORE_HINTS = FALSE" in texts(DIALECT.work.worker_begin(asked, known))
    assert "ALTER SESSION SET OPTIMIZER_IGNORE_HINTS = TRUE" in texts(DIALECT.work.worker_end(asked, known))


def test_a_tablespace_that_the_service_has_not_is_refused() -> None:
    known = assumed(cloud_service=AUTONOMOUS)
    assert "DATA" in DIALECT.work.support(work(CTAS, tablespace="users"), known).sentence
    assert DIALECT.work.support(work(CTAS, tablespace="data"), known).ok
    assert DIALECT.work.support(work(CTAS, tablespace="users"), assumed(doctor_marks=RDS)).ok


@pytest.mark.thin(3)
@pytest.mark.parametrize("name", ["ee-19c", "autonomous", "rds"])
def test_a_session_is_ended_as_its_service_lets_it_be(name: str) -> None:
    scenario = scenarios.EVERY[name]()
    with running_standin(scenario) as standin:
        where = target(standin)
        victim, killer = (where.connect(Role.CONTROL, SessionTag(run)) for run in ("gone", "here"))
        victim.execute("SELECT 1 AS one FROM dual")
        (row,) = killer.execute(sql_file("oracle", "sessions_of"), {"run": "gone"}).rows
        sid, serial = str(row["session_id"]).split(",")
        service = service_of(doctor(where).facts)
        assert row["kill_text"] == service.end_session.format(sid=sid, serial=serial)
        killer.execute(str(row["kill_text"]))
        with pytest.raises(DatabaseError) as error:
            victim.execute("SELECT 1 AS one FROM dual")
        assert error.value.lost
        killer.close()


# -- one file and its tests -------------------------------------------------------------------------------------
def test_a_new_service_is_one_entry_and_everything_answers(monkeypatch: pytest.MonkeyPatch) -> None:
    new = Service(
        "skybase",
        "Skybase Managed Oracle",
        "made up",
        schema="SKYADMIN",
        barred={
            ServiceLimit.TABLESPACES: "Skybase has the tablespace SKY and no other",
            ServiceLimit.RMAN: "no RMAN on Skybase",
        },
        tablespaces=frozenset({"SKY"}),
        packs_included=True,
        unsettable=frozenset({"DDL_LOCK_TIMEOUT"}),
        session=(("CURSOR_SHARING", "EXACT", "FORCE"),),
        serial_names=("_SLOW",),
    )
    monkeypatch.setattr(places, "SERVICES", (*places.SERVICES, new))
    known = assumed(
        doctor_marks=({"schema_mark": "SKYADMIN"},),
        server=({"service_name": "DWH_SLOW", "version_text": "Release 19.0.0.0.0", "edition": "ee"},),
        settings=({"name": "parallel_max_servers", "value": "80"},),
    )
    assert service_of(known) is new
    checks = {check.name: check for check in DIALECT.checks(known)}
    assert checks["service"].evidence == "Skybase Managed Oracle"
    assert "no RMAN on Skybase" in checks["service"].consequence
    assert checks["awr"].state == "ok"
    assert DIALECT.degree_limit(known).degree == 1
    assert not DIALECT.work.support(work(CTAS, tablespace="users"), known).ok
    begun, ended = (
        texts(part(work(CTAS, 2), known)) for part in (DIALECT.work.worker_begin, DIALECT.work.worker_end)
    )
    assert "ALTER SESSION SET CURSOR_SHARING = EXACT" in begun
    assert "ALTER SESSION SET CURSOR_SHARING = FORCE" in ended
    assert not any("DDL_LOCK_TIMEOUT" in text for text in (*begun, *ended))


def test_a_new_release_is_one_entry_and_everything_answers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(releases.RELEASES, "27", (27, 1))
    monkeypatch.setitem(releases.FEATURES, Feature.PARALLEL_LOB_DDL, Since((21,), "made up", until=(27,)))
    known = DIALECT.assume("27-ee")
    assert known.release.number == (27, 1)
    assert not has(known.release, Feature.PARALLEL_LOB_DDL), "a feature may end with a release"
    assert has(known.release, Feature.LONG_NAMES)
    for operation in ON_TABLES:
        for mode in Mode:
            asked = work(operation, 4, mode)
            assert DIALECT.work.support(asked, known).ok
            assert texts(DIALECT.work.timed(asked, known))
            assert texts(DIALECT.work.worker_begin(asked, known)) and texts(DIALECT.work.worker_end(asked, known))
    assert {check.name for check in DIALECT.checks(known)} >= {"release", "edition"}


def test_a_banner_of_a_release_to_come_is_read_as_any_other() -> None:
    banner = "Oracle AI Database 27ai Enterprise Edition Release 27.1.0.0.0 - Production"
    release = DIALECT.release({"version_text": banner, "edition": None})
    assert (release.number[:2], release.edition) == ((27, 1), "ee")
    assert has(release, Feature.SERVERS_WORDING)
