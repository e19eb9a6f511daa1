"""Files that are read and written: never waited for, never followed elsewhere, never open to others."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.cli.conftest import Dbatk, dbatk, home, url
from tests.cli.test_help import COMMANDS
from tests.for_each import for_each
from tests.readers.rman_samples import whole_log
from tests.tiers import thinned
from toolkit.app.bundles.reading import read_folder
from toolkit.app.bundles.root import opened
from toolkit.app.files import write_file
from toolkit.config.secrets import SecretKind, SecretRef, resolver
from toolkit.documents import check_no_secret, parse_document
from toolkit.errors import ToolkitError
from toolkit.model.operations import operations
from toolkit.model.options import OptionKind
from toolkit.notify.lines import appending

__all__ = ["dbatk", "home", "url"]
_ESCAPED = r'"\u0061".'


@pytest.mark.parametrize("command", [("plan",), ("run",), ("backup", "read"), ("ingest",), ("plan", "approve")])
def test_a_named_pipe_is_refused_and_not_waited_for(dbatk: Dbatk, home: Path, command: tuple[str, ...]) -> None:
    os.mkfifo(home / "pipe.toml")
    answer = dbatk(*command, "pipe.toml")
    assert answer.status == 2, answer.err
    assert "pipe" in answer.err


def test_a_device_is_no_plan(dbatk: Dbatk, home: Path) -> None:
    assert home
    answer = dbatk("plan", "/dev/zero")
    assert answer.status == 2
    assert "not a file" in answer.err


def test_a_query_file_that_is_a_pipe_is_refused(dbatk: Dbatk, home: Path, url: str) -> None:
    os.mkfifo(home / "q.sql")
    (home / "e.toml").write_text(
        f'[experiment]\ntarget = "{url}"\noperation = "ctas"\nquery_file = "q.sql"\ntable = "x"\n'
    )
    answer = dbatk("run", "e.toml", "--dry-run")
    assert answer.status == 2
    assert "not a file" in answer.err


FILES: dict[tuple[str, str], tuple[str, ...]] = {
    ("ctas", "query"): ("ctas", "-t", "URL", "--table", "x", "--query", "PIPE", "--dry-run"),
    ("ctas", "where"): ("ctas", "-t", "URL", "--source", "small", "--table", "x", "--where", "@PIPE", "--dry-run"),
    ("ctas", "facts"): ("ctas", "-t", "URL", "--source", "small", "--table", "x", "--dry-run", "--facts", "PIPE"),
    ("ctas", "save_as"): ("ctas", "-t", "URL", "--source", "small", "--table", "x", "--save-as", "PIPE"),
    ("mix", "jobs"): ("mix", "PIPE", "--dry-run"),
    ("load", "files"): ("load", "-t", "URL", "PIPE", "--table", "small", "--dry-run"),
    ("table create", "files"): ("table", "create", "-t", "URL", "PIPE", "--table", "made", "--dry-run"),
    ("restore try", "check"): ("restore", "try", "-t", "URL", "--backup", "/b", "--check", "PIPE", "--dry-run"),
    ("run", "log_file"): ("run", "plan.toml", "--log-file", "PIPE"),
    ("doctor", "query"): ("doctor", "-t", "URL", "--operation", "ctas", "--query", "PIPE"),
    ("doctor", "facts_out"): ("doctor", "-t", "URL", "--facts-out", "PIPE"),
    ("workload", "transactions"): ("workload", "-t", "URL", "--transactions", "PIPE", "--dry-run"),
    ("export", "facts"): ("export", "plan.toml", "--out", "bundle", "--facts", "PIPE"),
    ("awr show", "files"): ("awr", "show", "PIPE"),
    ("awr trend", "files"): ("awr", "trend", "PIPE"),
    ("import", "files"): ("import", "PIPE"),
    ("backup read", "out"): ("backup", "read", "rman.log", "--out", "PIPE"),
    ("compare", "out"): ("compare", "last", "last~1", "--out", "PIPE"),
    ("noise", "measure"): ("noise", "-t", "URL", "--measure", "PIPE"),
    ("report", "out"): ("report", "last", "--out", "PIPE"),
    ("runs export", "out"): ("runs", "export", "last", "--out", "PIPE"),
    ("advise", "next"): ("advise", "last", "--next", "PIPE"),
    ("audit verify", "earlier"): ("audit", "verify", "--earlier", "PIPE"),
}
"""A command for each option that takes a file: itself where it is opened in one place for all commands."""
_ONLY_NAMED = frozenset({"password_file", "env_file", "load_credential", "approved"})
"""Written into a profile or unit and opened when it is used; or its approval is read, which lies beside it."""
_ELSEWHERE = frozenset({("awr fetch", "out"), ("awr trend", "out"), ("plan report", "out")})
"""Written as by `report`, of what takes more to be there."""


def test_each_option_that_takes_a_file_is_tried_with_a_pipe() -> None:
    taking = {
        (" ".join(path), one.name)
        for path, command in COMMANDS
        for one in command.params  # type: ignore[attr-defined]
        if "FILE" in str(one.metavar) and one.name not in _ONLY_NAMED
    }
    of_plans = {"file", "plan", "log"}
    assert {one for _, one in taking} - of_plans == {option for _, option in FILES} - {"where"}
    assert {one for one in taking if one[1] in ("out", "files")} <= {*FILES, *_ELSEWHERE}


@pytest.mark.thin(3)
@pytest.mark.parametrize("option", thinned([pytest.param(option, id=" ".join(option)) for option in FILES], 4))
def test_a_pipe_is_never_waited_for(dbatk: Dbatk, home: Path, url: str, option: tuple[str, str]) -> None:
    os.mkfifo(home / "pipe")
    (home / "plan.toml").write_text(
        f'[experiment]\ntarget = "{url}"\noperation = "ctas"\nsource = "small"\ntable = "x"\n'
    )
    (home / "rman.log").write_text("\n".join(whole_log()))
    assert dbatk("run", "plan.toml", "--label", "it").status == 0
    if option[0] == "compare":
        assert dbatk("ctas", "-t", url, "--source", "small", "--table", "another").status == 0
    words = (word.replace("URL", url).replace("PIPE", "pipe") for word in FILES[option])
    answer = dbatk(*words)
    assert answer.status in (1, 2), answer.err
    assert "pipe" in answer.err
    assert "Traceback" not in answer.err


PATHS: dict[str, tuple[str, ...]] = {
    "stdin": ("command", "--stdin", "PIPE", "--", "cat"),
    "cwd": ("command", "--cwd", "PIPE", "--", "true"),
    "rejects": ("load", "-t", "URL", "bad.csv", "--table", "small", "--max-rejects", "5", "--rejects", "PIPE"),
    "server_log": (
        "ctas",
        "-t",
        "URL",
        "--source",
        "small",
        "--table",
        "x",
        "--server-log",
        "PIPE",
        "--log-phase",
        "a=b..c",
    ),
    "backup": ("restore", "try", "-t", "URL", "--backup", "PIPE", "--destination", "."),
    "destination": ("backup", "run", "-t", "URL", "--destination", "PIPE"),
}
"""A command for each option of an operation that takes a file or folder by its path."""


def test_each_option_that_takes_a_path_is_tried_with_a_pipe() -> None:
    kinds = {OptionKind.PATH, OptionKind.PATHS}
    assert {each.key for one in operations().values() for each in one.options if each.kind in kinds} == set(PATHS)


@pytest.mark.parametrize("option", list(PATHS))
def test_a_pipe_in_the_place_of_a_path_is_never_waited_for(
    dbatk: Dbatk, home: Path, url: str, option: str
) -> None:
    os.mkfifo(home / "pipe")
    (home / "bad.csv").write_text("i,k\n1,1\nx,2\n")
    answer = dbatk(*(word.replace("URL", url).replace("PIPE", "pipe") for word in PATHS[option]))
    assert answer.status in (2, 3), answer.err
    assert f"{home}/pipe" in answer.out + answer.err and "Traceback" not in answer.err


def test_a_log_file_that_became_a_pipe_is_not_waited_for(tmp_path: Path) -> None:
    write = appending(tmp_path / "log")
    (tmp_path / "log").unlink()
    os.mkfifo(tmp_path / "log")
    with pytest.raises(OSError, match=r"No such device|pipe"):
        write("line\n")


def test_what_a_shell_opened_is_written_to(tmp_path: Path) -> None:
    reading, writing = os.pipe()
    write_file(Path(f"/dev/fd/{writing}"), "text")
    os.close(writing)
    with os.fdopen(reading) as pipe:
        assert pipe.read() == "text"


@pytest.mark.parametrize("mode", [0o600, 0o644])
def test_a_password_file_that_is_a_pipe_is_refused(tmp_path: Path, mode: int) -> None:
    os.mkfifo(tmp_path / "secret", mode)
    with pytest.raises(ToolkitError, match="not a file"):
        resolver(SecretRef(SecretKind.FILE, str(tmp_path / "secret")), "me")()


@for_each(
    "text",
    [
        "a." * 100_000 + "b = 1",
        f"[{'a.' * 100_000}b]",
        "x = {" + '"a" . ' * 60_000 + "b = 1}",
        r'"a\""' + r'."a\""' * 40_000 + " = 1",
        f"[{_ESCAPED * 30_000}b]",
        "x = {" + _ESCAPED * 30_000 + "b = 1}",
        r""" "\"".'a'.""".strip() * 20_000 + "b = 1",
    ],
    ids=["bare", "header", "inline", "escaped", "header-escaped", "inline-escaped", "mixed"],
)
def test_a_name_of_endless_parts_is_refused_before_it_is_parsed(text: str) -> None:
    with pytest.raises(ToolkitError, match=r"e.toml:2: a name of more than 50 parts"):
        parse_document(f"# deep\n{text}\n", "e.toml")


@pytest.mark.thin(2)
@pytest.mark.parametrize("text", ["://" + ":" * 200_000, "://:" * 50_000, r"\" " * 60_000, "password " * 20_000])
def test_no_text_takes_long_to_be_searched_for_secrets(text: str) -> None:
    """Some took hours."""
    check_no_secret(parse_document(f'x = "{text}"', "e.toml"))


def test_a_header_of_spaces_is_searched_once() -> None:
    document = parse_document(f'["{" " * 200_000}"]\nb = 1', "e.toml")
    assert document.place("x", "y") == "e.toml"


def test_a_text_of_one_endless_word_is_searched_once() -> None:
    """From each letter of it to its end, it would take hours."""
    assert parse_document(f'x = "{"a" * 3_000_000}"', "e.toml").data


def test_a_new_file_is_its_owners_only_and_one_that_is_replaced_keeps_its_permissions(tmp_path: Path) -> None:
    before = os.umask(0)
    try:
        write_file(tmp_path / "new.html", "text")
        (tmp_path / "served.html").write_text("old")
        (tmp_path / "served.html").chmod(0o644)
        write_file(tmp_path / "served.html", "text")
    finally:
        os.umask(before)
    modes = {path.name: path.stat().st_mode & 0o777 for path in tmp_path.iterdir()}
    assert modes == {"new.html": 0o600, "served.html": 0o644}


@pytest.mark.parametrize("name", ["spool/t0001-a1.lst", "spool", "sql/more.sql"])
def test_a_bundle_whose_files_are_elsewhere_is_refused(tmp_path: Path, name: str) -> None:
    (tmp_path / "elsewhere").mkdir()
    bundle = tmp_path / "bundle"
    (bundle / name).parent.mkdir(parents=True, exist_ok=True)
    (bundle / "MANIFEST.json").write_text("{}")
    (bundle / name).symlink_to(tmp_path / "elsewhere")
    with opened(bundle) as root, pytest.raises(ToolkitError, match="symbolic link"):
        read_folder(root)


def test_a_bundle_that_is_a_link_itself_is_refused(tmp_path: Path) -> None:
    (tmp_path / "bundle").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "bundle")
    with pytest.raises(ToolkitError, match="give the folder itself"), opened(tmp_path / "link"):
        pass


@pytest.mark.parametrize("swapped", ["bundle", "bundle/spool", "bundle/spool/t0001-a1.lst"])
def test_what_takes_the_place_of_a_part_of_a_bundle_after_it_was_looked_at_is_not_read(
    tmp_path: Path, swapped: str
) -> None:
    spool = tmp_path / "bundle/spool"
    spool.mkdir(parents=True)
    (spool / "t0001-a1.lst").write_text("its own")
    (tmp_path / "secret/spool").mkdir(parents=True)
    for name in ("secret/t0001-a1.lst", "secret/spool/t0001-a1.lst"):
        (tmp_path / name).write_text("a secret")
    with opened(tmp_path / "bundle") as root:
        (tmp_path / swapped).rename(tmp_path / "away")
        target = "secret/t0001-a1.lst" if swapped.endswith("lst") else "secret"
        (tmp_path / swapped).symlink_to(tmp_path / target)
        try:
            text = root.text_of(spool / "t0001-a1.lst")
        except ToolkitError as error:
            text = error.message
    assert "secret" not in text and ("its own" in text) is (swapped == "bundle")
