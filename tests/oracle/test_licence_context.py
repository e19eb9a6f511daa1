"""What a licence stands on: edition, release, service, parameter, declaration; and the bill that comes of it."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date
from typing import cast

import pytest

from tests.for_each import for_each
from toolkit.app.approvals import TargetPolicy as TargetStanding
from toolkit.app.runs import licensing
from toolkit.config.licences import Licence
from toolkit.dialects.oracle.licences import LicenceFindings, Use, declarable, licences, look, look_script
from toolkit.dialects.oracle.licences.context import LicenceContext, context_of, judge, refusals, refuse
from toolkit.dialects.oracle.licences.resolution import findings, follow, own_names
from toolkit.errors import ToolkitError
from toolkit.model.address import Address
from toolkit.model.bill import Bill, LicenceStatus, bill_among, bill_from_text, bill_to_text
from toolkit.model.facts import Facts, Release
from toolkit.model.records import Artifact
from toolkit.model.values import Row
from toolkit.store import Store
from toolkit.targets.base import Access
from toolkit.targets.oracle import OracleTarget

AWR = "SELECT * FROM dba_hist_sysstat"
MONITOR = "SELECT * FROM v$sql_monitor"
OLTP = "CREATE TABLE t COMPRESS FOR OLTP AS SELECT 1 x FROM dual"
ONLINE = "CREATE INDEX i ON t (a) ONLINE"
PACKS = frozenset({"diagnostics_pack", "tuning_pack"})
EE = LicenceContext(edition="ee", release=(19, 0), pack_access="DIAGNOSTIC+TUNING")


def _said(text: str, context: LicenceContext) -> str:
    with pytest.raises(ToolkitError) as refused:
        refuse(look(text), context)
    assert refused.value.code == "TK-0303"
    return f"{refused.value.message}; {refused.value.hint}"


def _on(**what: object) -> LicenceContext:
    return LicenceContext(**{"edition": "ee", "release": (19, 0), "pack_access": "DIAGNOSTIC+TUNING", **what})  # type: ignore[arg-type]


@for_each("key", sorted(licences()))
@for_each("edition", ["ee", "se2", "se", ""])
def test_nothing_that_must_be_declared_is_allowed_without_a_word(key: str, edition: str) -> None:
    verdict = judge(key, LicenceContext(edition=edition, release=(19, 0), pack_access="DIAGNOSTIC+TUNING"))
    if key in declarable() or edition in {"se2", "se"}:
        assert verdict.status is LicenceStatus.REFUSED


def test_a_refusal_names_object_licence_and_the_way_without() -> None:
    said = _said(AWR, EE)
    for part in (
        "`DBA_HIST_SYSSTAT`",
        "Oracle Diagnostics Pack",
        "not declared",
        "`vstat`",
        "licenses.diagnostics_pack",
    ):
        assert part in said


def test_the_default_of_the_parameter_is_no_evidence() -> None:
    assert "not declared" in _said(AWR, EE)


@for_each(
    ("text", "context", "part"),
    [
        (AWR, _on(declared=PACKS, edition="se2"), "not available for Standard Edition 2, although it is declared"),
        (AWR, _on(lapsed=PACKS), "declared for this target, but not for today"),
        (AWR, LicenceContext(PACKS, "ee", (19, 0), pack_access="NONE"), "control_management_pack_access is NONE"),
        (AWR, LicenceContext(PACKS, "ee", (19, 0), pack_access=None), "so it counts as off"),
        (MONITOR, _on(declared=PACKS, pack_access="DIAGNOSTIC"), "access is DIAGNOSTIC"),
        (MONITOR, _on(declared=PACKS - {"diagnostics_pack"}), "needs Oracle Diagnostics Pack, which is not"),
        (OLTP, LicenceContext(edition="ee", release=(19, 0)), "licenses.advanced_compression"),
        (
            OLTP, LicenceContext(frozenset({"advanced_compression"}), "se2", (19, 0)),
            "not available for Standard Edition 2",
        ),
        (OLTP, LicenceContext(edition="xe", release=(11, 2)), "Express Edition before 18"),
        (ONLINE, _on(edition="se2"), "`ONLINE` needs Oracle Enterprise Edition; this is Standard Edition 2"),
        (
            "CREATE BITMAP INDEX i ON t (a)", LicenceContext(edition="se", release=(11, 2)),
            "this is Standard Edition",
        ),
        (
            "ALTER SYSTEM SET control_management_pack_access='NONE'", LicenceContext(PACKS, "ee"),
            "dbatk never does",
        ),
    ],
)  # fmt: skip
def test_what_the_ground_does_not_carry_is_refused_with_the_reason(
    text: str, context: LicenceContext, part: str
) -> None:
    assert part in _said(text, context)


@for_each(
    ("text", "context"),
    [
        (AWR, LicenceContext(PACKS, "ee", (19, 0), pack_access="DIAGNOSTIC+TUNING")),
        (AWR, LicenceContext(PACKS, "ee", (19, 0), pack_access="diagnostic")),
        (AWR, LicenceContext(PACKS, "ee", (19, 0), asked=False)),
        (AWR, LicenceContext(edition="ee", release=(19, 0), autonomous=True)),
        (MONITOR, LicenceContext(PACKS, "ee", (19, 0), pack_access="DIAGNOSTIC+TUNING")),
        (OLTP, LicenceContext(frozenset({"advanced_compression"}), "ee", (19, 0))),
        (OLTP, LicenceContext(edition="free", release=(23, 0))),
        (OLTP, LicenceContext(edition="xe", release=(21, 0))),
        (ONLINE, LicenceContext(edition="ee")),
        (ONLINE, LicenceContext()),
        ("SELECT * FROM dba_hist_snapshot", LicenceContext(edition="se2")),
        ("CREATE INDEX i ON t (a) NOPARALLEL", LicenceContext(edition="se2")),
    ],
)
def test_what_the_ground_carries_passes(text: str, context: LicenceContext) -> None:
    refuse(look(text), context)


@pytest.mark.parametrize("assumed", [True, False])
def test_the_context_is_what_the_catalogue_answered(assumed: bool) -> None:
    answers: dict[str, tuple[Row, ...]] = {
        "licences": ({"licence": "diagnostics_pack"}, {"licence": "partitioning"}),
        "pack_access": ({"pack_access": "DIAGNOSTIC+TUNING"},),
        "cloud_service": ({"cloud_service": "OLTP"},),
    }
    context = context_of(Facts("oracle", Release((19, 3), "ee"), answers, assumed=assumed))
    assert context.declared == {"diagnostics_pack", "partitioning"}
    assert (context.release, context.pack_access, context.asked) == ((19, 3), "DIAGNOSTIC+TUNING", not assumed)
    assert context.autonomous is True
    bare = context_of(Facts("oracle", Release((19, 3), "ee"), {}), frozenset({"tuning_pack"}))
    assert (bare.declared, bare.autonomous, bare.pack_access) == ({"tuning_pack"}, False, None)


def test_every_use_that_is_refused_is_told() -> None:
    told = list(refusals(look(f"BEGIN EXECUTE IMMEDIATE '{AWR}'; EXECUTE IMMEDIATE '{OLTP}'; END;"), EE))
    assert len(told) == 2


# -- names and what they lead to --------------------------------------------------------------------------------
def _object(owner: str, name: str, kind: str) -> Row:
    return _line(owner, name, kind)


def _leads(owner: str, name: str, kind: str, to: str, link: str | None = None) -> Row:
    referenced_owner, referenced_name = to.split(".")
    return {
        **_line(owner, name, kind), "referenced_owner": referenced_owner, "referenced_name": referenced_name,
        "link": link,
    }  # fmt: skip


def _line(owner: str, name: str, kind: str) -> Row:
    return {
        "owner": owner, "name": name, "kind": kind, "is_current": int(owner == "APP"),
        "referenced_owner": None, "referenced_name": None, "link": None,
    }  # fmt: skip


class _Dictionary:
    """A catalogue: rows as `name_leads_to.sql` answers them, texts of views and programs."""

    rows: tuple[Row, ...] = (
        _leads("PUBLIC", "LOADS", "SYNONYM", "APP.V1"),
        _object("APP", "V1", "VIEW"),
        _leads("APP", "V1", "READS", "APP.V2"),
        _object("APP", "V2", "VIEW"),
        _leads("APP", "V2", "READS", "APP.V1"),
        _leads("APP", "V2", "READS", "SYS.GV_$ACTIVE_SESSION_HISTORY"),
        _leads("APP", "FAR", "SYNONYM", "X.T", "HQ"),
        _object("APP", "SNAPS", "VIEW"),
        _leads("APP", "SNAPS", "READS", "SYS.DBA_HIST_SNAPSHOT"),
        _object("APP", "RUNS", "FUNCTION"),
        _leads("APP", "RUNS", "READS", "SYS.DBMS_SQL"),
        _object("APP", "DBA_HIST_SNAPSHOT", "VIEW"),
        _leads("APP", "DBA_HIST_SNAPSHOT", "READS", "PUBLIC.V$ACTIVE_SESSION_HISTORY"),
        _leads("PUBLIC", "V$ACTIVE_SESSION_HISTORY", "SYNONYM", "SYS.V_$ACTIVE_SESSION_HISTORY"),
        _object("APP", "DBA_HIST_SYSSTAT", "TABLE"),
        _leads("PUBLIC", "DBA_HIST_SYSSTAT", "SYNONYM", "SYS.DBA_HIST_SYSSTAT"),
        *(
            _leads("PUBLIC", name, "SYNONYM", "SYS.V_$SQL_MONITOR")
            for name in ("VALUE", "BLOCK", "SELECT", "value")
        ),
        _leads("APP", "XG", "SYNONYM", "SYS.DBMS_XMLGEN"),
        _leads("APP", "NEWER", "SYNONYM", "SYS.KERNEL_STATS"),
        _object("SYS", "KERNEL_STATS", "VIEW"),
        _object("APP", "TWICE", "FUNCTION"),
        _object("APP", "RUNNER", "FUNCTION"),
        _object("APP", "WATCHED", "VIEW"),
        _leads("APP", "T", "SYNONYM", "OPS.ORDERS"),
        _object("OPS", "ORDERS", "TABLE"),
        _leads("PUBLIC", "DUAL", "SYNONYM", "SYS.DUAL"),
        _object("SYS", "DUAL", "TABLE"),
    )
    texts: Mapping[str, str] = {
        "TWICE": "FUNCTION twice (n NUMBER) RETURN NUMBER IS BEGIN RETURN 2 * n; END;",
        "RUNNER": "FUNCTION runner (t VARCHAR2) RETURN NUMBER IS BEGIN EXECUTE IMMEDIATE t; RETURN 1; END;",
        "RUNS": "FUNCTION runs (n NUMBER) RETURN NUMBER IS BEGIN RETURN dbms_sql.open_cursor; END;",
        "WATCHED": "SELECT /*+ MONITOR */ * FROM orders",
    }

    def __init__(self) -> None:
        self.asked: list[object] = []

    def leads_to(self, names: tuple[str, ...], schemas: tuple[str, ...]) -> tuple[Row, ...]:
        self.asked.append((names, schemas))
        owners = {"APP", "PUBLIC", *schemas}
        return tuple(row for row in self.rows if row["name"] in names and row["owner"] in owners)

    def text_of(self, owner: str, name: str, *, view: bool) -> tuple[Row, ...]:
        text = self.texts.get(name)
        return () if text is None else ({"kind": "VIEW" if view else "FUNCTION", "text": text},)


def _behind(text: str) -> LicenceFindings:
    catalogue = _Dictionary()
    rows = follow(look(text).names, catalogue)
    assert len(catalogue.asked) == len(set(catalogue.asked)) <= 100
    return look(text, own_names(rows)) + findings(rows)


def test_a_pack_object_behind_synonym_and_views_is_found_although_they_go_in_a_circle() -> None:
    uses = _behind("SELECT l.x FROM loads l").uses
    assert [use.thing for use in uses] == ["GV_$ACTIVE_SESSION_HISTORY"]
    assert "PUBLIC.LOADS > APP.V1 > APP.V2" in uses[0].by


def test_a_view_of_a_user_named_like_a_free_one_is_what_its_owner_made_of_it() -> None:
    (use,) = _behind("SELECT * FROM dba_hist_snapshot").uses
    assert use.thing == "V_$ACTIVE_SESSION_HISTORY"
    assert "APP.DBA_HIST_SNAPSHOT" in use.by


def test_a_table_of_a_user_named_like_a_paid_view_is_free_but_oracles_own_is_not() -> None:
    assert _behind("SELECT * FROM dba_hist_sysstat h").uses == ()
    assert _behind("SELECT * FROM app.dba_hist_sysstat h").uses == ()
    assert [use.thing for use in _behind("SELECT * FROM sys.dba_hist_sysstat").uses] == ["DBA_HIST_SYSSTAT"]
    both = "SELECT * FROM dba_hist_sysstat a, sys.dba_hist_sysstat b"
    assert [use.thing for use in _behind(both).uses] == ["DBA_HIST_SYSSTAT"]


@for_each("name", ["value", "Block", '"SELECT"', '"value"', 'PUBLIC."SELECT"'])
def test_a_synonym_is_followed_whatever_word_it_is_called_by(name: str) -> None:
    assert {use.thing for use in _behind(f"SELECT * FROM {name}").uses} == {"V_$SQL_MONITOR"}


def test_a_view_over_a_free_exception_is_free() -> None:
    assert _behind("SELECT * FROM snaps") == look("SELECT * FROM snaps")


@for_each(
    ("text", "unseen"),
    [
        ("SELECT * FROM far", "@HQ"),
        ("SELECT runs(1) FROM dual", "DBMS_SQL, which may run a text"),
        ("SELECT runner('x') FROM dual", "EXECUTE IMMEDIATE runs text built at run time (in APP.RUNNER)"),
        ("SELECT xg.getxml(t.body) FROM t", "DBMS_XMLGEN, which may run a text"),
        ("SELECT * FROM newer", "`SYS.KERNEL_STATS`, read through APP.NEWER, is on no list"),
    ],
)
def test_what_a_name_hides_is_unseen(text: str, unseen: str) -> None:
    assert any(unseen in sentence for sentence in _behind(text).unseen)


def test_a_hint_in_a_view_counts() -> None:
    assert [use.thing for use in _behind("SELECT * FROM watched").uses] == ["hint MONITOR"]


def test_plain_functions_tables_and_synonyms_pass() -> None:
    found = _behind("SELECT twice(o.n), value2 FROM t o, dual WHERE o.block = 1")
    assert (found.uses, found.unseen) == ((), ())


def test_the_number_of_reads_is_bounded_and_the_rest_is_said() -> None:
    found = _behind("SELECT " + ", ".join(f"c{number}" for number in range(3500)) + " FROM t")
    assert any("more than" in sentence for sentence in found.unseen)


# -- scripts ----------------------------------------------------------------------------------------------------
def test_comments_and_prose_of_a_script_hide_nothing_and_its_includes_are_not_read() -> None:
    found = look_script(
        f"REM it's text\nPROMPT don't wait\n/* {MONITOR} */\n{AWR}\n/\n@@deep/a one\n@@deep/a two\n"
    )
    assert [use.thing for use in found.uses] == ["DBA_HIST_SYSSTAT"]
    assert found.unseen == ("the script `deep/a` was not read",)


@for_each(
    ("line", "licence"),
    [
        ("@?/rdbms/admin/awrrpt.sql", "diagnostics_pack"),
        ("@?/rdbms/admin/ashrpt", "diagnostics_pack"),
        ('  START "?/rdbms/admin/sqltrpt.sql"', "tuning_pack"),
        ("@'?/rdbms/admin/awrrpt.sql'", "diagnostics_pack"),
        ("@?/rdbms/admin/awrrpt.sql;", "diagnostics_pack"),
        ("EXEC dbms_workload_repository.create_snapshot", "diagnostics_pack"),
        (f"SELECT 1 FROM dual\n/\n{OLTP}\n/", "advanced_compression"),
        ("PROMPT what's new\nSELECT * FROM dba_hist_sysstat;", "diagnostics_pack"),
    ],
)  # fmt: skip
def test_a_script_is_read_as_its_client_reads_it(line: str, licence: str) -> None:
    assert licence in {use.licence for use in look_script(line).uses}


@for_each(
    ("line", "unseen"),
    [
        ("@nowhere", "`nowhere`"),
        ('@"no where";', "the script `no where` was not read"),
        ("@'no where'", "the script `no where` was not read"),
        ("@&file", "`&file`"),
        ("HOST rm x", "host command"),
        ("! ls", "host command"),
        ("SELECT * FROM &table;", "asks for values"),
    ],
)
def test_what_a_script_hides_is_said(line: str, unseen: str) -> None:
    assert any(unseen in sentence for sentence in look_script(line).unseen)


def test_a_free_script_of_oracle_passes() -> None:
    assert look_script("@?/rdbms/admin/spreport.sql").uses == ()


# -- the bill ---------------------------------------------------------------------------------------------------
_DECLARED = {"diagnostics_pack": Licence("J. Doe", date(2026, 1, 31), date(2027, 1, 31))}


def _bill(text: str, **context: object) -> Bill:
    return licensing.bill_of(look(text), _on(**context), _DECLARED)


def test_the_bill_says_who_declared_what_until_when_and_never_that_it_is_licensed() -> None:
    sentences = list(_bill(AWR, declared=frozenset(_DECLARED)).sentences())
    assert sentences == [
        "licence: Oracle Diagnostics Pack (DBA_HIST_SYSSTAT): "
        "you declared it: J. Doe on 2026-01-31, until 2027-01-31"
    ]
    assert "you are licensed" not in " ".join(sentences)


def test_the_bill_of_the_tuning_pack_has_the_diagnostics_pack_too() -> None:
    assert {one.licence for one in _bill(MONITOR).positions} == {"tuning_pack", "diagnostics_pack"}


def test_the_bill_of_a_plain_statement_says_so_with_the_date_of_the_lists() -> None:
    (sentence,) = _bill("SELECT 1 FROM dual").sentences()
    assert "nothing that needs a declaration" in sentence
    assert licensing.licences.as_of().isoformat() in sentence


def test_a_bill_is_read_as_it_was_written() -> None:
    bill = _bill(f"BEGIN EXECUTE IMMEDIATE v; x.y@z(1); END; {AWR}", declared=frozenset(_DECLARED))
    assert bill.unseen
    assert bill_from_text(bill_to_text(bill)) == bill


def test_a_bill_of_an_older_release_is_read() -> None:
    bill = _bill(AWR, declared=frozenset(_DECLARED))
    assert bill.positions
    assert bill_from_text(bill_to_text(bill).replace('"status"', '"standing"')) == bill


@for_each("text", ["", "[]", "{}", '{"used": [{}], "notes": [], "unseen": [], "as_of": ""}', "\0"])
def test_a_damaged_bill_is_no_bill(text: str) -> None:
    assert bill_from_text(text) is None


# -- what was really sent ---------------------------------------------------------------------------------------
class _Kept:
    """A store that keeps one artifact."""

    artifact: Artifact | None = None

    def load_artifact(self, run: str, name: str) -> Artifact | None:
        return self.artifact

    def keep_artifact(self, run: str, artifact: Artifact) -> None:
        self.artifact = artifact


def test_what_was_sent_beyond_the_plan_is_added_to_the_bill_however_the_run_ends() -> None:
    target = OracleTarget(Access(Address("oracle", "S", "u", "h", 1521), lambda: None))
    facts = Facts("oracle", Release((19, 0), "ee"), {"pack_access": ({"pack_access": "DIAGNOSTIC"},)})
    policy = TargetStanding(licences=frozenset(_DECLARED), declarations=_DECLARED)
    store = cast("Store", _Kept())
    licensing.keep(store, "r", licensing.bill_of(look(OLTP), _on(), {}))
    with pytest.raises(KeyError), licensing.sent_kept(store, "r", target, facts, policy):
        target.guard.used[Use("diagnostics_pack", "DBA_HIST_SYSSTAT")] = None
        raise KeyError
    artifact = store.load_artifact("r", "licences.json")
    assert artifact is not None
    kept = bill_among([artifact])
    assert kept is not None
    assert [(one.licence, one.by) for one in kept.positions if one.licence.endswith("pack")] == [
        ("diagnostics_pack", "J. Doe")
    ]
    assert "advanced_compression" in {one.licence for one in kept.positions}
