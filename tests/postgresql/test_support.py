"""What is refused with which sentence; releases, error catalogue and doctor, without a server."""

from __future__ import annotations

import re

import pytest

from tests.for_each import for_each
from tests.postgresql.helpers import index, table, work_of
from toolkit.dialects.postgresql.advice import ERRORS
from toolkit.dialects.postgresql.checks import grants
from toolkit.dialects.postgresql.dialect import DIALECT
from toolkit.errors import ToolkitError
from toolkit.model.facts import Facts
from toolkit.model.operations import operations
from toolkit.model.steps import ObjectRef
from toolkit.model.values import QualifiedName, Row, Support
from toolkit.model.words import Mode, ObjectKind, OperationName, SupportState

FACTS = DIALECT.assume("17")
ON = QualifiedName("t", "s")
INDEX = {"index-build", "index-rebuild"}


def support(operation: OperationName, facts: Facts = FACTS, *, scratch: bool = True, **more: object) -> Support:
    ref = index("i", ON) if operation in INDEX else table("t", "s", scratch=scratch)
    return DIALECT.work.support(work_of(operation, ref, **more), facts)


ABSENT = {
    "stats-publish", "stats-export", "datapump-export", "datapump-import", "table-shrink", "partition-split",
          "partition-merge", "partition-coalesce", "backup-report",
}  # fmt: skip
"""What the server has nothing for: statistics that are pending or in a table, SHRINK SPACE, changes
of partitions other than ATTACH and DETACH, and a repository of backups."""


@for_each("operation", [name for name, one in operations().items() if not one.runs_programs])
def test_every_operation_is_supported_plainly(operation: OperationName) -> None:
    mode = Mode.JOB if operations()[operation].once else Mode.MEASUREMENT
    assert support(operation, mode=mode).ok != (operation in ABSENT)


@for_each(
    ("operation", "more", "words"),
    [
        ("insert", {"options": {"degree": 2}}, "by the blocks of its source, and a query has none"),
        ("insert", {"options": {"degree": "auto"}}, "needs a number"),
        (
            "insert",
            {"options": {"degree": 2, "identity": "keep"}, "source": ON, "mode": Mode.JOB, "scratch": False},
            "takes one session",
        ),
        ("stats-gather", {"degree": 2}, "ANALYZE of one table uses one process"),
        ("ctas", {"degree": 0}, "needs a number"),
        ("ctas", {"degree": 4096}, "1024 workers"),
        ("ctas", {"mode": Mode.JOB, "options": {"logging": "nologging"}}, "measurements only"),
        ("index-build", {"options": {"logging": "nologging"}}, "logged like its table"),
        ("insert", {"options": {"logging": "nologging"}, "scratch": False}, "user's table"),
        ("ctas", {"options": {"compression": "basic"}}, "no table compression `basic`"),
        ("ctas", {"options": {"compression": "none"}}, "STORAGE EXTERNAL"),
        ("index-build", {"options": {"compression": "lz4"}}, "never compressed"),
        ("insert", {"options": {"compression": "lz4"}}, "when its table is created"),
        ("index-rebuild", {"options": {"pctfree": 10}}, "REINDEX has no fillfactor"),
        ("index-build", {"options": {"on_live_objects": True}}, "no invisible index"),
    ],
)
def test_what_cannot_be_done_is_refused_with_its_sentence(operation: str, more: dict, words: str) -> None:
    answer = support(operation, **more)
    assert answer.state is SupportState.UNSUPPORTED
    assert words in answer.sentence


@for_each(
    ("operation", "more"),
    [
        ("ctas", {"options": {"logging": "nologging"}}),
        ("insert", {"options": {"logging": "nologging"}}),
        ("ctas", {"options": {"compression": "lz4"}, "degree": 64}),
        (
            "index-build",
            {"options": {"compression": "none", "online": True, "on_live_objects": True}, "degree": 3},
        ),
    ],
)
def test_what_can_be_done_is_supported(operation: str, more: dict) -> None:
    assert support(operation, **more).ok


def test_a_server_built_without_lz4_says_so() -> None:
    row: Row = {**FACTS.first("server"), "toast_compressions": "pglz"}
    facts = Facts("postgresql", FACTS.release, {"server": (row,)})
    answer = support("ctas", facts, options={"compression": "lz4"})
    assert "built without lz4" in answer.sentence


def test_old_releases_and_replicas_are_refused() -> None:
    old = DIALECT.release({"version_text": "13.4"})
    assert "older than 14" in support("ctas", Facts("postgresql", old)).sentence
    row: Row = {**FACTS.first("server"), "in_recovery": "yes"}
    replica = Facts("postgresql", FACTS.release, {"server": (row,)})
    assert "replica" in support("ctas", replica).sentence


def test_statistics_of_a_schema_in_one_call_are_refused() -> None:
    ref = ObjectRef(ObjectKind.STATISTICS, QualifiedName("s"))
    assert not DIALECT.work.support(work_of("stats-gather", ref), FACTS).ok


