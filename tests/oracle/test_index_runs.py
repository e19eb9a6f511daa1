"""Index builds and rebuilds as a DBA types them, against the stand-in: what it gets, and how it is left."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.oracle.judging import judge
from tests.oracle.standin import Scenario, Standin, running_standin
from tests.oracle.standin.faults import break_connection
from tests.oracle.standin.state import Made
from tests.oracle.test_command_line import dbatk
from tests.oracle.test_licence_runs import Site
from tests.oracle.wreck import AFTER, Fault, clean, kill

_PLAIN = ("--snapshot", "none")
_FOUND = (*_PLAIN, "--restore", "found")


def rebuilds(standin: Standin) -> list[str]:
    """Return what was rebuilt, in order: index and part."""
    found = [re.search(r'"(\w+)" REBUILD(?:\s+\w+ "(\w+)")?', text) for text in standin.statements]
    return [".".join(part for part in match.groups() if part) for match in found if match]


def index(standin: Standin, name: str) -> Made:
    """Return an index of the user as it is now."""
    return standin.engine.state.objects["INDEX", ("DBATK", name)]


def items(run: dict[str, object]) -> dict[str, dict[str, object]]:
    """Return the items of the only trial by label."""
    (trial,) = run["trials"]  # type: ignore[misc, attr-defined]
    return {item["label"]: item for item in trial["items"]}


def test_a_schema_is_rebuilt_part_by_part_by_two_sessions_the_biggest_first(tmp_path: Path) -> None:
    with running_standin(Scenario(partitioned=True)) as standin:
        line = ("index", "rebuild", "--schema", "DBATK", "--degree", "2", "--concurrency", "2", *_FOUND)
        status, run = dbatk(standin, tmp_path, *line)
        assert status == 0
        done = rebuilds(standin)
        # one of the first two may be sent late: its session was not given the processor
        assert done[0] in {"SALES_IX.P3", "SALES_IX.P2"}
        assert len(done) == 10 and "GTEST_IX" in done and "TRADES_IX.P3_S1" in done
        assert not any(name.startswith("SALES_TEXT") for name in done)
        told = items(run)["DBATK.SALES_TEXT"]
        assert told["outcome"] == "skipped" and "domain index" in str(told["reason"])
        assert [index(standin, name).degree for name in ("SALES_IX", "TRADES_IX", "GTEST_IX")] == ["4", "4", "1"]


def test_what_no_rebuild_takes_is_refused_where_it_was_named(tmp_path: Path) -> None:
    with running_standin(Scenario(partitioned=True)) as standin:
        status, answer = dbatk(standin, tmp_path, "index", "rebuild", "--index", "SALES_TEXT", *_PLAIN)
        assert (status, answer["error"]["code"]) == (5, "TK-0304")  # type: ignore[index]
        assert "domain index" in answer["error"]["message"]  # type: ignore[index]


def test_only_the_unusable_partition_is_rebuilt_and_then_there_is_none(tmp_path: Path) -> None:
    with running_standin(Scenario(partitioned=True)) as standin:
        broken = index(standin, "SALES_IX").shape.parts[1]
        broken.status, broken.logging = "UNUSABLE", "NO"
        line = ("index", "rebuild", "--schema", "DBATK", "--unusable-only", "--degree", "8", *_FOUND)
        status, _ = dbatk(standin, tmp_path, *line)
        assert (status, rebuilds(standin)) == (0, ["SALES_IX.P2"])
        assert (broken.status, broken.logging) == ("USABLE", "NO"), "logging is as it was"
        assert index(standin, "SALES_IX").degree == "4"
        status, answer = dbatk(standin, tmp_path, *line)
        assert (status, answer["state"]) == (0, "done") and "no unusable index" in str(answer)


@pytest.mark.full
def test_an_error_in_the_middle_leaves_every_degree_as_it_was_and_resume_does_the_rest(tmp_path: Path) -> None:
    with running_standin(Scenario(partitioned=True, fail={"index_rebuild": 1410}, fail_times=1)) as standin:
        status, run = dbatk(
            standin,
            tmp_path,
            "index",
            "rebuild",
            "--table",
            "SALES",
            "--degree",
            "8",
            "--logging",
            "nologging",
            *_FOUND,
        )
        assert status != 0
        outcomes = [items(run)[f"DBATK.SALES_IX partition P{number}"]["outcome"] for number in (3, 2, 1)]
        assert outcomes == ["failed", "ok", "ok"]
        sales = index(standin, "SALES_IX")
        assert sales.degree == "4" and {part.logging for part in sales.shape.parts} == {"YES"}
        before = len(rebuilds(standin))
        status, _ = dbatk(standin, tmp_path, "runs", "resume", str(run["run"]))
        assert (status, rebuilds(standin)[before:]) == (0, ["SALES_IX.P3"])
        assert sales.degree == "4" and {part.logging for part in sales.shape.parts} == {"YES"}


@pytest.mark.full
def test_a_client_killed_after_a_rebuild_leaves_what_clean_puts_back(tmp_path: Path) -> None:
    with running_standin(Scenario(partitioned=True)) as standin:
        line = ("index", "rebuild", "--table", "SALES", "--degree", "8", "--logging", "nologging", *_FOUND)
        fault = Fault(break_connection, words='REBUILD PARTITION "P2"', when=AFTER)
        assert kill(standin, tmp_path, fault, *line)
        sales = index(standin, "SALES_IX")
        assert sales.degree == "8"
        assert {part.logging for part in sales.shape.parts} == {"YES", "NO"}
        assert clean(standin, tmp_path)[0] == 0
        assert sales.degree == "4" and {part.logging for part in sales.shape.parts} == {"YES"}


@pytest.mark.full
def test_a_job_builds_expressions_falling_columns_and_a_prefix_and_only_once(tmp_path: Path) -> None:
    line = ("index", "build", "--table", "GTEST", "--columns", "UPPER(idname),amount desc", "--name", "GTEST_FX",
            "--prefix", "1", "--degree", "4", *_PLAIN)  # fmt: skip
    with running_standin() as standin:
        status, _ = dbatk(standin, tmp_path, *line)
        assert status == 0
        made = index(standin, "GTEST_FX")
        assert made.shape.type == "FUNCTION-BASED NORMAL" and made.shape.prefix == 1
        assert [(key.expression, key.descend) for key in made.shape.keys] == [
            ('UPPER("IDNAME")', "ASC"), ('"AMOUNT"', "DESC"),
        ]  # fmt: skip
        assert made.degree == "1"
        again = [*line]
        again[again.index("GTEST_FX")] = "GTEST_FY"
        status, answer = dbatk(standin, tmp_path, *again)
        assert status == 5 and "ORA-01408" in answer["error"]["message"]  # type: ignore[index]
        assert not any("GTEST_FY" in text for text in standin.statements if text.startswith("CREATE"))


@pytest.mark.full
def test_a_measurement_of_function_based_indexes_works_on_copies_of_the_same_kind(tmp_path: Path) -> None:
    with running_standin() as standin:
        build = ("index", "build", "--table", "GTEST", "--columns", "UPPER(IDNAME),AMOUNT DESC", "--name", "FX")
        assert dbatk(standin, tmp_path, *build, *_PLAIN)[0] == 0
        line = ("index", "rebuild", "--index", "FX", "--degree", "1,2", "--repeat", "1", "--warmup", "0", *_PLAIN)
        status, _ = dbatk(standin, tmp_path, *line)
        assert status == 0
        copies = [text for text in standin.statements if re.match(r'CREATE INDEX "DBATK"\."DBATK_', text)]
        assert ['(UPPER("IDNAME"), "AMOUNT" DESC)' in text for text in copies] == [True]
        assert standin.tables() == {"DBATK.GTEST", "APP.ORDERS"}


def test_a_trial_of_an_unusable_index_rebuilds_its_copy_from_the_table_each_time(tmp_path: Path) -> None:
    with running_standin() as standin:
        index(standin, "GTEST_IX").status = "UNUSABLE"
        line = (
            "index",
            "rebuild",
            "--index",
            "GTEST_IX",
            "--degree",
            "1,2",
            "--repeat",
            "1",
            "--warmup",
            "1",
            *_PLAIN,
        )
        status, _ = dbatk(standin, tmp_path, *line)
        assert status == 0
        told = [text.split()[-1] for text in standin.statements if re.search(r"UNUSABLE$|REBUILD", text)]
        assert len(told) == 8 and told[::2] == ["UNUSABLE"] * 4
        assert index(standin, "GTEST_IX").status == "UNUSABLE", "the user's own is left alone"


def test_the_sort_area_of_a_sweep_is_the_sessions_own(tmp_path: Path) -> None:
    with running_standin() as standin:
        line = ("index", "build", "--table", "GTEST", "--columns", "AMOUNT,ID", "--sort-area-mb", "auto,64",
                "--degree", "2", "--repeat", "1", "--warmup", "0", *_PLAIN)  # fmt: skip
        status, run = dbatk(standin, tmp_path, *line)
        assert status == 0
        assert {trial["factors"]["sort_area_mb"] for trial in run["trials"]} == {"auto", 64}  # type: ignore[attr-defined]
        sent = (re.search(r"WORKAREA_SIZE_POLICY\W+(\w+)", text) for text in standin.statements)
        policies = [found[1] for found in sent if found]
        assert policies == ["MANUAL", "AUTO"]


def test_temporary_space_too_small_for_the_sort_is_found_before_anything_is_built(tmp_path: Path) -> None:
    rows = [{"TABLESPACE_NAME": "TEMP", "TABLESPACE_SIZE": 4096, "ALLOCATED_SPACE": 4096, "FREE_SPACE": 4096}]
    with running_standin(Scenario(views={"DBA_TEMP_FREE_SPACE": rows, "DBA_TEMP_FILES": []})) as standin:
        line = ("index", "build", "--table", "GTEST", "--columns", "AMOUNT", "--name", "A_IX", *_PLAIN)
        status, answer = dbatk(standin, tmp_path, *line)
        assert status != 0 and answer["error"]["code"] == "TK-0305"  # type: ignore[index]
        assert "in temporary space, where only 4.00 KiB are free" in answer["error"]["message"]  # type: ignore[index]
        assert not any(text.startswith("CREATE") for text in standin.statements)


@pytest.mark.full
def test_every_statement_of_a_schema_rebuild_and_a_build_stands_before_two_grammars(tmp_path: Path) -> None:
    with running_standin(Scenario(partitioned=True)) as standin:
        index(standin, "TRADES_IX").shape.parts[0].subs[0].status = "UNUSABLE"
        rebuild = ("index", "rebuild", "--schema", "DBATK", "--degree", "4", "--concurrency", "2", *_FOUND)
        build = ("index", "build", "--table", "SALES", "--columns", "AMOUNT,NVL(IDNAME,'x') DESC", *_PLAIN)
        assert [dbatk(standin, tmp_path, *line)[0] for line in (rebuild, build)] == [0, 0]
        sent = {text: f"sent {number}" for number, text in enumerate(standin.statements)}
    assert any("SUBPARTITION" in text for text in sent) and any("NVL" in text for text in sent)
    assert judge(sent) == {}


@pytest.mark.full
def test_a_local_index_is_measured_on_a_copy_with_the_same_partitions_where_that_is_declared(
    tmp_path: Path,
) -> None:
    rebuild = ("index", "rebuild", "-t", "dwh", "--table", "SALES", "--degree", "1,2", "--concurrency", "2",
               "--repeat", "1", "--warmup", "0", *_PLAIN)  # fmt: skip
    with running_standin(Scenario(partitioned=True)) as standin:
        status, said = Site(standin, tmp_path)(*rebuild)
        assert status == 5 and "Partitioning" in said
        assert not any(text.startswith("CREATE") for text in standin.statements)
        declared = 'licenses.partitioning = {by = "J. Doe", on = 2026-01-31}'
        status, said = Site(standin, tmp_path, declared)(*rebuild)
        assert status == 0, said
        (copy,) = [text for text in standin.statements if text.startswith("CREATE INDEX")]
        assert 'LOCAL (PARTITION "P1", PARTITION "P2", PARTITION "P3")' in " ".join(copy.split())
        assert len([name for name in rebuilds(standin) if name.endswith(".P3")]) == 2
        assert "DBATK.SALES" in standin.tables() and len(standin.tables()) == 4


# -- COALESCE -----------------------------------------------------------------------------------------------------
def coalesced(standin: Standin) -> list[str]:
    return [" ".join(text.split()) for text in standin.statements if text.startswith("ALTER INDEX")]


def test_an_index_is_coalesced_where_it_is_and_keeps_its_degree(tmp_path: Path) -> None:
    with running_standin(Scenario()) as standin:
        line = ("index", "rebuild", "--index", "GTEST_IX", "--coalesce", *_PLAIN)
        status, run = dbatk(standin, tmp_path, *line)
        assert (status, coalesced(standin)) == (0, ['ALTER INDEX "DBATK"."GTEST_IX" COALESCE']), run
        status, run = dbatk(standin, tmp_path, *line, "--degree", "4")
        assert (status, coalesced(standin)[1]) == (0, 'ALTER INDEX "DBATK"."GTEST_IX" COALESCE PARALLEL 4'), run
        assert index(standin, "GTEST_IX").degree == "1"


@pytest.mark.full
def test_partitions_are_coalesced_one_by_one_and_what_has_no_coalesce_is_refused(tmp_path: Path) -> None:
    with running_standin(Scenario(partitioned=True)) as standin:
        line = ("index", "rebuild", "--coalesce", *_PLAIN, "--index")
        status, run = dbatk(standin, tmp_path, *line, "SALES_IX", "--partition", "P2")
        assert status == 0, run
        assert coalesced(standin) == ['ALTER INDEX "DBATK"."SALES_IX" MODIFY PARTITION "P2" COALESCE']
        for more, words in (
            (("TRADES_IX",), "a subpartition of an index has no COALESCE"),
            (("SALES_IX", "--degree", "2"), "coalesced serially"),
            (("SALES_IX", "--repeat", "2", "--on-live-objects"), "coalesced once"),
            (("SALES_IX", "--pctfree", "5"), "keeps the blocks"),
        ):
            status, answer = dbatk(standin, tmp_path, *line, *more)
            assert status != 0 and words in str(answer), answer
        assert len(coalesced(standin)) == 1


def test_an_unusable_index_is_not_coalesced(tmp_path: Path) -> None:
    with running_standin(Scenario()) as standin:
        index(standin, "GTEST_IX").status = "UNUSABLE"
        status, answer = dbatk(standin, tmp_path, "index", "rebuild", "--index", "GTEST_IX", "--coalesce", *_PLAIN)
        assert (status, "omit --coalesce to rebuild it" in str(answer)) == (5, True), answer
