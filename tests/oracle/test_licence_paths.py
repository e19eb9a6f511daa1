"""Every way by which a user's own SQL reaches Oracle goes through the licence guard, whatever operation it is for.

The ways are found in the registry: options of the operations that Oracle has, by their kind. An operation that
comes later with SQL of the user's is played here without a change; one with another free text fails until it is
said here what that text is.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.oracle.make import assumed
from tests.oracle.standin import Scenario, Standin, running_standin
from tests.oracle.test_licence_disguises import DISGUISES, OBJECTS, _quoted
from tests.oracle.test_licence_runs import _LOADS
from tests.servers import forks
from tests.tiers import thinned
from toolkit.app.runs import licensing
from toolkit.design.user_sql import check_assignment, check_expression, check_predicate, check_query
from toolkit.dialects.oracle.dialect import DIALECT
from toolkit.errors import ToolkitError
from toolkit.model.experiment import Experiment, OptionValue
from toolkit.model.operations import declaration, operations, options_of
from toolkit.model.options import Option, OptionKind
from toolkit.model.values import Factor
from toolkit.model.words import Mode, OperationName

SQL = (
    OptionKind.QUERY,
    OptionKind.PREDICATE,
    OptionKind.ASSIGNMENTS,
    OptionKind.EXPRESSIONS,
    OptionKind.TRANSACTIONS,
)
FREE = (OptionKind.TEXT, OptionKind.TEXTS, OptionKind.NAME, OptionKind.NAMES)
ROWS_OF = frozenset({"source", "table", "archive_to"})
"""Names of objects whose rows are read or written: what stands behind them is looked at, too."""
NO_SQL = {
    "tag": "of a backup", "merge_copy": "a tag of RMAN",
    "of": "of tablespaces and files", "format": "of RMAN, whose script is looked at",
    "parms": "of RMAN, whose script is looked at", "connects": "of RMAN", "catalog": "of RMAN",
    "reports": "words of RMAN", "index": "rebuilt as it is",
    "name": "of what is made", "tablespace": "a quoted name", "columns": "quoted names", "schema": "a quoted name",
    "partition": "a quoted name", "consumer_group": "bound", "env": "of a program on this host",
    "metric": "a pattern", "phase": "a pattern", "fail_if_output": "a pattern", "allow_exit": "numbers",
    "partition_by": "words of a fixed form with quoted names", "global_range": "literals only",
    "method_opt": "a literal", "bin_dir": "a folder",
    "only_tables": "literals", "as_of": "a time of a fixed form", "keep_rows": "a time of a fixed form",
    "directory": "a literal", "stat_table": "a literal", "stat_id": "a literal", "skip": "words of RMAN",
    "on": "the address of a cluster",
    "delimiter": "a character", "quote": "a character", "null": "a text in a file", "encoding": "a name of Python",
    "external_files": "literals", "with_table": "a quoted name", "merged": "quoted names",
    "new_name": "a quoted name", "constraint": "quoted names",
    "dump_files": "literals", "into_schema": "a quoted name",
    "into_table": "a quoted name",
    "lob_tablespace": "a quoted name", "log_phase": "a pattern", "weights": "whole numbers",
    "new_names": "quoted names", "at": "a literal of the type of the key",
    "in_values": "literals of the type of the key",
}  # fmt: skip
"""Every other free text of an operation that Oracle has, and why it is no SQL of the user's."""
NEEDED: dict[OperationName, dict[str, str]] = {
    "ctas": {"source": "GTEST", "table": "MADE"},
    "insert": {"source": "GTEST", "table": "APP.ORDERS"},
    "purge": {"table": "APP.ORDERS", "where": "ID > 5"},
    "stats-extend": {"table": "APP.ORDERS"},
    "workload": {"users": "1", "measure_for": "1s", "ramp_up": "0"},
}
"""What a command needs beside the text."""
ENGINE = "oracle"


def _ways(*kinds: OptionKind) -> Iterator[tuple[OperationName, Option]]:
    """Yield each option of these kinds of an operation that Oracle has."""
    for name in sorted(operations()):
        if name in DIALECT.work:
            for option in options_of(name):
                if option.kind in kinds and option.is_of(ENGINE):
                    yield name, option


