"""Quotas of other schemas are read only where something is made in one of them."""

from __future__ import annotations

from tests.for_each import for_each
from tests.oracle.make import assumed
from toolkit.dialects.oracle.dialect import DIALECT
from toolkit.model.values import Row

SERVER: Row = {"user_name": "APP", "current_schema": "APP"}


@for_each(
    ("owners", "server", "asked"),
    [
        ({"APP"}, SERVER, False),
        ({None}, SERVER, False),
        ({"APP", "OTHER"}, SERVER, True),
        ({None}, {**SERVER, "current_schema": "OTHER"}, True),
        ({"APP"}, {**SERVER, "current_schema": "OTHER"}, False),
        ({"APP"}, {}, True),
    ],
    ids=["own", "session's", "another's", "session in another", "own from another", "not known"],
)
def test_quotas_of_all_schemas_are_read_for_another_schema_alone(
    owners: set[str | None], server: Row, *, asked: bool
) -> None:
    files = DIALECT.space_files(assumed(server=(server,)), owners)
    assert ("space_quotas" in files) is asked and "space_quota" in files
