"""Constraints that are NOT VALID, validated as a DBA types it: one by one, of a schema, what stands in the way."""

from __future__ import annotations

import json
import shlex
from collections.abc import Callable, Iterator
from datetime import UTC, datetime

import pytest

from tests.cli.conftest import Answer, Dbatk, dbatk, home
from tests.postgresql.test_vacuum import Session, guest
from tests.servers.postgresql import Server
from toolkit.model.words import RunState
from toolkit.store import open_store

__all__ = ["dbatk", "guest", "home"]

pytestmark = pytest.mark.postgresql

Validate = Callable[..., Answer]


@pytest.fixture
def session(postgresql_server: Server, postgresql_schema: str) -> Iterator[Session]:
    with postgresql_server.connect() as opened:
        opened.execute(f"SET search_path = {postgresql_schema}")
        opened.execute("CREATE TABLE shops (id int PRIMARY KEY)")
        opened.execute("INSERT INTO shops SELECT generate_series(0, 9)")
        for table in ("sales", "returns"):
            opened.execute(
                f"CREATE TABLE {table} AS SELECT g AS id, g % 10 AS shop FROM generate_series(1, 900) g"
            )
            opened.execute(
                f'ALTER TABLE {table} ADD CONSTRAINT "In a shop" FOREIGN KEY (shop) REFERENCES shops NOT VALID'
            )
            opened.execute(f"ALTER TABLE {table} ADD CONSTRAINT positive CHECK (id > 0) NOT VALID")
        yield opened


@pytest.fixture
def validate(dbatk: Dbatk, postgresql_url: str, postgresql_schema: str) -> Validate:
    def asked(*options: str, table: str = "sales", url: str = postgresql_url) -> Answer:
        named = ("--table", f"{postgresql_schema}.{table}") if table else ("--schema", postgresql_schema)
        return dbatk("constraint", "validate", "-t", url, *named, "--not-production", "--json", *options)

    return asked


def waiting(session: Session) -> set[str]:
    found = session.execute(
        "SELECT conrelid::regclass::text || ' ' || conname FROM pg_constraint WHERE NOT convalidated "
        "AND connamespace = current_schema()::regnamespace"
    )
    return {str(row[0]) for row in found.fetchall()}


def test_those_of_a_table_are_validated_and_the_second_time_there_is_nothing_to_do(
    session: Session, validate: Validate
) -> None:
    answer = validate()
    assert answer.status == 0, answer.err
    assert waiting(session) == {"returns In a shop", "returns positive"}
    labels = [item["label"] for item in json.loads(answer.out)["trials"][0]["items"]]
    assert len(labels) == 2 and any(label.endswith("constraint In a shop") for label in labels)
    assert "SHARE UPDATE EXCLUSIVE" in answer.err + answer.out
    again = validate()
    (trial,) = json.loads(again.out)["trials"]
    assert (again.status, trial["outcome"], trial["elapsed_seconds"]) == (0, "ok", None), again.err
    assert [item["outcome"] for item in trial["items"]] == ["skipped"]
    assert "nothing to do: " in again.err and "no constraint that waits" in again.err


def test_of_a_schema_several_tables_are_validated_at_once(session: Session, validate: Validate) -> None:
    answer = validate("--concurrency", "2", table="")
    assert (answer.status, waiting(session)) == (0, set()), answer.err
    again = validate("--concurrency", "2", table="")
    assert (again.status, json.loads(again.out)["state"]) == (0, "done"), again.err
    assert "there was nothing to do" in again.out
    assert validate("--dry-run", table="").status == 0
    assert validate("--repeat", "2", table="").status == 5, "nothing is measured by nothing"


def test_the_named_one_alone_and_a_misspelt_one_is_named(session: Session, validate: Validate) -> None:
    assert validate("--constraint", "positive").status == 0
    assert "sales In a shop" in waiting(session) and "sales positive" not in waiting(session)
    answer = validate("--constraint", '"In a shopp"')
    error = json.loads(answer.out)["error"]
    assert (answer.status, error["code"]) == (2, "TK-0204") and "In a shop" in error["hint"]


