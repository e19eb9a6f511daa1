"""Run the commands that the cookbook shows, and put what they print into its pages.

    python docs/cookbook.py [PAGE...]

A ```console block is a session: lines `$ dbatk ...` and what followed them. Each page begins with the database of
`dbatk demo` in a folder of its own, and with its own settings and results. `$ echo $?` shows the last exit status.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

PAGES = Path(__file__).resolve().parent / "cookbook"
DEMO = "dbatk-demo/demo.duckdb"
_BLOCK = re.compile(r"^```console\n(.*?)^```", re.MULTILINE | re.DOTALL)
_FILE = re.compile(r"^```toml\n# ([\w-]+\.toml)\n(.*?)^```", re.MULTILINE | re.DOTALL)
_LONGEST = 600


def sessions(text: str) -> Iterator[list[str]]:
    """Yield the commands of each console block of a page."""
    for match in _BLOCK.finditer(text):
        yield commands(match[1])


def commands(block: str) -> list[str]:
    """Return the lines of a block that were typed, each with its continuations."""
    joined = block.replace("\\\n", "\\\0")
    return [line[2:].replace("\\\0", "\\\n") for line in joined.splitlines() if line.startswith("$ ")]


def files(text: str) -> dict[str, str]:
    """Return the files that a page shows: blocks of TOML that open with their name, `# nightly.toml`."""
    return {found[1]: found[2] for found in _FILE.finditer(text)}


class Terminal:
    """Runs typed lines in a folder, without a shell, and remembers the exit status and variables set."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.status = 0
        keep = {key: value for key, value in os.environ.items() if not key.startswith("DBATK_")}
        places = {"DBATK_CONFIG": str(folder / "config"), "DBATK_STORE": str(folder / "results/store.sqlite")}
        path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
        self.environment = keep | places | {"PATH": path, "COLUMNS": "100", "LC_ALL": "C.UTF-8"}

    def type(self, line: str) -> str:
        """Run one line and return what it printed, but for what `> FILE` takes; the exit status is kept."""
        words = shlex.split(line.replace("\\\n", " "))
        if len(words) > 2 and words[-2] == ">":
            *words, _, file = words
            (self.folder / file).write_text(self._run(words, subprocess.DEVNULL), encoding="utf-8")
            return ""
        if words == ["echo", "$?"]:
            return f"{self.status}\n"
        if words[0] == "export":
            name, _, value = words[1].partition("=")
            self.environment[name] = value
            return ""
        return self._run(words, subprocess.STDOUT)

    def _run(self, words: Sequence[str], errors: int) -> str:
        ran = subprocess.run(
            words, cwd=self.folder, env=self.environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=errors, text=True, timeout=_LONGEST, check=False,
        )  # fmt: skip
        # a program ended by a signal has 128 and its number, as a shell would say
        self.status = ran.returncode if ran.returncode >= 0 else 128 - ran.returncode
        return ran.stdout


def run_page(text: str, terminal: Terminal) -> str:
    """Return the page with the output of its commands made anew."""
    for name, inside in files(text).items():
        (terminal.folder / name).write_text(inside, encoding="utf-8")

    def anew(match: re.Match[str]) -> str:
        shown = []
        for line in commands(match[1]):
            output = terminal.type(line).replace(f"{terminal.folder}/", "").rstrip()
            shown.append(f"$ {line}\n" + (f"{output}\n" if output else ""))
        return f"```console\n{''.join(shown)}```"

    return _BLOCK.sub(anew, text)


def main(names: Sequence[str]) -> int:
    """Run the pages named, or all of them."""
    with tempfile.TemporaryDirectory(prefix="cookbook-") as folder:
        made = Path(folder)
        Terminal(made).type("dbatk demo --quiet")
        for path in sorted(PAGES.glob("*.md")):
            if names and path.stem not in names:
                continue
            place = made / path.stem
            (place / "dbatk-demo").mkdir(parents=True)
            shutil.copy(made / DEMO, place / DEMO)
            path.write_text(run_page(path.read_text(encoding="utf-8"), Terminal(place)), encoding="utf-8")
            sys.stdout.write(f"{path.name}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
