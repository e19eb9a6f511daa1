"""The licence guard: nothing of a paid pack goes through, however it is written."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolkit.dialects.oracle.licences import DIAGNOSTICS, FREE, TUNING, objects_listed, pack_needed, packs_needed
from toolkit.errors import ToolkitError
from toolkit.rendering.environment import sql_file
from toolkit.resources import sql_root
from toolkit.targets.oracle import refuse_unlicensed

_LISTED = st.sampled_from(objects_listed())
_SPACE = st.sampled_from([" ", "\n", "\t", "/* x */", "-- no pack\n", "/**/ ", "/* it's */", "--'\n"])
_DISGUISES = (
    "SELECT * FROM{s}{name}",
    "SELECT *{s}FROM SYS{s}.{s}{name} h",
    'SELECT * FROM "{name}"',
    'SELECT * FROM "SYS"."{name}" WHERE 1{s}=1',
    "SELECT '/*' x, 1 FROM {name} WHERE '*/' = 'a'",
    "SELECT 'it''s' FROM{s}{name}",
    "WITH h AS (SELECT * FROM {name}){s}SELECT * FROM h",
    "BEGIN{s}EXECUTE IMMEDIATE 'SELECT 1 FROM {name}'; END;",
    "SELECT dbms_xmlgen.getxml(q'[select * from {name}]') FROM dual",
    "CREATE TABLE t AS{s}SELECT * FROM a,{name}",
    "SELECT 1 FROM dual WHERE EXISTS(SELECT 1 FROM {name}@link)",
    "BEGIN {name}.run(1); END;",
)


def _cased(name: str, flips: list[bool]) -> str:
    return "".join(letter.lower() if flip else letter for letter, flip in zip(name, flips, strict=False))


@given(_LISTED, st.sampled_from(_DISGUISES), _SPACE, st.lists(st.booleans(), min_size=40, max_size=40))
def test_a_listed_object_is_found_in_every_disguise(
    name: str, disguise: str, space: str, flips: list[bool]
) -> None:
    assert pack_needed(disguise.format(name=_cased(name, flips), s=space)) is not None


@given(_LISTED.filter(lambda name: len(name) > 4), st.integers(1, 3), _SPACE)
def test_a_name_joined_from_pieces_is_found(name: str, at: int, space: str) -> None:
    text = f"BEGIN EXECUTE IMMEDIATE 'SELECT 1 FROM {name[:at]}'{space}||{space}'{name[at:]}'; END;"
    assert pack_needed(text) is not None


@pytest.mark.parametrize("name", sorted(FREE))
def test_the_free_exceptions_pass_alone_but_not_in_company(name: str) -> None:
    assert pack_needed(f"SELECT * FROM sys.{name.lower()}") is None
    assert pack_needed(f"SELECT * FROM {name} a JOIN dba_hist_sysstat b ON a.snap_id = b.snap_id") == DIAGNOSTICS


@pytest.mark.parametrize(
    "text",
    [
        "SELECT name, value FROM v$sysstat",
        "SELECT * FROM V$SESSION_EVENT",
        "SELECT * FROM v$sql",
        "SELECT * FROM my_dba_hist_copy",
        "SELECT * FROM perfstat.stats$snapshot",
        "SELECT * FROM TABLE(DBMS_XPLAN.DISPLAY_CURSOR(:id, NULL, 'TYPICAL'))",
        "CREATE TABLE t AS SELECT * FROM dba_tables",
        "",
    ],
)
def test_free_views_pass(text: str) -> None:
    assert packs_needed(text) == frozenset()


def test_a_harmless_literal_is_refused_too_on_purpose() -> None:
    assert pack_needed("SELECT 1 FROM dual WHERE x = 'DBA_HIST_SYSSTAT'") == DIAGNOSTICS


def test_the_tuning_pack_needs_the_diagnostics_pack_beside_it() -> None:
    text = "SELECT * FROM v$sql_monitor"
    assert pack_needed(text) == TUNING
    assert packs_needed(text) == {DIAGNOSTICS, TUNING}
    refuse_unlicensed(text, frozenset({DIAGNOSTICS, TUNING}))
    with pytest.raises(ToolkitError, match="Diagnostics Pack"):
        refuse_unlicensed(text, frozenset({TUNING}))


def test_a_declared_pack_passes_and_an_undeclared_one_is_refused_by_name() -> None:
    refuse_unlicensed("SELECT * FROM dba_hist_sysstat", frozenset({DIAGNOSTICS}))
    with pytest.raises(ToolkitError) as refused:
        refuse_unlicensed("SELECT * FROM dba_hist_sysstat", frozenset())
    assert refused.value.code == "TK-0303"
    assert "Diagnostics Pack" in refused.value.message


@pytest.mark.parametrize("file", sorted(path.stem for path in (sql_root() / "oracle").glob("*.sql")))
def test_our_own_reads_need_no_licence(file: str) -> None:
    assert packs_needed(sql_file("oracle", file)) == frozenset()
