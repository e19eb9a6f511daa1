"""What errors mean: which of them tell nothing of the configuration that met them."""

from __future__ import annotations

import pytest

from toolkit.dialects.answers import ErrorAdvice
from toolkit.dialects.duckdb.dialect import ERRORS as DUCKDB
from toolkit.dialects.oracle.errors import catalogue
from toolkit.dialects.postgresql.advice import ERRORS as POSTGRESQL
from toolkit.dialects.registry import dialect_of

_FULL_SHARED_MEMORY = "could not resize shared memory segment: No space left on device"


def advised(engine: str, code: str, message: str = "") -> ErrorAdvice:
    found = dialect_of(engine).explain(code, message)
    assert found is not None
    return found


def test_what_a_lower_degree_or_concurrency_helps_is_never_outside_of_what_was_tried() -> None:
    known = [*catalogue().values(), *POSTGRESQL.values(), *DUCKDB.values()]
    known.append(advised("postgresql", "53100", _FULL_SHARED_MEMORY))
    lower = [each for each in known if "lower" in each.advice]
    assert {"ORA-04030", "ORA-01652", "ORA-00018", "53100", "53200", "53300"} <= {each.code for each in lower}
    assert [each.code for each in lower if each.outside] == []


@pytest.mark.parametrize(
    ("engine", "codes"),
    [
        ("oracle", ["ORA-01653", "ORA-30036", "ORA-19809", "ORA-00257", "ORA-03113", "ORA-01034", "DPY-6000"]),
        ("postgresql", ["53100", "58030", "57P02", "57P03", "08006"]),
        ("duckdb", ["IOException", "FatalException"]),
    ],
)
def test_full_disks_crashes_restarts_and_networks_are_outside(engine: str, codes: list[str]) -> None:
    assert [code for code in codes if not advised(engine, code).outside] == []


def test_a_commit_of_duckdb_that_found_no_room_is_outside_and_one_that_met_another_is_not() -> None:
    full = 'Failed to commit: Could not write file "/d/base.duckdb.wal": No space left on device'
    assert advised("duckdb", "TransactionException", full).outside
    assert not advised("duckdb", "TransactionException", "Conflict on tuple deletion!").outside
