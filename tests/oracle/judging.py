"""Statements before two independent grammars of Oracle; one that either accepts stands."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Mapping
from functools import cache
from importlib.machinery import SourceFileLoader
from importlib.util import module_from_spec, spec_from_loader
from multiprocessing import util
from pathlib import Path
from types import ModuleType

from tests.servers.fixtures import missing

_JVM = ("-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-Xmx1g")
_FIRST = "plsql"
"""It accepts nine of ten statements of ours, at a third of the other one's time."""
_stands: set[str] = set()


def judge(found: Mapping[str, str]) -> dict[str, str]:
    """Return the origins of the statements that neither grammar accepts, each with what they say of it.

    Args:
        found: the origin of each statement

    Skips the test, or fails it where `DBATK_REQUIRE` names `judge`, if there is no judge or no Java.
    """
    rejected = {}
    for text, origin in found.items():
        said = "" if text in _stands else " | ".join(_said(text))
        if said:
            rejected[origin] = said
        else:
            _stands.add(text)
    return rejected


def _said(text: str) -> list[str]:
    """Return an error of each grammar; nothing if one of them accepts the text."""
    said = []
    for grammar in grammars():
        error = grammar.error(text)
        if not error:
            return []
        said.append(f"{grammar.name}: {error}")
    return said


class _Grammar:
    """A parser in a process that stays: in its first hundred statements it takes ten times as long as later."""

    def __init__(self, name: str, program: ModuleType) -> None:
        self.name = name
        try:
            classes = program.jars(name)
            line = ["java", *_JVM, "-cp", classes, "Judge", *program.GRAMMARS[name][1]]
            # it ends when its input does, however this process ends
            self._process = subprocess.Popen(line, stdin=subprocess.PIPE, stdout=subprocess.PIPE, encoding="utf-8")
        except (OSError, SystemExit) as error:
            missing("judge", f"the judge cannot run here: {error}")
        util.Finalize(None, self._end, exitpriority=1)  # before it is looked for what is left of the tests

    def _end(self) -> None:
        self._process.kill()
        self._process.wait()

    def error(self, text: str) -> str:
        """Return what it says against a statement, nothing if it accepts it."""
        asked, answers = self._process.stdin, self._process.stdout
        assert asked is not None and answers is not None
        asked.write(json.dumps({"id": "0", "sql": text}) + "\n")
        asked.flush()
        answer = answers.readline()
        assert answer, f"the grammar `{self.name}` has ended"
        found = json.loads(answer)
        return "" if found["ok"] else str(found["error"])


@cache
def grammars() -> tuple[_Grammar, ...]:
    """Begin both grammars, once in a process."""
    folder = os.environ.get("DBATK_REALDATA")
    file = Path(folder).parent / "judge" / "judge" if folder else None
    if file is None or not file.exists():
        missing("judge", "no judge of Oracle's grammar beside DBATK_REALDATA")
    spec = spec_from_loader("judge", SourceFileLoader("judge", str(file)))
    assert spec is not None and spec.loader is not None
    program = module_from_spec(spec)
    spec.loader.exec_module(program)
    names = sorted(program.GRAMMARS, key=lambda name: name != _FIRST)
    return tuple(_Grammar(name, program) for name in names)
