"""Every script of Oracle: whole header, one statement, runnable in SQL*Plus as it is."""

from __future__ import annotations

import re
from pathlib import Path

from tests.catalogue import CATALOGUE
from tests.for_each import for_each
from toolkit.resources import sql_root, template_root
from toolkit.targets.base import names_in

PLAIN = sorted((sql_root() / "oracle").glob("*.sql"))
TEMPLATES = sorted((template_root() / "oracle").glob("*.sql.j2"))
HEADER = ("Title", "Needs", "License", "Effect", "Params", "Versions")


@for_each("path", [*PLAIN, *TEMPLATES], ids=lambda path: path.name)
def test_a_script_opens_with_its_whole_header(path: Path) -> None:
    lines = path.read_text(encoding="utf-8").splitlines()[: len(HEADER)]
    for line, name in zip(lines, HEADER, strict=True):
        assert re.fullmatch(rf"-- {name}: \S.*", line), line


@for_each("path", PLAIN, ids=lambda path: path.name)
def test_a_plain_script_is_one_terminated_statement_that_names_its_binds(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    header, body = text.split("-- Versions:", 1)
    statement = "\n".join(line for line in body.splitlines()[1:] if not line.lstrip().startswith("--"))
    outside = re.sub(r"'(?:[^']|'')*'", "''", statement)
    assert statement.strip().endswith(";") and outside.count(";") == 1
    assert "\n\n" not in statement.strip(), "SQL*Plus ends a statement at an empty line"
    assert "&" not in statement, "SQL*Plus would ask for a value"
    declared = set(re.findall(r":(\w+)", re.search(r"-- Params:(.*)", header)[1]))  # type: ignore[index]
    assert declared == set(names_in(statement))


def test_the_catalogue_is_complete() -> None:
    assert set(CATALOGUE) <= {path.stem for path in PLAIN}
