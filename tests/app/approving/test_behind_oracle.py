"""What stands behind the names of a plan is approved with them on Oracle, too (on the stand-in)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from tests.app.approving.test_complete import made
from tests.oracle.standin import Scenario, Standin, running_standin
from toolkit.app.approving import approve, check, subject_of_plan
from toolkit.app.approving.making import Subject
from toolkit.errors import ToolkitError
from toolkit.model.audit import Approval
from toolkit.store import Store

Row = Mapping[str, object]
STEPS = """
[[step]]
name = "copy"
operation = "ctas"
query = "SELECT id, app.total(id) AS t FROM app.seen, app.outside, news, größe"
table = "x"
[[step]]
name = "load"
operation = "insert"
source = "sales"
table = "gtest"
[[step]]
name = "refresh"
operation = "mview-refresh"
schema = "app"
"""


def rows(columns: str, *given: tuple[object, ...]) -> list[Row]:
    return [dict(zip(columns.split(), each, strict=True)) for each in given]


def needs(*given: tuple[str, str, str]) -> list[Row]:
    """Rows of ALL_DEPENDENCIES: type, object, what it refers to."""
    return [
        {"OWNER": a.split(".")[0], "NAME": a.split(".")[1], "TYPE": kind,
         "REFERENCED_OWNER": b.split(".")[0], "REFERENCED_NAME": b.split(".")[1]}
        for kind, a, b in given
    ]  # fmt: skip


def source(*given: tuple[str, str, str]) -> list[Row]:
    """Rows of ALL_SOURCE: type, object, text."""
    return rows("OWNER NAME TYPE LINE TEXT", *((*name.split("."), kind, 1, text) for kind, name, text in given))


def objects(*given: tuple[str, str]) -> list[Row]:
    return rows("OWNER OBJECT_NAME OBJECT_TYPE OBJECT_ID", *((*name.split("."), kind, 1) for kind, name in given))


VIEWS: dict[str, list[Row]] = {
    "ALL_OBJECTS": objects(
        ("TABLE", "DBATK.GTEST"), ("TABLE", "DBATK.SALES"), ("VIEW", "APP.SEEN"), ("FUNCTION", "APP.TOTAL"),
        ("TABLE", "APP.OUTSIDE"), ("TABLE", "APP.BASE"), ("FUNCTION", "APP.HIDDEN"), ("PACKAGE", "APP.ADDS"),
        ("MATERIALIZED VIEW", "APP.SUMS"), ("TABLE", "APP.SUMS"), ("TABLE", "APP.CHILD"),
        ("PACKAGE", "LIB.HELPER"), ("PACKAGE", "APP.HELPER"), ("PACKAGE", "APP.LIB"), ("FUNCTION", "APP.KEYED"),
        ("FUNCTION", "DBATK.DOUBLED"), ("FUNCTION", "APP.RULES"), ("TRIGGER", "APP.FIRES"),
        ("TRIGGER", "APP.ON_DDL"),
    ),
    "ALL_VIEWS": rows(
        "OWNER VIEW_NAME TEXT", ("APP", "SEEN", "SELECT id FROM inner"), ("APP", "INNER", "SELECT id FROM base")
    ),
    "ALL_MVIEWS": rows("OWNER MVIEW_NAME QUERY REFRESH_METHOD", ("APP", "SUMS", "SELECT 1 FROM base", "COMPLETE")),
    "ALL_SYNONYMS": rows(
        "OWNER SYNONYM_NAME TABLE_OWNER TABLE_NAME DB_LINK",
        ("PUBLIC", "NEWS", "APP", "NEWER", None), ("APP", "NEWER", None, "FEED", "FAR"),
        ("PUBLIC", "INNER2", "APP", "BASE", None),
    ),
    "ALL_DB_LINKS": rows("OWNER DB_LINK USERNAME HOST", ("PUBLIC", "FAR", "APP", "far")),
    "ALL_SOURCE": source(
        ("FUNCTION", "APP.TOTAL", "FUNCTION total RETURN NUMBER"),
        ("PACKAGE", "APP.ADDS", "PACKAGE adds"), ("PACKAGE BODY", "APP.ADDS", "PACKAGE BODY adds"),
        ("TRIGGER", "APP.FIRES", "TRIGGER fires BEFORE INSERT"), ("FUNCTION", "APP.RULES", "FUNCTION rules"),
        ("FUNCTION", "DBATK.DOUBLED", "FUNCTION doubled"), ("TRIGGER", "APP.ON_DDL", "TRIGGER on_ddl"),
    ),
    "ALL_DEPENDENCIES": needs(
        ("VIEW", "APP.SEEN", "APP.INNER"), ("VIEW", "APP.INNER", "APP.BASE"),
        ("FUNCTION", "APP.TOTAL", "APP.ADDS"), ("FUNCTION", "APP.TOTAL", "SYS.STANDARD"),
        ("PACKAGE BODY", "APP.ADDS", "LIB.HELPER"),
    ),
    "ALL_TRIGGERS": rows(
        "OWNER TRIGGER_NAME TRIGGER_TYPE TRIGGERING_EVENT TABLE_OWNER BASE_OBJECT_TYPE TABLE_NAME STATUS",
        ("APP", "FIRES", "BEFORE EACH ROW", "INSERT", "DBATK", "TABLE", "GTEST", "ENABLED"),
        ("APP", "ON_DDL", "AFTER EVENT", "CREATE", "SYS", "DATABASE        ", None, "ENABLED"),
    ),
    "ALL_POLICIES": rows(
        "OBJECT_OWNER OBJECT_NAME POLICY_GROUP POLICY_NAME PF_OWNER FUNCTION SEL ENABLE POLICY_TYPE",
        ("APP", "BASE", "SYS_DEFAULT", "ROWS", "APP", "RULES", "YES", "YES", "DYNAMIC"),
    ),
    "ALL_TAB_COLS": rows(
        "OWNER TABLE_NAME COLUMN_NAME HIDDEN_COLUMN VIRTUAL_COLUMN DEFAULT_LENGTH DATA_DEFAULT DATA_TYPE",
        ("DBATK", "GTEST", "ID", "NO", "NO", None, None, "NUMBER"),
        ("DBATK", "GTEST", "TWICE", "NO", "YES", 13, '"DOUBLED"("ID")', "NUMBER"),
    ),
    "ALL_IND_EXPRESSIONS": rows("TABLE_OWNER TABLE_NAME COLUMN_EXPRESSION", ("APP", "BASE", "KEYED(id)")),
    "ALL_CONSTRAINTS": rows(
        "OWNER CONSTRAINT_NAME CONSTRAINT_TYPE TABLE_NAME R_OWNER R_CONSTRAINT_NAME DELETE_RULE STATUS",
        ("DBATK", "PK", "P", "GTEST", None, None, None, "ENABLED"),
        ("APP", "FK", "R", "CHILD", "DBATK", "PK", "CASCADE", "ENABLED"),
    ),
    "ALL_EXTERNAL_TABLES": rows(
        "OWNER TABLE_NAME TYPE_NAME DEFAULT_DIRECTORY_NAME ACCESS_PARAMETERS",
        ("APP", "OUTSIDE", "ORACLE_LOADER", "INBOX", "RECORDS DELIMITED BY NEWLINE"),
    ),
    "ALL_EXTERNAL_LOCATIONS": rows("OWNER TABLE_NAME LOCATION", ("APP", "OUTSIDE", "in.csv")),
    "ALL_DIRECTORIES": rows("OWNER DIRECTORY_NAME DIRECTORY_PATH", ("SYS", "INBOX", "/in")),
}  # fmt: skip


@dataclass
class Plan:
    standin: Standin
    store: Store
    folder: Path

    def subject(self) -> Subject:
        return subject_of_plan(self.folder / "n.toml", *made(self.standin.url, STEPS, self.store, self.folder))

    def show(self, view: str, shown: list[Row]) -> None:
        scenario = self.standin.engine.scenario
        self.standin.engine.scenario = replace(scenario, views={**scenario.views, view: shown})

    def difference(self) -> str:
        """Return what a check says that differs; nothing where it passes."""
        try:
            check(self.subject(), self.store)
        except ToolkitError as error:
            assert error.code == "TK-0313"
            return error.message
        return ""


@pytest.fixture
def plan(store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Plan]:
    monkeypatch.setenv("DBATK_CONFIG", str(tmp_path))
    privileges = ("CREATE SESSION", "CREATE TABLE", "CREATE ANY TRIGGER")
    with running_standin(Scenario(views=VIEWS, privileges=privileges)) as standin:
        monkeypatch.setenv("DBATK_PASSWORD", standin.password)
        yield Plan(standin, store, tmp_path)


def approved(plan: Plan) -> Approval:
    approval = approve(plan.subject(), plan.store)
    assert plan.difference() == ""
    return approval


def changed(view: str, at: int, **columns: object) -> tuple[str, list[Row]]:
    return view, [{**row, **columns} if place == at else row for place, row in enumerate(VIEWS[view])]


def added(view: str, *more: Row) -> tuple[str, list[Row]]:
    return view, [*VIEWS[view], *more]


@pytest.mark.thin(4)
@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("APP.SEEN", changed("ALL_VIEWS", 1, TEXT="SELECT id FROM secret")),
        ("APP.*", changed("ALL_MVIEWS", 0, QUERY="SELECT 1 FROM secret")),
        ("NEWS", changed("ALL_SYNONYMS", 1, TABLE_NAME="OTHER")),
        ("NEWS", changed("ALL_DB_LINKS", 0, HOST="evil")),
        ("NEWS", added("ALL_DB_LINKS", *rows("OWNER DB_LINK USERNAME HOST", ("DBATK", "FAR", "APP", "evil")))),
        ("APP.TOTAL", changed("ALL_SOURCE", 0, TEXT="FUNCTION total(evil)")),
        ("APP.TOTAL", changed("ALL_SOURCE", 2, TEXT="PACKAGE BODY evil")),
        ("APP.TOTAL", added("ALL_SOURCE", *source(("PACKAGE", "LIB.HELPER", "PACKAGE helper")))),
        ("APP.TOTAL", added("ALL_SOURCE", *source(("PACKAGE", "APP.HELPER", "PACKAGE before it")))),
        ("APP.TOTAL", added("ALL_SOURCE", *source(("PACKAGE", "APP.LIB", "PACKAGE named as its schema")))),
        ("GTEST", changed("ALL_SOURCE", 3, TEXT="TRIGGER fires evil")),
        ("GTEST", changed("ALL_TRIGGERS", 0, STATUS="DISABLED")),
        ("GTEST", changed("ALL_TAB_COLS", 1, DATA_DEFAULT='"ID"')),
        ("GTEST", changed("ALL_SOURCE", 5, TEXT="FUNCTION doubled evil")),
        ("GTEST", changed("ALL_CONSTRAINTS", 1, DELETE_RULE="SET NULL")),
        (
            "GTEST",
            added("ALL_TRIGGERS", {**VIEWS["ALL_TRIGGERS"][0], "TABLE_OWNER": "APP", "TABLE_NAME": "CHILD"}),
        ),
        ("triggers of the database", changed("ALL_SOURCE", 6, TEXT="TRIGGER on_ddl evil")),
        (
            "triggers of the database",
            added("ALL_TRIGGERS", {**VIEWS["ALL_TRIGGERS"][1], "TRIGGERING_EVENT": "LOGON"}),
        ),
        ("APP.SEEN", changed("ALL_SOURCE", 4, TEXT="FUNCTION rules evil")),
        ("APP.SEEN", changed("ALL_POLICIES", 0, ENABLE="NO")),
        (
            "SALES",
            added("ALL_POLICIES", {**VIEWS["ALL_POLICIES"][0], "OBJECT_OWNER": "DBATK", "OBJECT_NAME": "SALES"}),
        ),
        ("APP.SEEN", added("ALL_SOURCE", *source(("FUNCTION", "APP.KEYED", "FUNCTION keyed")))),
        ("APP.OUTSIDE", changed("ALL_EXTERNAL_TABLES", 0, ACCESS_PARAMETERS="PREPROCESSOR inbox:'evil.sh'")),
        ("APP.OUTSIDE", changed("ALL_EXTERNAL_LOCATIONS", 0, LOCATION="evil.csv")),
        ("APP.OUTSIDE", changed("ALL_DIRECTORIES", 0, DIRECTORY_PATH="/evil")),
        (
            "GRÖßE",
            added("ALL_SYNONYMS", {**VIEWS["ALL_SYNONYMS"][0], "OWNER": "DBATK", "SYNONYM_NAME": "GRÖßE"}),
        ),
    ],
)  # fmt: skip
def test_what_stands_behind_a_name_is_approved(plan: Plan, name: str, change: tuple[str, list[Row]]) -> None:
    approved(plan)
    plan.show(*change)
    assert f"name `{name}` of " in plan.difference()


@pytest.mark.parametrize(
    "change",
    [
        added("ALL_DEPENDENCIES", *needs(("FUNCTION", "APP.TOTAL", "SYS.DBMS_OUTPUT"))),
        changed("ALL_IND_EXPRESSIONS", 0, COLUMN_EXPRESSION="UPPER(id)"),
        added("ALL_VIEWS", *rows("OWNER VIEW_NAME TEXT", ("APP", "UNUSED", "SELECT 1 FROM dual"))),
    ],
)
def test_what_changes_nothing_of_it_runs_without_a_new_approval(plan: Plan, change: tuple[str, list[Row]]) -> None:
    approved(plan)
    plan.show(*change)
    assert plan.difference() == ""


def test_what_is_not_shown_to_the_user_is_said_to_who_approves(plan: Plan) -> None:
    plan.show("SESSION_PRIVS", [{"PRIVILEGE": "CREATE SESSION"}])
    plan.show("ALL_SOURCE", [row for row in VIEWS["ALL_SOURCE"] if row["TYPE"] != "PACKAGE BODY"])
    notes = "\n".join(approved(plan).notes)
    assert "the source of package APP.ADDS is not shown to this user" in notes
    assert "triggers of the database and on tables of others are not shown" in notes


def test_what_cannot_be_read_is_said_and_may_not_hide_later_what_was_approved(plan: Plan) -> None:
    shown = plan.standin.engine.scenario
    approved(plan)
    plan.standin.engine.scenario = replace(shown, denied=frozenset({"ALL_VIEWS"}))
    assert "name `APP.SEEN` of " in plan.difference()
    notes = "\n".join(approve(plan.subject(), plan.store).notes)
    assert "what stands behind names could not be read (ORA-00942" in notes


def test_a_circle_of_names_ends_and_too_many_of_them_are_refused(
    plan: Plan, monkeypatch: pytest.MonkeyPatch
) -> None:
    plan.show(*added("ALL_DEPENDENCIES", *needs(("VIEW", "APP.BASE", "APP.SEEN"))))
    approved(plan)
    monkeypatch.setattr("toolkit.app.approving.behind._MOST", 10)
    with pytest.raises(ToolkitError, match="more than 10 objects"):
        approve(plan.subject(), plan.store)
