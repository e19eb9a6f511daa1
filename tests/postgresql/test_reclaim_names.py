"""What doctor suggests for a shell, of tables whose names need quotes."""

from __future__ import annotations

import shlex

from toolkit.dialects.postgresql import reclaim
from toolkit.dialects.postgresql.dialect import DIALECT
from toolkit.model.facts import Facts
from toolkit.model.values import QualifiedName, Row


def test_names_are_given_as_a_shell_and_dbatk_read_them() -> None:
    bloat: Row = {
        "schema_name": "shop", "table_name": "Odd $name", "byte_count": 2**30, "expected_bytes": 2**20,
    }  # fmt: skip
    dead: Row = {"kind": "dead rows", "name": 'shop."It\'s"', "amount": 9, "beside": 1, "byte_count": 8192}
    answers = {reclaim.BLOAT: (bloat,), reclaim.FILE: (dead,)}
    facts = Facts("postgresql", DIALECT.assume("17").release, answers)
    typed = [word for check in reclaim.checks(facts) for word in shlex.split(check.action) if "shop" in word]
    names = {DIALECT.parse_name(word) for word in typed}
    assert names == {QualifiedName("Odd $name", "shop"), QualifiedName("It's", "shop")}
