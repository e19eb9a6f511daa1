"""References to secrets: fetched when needed, and no message shows what came."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

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
    with pytest.raises(ToolkitError, match="`DWH_PASSWORD`, which holds the password, is not set"):
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
    with pytest.raises(ToolkitError, match="no password of `v`"):
        resolver(SecretRef(SecretKind.KEYRING, "d"), "v")()


def test_a_wallet_is_read_by_the_driver() -> None:
    assert resolver(SecretRef(SecretKind.WALLET, "/w"), "u")() is None


@pytest.mark.parametrize(
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