WAYS = {f"{name} {option.flag}": (name, option) for name, option in _ways(*SQL)}


def transaction(statement: str) -> str:
    return f"[[transaction]]\nname = 'one'\nsql = '''{statement}'''\n"


def test_every_free_text_of_an_operation_is_sql_that_is_looked_at_or_said_to_be_none() -> None:
    names = {option.name for _, option in _ways(*FREE)}
    assert names - ROWS_OF - NO_SQL.keys() == set(), "say in NO_SQL what it is, or give it a kind of SQL"
    assert len(WAYS) >= 5


def test_a_kind_of_option_is_sql_or_something_that_no_database_reads() -> None:
    others = {
        *FREE, OptionKind.INTEGER, OptionKind.NUMBER, OptionKind.CHOICE, OptionKind.FLAG, OptionKind.DEGREE,
        OptionKind.SIZE, OptionKind.DURATION, OptionKind.JOBS, OptionKind.PATHS, OptionKind.PATH,
        OptionKind.FILES, OptionKind.ARGUMENTS, OptionKind.COMMANDS,
    }  # fmt: skip
    assert set(OptionKind) - others == set(SQL)


# -- over the wire, behind a synonym ------------------------------------------------------------------------------
def _words(name: OperationName, option: Option, folder: Path) -> list[str]:
    """Return a command whose own SQL reads a synonym that leads to a view of a pack."""
    needed = {**NEEDED[name]}
    if option.kind is OptionKind.QUERY:
        (folder / "t").write_text("SELECT h.id FROM loads h", encoding="utf-8")
        needed.pop("source")
        given = str(folder / "t")
    elif option.kind is OptionKind.TRANSACTIONS:
        (folder / "t").write_text(transaction("SELECT count(*) FROM loads"), encoding="utf-8")
        given = str(folder / "t")
    else:  # a function is called where no subquery may stand
        given = {OptionKind.PREDICATE: "loads.f(1) > 2", OptionKind.EXPRESSIONS: "loads.f(AMOUNT)"}.get(
            option.kind, "AMOUNT = loads.f(1)"
        )
    needed[option.name] = given
    flags = {each.name: each.flag for each in options_of(name)}
    return [*declaration(name).command, *(word for key, one in needed.items() for word in (flags[key], one))]


def _run(standin: Standin, folder: Path, *arguments: str) -> tuple[int, str]:
    env = {"DBATK_STORE": str(folder / "store.db"), "DBATK_CONFIG": str(folder / "config")}
    env |= {"DBATK_PASSWORD": standin.password, "COLUMNS": "300"}
    done = forks.run(
        "toolkit", *arguments, "-t", standin.url, "--snapshot", "none", "--not-production",
        env={**os.environ, **env},
    )  # fmt: skip
    return done.returncode, done.stdout + done.stderr


def _sent(standin: Standin) -> list[str]:
    """Return the user's text among what was sent; our own questions bind names."""
    return [text for text in standin.statements if "loads" in text.lower() and "all_synonyms" not in text]


@pytest.mark.thin(3)
@pytest.mark.parametrize("way", WAYS)
def test_sql_of_the_users_that_leads_to_a_pack_by_a_synonym_is_never_sent(way: str, tmp_path: Path) -> None:
    name, option = WAYS[way]
    with running_standin(Scenario(views=_LOADS)) as standin:
        status, said = _run(standin, tmp_path, *_words(name, option, tmp_path))
        assert _sent(standin) == []
    assert status == 5 and "[TK-0303]" in said and "Oracle Diagnostics Pack" in said, said


def test_of_several_queries_each_is_looked_at_and_the_name_of_its_file_is_not(tmp_path: Path) -> None:
    texts = {
        "a": "SELECT id FROM gtest",
        "dba_hist_sysstat": "SELECT amount FROM gtest",
        "b": "SELECT 1 x FROM loads",
    }
    for name, text in texts.items():
        (tmp_path / f"{name}.sql").write_text(text, encoding="utf-8")
    line = ("ctas", "--table", "MADE", "--dry-run", "--query")
    with running_standin(Scenario(views=_LOADS)) as standin:
        status, said = _run(standin, tmp_path, *line, f"{tmp_path}/a.sql,{tmp_path}/dba_hist_sysstat.sql")
        assert status == 0, said
        status, said = _run(standin, tmp_path, *line, f"{tmp_path}/a.sql,{tmp_path}/b.sql")
        assert (status, _sent(standin)) == (5, []) and "Oracle Diagnostics Pack" in said, said


