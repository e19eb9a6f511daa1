"""A canary password, given in every allowed way and in every wrong one, shows up nowhere."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from tests.cli.conftest import Dbatk
from tests.servers.postgresql import Server
from toolkit.app.targets import access_of, find_target
from toolkit.config.profiles import find_profile
from toolkit.errors import ToolkitError
from toolkit.model.words import Role
from toolkit.targets.base import Access, SessionTag

CANARY = "s3cr3tXcanary"
URL = "oracle://scott@127.0.0.1:1/x"
PRINT = f"{sys.executable} -c \"print('{CANARY}'[:0] + open('pw').read())\""


@pytest.fixture
def seen(monkeypatch: pytest.MonkeyPatch) -> list[Access]:
    """Keep every access that a target is opened with."""
    import toolkit.app.targets as module

    kept: list[Access] = []
    original = module.open_target

    def watching(access: Access) -> object:
        kept.append(access)
        return original(access)

    monkeypatch.setattr(module, "open_target", watching)
    return kept


def everything_written(home: Path) -> str:
    files = [path for path in home.rglob("*") if path.is_file() and path.name != "pw"]
    return "".join(path.read_bytes().decode("latin-1") for path in files)


def check_nowhere(answers: list[object], home: Path) -> None:
    assert CANARY not in repr(answers)
    assert CANARY not in everything_written(home)


@pytest.mark.parametrize(
    "reference",
    [("--password-env", "MY_PASSWORD"), ("--password-command", "cat pw"), ("--password-keyring", "dbatk")],
)
def test_a_password_by_reference_reaches_the_driver_and_nothing_else(
    reference: tuple[str, str], dbatk: Dbatk, home: Path, seen: list[Access], monkeypatch: pytest.MonkeyPatch
) -> None:
    import keyring

    (home / "pw").write_text(CANARY + "\n")
    monkeypatch.setenv("MY_PASSWORD", CANARY)
    monkeypatch.setattr(keyring, "get_password", lambda service, user: CANARY)
    answers = [
        dbatk("target", "add", "x", URL, *reference),
        dbatk("target", "list"),
        dbatk("target", "list", "--json"),
        dbatk("target", "test", "x", "--debug"),
        dbatk("doctor", "-t", "x", "--json", "--debug"),
        dbatk("ctas", "-t", "x", "--source", "a", "--table", "b", "--debug"),
    ]
    assert [answer.status for answer in answers] == [0, 0, 0, 1, 1, 1]
    # `target add` also makes one, to say what verifies the server
    assert [access.password() for access in seen] == [CANARY] * 4
    assert CANARY not in repr(seen)
    check_nowhere([*answers, find_profile("x"), access_of(find_profile("x"))], home)


def test_a_url_takes_its_password_from_the_environment(
    dbatk: Dbatk, home: Path, seen: list[Access], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DBATK_PASSWORD", CANARY)
    answers = [dbatk("doctor", "-t", URL, "--debug"), dbatk("doctor", "-t", URL, "--json")]
    assert seen[0].password() == CANARY
    check_nowhere([*answers, seen], home)


@pytest.mark.parametrize(
    "line",
    [
        ["doctor", "-t", f"oracle://scott:{CANARY}@h:1521/x"],
        ["doctor", "-t", f"oracle://scott/{CANARY}@h:1521/x"],
        ["doctor", "-t", f"scott/{CANARY}@h"],
        ["ctas", "-t", f"postgresql://u:{CANARY}@h/d", "--source", "a", "--table", "b"],
        ["ctas", "-t", f"postgresql://u:{CANARY}@h/d", "--source", "a", "--table", "b", "--save-as", "e.toml"],
        [
            "ctas",
            "-t",
            f"postgresql://h/d?password={CANARY}",
            "--source",
            "a",
            "--table",
            "b",
            "--save-as",
            "e.toml",
        ],
        ["target", "add", "x", f"postgresql://u:{CANARY}@h/d"],
        ["target", "test", f"postgresql://u:{CANARY}@h/d"],
    ],
)
def test_a_password_in_clear_is_refused_shown_nowhere_and_kept_nowhere(
    line: list[str], dbatk: Dbatk, home: Path
) -> None:
    answers = [dbatk(*line), dbatk(*line, "--json"), dbatk(*line, "--debug")]
    assert {answer.status for answer in answers} == {2}
    assert json.loads(answers[1].out)["error"]["code"] in {"TK-0108", "TK-0111"}
    for answer in answers:
        assert CANARY not in answer.out + answer.err
    assert CANARY not in everything_written(home)


@pytest.mark.parametrize(
    "text",
    [
        f'[experiment]\ntarget = "oracle://s:{CANARY}@h/x"\noperation = "ctas"\nsource = "a"\ntable = "b"\n',
        f'[experiment]\npassword = "{CANARY}"\ntarget = "x"\noperation = "ctas"\nsource = "a"\ntable = "b"\n',
    ],
)
def test_a_password_in_a_file_is_refused_and_not_shown(text: str, dbatk: Dbatk, home: Path) -> None:
    (home / "pw").write_text(text)
    answer = dbatk("run", "pw")
    assert (answer.status, "[TK-0108]" in answer.err) == (2, True)
    check_nowhere([answer], home)


def test_a_prompt_asks_once_for_all_sessions(seen: list[Access]) -> None:
    asked: list[str] = []

    def prompt(what: str) -> str:
        asked.append(what)
        return CANARY

    find_target(URL, prompt=prompt)
    (access,) = seen
    assert [access.password(), access.password()] == [CANARY, CANARY]
    assert asked == ["password of `scott` at `oracle://scott@127.0.0.1:1/x`"]


@pytest.mark.parametrize(
    "url", ["duckdb:///x", "postgresql:///d", "postgresql://u@h/d", "postgresql://u@%2Frun/d", "oracle://h:1/x"]
)
def test_nobody_is_asked_before_it_is_known_that_a_password_is_needed(url: str, seen: list[Access]) -> None:
    def prompt(what: str) -> str:
        raise AssertionError(what)

    find_target(url, prompt=prompt)
    (access,) = seen
    assert access.password() is None


@pytest.mark.postgresql
def test_a_person_is_asked_where_the_server_wants_a_password_and_nowhere_else(postgresql_server: Server) -> None:
    server, asked = postgresql_server, list[str]()

    def prompt(what: str) -> str:
        asked.append(what)
        return str(server.password)

    for user, questions in ((server.user, 0), (server.password_user, 1)):
        url = f"postgresql://{user}@{server.host}:{server.port}/{server.database}"
        target = find_target(url, prompt=prompt).target
        for _ in range(2):
            target.connect(Role.CONTROL, SessionTag("asked")).close()
        assert len(asked) == questions
    assert asked[0].startswith(f"password of `{server.password_user}` at `postgresql://")
    nobody = find_target(url).target
    with pytest.raises(ToolkitError, match="no password supplied"):
        nobody.connect(Role.CONTROL, SessionTag("asked"))
