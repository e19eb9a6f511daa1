"""What a licence stands on: edition, release, service, parameter, declaration; and the bill that comes of it."""

from __future__ import annotations

from datetime import date
from typing import cast

import pytest

from toolkit.app.approvals import TargetPolicy as TargetStanding
from toolkit.app.runs import licensing
from toolkit.config.profiles import Licence
from toolkit.dialects.oracle.licences import LicenceFindings, Use, declarable, licences, look, look_script
from toolkit.dialects.oracle.licences.context import LicenceContext, judge, refusals, refuse
from toolkit.dialects.oracle.licences.resolution import findings, follow
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


@pytest.mark.parametrize("key", sorted(licences()))
@pytest.mark.parametrize("edition", ["ee", "se2", "se", ""])
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


@pytest.mark.parametrize(
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


@pytest.mark.parametrize(
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


def test_every_use_that_is_refused_is_told() -> None:
    told = list(refusals(look(f"BEGIN EXECUTE IMMEDIATE '{AWR}'; EXECUTE IMMEDIATE '{OLTP}'; END;"), EE))
    assert len(told) == 2


# -- names and what they lead to --------------------------------------------------------------------------------
def _leads(owner: str, kind: str, to: str, link: str | None = None) -> Row:
    referenced_owner, name = to.split(".")
    return {
        "owner": owner, "kind": kind, "referenced_owner": referenced_owner, "referenced_name": name, "link": link
    }  # fmt: skip


_CATALOGUE: dict[tuple[str | None, str], tuple[Row, ...]] = {
    (None, "LOADS"): (_leads("PUBLIC", "SYNONYM", "APP.V1"),),
    ("APP", "V1"): (_leads("APP", "VIEW", "APP.V2"),),
    ("APP", "V2"): (_leads("APP", "VIEW", "APP.V1"), _leads("APP", "VIEW", "SYS.GV_$ACTIVE_SESSION_HISTORY")),
    (None, "FAR"): (_leads("APP", "SYNONYM", "X.T", "HQ"),),
    (None, "SNAPS"): (_leads("APP", "VIEW", "SYS.DBA_HIST_SNAPSHOT"),),
    ("SYS", "DBA_HIST_SNAPSHOT"): (_leads("SYS", "VIEW", "SYS.WRM$_SNAPSHOT"),),
    (None, "RUNS"): (_leads("APP", "FUNCTION", "SYS.DBMS_SQL"),),
}


def _behind(text: str) -> LicenceFindings:
    asked: list[object] = []

    def leads_to(schema: str | None, name: str) -> tuple[Row, ...]:
        asked.append((schema, name))
        return _CATALOGUE.get((schema, name), ())

    found = findings(follow(look(text).names, leads_to))
    assert len(asked) == len(set(asked)) <= 40
    return found


def test_a_pack_object_behind_synonym_and_views_is_found_although_they_go_in_a_circle() -> None:
    uses = _behind("SELECT l.x FROM loads l").uses
    assert [use.thing for use in uses] == ["GV_$ACTIVE_SESSION_HISTORY"]
    assert "PUBLIC.LOADS > APP.V1 > APP.V2" in uses[0].by


def test_a_view_over_a_free_exception_is_free() -> None:
    assert _behind("SELECT * FROM snaps").uses == ()


def test_a_synonym_of_another_database_is_said_to_be_unseen() -> None:
    assert any("@HQ" in sentence for sentence in _behind("SELECT * FROM far").unseen)


def test_a_program_may_run_what_nobody_sees() -> None:
    assert any("dynamic SQL" in sentence for sentence in _behind("SELECT runs(1) FROM dual").unseen)


def test_the_number_of_reads_is_bounded_and_the_rest_is_said() -> None:
    found = _behind("SELECT " + ", ".join(f"c{number}" for number in range(500)) + " FROM t")
    assert any("more than" in sentence for sentence in found.unseen)


# -- scripts ----------------------------------------------------------------------------------------------------
def test_comments_and_prose_of_a_script_hide_nothing_and_its_includes_are_not_read() -> None:
    found = look_script(
        f"REM it's text\nPROMPT don't wait\n/* {MONITOR} */\n{AWR}\n/\n@@deep/a one\n@@deep/a two\n"
    )
    assert [use.thing for use in found.uses] == ["DBA_HIST_SYSSTAT"]
    assert found.unseen == ("the script `deep/a` was not read",)


@pytest.mark.parametrize(
    ("line", "licence"),
    [
        ("@?/rdbms/admin/awrrpt.sql", "diagnostics_pack"),
        ("@?/rdbms/admin/ashrpt", "diagnostics_pack"),
        ('  START "?/rdbms/admin/sqltrpt.sql"', "tuning_pack"),
        ("EXEC dbms_workload_repository.create_snapshot", "diagnostics_pack"),
        (f"SELECT 1 FROM dual\n/\n{OLTP}\n/", "advanced_compression"),
        ("PROMPT what's new\nSELECT * FROM dba_hist_sysstat;", "diagnostics_pack"),
    ],
)  # fmt: skip
def test_a_script_is_read_as_its_client_reads_it(line: str, licence: str) -> None:
    assert licence in {use.licence for use in look_script(line).uses}


@pytest.mark.parametrize(
    ("line", "unseen"),
    [
        ("@nowhere", "`nowhere`"),
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


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"used": [{}], "notes": [], "unseen": [], "as_of": ""}', "\0"])
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
