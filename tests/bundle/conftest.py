"""A workshop for bundles: exports against the stand-in, runs run.sh with the stub client, ingests."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from tests.oracle.standin import Scenario, Standin, running_standin
from tests.servers import forks
from tests.servers.programs import program
from toolkit.model.records import RunRecord
from toolkit.store import open_store

_EXPERIMENT = """[experiment]
target = "{url}"
operation = "{operation}"
{options}
[factors]
{factors}
"""


@dataclass
class Workshop:
    """A folder with a client, an experiment, a bundle and a store."""

    folder: Path
    standin: Standin
    name: str = "bundle"
    extra: dict[str, str] = field(default_factory=dict)

    @property
    def bundle(self) -> Path:
        return self.folder / self.name

    @property
    def spools(self) -> Path:
        return self.bundle / "spool"

    @property
    def client(self) -> Path:
        """The stub client as a program."""
        path = self.folder / "bin" / "sqlplus"
        return path if path.exists() else program(path, "tests.bundle.sqlplus")

    @property
    def loader(self) -> Path:
        """The stub of SQL*Loader as a program."""
        path = self.folder / "bin" / "sqlldr"
        return path if path.exists() else program(path, "tests.bundle.sqlldr")

    def data_pump(self, name: str) -> Path:
        """The stub of expdp or impdp as a program."""
        path = self.folder / "bin" / name
        return path if path.exists() else program(path, f"tests.oracle.standin.{name}")

    def client_of_its_own(self) -> None:
        """Make the client a process of the group that begins it."""
        path = self.folder / "bin" / "sqlplus"
        path.parent.mkdir()
        root = Path(__file__).resolve().parents[2]
        begin = f"#!{sys.executable}\nimport sys\nsys.path.insert(0, {str(root)!r})\n"
        path.write_text(f"{begin}from tests.bundle.sqlplus import main\nmain()\n")
        path.chmod(0o700)

    @property
    def where(self) -> str:
        return f"dbatk@//{self.standin.host}:{self.standin.port}/FREEPDB1"

    def write(self, operation: str = "ctas", options: str = "", factors: str = "degree = [1, 4]") -> Path:
        path = self.folder / "experiment.toml"
        text = options or 'source = "GTEST"\ntable = "GTEST_COPY"\nrepeat = 1\nwarmup = 0\nsnapshot = "none"'
        path.write_text(
            _EXPERIMENT.format(url=self.standin.url, operation=operation, options=text, factors=factors), "utf-8"
        )
        return path

    def dbatk(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        environment = {
            **os.environ,
            "DBATK_STORE": str(self.folder / "store.db"),
            "DBATK_CONFIG": str(self.folder / "config"),
            "DBATK_PASSWORD": self.standin.password,
        }
        return forks.run("toolkit", *arguments, env=environment)

    def export(self, *arguments: str, **written: str) -> None:
        done = self.dbatk("export", str(self.write(**written)), "--out", str(self.bundle), *arguments)
        assert done.returncode == 0, done.stderr

    def environment(self) -> dict[str, str]:
        kept = {name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ}
        programs = {name.upper(): str(self.data_pump(name)) for name in ("expdp", "impdp")}
        return {**kept, "SQLPLUS": str(self.client), "SQLLDR": str(self.loader), **programs, **self.extra}

    def begin(self, *arguments: str, where: str | None = None) -> subprocess.Popen[str]:
        """Begin run.sh with the password on a file descriptor."""
        command = 'exec sh "$0" -y -p 3 "$@" 3<&0 </dev/null'
        running = subprocess.Popen(
            ["sh", "-c", command, str(self.bundle / "run.sh"), *arguments, where or self.where],
            env=self.environment(), stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
            text=True, start_new_session=True,
        )  # fmt: skip
        assert running.stdin is not None
        running.stdin.write(f"{self.standin.password}\n")
        running.stdin.close()
        running.stdin = None
        return running

    def run(self, *arguments: str, where: str | None = None) -> tuple[int, str]:
        """Run run.sh to its end; return its status and what it said."""
        running = self.begin(*arguments, where=where)
        said, _ = running.communicate(timeout=300)
        return running.returncode, said

    def ingest(self) -> subprocess.CompletedProcess[str]:
        return self.dbatk("ingest", str(self.bundle))

    def record(self) -> RunRecord:
        with open_store(str(self.folder / "store.db")) as store:
            return store.load_run(store.resolve("last"))


Maker = Callable[..., Workshop]


@pytest.fixture
def workshop(tmp_path: Path) -> Iterator[Maker]:
    """Make workshops, each with a stand-in of its own that ends with the test."""
    from contextlib import ExitStack

    with ExitStack() as stack:

        def make(scenario: Scenario | None = None, name: str = "bundle") -> Workshop:
            return Workshop(tmp_path, stack.enter_context(running_standin(scenario)), name)

        yield make
