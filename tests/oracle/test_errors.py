"""The error catalogue: complete, unambiguous, and read by codes alone."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

from tests.for_each import for_each
from toolkit.dialects.answers import Continuation, ErrorAdvice
from toolkit.dialects.oracle import errors
from toolkit.dialects.oracle.dialect import DIALECT
from toolkit.dialects.oracle.errors import catalogue, cause_code, tidy_message

CATALOGUE = catalogue()
DATA = Path(errors.__file__).with_name("errors.toml")


def test_no_code_is_explained_twice() -> None:
    codes = [code for row in tomllib.loads(DATA.read_text())["error"] for code in row["codes"]]
    assert len(codes) == len(set(codes)) == len(CATALOGUE) > 150


@for_each("advice", CATALOGUE.values(), ids=CATALOGUE)
def test_every_entry_says_what_it_means_and_what_to_do(advice: ErrorAdvice) -> None:
    assert re.fullmatch(r"(ORA|DPY|DPI|RMAN)-\d{4,5}", advice.code)
    assert advice.meaning and advice.advice
    assert advice.meaning[-1] != "."


@for_each(
    ("code", "goes_on"),
    [
        ("ORA-00054", Continuation.TRIAL),
        ("ORA-01652", Continuation.RUN),
        ("ORA-00439", Continuation.RUN),
        ("ORA-01031", Continuation.NOTHING),
    ],
)
def test_every_entry_says_what_can_go_on(code: str, goes_on: Continuation) -> None:
    assert CATALOGUE[code].goes_on is goes_on


def test_too_few_servers_is_a_downgrade_that_may_pass() -> None:
    advice = DIALECT.explain("ORA-12827", "ORA-12827: insufficient parallel query workers available")
    assert advice is not None and advice.downgrade and advice.passing
    assert [code for code, each in CATALOGUE.items() if each.downgrade] == ["ORA-12827"]


def test_an_error_of_a_parallel_server_is_explained_by_its_cause() -> None:
    message = "ORA-12801: error signaled in parallel query server P003\nORA-01652: unable to extend temp segment"
    advice = DIALECT.explain("ORA-12801", message)
    assert advice is not None and advice.code == "ORA-01652"
    assert cause_code("ORA-00942", message) == "ORA-00942"


def test_a_frame_without_a_cause_explains_itself() -> None:
    advice = DIALECT.explain("ORA-12801", "ORA-12801: error signaled in parallel query server P003")
    assert advice is not None and advice.code == "ORA-12801"


def test_an_unknown_code_has_no_advice() -> None:
    assert DIALECT.explain("ORA-99999", "") is None


def test_the_drivers_help_line_is_dropped_and_nothing_else() -> None:
    message = 'ORA-00942: table or view "A"."HELP" does not exist\nHelp: https://docs.oracle.com/error-help/db/ora-00942/'
    assert tidy_message(message) == 'ORA-00942: table or view "A"."HELP" does not exist'


COMMON = {
    "standby": "ORA-16009 ORA-16038 ORA-16047 ORA-16055 ORA-16058 ORA-16136 ORA-16139 ORA-16146 ORA-16166"
    " ORA-16191 ORA-16198 ORA-16401 ORA-16525 ORA-16532 ORA-16664 ORA-16766 ORA-16778 ORA-16810 ORA-10456"
    " ORA-01153",
    "space": "ORA-00059 ORA-00257 ORA-00376 ORA-01119 ORA-01144 ORA-01157 ORA-01237 ORA-01536 ORA-01628 ORA-01652"
    " ORA-01653 ORA-01654 ORA-01658 ORA-01659 ORA-01691 ORA-01950 ORA-03297 ORA-19802 ORA-19809 ORA-30036",
    "Data Pump": "ORA-31623 ORA-31626 ORA-31631 ORA-31640 ORA-31655 ORA-31684 ORA-31693 ORA-31694 ORA-39000"
    " ORA-39001 ORA-39002 ORA-39006 ORA-39083 ORA-39087 ORA-39095 ORA-39112 ORA-39126 ORA-39142"
    " ORA-39143 ORA-39151 ORA-39166 ORA-39171 ORA-39181 ORA-39346",
    "RMAN": "RMAN-03002 RMAN-03009 RMAN-04006 RMAN-05501 RMAN-06004 RMAN-06023 RMAN-06024 RMAN-06025 RMAN-06026"
    " RMAN-06053 RMAN-06054 RMAN-06056 RMAN-06059 RMAN-06094 RMAN-06169 RMAN-06189 RMAN-06207 RMAN-06214"
    " RMAN-06403 RMAN-06495 RMAN-06556 RMAN-06820 RMAN-08120 RMAN-08137 RMAN-08138 RMAN-08591 RMAN-12001"
    " RMAN-20001 RMAN-20207 RMAN-20242 ORA-19504 ORA-19505 ORA-19506 ORA-19511 ORA-19566 ORA-19606 ORA-19870",
}


@for_each("of", COMMON)
def test_what_a_dba_meets_most_is_explained(of: str) -> None:
    assert [code for code in COMMON[of].split() if code not in CATALOGUE] == []


@for_each(
    ("code", "remedy"),
    [
        ("ORA-65040", "the root"),
        ("ORA-65049", "the pluggable database"),
        ("ORA-65054", "open the root"),
        ("ORA-25153", "ADD TEMPFILE"),
        ("ORA-04030", "ulimit"),
        ("ORA-04031", "enlarge that pool"),
        ("ORA-13509", "correct that error"),
        ("RMAN-06000", "ORACLE_HOME"),
        ("RMAN-06438", "dbmsrman.sql"),
        ("RMAN-06100", "channel"),
        ("RMAN-05541", "NOREDO"),
    ],
)
def test_codes_that_look_alike_have_the_remedy_of_their_own_cause(code: str, remedy: str) -> None:
    assert remedy in CATALOGUE[code].advice


def test_the_control_table_of_a_job_that_can_be_resumed_is_not_dropped() -> None:
    assert "only if DBA_DATAPUMP_JOBS has it as NOT RUNNING" in CATALOGUE["ORA-31634"].advice