def test_rows_that_violate_one_fail_it_and_the_others_are_validated(session: Session, validate: Validate) -> None:
    session.execute("ALTER TABLE shops DISABLE TRIGGER ALL")
    session.execute("DELETE FROM shops WHERE id = 3")
    answer = validate()
    assert (answer.status, waiting(session) & {"sales In a shop", "sales positive"}) == (3, {"sales In a shop"})
    assert "23503" in answer.out


def test_a_lock_of_others_is_waited_for_as_long_as_was_said(session: Session, validate: Validate) -> None:
    with session.transaction():
        session.execute("LOCK TABLE sales IN SHARE UPDATE EXCLUSIVE MODE")
        answer = validate("--lock-wait", "1s", "--lock-tries", "1")
    assert (answer.status, "55P03" in answer.out) == (3, True), answer.err


def test_a_degree_repeats_and_tables_of_others_are_refused(
    session: Session, validate: Validate, guest: str
) -> None:
    answer = validate("--degree", "2")
    assert (answer.status, "`--concurrency` checks several tables at once" in answer.out) == (5, True)
    assert "validated once" in validate("--repeat", "2").out
    answer = validate(url=guest)
    assert answer.status != 0 and waiting(session), answer.out


def test_a_constraint_that_a_partition_inherits_is_validated_with_its_parent(
    session: Session, validate: Validate
) -> None:
    session.execute("CREATE TABLE parted (id int) PARTITION BY RANGE (id)")
    session.execute("CREATE TABLE parted_1 PARTITION OF parted FOR VALUES FROM (0) TO (100)")
    session.execute("INSERT INTO parted VALUES (5)")
    session.execute("ALTER TABLE parted ADD CONSTRAINT small CHECK (id < 50) NOT VALID")
    answer = validate(table="parted_1")
    assert answer.status == 5 and "it inherits" in answer.out, answer.out
    assert validate(table="parted").status == 0
    assert not any(each.startswith("parted") for each in waiting(session))


def test_a_dry_run_shows_the_statements_and_changes_nothing(session: Session, validate: Validate) -> None:
    answer = validate("--dry-run")
    assert 'VALIDATE CONSTRAINT "In a shop"' in answer.out.replace('\\"', '"') and len(waiting(session)) == 4


def test_a_job_whose_run_was_not_ended_is_not_recorded_twice(
    session: Session, validate: Validate, dbatk: Dbatk, postgresql_url: str
) -> None:
    run = json.loads(validate().out)["run"]
    with open_store() as store:
        store.end_run(run, RunState.INTERRUPTED, datetime.now(UTC))
    answer = dbatk("runs", "resume", run, "-t", postgresql_url, "--not-production", "--json")
    document = json.loads(answer.out)
    assert (answer.status, document["state"], len(document["trials"])) == (0, "done", 1), answer.err
    assert not {each for each in waiting(session) if each.startswith("sales")}


def test_doctor_names_what_waits(
    session: Session, dbatk: Dbatk, postgresql_url: str, postgresql_schema: str
) -> None:
    answer = dbatk("doctor", "-t", postgresql_url, "--json")
    found = [check for check in json.loads(answer.out)["checks"] if check["name"] == "unvalidated constraint"]
    (sales,) = [check for check in found if f"{postgresql_schema}.sales" in check["evidence"]]
    assert "In a shop, positive" in sales["evidence"]
    assert sales["action"] == f"dbatk constraint validate --table {postgresql_schema}.sales"


def test_the_command_that_doctor_names_is_one_also_for_a_name_in_quotes(
    session: Session, dbatk: Dbatk, postgresql_url: str, postgresql_schema: str
) -> None:
    session.execute('ALTER TABLE sales RENAME TO "Old sales"')
    answer = dbatk("doctor", "-t", postgresql_url, "--json")
    actions = {check["action"] for check in json.loads(answer.out)["checks"]}
    (action,) = (each for each in actions if f'{postgresql_schema}."Old sales"' in str(each))
    done = dbatk(*shlex.split(action)[1:], "-t", postgresql_url, "--not-production", "--json")
    assert done.status == 0 and not {each for each in waiting(session) if "Old sales" in each}, done.err
