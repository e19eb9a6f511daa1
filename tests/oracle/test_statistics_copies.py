"""Statistics are measured on copies that have the table's indexes: CASCADE would measure nothing without."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.oracle.standin import running_standin
from tests.oracle.test_command_line import dbatk


@pytest.mark.thin(2)
@pytest.mark.parametrize("what", [("--table", "GTEST"), ("--schema", "DBATK")], ids=["table", "schema"])
def test_copies_have_the_indexes_of_their_tables_and_go_with_them(what: tuple[str, str], tmp_path: Path) -> None:
    with running_standin() as standin:
        status, run = dbatk(
            standin, tmp_path, "stats", "gather", *what, "--cascade", "yes,no", "--repeat", "1", "--warmup", "0"
        )
        assert status == 0, run
        made = [text for text in standin.statements if text.startswith("CREATE INDEX")]
        assert len(made) == 1 and '"DBATK_' in made[0] and '("IDNAME")' in made[0]
        said = " ".join(run["warnings"])  # type: ignore[arg-type]
        assert "copies have no partitions" in said and "no indexes" not in said
        assert standin.tables() == {"DBATK.GTEST", "APP.ORDERS"}
        assert {index.name[1] for index in standin.engine.state.indexes()} == {"GTEST_IX", "ORDERS_IX"}
