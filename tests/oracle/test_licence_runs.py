"""The licence guard from the command line to the wire: what is refused, sent, kept and reported."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from tests.oracle.make import connect, target
from tests.oracle.standin import Scenario, Standin, running_standin
from tests.servers import forks
from tests.tiers import thinned
from toolkit.errors import ToolkitError
from toolkit.model.words import Role
from toolkit.targets.base import SessionTag

_DECLARED = '{by = "J. Doe", on = 2026-01-31}'
_OPTION = "licenses.advanced_compression = " + _DECLARED
_PACK = "licenses.diagnostics_pack = " + _DECLARED
_CTAS = ("ctas", "--source", "GTEST", "--table", "GTEST_COPY", "--snapshot", "none")
_LOADS = {
    "ALL_SYNONYMS": [
        {"OWNER": "PUBLIC", "SYNONYM_NAME": "LOADS", "TABLE_OWNER": "APP", "TABLE_NAME": "V1", "DB_LINK": None}
    ],
    "ALL_DEPENDENCIES": [
        {
            "OWNER": "APP", "NAME": "V1", "TYPE": "VIEW",
            "REFERENCED_OWNER": "SYS", "REFERENCED_NAME": "V_$ACTIVE_SESSION_HISTORY", "REFERENCED_TYPE": "VIEW",
        }
    ],
}  # fmt: skip


class Site:
    """A profile `dwh` for a stand-in, and the program beside it."""

    def __init__(self, standin: Standin, folder: Path, licences: str = "") -> None:
        self.standin, self.folder = standin, folder
        (folder / "config").mkdir(exist_ok=True)
        profile = f'[targets.dwh]\nurl = "{standin.url}"\nproduction = false\n{licences}\n'
        (folder / "config/targets.toml").write_text(profile, encoding="utf-8")

    def __call__(self, *arguments: str) -> tuple[int, str]:
        places = {"DBATK_STORE": str(self.folder / "store.db"), "DBATK_CONFIG": str(self.folder / "config")}
        environment = {**os.environ, **places, "DBATK_PASSWORD": self.standin.password, "COLUMNS": "200"}
        done = forks.run("toolkit", *arguments, env=environment)
        return done.returncode, done.stdout + done.stderr

    def query(self, text: str) -> tuple[str, ...]:
        """Options of a CTAS of a user's query."""
        (self.folder / "q.sql").write_text(text, encoding="utf-8")
        return "ctas", "-t", "dwh", "--query", str(self.folder / "q.sql"), "--table", "C", "--snapshot", "none"


def _made(standin: Standin) -> list[str]:
    return [text for text in standin.statements if text.lstrip().upper().startswith("CREATE")]


@pytest.mark.thin(2)
@pytest.mark.parametrize("ending", [(), ("--dry-run",)])
@pytest.mark.parametrize(
    "query",
    thinned(
        [
            "select * from dba_hist_sysstat",
            "select h.* from loads h",
            "select * from app.v1",
            "select dbms_xmlgen.getxml('select * from dba_'||'hist_sysstat') x from dual",
        ],
        3,
    ),
)
def test_a_query_that_leads_to_a_pack_is_refused_before_anything_is_made(
    query: str, ending: tuple[str, ...], tmp_path: Path
) -> None:
    with running_standin(Scenario(views=_LOADS)) as standin:
        site = Site(standin, tmp_path)
        status, said = site(*site.query(query), *ending)
        assert status == 5, said
        assert "[TK-0303]" in said
        assert "Oracle Diagnostics Pack" in said
        assert "`vstat`" in said
        assert _made(standin) == []
        assert json.loads(site("runs", "list", "--json")[1])["runs"] == []


def test_what_nobody_could_read_is_said_in_the_bill(tmp_path: Path) -> None:
    with running_standin(Scenario(denied=frozenset({"ALL_SYNONYMS"}))) as standin:
        site = Site(standin, tmp_path)
        status, said = site(*site.query("select t.* from far.t@hq t"), "--dry-run")
    assert status == 0, said
    assert "-- licence not checked: `FAR.T@HQ` is in another database" in said
    assert "-- licence not checked: synonyms and views behind the names could not be read: ORA-" in said


_HIDDEN = {
    "text built at run time": "select dbms_xmlgen.getxml(t.data) x from gtest t",
    "another database": "select t.* from far.t@hq t",
    "a table named by a URI": "select dburitype('/SYS/DBA%5FHIST%5FSYSSTAT').getclob() x from dual",
    "rows of an advisor": "select f.* from dba_advisor_findings f",
}


