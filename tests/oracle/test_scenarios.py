"""The databases the stand-in plays: each says of itself what the real one would, and lacks what it lacks."""

from __future__ import annotations

import pytest

from tests.for_each import for_each
from tests.oracle.make import connect
from tests.oracle.standin import Scenario, running_standin, scenarios
from toolkit.dialects.oracle.dialect import DIALECT
from toolkit.model.protocols import DatabaseError
from toolkit.model.values import Row
from toolkit.rendering import sql_file


def asked(scenario: Scenario, text: str) -> tuple[Row, ...]:
    """Return the answer of a stand-in to one query."""
    with running_standin(scenario) as standin:
        connection = connect(standin)
        try:
            return connection.execute(text).rows
        finally:
            connection.close()


@for_each("name", scenarios.EVERY)
def test_every_database_tells_its_release_and_its_edition(name: str) -> None:
    (server,) = asked(scenarios.EVERY[name](), sql_file("oracle", "server"))
    release = DIALECT.release(server)
    expected = {"11g": (11, 2), "pdb-12c": (12, 1), "free": (23, 0)}.get(name, (19, 0))
    assert release.number[:2] == expected
    assert release.edition == {"se2": "se2", "free": "free"}.get(name, "ee")


@pytest.mark.parametrize(
    ("query", "code"),
    [
        ("SELECT p.name AS name FROM v$pdbs p", "ORA-00942"),
        ("SELECT d.cdb AS cdb FROM v$database d", "ORA-00904"),
        ("SELECT SYS_CONTEXT('USERENV', 'CON_NAME') AS name FROM dual", "ORA-02003"),
    ],
)
def test_what_came_with_12c_is_not_there_in_11g(query: str, code: str) -> None:
    with pytest.raises(DatabaseError) as error:
        asked(scenarios.old_11g(), query)
    assert error.value.code == code
    assert asked(scenarios.enterprise_19c_rac(), query)


def test_changes_are_laid_over_a_database_and_replace_nothing_else() -> None:
    made = scenarios.autonomous(parameters={"cpu_count": "2"}, denied=frozenset({"V$OPTION"}))
    assert made.parameters["optimizer_ignore_hints"] == "TRUE"
    assert made.parameters["cpu_count"] == "2"
    assert {"V$OPTION", "V$ARCHIVE_DEST"} <= made.denied