@pytest.mark.parametrize("drawn", ["column", "after"])
def test_a_column_that_values_are_drawn_from_is_looked_at_as_a_statement_is(drawn: str, tmp_path: Path) -> None:
    text = transaction("SELECT max(amount) FROM gtest WHERE id = :x")
    text += f"[transaction.parameters]\nx = {{{drawn} = 'SID', of = 'loads'}}\n"
    (tmp_path / "t").write_text(text, encoding="utf-8")
    with running_standin(Scenario(views=_LOADS)) as standin:
        needed = ("--users", "1", "--measure-for", "1s", "--ramp-up", "0")
        status, said = _run(standin, tmp_path, "workload", "--transactions", str(tmp_path / "t"), *needed)
        assert _sent(standin) == []
    assert status == 5 and "Oracle Diagnostics Pack" in said, said


def test_what_was_allowed_unchecked_is_allowed_to_users_too(tmp_path: Path) -> None:
    (tmp_path / "t").write_text(transaction("SELECT count(*) FROM far.t@hq"), encoding="utf-8")
    line = ("workload", "--transactions", str(tmp_path / "t"), "--users", "1", "--measure-for", "1s")
    with running_standin() as standin:
        refused, said = _run(standin, tmp_path, *line, "--ramp-up", "0")
        assert refused == 5 and "--allow-unchecked" in said
        assert not [text for text in standin.statements if "@hq" in text]
        _, said = _run(standin, tmp_path, *line, "--ramp-up", "0", "--allow-unchecked")
        assert "cannot be seen" not in said
        assert [text for text in standin.statements if "@hq" in text]


# -- every object of the packs in every disguise ------------------------------------------------------------------
def _values(option: Option, statement: str, name: str) -> Iterator[OptionValue]:
    """Yield what a user could give by an option to get at an object; nothing where the option refuses it."""
    match option.kind:
        case OptionKind.QUERY:
            kept = check_query(statement, ENGINE)
            if kept != "SELECT 1":  # a comment at the end is not sent
                yield kept
        case OptionKind.TRANSACTIONS:
            yield transaction(statement)
        case OptionKind.PREDICATE:
            for text in (f"{name}.f(1) > 2", f"id IN (SELECT 1 FROM {name})", f"my_run('{statement}') = 1"):
                yield check_predicate(text, ENGINE)
        case OptionKind.EXPRESSIONS:
            for text in (f"{name}.f(1)", f"f((SELECT 1 FROM {name}))"):
                yield (check_expression(text, ENGINE),)
        case _:
            for text in (f"a = {name}.f(1)", f"a = (SELECT 1 FROM {name})"):
                yield (check_assignment(text, ENGINE),)


def _passes(name: OperationName, option: Option, statement: str, written: str) -> list[OptionValue]:
    """Return what is neither refused where it is read nor caught."""
    passed = []
    try:
        for value in _values(option, statement, written):
            for options, factors in (
                ({option.name: value}, ()),
                ({}, (Factor(option.name, (value, "1")),) if isinstance(value, str) else ()),
            ):
                asked = Experiment("t", name, {**options}, factors, Mode.JOB)
                found = licensing.find((), asked, assumed())
                if (options or factors) and not (found.uses or found.unseen):
                    passed.append(value)
    except ToolkitError:
        return passed  # refused: it is no query, condition, assignment or statement of users
    return passed


@pytest.mark.thin(3)
@pytest.mark.parametrize("disguise", thinned(DISGUISES, 20))
def test_no_way_lets_an_object_of_the_packs_pass_in_any_disguise(disguise: str) -> None:
    first = list(DISGUISES).index(disguise)
    passed = [
        (way, written)
        for written in _quoted(OBJECTS[first % 24 :: 24], first)
        for way, (name, option) in WAYS.items()
        if _passes(name, option, DISGUISES[disguise](written), written)
    ]
    assert passed == []