@pytest.mark.parametrize("query", thinned(_HIDDEN.values(), 2), ids=_HIDDEN)
def test_what_nobody_can_see_through_is_shown_and_refused(query: str, tmp_path: Path) -> None:
    with running_standin() as standin:
        site = Site(standin, tmp_path)
        shown, said = site(*site.query(query), "--dry-run")
        assert shown == 0, said
        assert "-- licence not checked: " in said
        status, said = site(*site.query(query))
        assert status == 5, said
        assert "whether this needs a licence cannot be seen" in said
        assert "`--allow-unchecked`" in said
        assert _made(standin) == []


def test_what_nobody_can_see_through_is_sent_when_that_was_asked_for(tmp_path: Path) -> None:
    with running_standin(Scenario(denied=frozenset({"ALL_SYNONYMS"}))) as standin:
        site = Site(standin, tmp_path)
        query = site.query("select g.* from gtest g")
        status, said = site(*query)
        assert status == 5, said
        assert "could not be read: ORA-00942" in said
        status, said = site(*query, "--allow-unchecked")
        assert status == 0, said
        assert len(_made(standin)) == 1
    assert "licence not checked: synonyms and views" in " ".join(site("runs", "show", "last")[1].split())


_OWN = {
    "ALL_OBJECTS": [
        {"OWNER": "DBATK", "OBJECT_NAME": name, "OBJECT_TYPE": kind, "SUBOBJECT_NAME": None}
        for name, kind in (("DBA_HIST_SNAPSHOT", "VIEW"), ("TWICE", "FUNCTION"), ("RUNNER", "FUNCTION"))
    ],
    "ALL_DEPENDENCIES": [
        {
            "OWNER": "DBATK", "NAME": "DBA_HIST_SNAPSHOT", "TYPE": "VIEW",
            "REFERENCED_OWNER": "SYS", "REFERENCED_NAME": "V_$ACTIVE_SESSION_HISTORY", "REFERENCED_TYPE": "VIEW",
        }
    ],
    "ALL_SYNONYMS": [
        {"OWNER": "PUBLIC", "SYNONYM_NAME": name, "TABLE_OWNER": "SYS", "TABLE_NAME": "V_$SQL_MONITOR"}
        for name in ("VALUE", "BLOCK", "SELECT")
    ],
    "ALL_SOURCE": [
        {"OWNER": "DBATK", "NAME": name, "TYPE": "FUNCTION", "LINE": 1, "TEXT": text}
        for name, text in (
            ("TWICE", "FUNCTION twice (n NUMBER) RETURN NUMBER IS BEGIN RETURN 2 * n; END;"),
            ("RUNNER", "FUNCTION runner (t VARCHAR2) RETURN NUMBER IS BEGIN EXECUTE IMMEDIATE t; END;"),
        )
    ],
}  # fmt: skip


@pytest.mark.parametrize(
    ("query", "says"),
    thinned(
        [
            ("select * from dba_hist_snapshot", "`V_$ACTIVE_SESSION_HISTORY` (through DBATK.DBA_HIST_SNAPSHOT)"),
            ("select v.* from value v", "`V_$SQL_MONITOR` (through PUBLIC.VALUE)"),
            ('select v.* from "SELECT" v', "`V_$SQL_MONITOR` (through PUBLIC.SELECT)"),
            ("select runner(g.data) x from gtest g", "EXECUTE IMMEDIATE runs text built at run time"),
            ("select twice(g.id) x from gtest g", ""),
        ],
        2,
    ),
)
def test_a_name_means_what_the_catalogue_says(query: str, says: str, tmp_path: Path) -> None:
    with running_standin(Scenario(beside=_OWN)) as standin:
        site = Site(standin, tmp_path)
        status, said = site(*site.query(query), "--dry-run")
    if not says:
        assert status == 0, said
        assert "licence not checked" not in said
    else:
        assert says in said


def test_a_declared_option_runs_and_its_declaration_goes_with_every_report(tmp_path: Path) -> None:
    with running_standin() as standin:
        site = Site(standin, tmp_path, _OPTION)
        status, said = site(*_CTAS, "-t", "dwh", "--compression", "oltp", "--repeat", "1", "--warmup", "0")
        assert status == 0, said
        assert any("COMPRESS" in text for text in _made(standin))
    line = "you declared it: J. Doe on 2026-01-31, without an end"
    assert line in " ".join(site("runs", "show", "last")[1].split())
    for kind in ("text", "markdown", "html"):
        page = " ".join(site("report", "last", "--format", kind)[1].split())
        assert line in page.replace("\\", "")
        assert "you are licensed" not in page
    licences = json.loads(site("report", "last", "--format", "json")[1])["licences"]
    used = {one["licence"]: one for one in licences["used"]}
    assert used["advanced_compression"]["declared_by"] == "J. Doe"
    assert used["advanced_compression"]["status"] == "declared"
    assert json.loads(site("runs", "show", "last", "--json")[1])["licences"] == licences


