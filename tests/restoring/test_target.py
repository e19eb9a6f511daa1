"""Tables compared on the target: a query of dbatk's user there runs nothing that owners of tables have made."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.restoring.conftest import Place, reason, trial
from tests.restoring.test_rights import trying
from tests.servers.postgresql import Server
from toolkit.dialects.postgresql.dialect import DIALECT
from toolkit.dialects.work import Call
from toolkit.model.values import QualifiedName
from toolkit.rendering import render_call

pytestmark = pytest.mark.postgresql

SQL = Path(__file__).with_name("target.sql").read_text()


def test_a_comparison_runs_no_cast_and_no_function_of_users(
    place_of: Callable[..., Place], loaded: Server, open_folder: Path
) -> None:
    reached = open_folder / "reached-by-comparing"
    reached.mkdir()
    reached.chmod(0o777)
    made = SQL.replace("FOLDER", str(reached)).replace("PORT", str(loaded.port))
    with trying(place_of, loaded) as tried:
        status, document = tried(made, "--tables", "kept,named", "--as-superuser")
    assert status == 0, reason(document)
    labels = [item["label"] for item in trial(document)["items"]]  # type: ignore[attr-defined]
    assert {f"table {name}: the same as on the target" for name in ("kept", "named")} <= set(labels)
    assert [each.name for each in reached.iterdir()] == []


def test_every_column_counts_also_beside_one_that_is_named_as_the_query_names_the_row(loaded: Server) -> None:
    asked = render_call(
        DIALECT, Call("restore_tables", {"tables": (QualifiedName("named", "columns"),), "labels": ("named",)})
    )
    made = "CREATE TABLE columns.named AS SELECT 1 AS t, 'a' AS name"
    with loaded.schema("columns", made), loaded.connect() as session:
        before = session.execute(asked).fetchall()  # type: ignore[call-overload]
        session.execute("UPDATE columns.named SET name = 'b'")
        assert session.execute(asked).fetchall() != before  # type: ignore[call-overload]
