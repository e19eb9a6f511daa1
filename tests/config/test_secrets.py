"""References to secrets: fetched when needed, and no message shows what came."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from tests.for_each import for_each
from toolkit.config import secrets
from toolkit.config.secrets import SecretKind, SecretRef, read_reference, resolver
from toolkit.errors import ToolkitError

CANARY = "s3cr3tXcanary"


def command(*arguments: str) -> SecretRef:
    return SecretRef(SecretKind.COMMAND, (sys.executable, "-c", *arguments))


def test_a_variable_is_read_each_time_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    fetch = resolver(SecretRef(SecretKind.ENV, "DWH_PASSWORD"), "u")
    monkeypatch.setenv("DWH_PASSWORD", CANARY)
    assert fetch() == CANARY
    monkeypatch.setenv("DWH_PASSWORD", "other")
    assert fetch() == "other"
    monkeypatch.delenv("DWH_PASSWORD")
    with pytest.raises(ToolkitError, match="`DWH_PASSWORD` for the password is not set"):
        fetch()


def test_a_command_gives_the_first_line() -> None:
    assert resolver(command(f"print('{CANARY} x'); print('more')"), None)() == f"{CANARY} x"


@pytest.mark.parametrize(
    ("program", "said"),
    [
        (f"import sys; print('{CANARY}'); print('{CANARY}', file=sys.stderr); sys.exit(3)", "status 3"),
        ("pass", "wrote nothing"),
        ("import sys; sys.stdout.buffer.write(bytes([255, 254]))", "not UTF-8"),
    ],
)
def test_a_failing_command_shows_nothing_of_what_it_wrote(program: str, said: str) -> None:
    with pytest.raises(ToolkitError, match=said) as caught:
        resolver(command(program), None)()
    assert CANARY not in caught.value.message + caught.value.hint


def test_a_command_that_hangs_is_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(secrets, "COMMAND_LIMIT_SECONDS", 0.2)
    with pytest.raises(ToolkitError, match="took longer"):
        resolver(command("import time; time.sleep(30)"), None)()


def test_a_command_is_no_shell_line(tmp_path: Path) -> None:
    with pytest.raises(ToolkitError, match="cannot be run"):
        resolver(SecretRef(SecretKind.COMMAND, (f"touch {tmp_path / 'made'}",)), None)()
    assert not (tmp_path / "made").exists()


def test_a_missing_keyring_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "keyring", None)
    with pytest.raises(ToolkitError) as caught:
        resolver(SecretRef(SecretKind.KEYRING, "dbatk"), "u")()
    assert (caught.value.code, caught.value.hint) == ("TK-0206", "install `dbatk[keyring]`")


def test_a_keyring_is_asked_for_the_user(monkeypatch: pytest.MonkeyPatch) -> None:
    import keyring

    monkeypatch.setattr(
        keyring, "get_password", lambda service, user: CANARY if (service, user) == ("d", "u") else None
    )
    assert resolver(SecretRef(SecretKind.KEYRING, "d"), "u")() == CANARY
    with pytest.raises(ToolkitError, match="no password for `v`"):
        resolver(SecretRef(SecretKind.KEYRING, "d"), "v")()


def test_a_wallet_is_read_by_the_driver() -> None:
    assert resolver(SecretRef(SecretKind.WALLET, "/w"), "u")() is None


@for_each(
    "value", [{}, {"env": "A", "keyring": "b"}, {"env": 3}, {"env": ""}, {"command": "pass show x"},
              {"command": []}, {"command": ["a", ""]}, {"command": ["a\x00"]}, {"environment": "A"}, 3, ["x"]]
)  # fmt: skip
def test_other_shapes_are_refused(value: object) -> None:
    with pytest.raises(ToolkitError) as caught:
        read_reference(value)
    assert caught.value.code == "TK-0106"


def test_a_text_is_a_secret_and_not_shown() -> None:
    with pytest.raises(ToolkitError) as caught:
        read_reference(CANARY)
    assert caught.value.code == "TK-0108"
    assert CANARY not in caught.value.message + caught.value.hint


def test_a_command_shows_only_its_program() -> None:
    assert command(CANARY).display == f"command: {sys.executable} ..."


def test_a_file_is_read_when_nobody_else_may_read_it(tmp_path: Path) -> None:
    file = tmp_path / "password"
    file.write_text(f"{CANARY}\nnot this\n")
    fetch = resolver(SecretRef(SecretKind.FILE, str(file)), "u")
    for mode in (0o644, 0o640, 0o660):
        file.chmod(mode)
        with pytest.raises(ToolkitError) as caught:
            fetch()
        assert caught.value.code == "TK-0201" and CANARY not in caught.value.message
        assert caught.value.hint == f"chmod 600 {file}"
    file.chmod(0o600)
    assert fetch() == CANARY


@pytest.mark.parametrize("inside", [b"", b"\nsecond", b"\xff\xfe"])
def test_a_file_without_a_secret_is_a_sentence(inside: bytes, tmp_path: Path) -> None:
    file = tmp_path / "password"
    file.write_bytes(inside)
    file.chmod(0o600)
    for path in (file, tmp_path / "missing", tmp_path):
        with pytest.raises(ToolkitError) as caught:
            resolver(SecretRef(SecretKind.FILE, str(path)), "u")()
        assert caught.value.code == "TK-0201"


def test_what_systemd_hands_over_is_found_by_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fetch = resolver(SecretRef(SecretKind.CREDENTIAL, "dwh"), "u")
    monkeypatch.delenv("CREDENTIALS_DIRECTORY", raising=False)
    with pytest.raises(ToolkitError, match="no credential `dwh`") as caught:
        fetch()
    assert "--load-credential dwh=FILE" in caught.value.hint
    monkeypatch.setenv("CREDENTIALS_DIRECTORY", str(tmp_path / "given"))
    (tmp_path / "given").mkdir()
    (tmp_path / "given/dwh").write_text(CANARY)
    (tmp_path / "secret").write_text("elsewhere")
    assert fetch() == CANARY
    with pytest.raises(ToolkitError):
        resolver(SecretRef(SecretKind.CREDENTIAL, "../secret"), "u")()
