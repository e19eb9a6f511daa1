"""What a change fires: triggers of tables and views, of rows that go with others, of DDL, of what they write."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import pytest

from tests.for_each import for_each
from toolkit.dialects.oracle.licences import resolution
from toolkit.dialects.oracle.licences.resolution import MOST_NAMES, MOST_SCHEMAS, follow
from toolkit.model.values import Row

_PAID = "BEGIN SELECT count(*) INTO n FROM dba_hist_sysstat; END;"


@dataclass
class _Catalogue:
    """A dictionary that answers only to the owner who has the object, and notes what it was asked.

    `objects` are kinds by owner and name, `leads` names by the name that leads there, `texts` sources with their
    kinds, `triggers` rows of owner, name and kind by table.
    """

    objects: Mapping[tuple[str, str], str] = field(default_factory=dict)
    leads: Mapping[tuple[str, str], tuple[tuple[str, str], ...]] = field(default_factory=dict)
    texts: Mapping[tuple[str, str], tuple[tuple[str, str], ...]] = field(default_factory=dict)
    triggers: Mapping[tuple[str, str], tuple[tuple[str, str, str], ...]] = field(default_factory=dict)
    on_ddl: tuple[tuple[str, str, str], ...] = ()
    asked: list[tuple[tuple[str, ...], tuple[str, ...]]] = field(default_factory=list)
    fired: list[tuple[str, str]] = field(default_factory=list)

    def leads_to(self, names: tuple[str, ...], schemas: tuple[str, ...]) -> tuple[Row, ...]:
        self.asked.append((names, schemas))
        owners = {"APP", "PUBLIC", *schemas}
        found = []
        for (owner, name), kind in self.objects.items():
            if name in names and owner in owners:
                blank: Row = {"owner": owner, "name": name, "kind": kind, "is_current": int(owner == "APP"),
                              "referenced_owner": None, "referenced_name": None, "link": None}  # fmt: skip
                found.append(blank)
                found += [
                    blank | {"referenced_owner": to[0], "referenced_name": to[1], "kind": "READS"}
                    for to in self.leads.get((owner, name), ())
                ]
        return (*found, *(self._line(*each) for each in self.on_ddl))

    @staticmethod
    def _line(owner: str, name: str, kind: str) -> Row:
        return {"owner": owner, "name": name, "kind": kind, "is_current": 0, "referenced_owner": None,
                "referenced_name": None, "link": None}  # fmt: skip

    def text_of(self, owner: str, name: str, *, view: bool) -> tuple[Row, ...]:
        return tuple(
            {"kind": kind, "text": text}
            for kind, text in self.texts.get((owner, name), ())
            if (kind == "VIEW") is view
        )

    def triggers_of(self, owner: str, name: str) -> tuple[Row, ...]:
        self.fired.append((owner, name))
        found = self.triggers.get((owner, name), ())
        return tuple({"owner": owner, "name": name, "kind": kind} for owner, name, kind in found)


def said(catalogue: _Catalogue, *written: tuple[str, ...], deletes: bool = False) -> list[tuple[str, str, str]]:
    rows = follow(written, catalogue, written, deletes=deletes)
    return [(str(row["finding"]), str(row["thing"]), str(row["by"])) for row in rows if row["finding"] != "own"]


def trigger(
    body: str, head: str = "TRIGGER t BEFORE INSERT ON orders DECLARE n NUMBER; "
) -> tuple[tuple[str, str], ...]:
    return (("TRIGGER", head + body),)


def test_a_trigger_of_a_table_is_read_and_said_with_the_way_to_it() -> None:
    catalogue = _Catalogue(
        {("OPS", "ORDERS"): "TABLE", ("SEC", "LOGS"): "TRIGGER"},
        texts={("SEC", "LOGS"): trigger(_PAID)},
        triggers={("OPS", "ORDERS"): (("SEC", "LOGS", "BEFORE EACH ROW"),)},
    )
    assert said(catalogue, ("OPS", "ORDERS")) == [
        ("use", "DBA_HIST_SYSSTAT", "through OPS.ORDERS > trigger SEC.LOGS")
    ]
    assert follow([("OPS", "ORDERS")], catalogue) == (
        {"finding": "own", "thing": '["OPS", "ORDERS"]', "licence": "", "by": ""},
    )
    assert catalogue.fired == [("OPS", "ORDERS")]  # what is only read fires nothing


def test_a_table_of_the_current_schema_is_looked_up_as_its_owners() -> None:
    catalogue = _Catalogue(
        {("APP", "ORDERS"): "TABLE"}, triggers={("APP", "ORDERS"): (("APP", "GONE", "BEFORE EACH ROW"),)}
    )
    assert said(catalogue, ("ORDERS",)) == [
        ("unseen", "the text of `APP.ORDERS > trigger APP.GONE` cannot be read", "")
    ]
    assert said(catalogue, ("APP", "ORDERS")) == [
        ("unseen", "the text of `APP.ORDERS > trigger APP.GONE` cannot be read", "")
    ]


def test_triggers_that_are_not_shown_are_noted() -> None:
    catalogue = _Catalogue(
        {("APP", "ORDERS"): "TABLE"}, triggers={("APP", "ORDERS"): (("APP", "ORDERS", "NOT SHOWN"),)}
    )
    assert said(catalogue, ("ORDERS",)) == [
        ("note", "triggers of `APP.ORDERS`, if there are any, are not shown to this user", "")
    ]


def test_what_a_view_or_a_synonym_leads_to_is_written_too() -> None:
    catalogue = _Catalogue(
        {("APP", "V"): "VIEW", ("OPS", "ORDERS"): "TABLE"},
        {("APP", "V"): (("OPS", "ORDERS"),)},
        {("APP", "V"): (("VIEW", "SELECT * FROM ops.orders"),)},
        {
            ("OPS", "ORDERS"): (("OPS", "LOGS", "AFTER STATEMENT"),),
            ("APP", "V"): (("APP", "INSTEAD", "INSTEAD OF"),),
        },
    )
    assert [thing for _, thing, _ in said(catalogue, ("V",))] == [
        "the text of `APP.V > trigger APP.INSTEAD` cannot be read",
        "the text of `APP.V > OPS.ORDERS > trigger OPS.LOGS` cannot be read",
    ]


_KEYED = _Catalogue(
    {("APP", "ORDERS"): "TABLE", ("APP", "LINES"): "TABLE"},
    triggers={
        ("APP", "ORDERS"): (("APP", "LINES", "CHILD"),),
        ("APP", "LINES"): (("APP", "ORDERS", "CHILD"), ("APP", "LOGS", "AFTER STATEMENT")),
    },
)


@pytest.mark.parametrize("deletes", [True, False])
def test_rows_that_go_with_deleted_ones_fire_triggers_and_a_circle_ends(deletes: bool) -> None:
    way = "APP.ORDERS > rows of APP.LINES > trigger APP.LOGS"
    expected = [("unseen", f"the text of `{way}` cannot be read", "")] if deletes else []
    assert said(_KEYED, ("ORDERS",), deletes=deletes) == expected


@pytest.mark.parametrize(
    ("body", "names"),
    [
        ("BEGIN INSERT INTO audit_log VALUES (1); END;", ("SEC", "AUDIT_LOG")),
        ("BEGIN INSERT INTO ops.audit_log VALUES (1); END;", ("OPS", "AUDIT_LOG")),
    ],
)
def test_what_a_trigger_writes_is_of_its_owner_and_fires_triggers_too(body: str, names: tuple[str, str]) -> None:
    catalogue = _Catalogue(
        {("APP", "ORDERS"): "TABLE", ("SEC", "AUDIT_LOG"): "TABLE", ("OPS", "AUDIT_LOG"): "TABLE"},
        texts={("SEC", "LOGS"): trigger(body)},
        triggers={("APP", "ORDERS"): (("SEC", "LOGS", "AFTER STATEMENT"),), names: ((*names, "NOT SHOWN"),)},
    )
    way = "APP.ORDERS > trigger SEC.LOGS > " + ".".join(names)
    assert said(catalogue, ("ORDERS",)) == [
        ("note", f"triggers of `{way}`, if there are any, are not shown to this user", "")
    ]


def test_a_table_that_was_looked_up_before_it_is_written_is_read_again() -> None:
    catalogue = _Catalogue(
        {("APP", "ORDERS"): "TABLE", ("APP", "COPY"): "TABLE"},
        texts={("APP", "LOGS"): trigger("BEGIN INSERT INTO app.copy VALUES (1); END;")},
        triggers={
            ("APP", "ORDERS"): (("APP", "LOGS", "AFTER STATEMENT"),),
            ("APP", "COPY"): (("APP", "COPY", "NOT SHOWN"),),
        },
    )
    rows = follow([("APP", "COPY"), ("ORDERS",)], catalogue, [("ORDERS",)])
    assert [row["thing"] for row in rows if row["finding"] == "note"] == [
        "triggers of `APP.ORDERS > trigger APP.LOGS`, if there are any, are not shown to this user"
    ]


def test_a_trigger_that_deletes_has_the_rows_behind_keys_followed() -> None:
    catalogue = _Catalogue(
        {("APP", "ORDERS"): "TABLE", ("APP", "LINES"): "TABLE"},
        texts={("APP", "LOGS"): trigger("BEGIN DELETE FROM app.lines; END;")},
        triggers={
            ("APP", "ORDERS"): (("APP", "LOGS", "AFTER STATEMENT"),),
            ("APP", "LINES"): (("APP", "PARTS", "CHILD"),),
            ("APP", "PARTS"): (("APP", "PARTS", "NOT SHOWN"),),
        },
    )
    (note,) = said(catalogue, ("ORDERS",))
    way = "APP.ORDERS > trigger APP.LOGS > APP.LINES > rows of APP.PARTS"
    assert note[1] == f"triggers of `{way}`, if there are any, are not shown to this user"


def test_what_ddl_fires_is_asked_once_and_oracles_own_is_passed_over() -> None:
    catalogue = _Catalogue(
        {("APP", "ORDERS"): "TABLE"},
        texts={("SEC", "GUARD"): trigger(_PAID, "TRIGGER guard AFTER DDL ON DATABASE DECLARE n NUMBER; ")},
        on_ddl=(
            ("SEC", "GUARD", "DDL TRIGGER"),
            ("SYS", "OWN", "DDL TRIGGER"),
            ("PUBLIC", "x", "DDL TRIGGERS NOT SHOWN"),
        ),
    )
    rows = follow([("ORDERS",)], catalogue, fires_ddl=True)
    assert [(row["finding"], row["thing"], row["by"]) for row in rows if row["finding"] != "own"] == [
        ("use", "DBA_HIST_SYSSTAT", "through DDL > trigger SEC.GUARD"),
        ("note", "triggers on DDL of the database, if there are any, are not shown to this user", ""),
    ]
    assert {row["finding"] for row in follow([("ORDERS",)], catalogue)} == {"own"}  # no DDL is sent


@for_each(
    ("kind", "sources", "unseen"),
    [
        ("FUNCTION", (("FUNCTION", "FUNCTION f RETURN NUMBER IS BEGIN RETURN 1; END;"),), []),
        ("FUNCTION", (), ["the source of `OPS.F` cannot be read"]),
        ("PACKAGE", (("PACKAGE", "PACKAGE f IS n NUMBER; END;"),), ["the source of `OPS.F` cannot be read"]),
        ("PACKAGE", (("PACKAGE", "PACKAGE f IS END;"), ("PACKAGE BODY", "PACKAGE BODY f IS END;")), []),
        ("TYPE", (), []),
        (
            "FUNCTION",
            (("FUNCTION", "FUNCTION f RETURN VARCHAR2 SQL_MACRO IS BEGIN RETURN x; END;"),),
            [
                "a SQL macro returns a text that is built at run time (in OPS.F)",
                "`OPS.F` is a SQL macro: the text that it returns cannot be seen",
            ],
        ),
    ],
)
def test_a_program_is_read_in_its_owners_schema(
    kind: str, sources: tuple[tuple[str, str], ...], unseen: list[str]
) -> None:
    catalogue = _Catalogue({("OPS", "F"): kind}, texts={("OPS", "F"): sources, ("APP", "F"): ()})
    rows = follow([("OPS", "F")], catalogue)
    assert [row["thing"] for row in rows if row["finding"] == "unseen"] == unseen


def test_a_read_takes_so_many_names_and_schemas_and_no_more() -> None:
    catalogue = _Catalogue()
    names = [(f"N{number}",) for number in range(MOST_NAMES + 1)]
    follow(names, catalogue)
    assert [len(asked) for asked, _ in catalogue.asked] == [MOST_NAMES, 1]
    assert [schemas for _, schemas in catalogue.asked] == [(), ()]
    catalogue = _Catalogue()
    follow([(f"S{number}", "T") for number in range(MOST_SCHEMAS + 1)], catalogue)
    assert max(len(schemas) for _, schemas in catalogue.asked) == MOST_SCHEMAS
    assert {schema for _, schemas in catalogue.asked for schema in schemas} == {
        f"S{n}" for n in range(MOST_SCHEMAS + 1)
    }
    catalogue = _Catalogue()  # names without a schema take none of the places for schemas
    follow([*((f"S{number}", "T") for number in range(MOST_SCHEMAS)), ("X",)], catalogue)
    assert all(None not in schemas for _, schemas in catalogue.asked)


def test_triggers_are_read_up_to_the_limit_and_each_once(monkeypatch: pytest.MonkeyPatch) -> None:
    chain = {("APP", f"T{number}"): (("APP", f"T{number + 1}", "CHILD"),) for number in range(30)}
    catalogue = _Catalogue({("APP", "T0"): "TABLE"}, triggers=chain)
    monkeypatch.setattr(resolution, "_MOST_READS", 10)
    follow([("T0",)], catalogue, [("T0",)], deletes=True)
    assert len(catalogue.fired) == len(set(catalogue.fired)) == 9
