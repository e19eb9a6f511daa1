"""Which codes of a log are faults, which message says why, and whose log it is."""

from __future__ import annotations

import pytest

from tests.for_each import for_each
from toolkit.readers.rman.model import RmanMessage
from toolkit.readers.rman.sessions import Faults, Identity, RmanSessions, cause_of


def messages(*codes: str) -> list[RmanMessage]:
    return [RmanMessage(code, "", number) for number, code in enumerate(codes, 1)]


@for_each(
    ("stack", "cause"),
    [
        (["RMAN-03002", "RMAN-06059"], "RMAN-06059"),
        (["RMAN-03009", "ORA-19502", "ORA-27072"], "ORA-27072"),
        (["RMAN-03009", "ORA-19504", "ORA-27040"], "ORA-19504"),
        (["RMAN-03002", "RMAN-03009"], "RMAN-03002"),
        (["RMAN-00558", "RMAN-01009", "RMAN-01007"], "RMAN-01009"),
        (["RMAN-00558", "RMAN-00600"], "RMAN-00600"),
        (["ORA-03002", "RMAN-03009"], "ORA-03002"),
    ],
)
def test_the_cause_of_a_stack_is_its_last_message_that_is_no_frame(stack: list[str], cause: str) -> None:
    assert cause_of(messages(*stack)).code == cause


@for_each(
    ("number", "is_error"),
    [(999, False), (1000, True), (1999, True), (2000, False), (3999, False), (4000, True), (4999, True),
     (5000, False), (19999, False), (20000, True), (20999, True), (21000, False), (3009, True), (3002, True)],
)  # fmt: skip
def test_outside_of_a_stack_the_number_decides_whether_a_code_is_an_error(number: int, is_error: bool) -> None:
    faults = Faults()
    faults.add("RMAN", f"{number:05}", "text", 7)
    assert (len(faults.errors), len(faults.warnings)) == ((1, 0) if is_error else (0, 1))
    assert faults.stacked == ([7] if is_error and number != 3009 else [])


def test_a_code_of_the_database_follows_what_stands_before_it() -> None:
    for before, family, is_error in (
        (None, "ORA", True), (None, "TNS", False), ("04014", "TNS", True), ("06908", "ORA", False),
    ):  # fmt: skip
        faults = Faults()
        if before is not None:
            faults.add("RMAN", before, "text", 1)
        faults.add(family, "12541", "no listener", 2)
        assert (faults.errors[-1:] or [None])[0] == (
            RmanMessage(f"{family}-12541", "no listener", 2) if is_error else None
        )


def test_a_word_of_warning_outranks_a_number() -> None:
    faults = Faults()
    faults.add("RMAN", "04014", "WARNING: something", 1)
    faults.add("RMAN", "08137", "archived log not deleted", 2)
    assert [one.code for one in faults.warnings] == ["RMAN-04014", "RMAN-08137"]
    assert faults.stacked == []


def test_a_stack_ends_where_an_ordinary_message_comes() -> None:
    faults = Faults()
    for line, digits in enumerate(("00571", "00569", "00571", "03002", "06059"), 1):
        faults.add("RMAN", digits, "text", line)
    faults.quiet()
    faults.add("RMAN", "06908", "one channel", 6)
    assert [one.code for one in faults.errors] == ["RMAN-03002", "RMAN-06059"]
    assert [one.code for one in faults.causes] == ["RMAN-06059"]
    assert [one.code for one in faults.warnings] == ["RMAN-06908"]
    assert (faults.stacks, faults.stacked) == (1, [2])


def test_the_rest_of_a_wrapped_message_belongs_to_the_last_one() -> None:
    faults = Faults()
    faults.add("RMAN", "03002", "failure of", 1)
    faults.lengthen("backup command")
    faults.quiet()
    assert faults.errors[0].text == faults.causes[0].text == "failure of backup command"
    faults.add("RMAN", "06908", "one", 3)
    faults.lengthen("channel")
    assert faults.warnings[0].text == "one channel"


def test_a_numbered_log_informs_by_its_codes() -> None:
    faults = Faults()
    assert not faults.informs("RMAN", 6500, "text")
    assert not faults.numbered
    assert faults.informs("RMAN", 7518, "reason")
    assert not faults.numbered
    for number in (8000, 8999, 3090, 6005):
        assert faults.informs("RMAN", number, "text")
    assert faults.numbered
    assert faults.informs("RMAN", 6500, "text")
    for number, text in ((8137, "text"), (6500, "warning"), (8001, "warning"), (3002, "text"), (3009, "text"),
                         (1009, "text"), (569, "text"), (571, "text")):  # fmt: skip
        assert not faults.informs("RMAN", number, text)
    assert not faults.informs("ORA", 8000, "text")


