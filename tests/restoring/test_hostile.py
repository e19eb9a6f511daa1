"""Backups whose functions would run programs on this host: anybody in the source may have made them.

Each is tried with the rights of a superuser, too, where all of it succeeds: so the tests would see it.
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import psycopg
import pytest

from tests.restoring.conftest import Place, reason, target_of, trial
from tests.servers.postgresql import Server, as_user, begun_from, installed, unprivileged
from tests.tiers import thinned
from toolkit.executors import programs

pytestmark = pytest.mark.postgresql

SQL = Path(__file__).with_name("hostile.sql").read_text()


@dataclass(frozen=True)
class Hostile:
    """A place with a dump and a base backup of a hostile database."""

    place: Place
    dump: Path
    base: Path

    @property
    def reached(self) -> set[str]:
        """What was done as the user of the scratch server; it may be done again."""
        found = {each.name for each in (self.place.folder / "reached").iterdir()}
        for name in found:
            (self.place.folder / "reached" / name).unlink()
        return found


@pytest.fixture(scope="module", params=thinned(list(installed()), 2))
def server(request: pytest.FixtureRequest) -> Iterator[Server]:
    with begun_from(installed()[request.param]) as found:
        yield found


@pytest.fixture
def hostile(place_of: Callable[..., Place], server: Server) -> Iterator[Hostile]:
    with server.connect() as session:
        session.execute("CREATE DATABASE hostile")
    made = Server(server.host, server.port, "hostile", server.user, bin_dir=server.bin_dir)
    place = place_of(*target_of(made))
    folder = place.folder / "reached"
    folder.mkdir()
    folder.chmod(0o777)
    try:
        with made.connect() as session:
            session.execute(SQL.replace("FOLDER", str(folder)).replace("PORT", str(server.port)))  # type: ignore[arg-type]
        where = ("--destination", str(place.folder), "--tag", "dump")
        status, document = place.run("backup", "run", "--method", "pg_dump", *where)
        assert status == 0, reason(document)
        yield Hostile(place, place.folder / "dump", base_backup(made, place.folder))
    finally:
        with server.connect() as session:
            session.execute("DROP DATABASE hostile")


def base_backup(server: Server, folder: Path) -> Path:
    made, user = folder / "base", unprivileged()
    made.mkdir(mode=0o700)
    if user is not None:
        os.chown(made, user.pw_uid, user.pw_gid)
    subprocess.run(
        [f"{server.bin_dir}/pg_basebackup", "--pgdata", str(made), "--checkpoint=fast", "-h", server.host, "-p",
         str(server.port), "-U", server.user],
        check=True, capture_output=True, cwd="/", **as_user(user),
    )  # fmt: skip
    return made


READING = {
    "by-copy", "by-copy-to-file", "by-set-role", "by-reset-role", "by-authorization", "by-reset-authorization",
    "by-dblink", "by-dblink-u", "by-read-file", "by-definer",
}  # fmt: skip
WRITING = {"by-lo-export", "by-alter-role", "by-grant", "by-foreign-table"}
"""Sessions that ask are read-only, also those of a superuser; large objects are so only from 16 on."""


@pytest.fixture
def check(tmp_path: Path) -> tuple[str, str]:
    file = tmp_path / "check.sql"
    file.write_text("SELECT 'seen', public.mischief(i) > 0 FROM plain")
    return ("--check", str(file))


def restored(hostile: Hostile, form: str, *arguments: str) -> dict[str, object]:
    method = ("--method", "pg_dump") if form == "dump" else ()
    backup = hostile.dump if form == "dump" else hostile.base
    status, document = hostile.place.restore(backup, *method, *arguments)
    assert status == 0, reason(document)
    assert hostile.place.left() == []
    return document


@pytest.mark.parametrize("form", ["dump", "base"])
def test_what_a_backup_holds_reaches_nothing_on_this_host(
    hostile: Hostile, check: tuple[str, str], form: str
) -> None:
    document = restored(hostile, form, "--tables", "seen", "--channels", "2", *check)
    assert hostile.reached == set()
    labels = [item["label"] for item in trial(document)["items"]]  # type: ignore[attr-defined]
    assert {"table seen: the same as on the target", "check seen: true"} <= set(labels)


@pytest.mark.parametrize("form", thinned(["dump", "base"], 2))
def test_as_superuser_it_reaches_everything(hostile: Hostile, check: tuple[str, str], form: str) -> None:
    restored(hostile, form, "--tables", "seen", *check, "--as-superuser")
    assert hostile.reached >= (READING | WRITING if form == "dump" else READING)


@pytest.mark.thin(2)
@pytest.mark.parametrize("form", ["dump", "base"])
def test_while_functions_of_a_backup_run_only_its_role_can_connect(
    hostile: Hostile, check: tuple[str, str], form: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    tried: dict[str, str] = {}
    users: set[str | None] = set()
    run = programs.Programs.run

    def watched(self, step, access, judge):  # type: ignore[no-untyped-def]
        if step.name.rpartition("/")[2] in ("restore_login", "restore_asker"):
            users.add(step.as_user)
        if step.name.rpartition("/")[2] in ("pg_restore", "restored_tables", "restore_check"):
            (socket,) = hostile.place.scratch.glob("*/socket/.s.PGSQL.*[0-9]")
            for name in ("dbatk", "with_password", socket.parent.parent.name):
                try:
                    psycopg.connect(
                        host=str(socket.parent), port=socket.suffix[1:], user=name, dbname="hostile"
                    ).close()
                    tried[name] = "connected"
                except psycopg.OperationalError as error:
                    tried[name] = str(error).rpartition("FATAL:")[2].strip()
        return run(self, step, access, judge)

    monkeypatch.setattr(programs.Programs, "run", watched)
    restored(hostile, form, *check)
    others = {'role "dbatk" is not permitted to log in', 'role "with_password" is not permitted to log in'}
    if form == "dump":
        others = {'role "dbatk" is not permitted to log in', 'role "with_password" does not exist'}
    assert set(tried.values()) == {"connected", *others}
    user = unprivileged()
    assert users == {None if user is None else user.pw_name}