@for_each("text", ["14", "15", "16", "17", "18", "17.10"])
def test_known_releases_can_be_assumed(text: str) -> None:
    facts = DIALECT.assume(text)
    assert facts.assumed
    assert facts.release.number[0] == int(text[:2])
    assert len(DIALECT.watching(facts).snapshots) >= 3


@for_each("text", ["13", "19-ee", "", "x", "99"])
def test_unknown_releases_name_the_known_ones(text: str) -> None:
    with pytest.raises(ToolkitError, match="is not a supported PostgreSQL release") as caught:
        DIALECT.assume(text)
    assert caught.value.code == "TK-0102"
    assert "14, 15, 16, 17, 18" in caught.value.hint


# -- errors -----------------------------------------------------------------------------------------------------
def test_every_sqlstate_has_five_characters_a_meaning_and_an_advice() -> None:
    for code, advice in ERRORS.items():
        assert re.fullmatch(r"[0-9A-Z]{5}", code)
        assert advice.meaning
        assert advice.advice


@for_each("code", ["53300", "55P03", "40P01", "57P03", "08006"])
def test_errors_that_may_be_gone_at_the_next_try_are_passing(code: str) -> None:
    assert DIALECT.explain(code, "").passing


@for_each("code", ["42P01", "42501", "53100", "25006", "23505"])
def test_errors_that_stay_are_not_passing(code: str) -> None:
    assert not DIALECT.explain(code, "").passing


def test_an_unlisted_code_is_explained_by_its_class_and_nonsense_not_at_all() -> None:
    assert DIALECT.explain("22P99", "").meaning
    assert DIALECT.explain("99999", "") is None
    assert DIALECT.explain("ORA-01652", "") is None


def test_a_full_shared_memory_is_not_taken_for_a_full_disk() -> None:
    advice = DIALECT.explain("53100", "could not resize shared memory segment: No space left on device")
    assert "/dev/shm" in advice.meaning


# -- doctor -----------------------------------------------------------------------------------------------------
def checks(settings: dict[str, str] | None = None, **answers: Row) -> dict[str, object]:
    rows = tuple({"name": name, "value": value, "unit": None} for name, value in (settings or {}).items())
    found = {"server": FACTS.answers["server"], **({"doctor_settings": rows} if rows else {}),
             **{key: (row,) for key, row in answers.items()}}  # fmt: skip
    return {check.name: check for check in DIALECT.checks(Facts("postgresql", FACTS.release, found))}


def test_no_workers_at_all_is_a_problem_with_its_remedy() -> None:
    line = checks({"max_worker_processes": "8", "max_parallel_workers": "0"})["parallel workers"]
    assert (line.state, "serially" in line.consequence) == ("problem", True)
    assert "max_parallel_workers" in line.action


def test_the_memory_of_index_builds_tells_the_highest_degree() -> None:
    line = checks({"maintenance_work_mem": "65536", "max_parallel_maintenance_workers": "2"})["index builds"]
    assert "at most degree 2" in line.consequence
    assert checks({"maintenance_work_mem": "16384"})["index builds"].state == "warning"


def test_the_size_of_the_table_named_tells_what_a_degree_can_give() -> None:
    row = {"schema_name": "s", "table_name": "t", "byte_count": 24 * 1024**2}
    line = checks({"min_parallel_table_scan_size": "1024"}, source=row)["degree by size of s.t"]
    assert "degree 3" in line.consequence
    small = checks({"min_parallel_table_scan_size": "1024"}, source={**row, "byte_count": 8192})
    assert small["degree by size of s.t"].state == "warning"


def test_a_right_that_no_grant_gives_is_not_called_there() -> None:
    row = {"schema_name": "s", "owner_name": "boss", "table_count": 2, "grant_text": None}
    facts = Facts("postgresql", DIALECT.assume("15").release, {"doctor_unmaintained": (row,)})
    (grant,) = grants(facts, "stats-gather")
    assert grant.statement.startswith('-- no GRANT gives it before PostgreSQL 17: let "boss" gather')


def test_a_missing_grant_comes_with_the_exact_grant() -> None:
    row = {"user_name": 'o"dd', "schema_name": "Work", "may_create": "no",
           "reads_all_stats": "no", "may_signal": "no", "reads_control": "no"}  # fmt: skip
    lines = checks(doctor_grants=row)
    assert lines["CREATE"].state == "problem"
    assert lines["CREATE"].action == 'GRANT CREATE ON SCHEMA "Work" TO "o""dd";'
    assert lines["statistics of others"].action == 'GRANT pg_read_all_stats TO "o""dd";'


def test_free_space_is_said_to_be_unknown_never_guessed() -> None:
    assert checks()["free space"].evidence.startswith("unknown")


def test_what_was_not_read_is_said_to_be_unknown() -> None:
    lines = checks()
    assert {lines[name].evidence[:7] for name in ("settings", "state", "grants")} == {"unknown"}