@pytest.mark.parametrize(
    "command", ["set dbid 1234567890;", "SET DBID=1234567890", "RMAN> set dbid = 1234567890;"]
)
def test_the_dbid_is_learnt_from_the_command_that_sets_it(command: str) -> None:
    identity = Identity()
    identity.command("show all;")
    identity.command(command)
    identity.command("set dbid 999999;")
    assert identity.dbid == 1234567890


def test_a_target_outranks_an_auxiliary_and_both_outrank_names() -> None:
    identity = Identity()
    assert (identity.database, identity.dbid) == ((None, None), None)
    identity.file("/backup/c-1122334455-20260302-00")
    identity.file("/fra/ACME/backupset/2026_03_02/o1_mf_nnndf_x_.bkp")
    assert (identity.database, identity.dbid) == (("ACME", "file names"), 1122334455)
    assert identity.connected("connected to auxiliary database: COPY (DBID=5)")
    assert (identity.database, identity.dbid) == (("COPY", "auxiliary"), 5)
    assert identity.connected("connected to target database: PROD:sales (not mounted)")
    assert (identity.database, identity.dbid) == (("PROD", "connected"), 1122334455)
    assert identity.connected("connected to target database: PROD (DBID=7)")
    assert identity.connected("connected to target database: LATER (DBID=8)")
    assert (identity.database, identity.dbid) == (("PROD", "connected"), 7)
    assert not identity.connected("connected to recovery catalog database")


@for_each(
    ("release", "patch", "shown"),
    [(None, None, None), (None, "19.3.0.0.0", None), ("19.0.0.0.0", None, "19.0.0.0.0"),
     ("19.0.0.0.0", "19.0.0.0.0", "19.0.0.0.0"), ("19.0.0.0.0", "19.3.0.0.0", "19.0.0.0.0 (19.3.0.0.0)")],
)  # fmt: skip
def test_the_version_names_the_patch_level_where_it_differs(
    release: str | None, patch: str | None, shown: str | None
) -> None:
    identity = Identity()
    identity.release, identity.patch_level = release, patch
    assert identity.version == shown


def judged(*events: str) -> tuple[int, int]:
    """Return how much is missing of a session, and how much of it is an excerpt."""
    sessions = RmanSessions()
    for event in events:
        if event.startswith(">"):
            sessions.prompt(f"RMAN>{event[1:]}")
        else:
            getattr(sessions, event)()
    sessions.end()
    return len(sessions.missing), len(sessions.excerpt)


@for_each(
    ("events", "verdict"),
    [
        ((), (0, 0)),
        (("banner", "began", "finished", "goodbye"), (0, 0)),
        (("banner", "began", "finished"), (0, 1)),
        (("banner", "began"), (1, 0)),
        (("banner", "began", "goodbye"), (1, 0)),
        (("banner", "goodbye", "began", "finished"), (0, 1)),
        (("banner", "> backup database;", "began", "finished", "> "), (0, 0)),
        (("banner", "> backup database;", "began", "finished", "> exit"), (0, 0)),
        (("banner", "> backup database;", "began", "finished"), (0, 1)),
        (("banner", "> backup database;"), (0, 1)),
        (("> backup database;", "began", "finished"), (0, 0)),
        (("> show all;",), (0, 0)),
        (("> backup database;",), (0, 1)),
        (("began", "finished"), (0, 1)),
        (("finished",), (0, 1)),
        (("> delete obsolete;", "aborted"), (0, 1)),
        (("banner", "banner", "goodbye"), (0, 1)),
        (("banner", "> show all;", "> ", "banner", "goodbye"), (0, 0)),
        (("banner", "began", "banner", "goodbye"), (1, 0)),
        (("began", "aborted", "goodbye"), (0, 0)),
        (("began", "began", "finished", "goodbye"), (1, 0)),
    ],
)
def test_a_session_has_ended_when_the_client_exits_or_the_prompt_is_back(
    events: tuple[str, ...], verdict: tuple[int, int]
) -> None:
    assert judged(*events) == verdict
