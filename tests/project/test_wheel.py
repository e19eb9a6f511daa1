"""What is built works from any folder: the wheel carries the scripts and the templates."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import sysconfig
import tarfile
import zipfile
from pathlib import Path

import pytest

from tests.project.tree import ROOT
from toolkit import __version__

pytestmark = pytest.mark.full


def _run(*argv: str | Path, cwd: Path) -> subprocess.CompletedProcess[str]:
    # nothing of the checkout may leak in
    environment = {key: value for key, value in os.environ.items() if not key.startswith("PYTHON")}
    return subprocess.run(argv, cwd=cwd, env=environment, capture_output=True, text=True, check=False)


@pytest.fixture(scope="module")
def dist(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Wheel and sdist, built without isolation and so without a network."""
    folder = tmp_path_factory.mktemp("dist")
    built = _run(sys.executable, "-m", "hatchling", "build", "-d", folder, cwd=ROOT)
    assert built.returncode == 0, built.stdout + built.stderr
    return folder


@pytest.fixture(scope="module")
def installed(dist: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The `dbatk` command of a clean environment that holds the wheel and, behind it, the dependencies."""
    place = tmp_path_factory.mktemp("clean")
    made = _run(sys.executable, "-m", "venv", "--without-pip", place / "venv", cwd=place)
    assert made.returncode == 0, made.stderr
    python = place / "venv/bin/python"
    wheel = next(dist.glob("*.whl"))
    uv = shutil.which("uv") or shutil.which("uv", path=str(Path(sys.executable).parent))
    if uv:
        done = _run(uv, "pip", "install", "-q", "--no-deps", "--offline", "--python", python, wheel, cwd=place)
    else:
        pip = (sys.executable, "-m", "pip", "--python", python, "install", "-q", "--no-deps", "--no-index")
        done = _run(*pip, wheel, cwd=place)
    assert done.returncode == 0, done.stderr
    site = next((place / "venv/lib").glob("python*/site-packages"))
    (site / "dependencies.pth").write_text(sysconfig.get_path("purelib") + "\n")
    return place / "venv/bin/dbatk"


def test_the_wheel_carries_every_script_and_template(dist: Path) -> None:
    with zipfile.ZipFile(next(dist.glob("*.whl"))) as wheel:
        inside = {name for name in wheel.namelist() if not name.endswith("/")}
    beside = {
        path.relative_to(ROOT).as_posix()
        for folder in ("sql", "templates")
        for path in (ROOT / folder).rglob("*")
        if path.is_file()
    }
    assert {f"toolkit/_data/{name}" for name in beside} == {name for name in inside if "/_data/" in name}
    assert "toolkit/py.typed" in inside
    assert not any(name.startswith(("tests/", "docs/")) for name in inside)


def test_the_sdist_carries_what_a_build_and_the_tests_need(dist: Path) -> None:
    with tarfile.open(next(dist.glob("*.tar.gz"))) as sdist:
        inside = {name.partition("/")[2] for name in sdist.getnames()}
    assert {"pyproject.toml", "Makefile", "README.md", "CHANGELOG.md", "requirements/install", "toolkit/py.typed",
            "sql/duckdb/server.sql", "templates/duckdb/ctas.sql.j2", "tests/conftest.py", "docs/generate.py",
            "examples/gtest-ctas.toml"} <= inside  # fmt: skip


def test_the_command_of_the_wheel_says_its_version(installed: Path, tmp_path: Path) -> None:
    said = _run(installed, "--version", cwd=tmp_path)
    assert (said.returncode, said.stderr) == (0, "")
    assert __version__ in said.stdout


def test_the_command_of_the_wheel_helps(installed: Path, tmp_path: Path) -> None:
    helped = _run(installed, "--help", cwd=tmp_path)
    assert helped.returncode == 0
    assert "ctas" in helped.stdout


def test_the_command_of_the_wheel_prints_a_script_from_its_own_templates(installed: Path, tmp_path: Path) -> None:
    printed = _run(
        installed, "ctas", "-t", "duckdb:///x.duckdb", "--source", "sales", "--table", "sales_copy",
        "--degree", "2", "--dry-run", "--assume", "2.0", cwd=tmp_path,
    )  # fmt: skip
    assert printed.returncode == 0, printed.stderr
    assert "CREATE TABLE" in printed.stdout
    assert list(tmp_path.iterdir()) == []


def test_the_package_of_the_wheel_is_not_the_checkout(installed: Path, tmp_path: Path) -> None:
    script = "import toolkit, toolkit.resources as r; print(toolkit.__file__, r.sql_root())"
    where = _run(installed.parent / "python", "-c", script, cwd=tmp_path).stdout
    assert where
    assert str(ROOT) not in where
