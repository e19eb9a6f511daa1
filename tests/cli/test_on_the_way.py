"""What is at stake on the way to a server is told: once a run, once a plan run, and by `doctor`."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.conftest import Dbatk, url
from tests.servers.postgresql import Server
from toolkit.config.profiles import load_profiles

__all__ = ["url"]
pytestmark = pytest.mark.postgresql
TOLD = (
    "nothing verifies that `db.example` is the server (sslmode is prefer): whoever answers in its place can read"
)
JOB = ("stats", "gather", "--table", "night.a")


@pytest.fixture
def far(postgresql_server: Server) -> str:
    """The test's server, as one that is reached over a network."""
    here = postgresql_server
    return f"postgresql://{here.user}@db.example:{here.port}/{here.database}?hostaddr=127.0.0.1"


def test_it_is_told_once(dbatk: Dbatk, far: str, postgresql_server: Server) -> None:
    Path("p.toml").write_text(
        f'[plan]\nname = "p"\ntarget = "{far}"\n'
        + "".join(f'[[step]]\nname = "{name}"\noperation = "stats-gather"\ntable = "night.a"\n' for name in "ab")
    )
    with postgresql_server.schema("night", "CREATE TABLE night.a AS SELECT generate_series(1, 9) AS i"):
        name = postgresql_server.database
        for words in ((*JOB, "-t", far), ("run", "p.toml")):
            answer = dbatk(*words, "--allow-production", name)
            assert answer.status == 0 and answer.err.count(TOLD) == 1, answer.err
            assert "sslrootcert" in answer.err
        assert "nothing verifies" not in dbatk(*JOB, "-t", far, "--not-production").err


@pytest.mark.full
def test_it_is_told_of_a_store_too(
    dbatk: Dbatk, far: str, postgresql_server: Server, monkeypatch: pytest.MonkeyPatch, url: str
) -> None:
    with postgresql_server.connect() as session:
        session.execute("DROP SCHEMA IF EXISTS dbatk CASCADE")
    monkeypatch.setenv("DBATK_STORE", far)
    step = '[[step]]\nname = "a"\noperation = "stats-gather"\ntable = "small"\n'
    Path("p.toml").write_text(f'[plan]\nname = "p"\ntarget = "{url}"\n{step}')
    for words in (("stats", "gather", "--table", "small", "-t", url), ("run", "p.toml")):
        answer = dbatk(*words)
        assert answer.status == 0 and answer.err.count(f"the results store: {TOLD}") == 1, answer.err


def test_doctor_warns_unless_the_profile_says_that_it_is_not_production(dbatk: Dbatk, far: str) -> None:
    assert " ".join(dbatk("doctor", "-t", far).out.split()).count("warning connection: nothing verifies") == 1
    assert dbatk("target", "add", "dev", far, "--not-production").status == 0
    assert " ".join(dbatk("doctor", "-t", "dev").out.split()).count("note connection: nothing verifies") == 1


def test_a_profile_takes_what_verifies_and_refuses_what_would_do_nothing(dbatk: Dbatk) -> None:
    options = ("--driver-option", "sslmode=verify-full", "--driver-option", "sslrootcert=system")
    assert dbatk("target", "add", "pg", "postgresql://u@h/db", *options).status == 0
    assert dict(load_profiles()["pg"].options) == {"sslmode": "verify-full", "sslrootcert": "system"}
    for other in ("oracle://u@h/x", "duckdb:///x.duckdb"):
        answer = dbatk("target", "add", "ora", other, *options)
        assert answer.status == 2 and "`sslmode` is not an option of" in answer.err
    assert (
        dbatk("target", "add", "ora", "oracle://u@h/x", "--driver-option", "ssl_server_dn_match=true").status == 0
    )
    place = next(Path("config").glob("targets.toml"))
    place.write_text(place.read_text().replace("ssl_server_dn_match", "require_auth"))
    assert "`require_auth` is not an option of Oracle" in dbatk("target", "list").err


@pytest.mark.parametrize(
    ("url", "options"),
    [
        ("postgresql://u@db.example/db", ["--driver-option", "sslmode=verify_full"]),
        ("postgresql://u@db.example/db?sslmode=verify_full", []),
        ("postgresql://u@db.example/db", ["--driver-option", "gssencmode=on"]),
    ],
)
def test_a_value_that_would_verify_nothing_is_refused(dbatk: Dbatk, url: str, options: list[str]) -> None:
    answer = dbatk("target", "add", "pg", url, *options)
    assert answer.status == 2 and "cannot be" in answer.err and "use one of disable," in answer.err
    assert load_profiles() == {}


def test_a_profile_whose_server_nothing_verifies_is_saved_with_a_warning(dbatk: Dbatk) -> None:
    assert TOLD in dbatk("target", "add", "pg", "postgresql://u@db.example/db", "--production").err
    verified = ("--driver-option", "sslmode=verify-full", "--driver-option", "sslrootcert=system")
    for words in (("--production", *verified), ("--not-production",)):
        answer = dbatk("target", "add", "pg", "postgresql://u@db.example/db", "--replace", *words)
        assert answer.status == 0 and "warning" not in answer.err