@pytest.mark.thin(2)
@pytest.mark.parametrize(
    ("scenario", "status"),
    [
        (Scenario(), 5),
        (Scenario(edition="se2"), 5),
        (Scenario(edition="free", options={"Basic Compression": "TRUE", "Advanced Compression": "TRUE"}), 0),
        (Scenario(context={"CLOUD_SERVICE": "DWCS"}), 0),
    ],
    ids=["ee", "se2", "free", "autonomous"],
)
def test_an_option_nobody_declared_passes_where_it_is_part_of_the_database(
    scenario: Scenario, status: int, tmp_path: Path
) -> None:
    with running_standin(scenario) as standin:
        done, said = Site(standin, tmp_path)(*_CTAS, "-t", "dwh", "--compression", "oltp", "--dry-run")
    assert done == status, said


def test_an_assumed_release_takes_the_declarations_of_the_profile(tmp_path: Path) -> None:
    with running_standin() as standin:
        line = (*_CTAS, "-t", "dwh", "--compression", "oltp", "--dry-run", "--assume", "19-ee")
        assert Site(standin, tmp_path)(*line)[0] == 5
        status, said = Site(standin, tmp_path, _OPTION)(*line)
        assert standin.statements == []
    assert status == 0, said
    assert "you declared it: J. Doe" in said


def test_a_plan_shows_the_bill(tmp_path: Path) -> None:
    with running_standin() as standin:
        site = Site(standin, tmp_path, _OPTION)
        file = tmp_path / "e.toml"
        status, said = site(*_CTAS, "-t", "dwh", "--compression", "none,oltp", "--save-as", str(file))
        assert status == 0, said
        status, said = site("plan", str(file))
        assert status == 0, said
        assert "licence: Oracle Advanced Compression" in said
        document = json.loads(site("plan", str(file), "--json")[1])
    assert "advanced_compression" in {one["licence"] for one in document["licences"]["used"]}


@pytest.mark.parametrize("command", ["run", "plan"])
def test_a_factor_that_would_change_the_packs_parameter_is_refused(command: str, tmp_path: Path) -> None:
    file = tmp_path / "f.toml"
    file.write_text(
        '[experiment]\ntarget = "dwh"\noperation = "ctas"\nsource = "GTEST"\ntable = "C"\nsnapshot = "none"\n'
        '[[factor]]\nname = "packs"\nlevels = ["NONE"]\n'
        "read_sql = \"SELECT value FROM v$parameter WHERE name = 'control_management_pack_access'\"\n"
        'apply_sql = "ALTER SYSTEM SET control_management_pack_access = {level} SCOPE=MEMORY"\n'
        'undo_sql = "ALTER SYSTEM SET control_management_pack_access = {before} SCOPE=MEMORY"\n',
        encoding="utf-8",
    )
    with running_standin() as standin:
        status, said = Site(standin, tmp_path)(command, str(file))
        assert status == 5, said
        assert "dbatk never does" in said
        assert not any("ALTER SYSTEM" in text for text in standin.statements)


# -- the wrapper ------------------------------------------------------------------------------------------------
_AWR = "SELECT s.stat_name FROM dba_hist_sysstat s"
_PACKS = frozenset({"diagnostics_pack"})


@pytest.mark.parametrize(
    ("scenario", "part"),
    [
        (Scenario(edition="se2"), "not available for Standard Edition 2, although it is declared"),
        (
            Scenario(parameters={"control_management_pack_access": "NONE"}),
            "control_management_pack_access is NONE",
        ),
        (Scenario(denied=frozenset({"V$PARAMETER"})), "so it counts as off"),
    ],
    ids=["se2", "none", "unreadable"],
)
def test_a_declaration_is_held_against_edition_and_parameter_by_the_wrapper_itself(
    scenario: Scenario, part: str
) -> None:
    with running_standin(scenario) as standin:
        connection = target(standin, licences=_PACKS).connect(Role.CONTROL, SessionTag("r"))
        with pytest.raises(ToolkitError, match="Diagnostics Pack") as refused:
            connection.execute(_AWR)
        assert part in refused.value.message
        assert not any("dba_hist" in text.lower() for text in standin.statements)
        connection.close()


def test_the_database_is_asked_once_and_only_when_a_statement_needs_it() -> None:
    with running_standin() as standin:
        connection = connect(standin)
        connection.execute("SELECT 1 AS one FROM dual")
        before = len(standin.statements)
        for _ in range(3):
            with pytest.raises(ToolkitError):
                connection.execute(_AWR)
        assert len(standin.statements) == before + 3
        connection.close()


def test_an_autonomous_database_brings_its_packs() -> None:
    with running_standin(Scenario(context={"CLOUD_SERVICE": "OLTP"})) as standin:
        where = target(standin)
        connection = where.connect(Role.CONTROL, SessionTag("r"))
        connection.execute(_AWR)
        assert [use.thing for use in where.guard.used] == ["DBA_HIST_SYSSTAT"]
        connection.close()
