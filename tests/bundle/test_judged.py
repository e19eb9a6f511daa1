"""What a bundle adds to the statements of a run stands before the judge too."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from tests.oracle.judging import judge
from toolkit.cli.main import main

_CLIENT = re.compile(r"(SET|PROMPT|WHENEVER|VARIABLE|--)\b.*|--.*")


def statements(script: str) -> list[str]:
    """Divide a script into the statements that the client sends."""
    found: list[str] = []
    lines: list[str] = []
    for line in script.split("\n"):
        block = bool(lines) and lines[0].startswith(("BEGIN", "DECLARE"))
        if not lines and (not line.strip() or _CLIENT.fullmatch(line)):
            continue
        if block and line == "/":
            found.append("\n".join(lines))
            lines = []
        elif not block and line.endswith(";") and not line.startswith(("BEGIN", "DECLARE")):
            found.append("\n".join([*lines, line.removesuffix(";")]))
            lines = []
        else:
            lines.append(line)
    assert not lines, "a statement has no end"
    return found


@pytest.mark.full
@pytest.mark.parametrize("assume", ["11.2-ee", "26-ee"])
def test_every_statement_of_a_bundle_stands_before_two_grammars(
    assume: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DBATK_CONFIG", str(tmp_path / "config"))
    file = tmp_path / "e.toml"
    text = '[experiment]\ntarget = "oracle://scott@db1/dwh"\noperation = "ctas"\nsource = "G"\ntable = "A.C"\n'
    file.write_text(f"{text}[factors]\ndegree = [2]\nconcurrency = [1, 2]\n", "utf-8")
    assert main(["export", str(file), "--out", str(tmp_path / "b"), "--assume", assume]) == 0
    run = json.loads((tmp_path / "b/MANIFEST.json").read_text("utf-8"))["run"]
    found: dict[str, str] = {}
    for script in sorted((tmp_path / "b").rglob("*.sql")):
        for statement in statements(script.read_text("utf-8")):
            # trials differ by numbers only: one of each kind is enough
            plain = re.sub(
                r"\|\d+\|\d+\||_\d+[A-Z]?\b|repeat \d|session \d", "|1|1|", statement.replace(run, "RUN")
            )
            if plain not in found.values():
                found[statement] = plain
    origins = {statement: f"bundle/{number}" for number, statement in enumerate(found)}
    assert len(origins) > 20
    assert judge(origins) == {}
