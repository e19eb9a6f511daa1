"""Every script carries its whole header, and every engine answers every question of the catalogue."""

from __future__ import annotations

from itertools import product
from pathlib import Path

from tests.catalogue import CATALOGUE
from tests.for_each import for_each
from tests.project.tree import ROOT
from toolkit.dialects.registry import dialect_of
from toolkit.model.engines import engines
from toolkit.model.words import EngineName

HEADER = ("Title", "Needs", "License", "Effect", "Params", "Versions")
TEMPLATES = sorted((*ROOT.glob("templates/*/*.sql.j2"), *ROOT.glob("templates/*/*.rman.j2")))
SCRIPTS = sorted((*ROOT.glob("sql/*/*.sql"), *TEMPLATES))


def header(path: Path) -> dict[str, str]:
    """Read the comment lines a script opens with."""
    found = {}
    for line in path.read_text(encoding="utf-8").splitlines():
        comment = line.removeprefix("-- ").removeprefix("# ")
        if comment == line or ": " not in line:
            break
        key, value = comment.split(": ", 1)
        found[key] = value.strip()
    return found


@for_each("path", SCRIPTS, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_a_script_opens_with_its_whole_header(path: Path) -> None:
    found = header(path)
    assert tuple(found)[: len(HEADER)] == HEADER
    assert all(found.values())


@for_each(("engine", "read"), product([one for one in engines() if "ctas" in dialect_of(one).work], CATALOGUE))
def test_every_engine_answers_every_read_of_the_catalogue(engine: EngineName, read: str) -> None:
    assert (ROOT / "sql" / engine / f"{read}.sql").is_file()


@for_each("path", sorted(ROOT.glob("sql/*/*.sql")), ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_a_plain_script_holds_no_template_mark(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert "{{" not in text
    assert "{%" not in text


@for_each("path", TEMPLATES, ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_a_template_filters_every_value(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    values = [part.split("}}")[0] for part in text.split("{{")[1:]]
    assert [value for value in values if "|" not in value] == []
