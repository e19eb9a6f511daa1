"""Statements of an undo script: they restore a storage parameter of the run's, and leave one of somebody else."""

from __future__ import annotations

import pytest

from tests.postgresql.helpers import Bench
from tests.servers.postgresql import Server
from toolkit.dialects.postgresql.dialect import DIALECT
from toolkit.model.steps import Attribute, ObjectRef
from toolkit.model.values import QualifiedName
from toolkit.model.words import ObjectKind
from toolkit.rendering import step_of

psycopg = pytest.importorskip("psycopg")


@pytest.mark.parametrize(
    ("was", "now", "then"),
    [("unset", "4", None), ("2", "4", "2"), ("2", "2", "2"), ("2", "7", "7"), ("2", "unset", None)],
)
def test_a_storage_parameter_is_restored_only_where_the_run_set_it(
    was: str, now: str, then: str | None, postgresql_server: Server, postgresql_schema: str
) -> None:
    name = QualifiedName("it's", postgresql_schema)
    table = f'"{postgresql_schema}"."it\'s"'
    back = f"ALTER TABLE {table} " + (
        "RESET (parallel_workers)" if was == "unset" else f"SET (parallel_workers = {was})"
    )
    call = DIALECT.by_hand(
        back, ObjectRef(ObjectKind.TABLE, name), None, None, [Attribute("parallel_workers", "4", was)]
    )
    assert call is not None
    with postgresql_server.connect() as session:
        session.execute(f"CREATE TABLE {table} (i int)")
        if now != "unset":
            session.execute(f"ALTER TABLE {table} SET (parallel_workers = {now})")
        if now in {"4", was}:
            session.execute(step_of(DIALECT, call).text)
        else:
            with pytest.raises(
                psycopg.errors.RaiseException, match=f"parallel_workers is `{now}`, which somebody"
            ):
                session.execute(step_of(DIALECT, call).text)
            session.rollback()
        found = session.execute("SELECT reloptions FROM pg_class WHERE relname = 'it''s'").fetchone()
    assert found == ((None,) if then is None else ([f"parallel_workers={then}"],))


def test_a_relation_that_was_renamed_is_found_by_its_oid(context: Bench) -> None:
    ref = ObjectRef(ObjectKind.TABLE, QualifiedName("it's", context.schema))
    context.control.execute(f'CREATE TABLE "{context.schema}"."it\'s" (i int)')
    found = context.identity(ref)
    assert found is not None
    call = DIALECT.renamed(ref, found["identity"])
    assert call is not None
    assert context.run([call])[0].rows == ()
    context.control.execute(f'ALTER TABLE "{context.schema}"."it\'s" RENAME TO "not it"')
    assert context.run([call])[0].rows == ({"new_name": "not it", "new_schema": context.schema},)
