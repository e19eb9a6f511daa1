"""Who is notified of the result of a plan: `notify.toml` in the configuration folder, addresses by reference only.

```toml
metrics_folder = "/var/lib/node_exporter"

[[to]]
name = "dba"
url = {file = "/etc/dbatk/mail.url"}
when = ["failure", "recovery"]
plans = ["nightly*"]
```
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from fnmatch import fnmatchcase
from pathlib import Path

from toolkit.config.paths import config_folder
from toolkit.config.secrets import SecretKind, SecretRef, read_reference
from toolkit.documents import TomlDocument, check_no_secret, did_you_mean, read_document
from toolkit.errors import ToolkitError

_KEYS = ("metrics_folder", "to")
_TO_KEYS = ("name", "url", "when", "plans")


class NotifyOn(StrEnum):
    """What a message is sent for."""

    FAILURE = "failure"
    """A run with a step that failed."""
    RECOVERY = "recovery"
    """A run that succeeded after one that failed."""
    CHANGE = "change"
    """A step ended differently from the run before."""
    ALWAYS = "always"
    """Every run."""
    DIGEST = "digest"
    """All runs of a day in one message, by `dbatk plan notify digest`."""


@dataclass(frozen=True, slots=True)
class Recipient:
    """One address: a mailbox, a channel, a webhook; its URL may hold a secret and is fetched when it is needed."""

    name: str
    url: SecretRef
    when: frozenset[NotifyOn] = frozenset({NotifyOn.FAILURE, NotifyOn.RECOVERY})
    plans: tuple[str, ...] = ("*",)

    def wants(self, plan: str, reasons: frozenset[NotifyOn]) -> bool:
        """Whether it is notified of a plan for one of these reasons."""
        return bool(self.when & reasons) and any(fnmatchcase(plan, pattern) for pattern in self.plans)


@dataclass(frozen=True, slots=True)
class Notices:
    """All recipients, and where metrics are written."""

    to: tuple[Recipient, ...] = ()
    metrics_folder: Path | None = None


def notices_file() -> Path:
    """Return the file; it need not exist."""
    return config_folder() / "notify.toml"


def load_notices(path: Path | None = None) -> Notices:
    """Read the recipients; none if there is no file.

    Raises:
        ToolkitError: TK-0101, TK-0102, TK-0106 or TK-0108 with file and line.
    """
    file = path or notices_file()
    if not file.exists():
        return Notices()
    document = read_document(file)
    check_no_secret(document, skip=frozenset())
    for key in document.data:
        if key not in _KEYS:
            raise document.error(
                f"unknown key `{key}`", table="", key=key, code="TK-0101", hint=did_you_mean(key, _KEYS)
            )
    given = document.data.get("to", [])
    if not isinstance(given, list):
        raise document.error("`to` must be a list of tables", table="", key="to", hint="write `[[to]]`")
    to = tuple(_recipient(document, at, one) for at, one in enumerate(given))
    names = [one.name for one in to]
    for at, name in enumerate(names):
        if name in names[:at]:
            raise document.error(
                f"two recipients are called `{name}`",
                table="to",
                key="name",
                number=at,
                code="TK-0107",
                hint="rename one",
            )
    return Notices(to, _folder(document))


def _recipient(document: TomlDocument, at: int, data: object) -> Recipient:
    if not isinstance(data, Mapping):
        raise document.error("`to` must be a table", table="", key="to", hint="write `[[to]]`")
    for key in data:
        if key not in _TO_KEYS:
            hint = did_you_mean(key, _TO_KEYS)
            raise document.error(f"`to` has no `{key}`", table="to", key=key, number=at, code="TK-0101", hint=hint)
    key = "name"
    try:
        name = _text(data.get(key), key)
        key = "url"
        url = read_reference(data.get(key), key)
        if url.kind is SecretKind.WALLET:
            raise ToolkitError(
                "a wallet cannot hold an address", code="TK-0106", hint="use `env`, `file` or `command`"
            )
        key = "when"
        when = frozenset(map(_when, _texts(data[key], key))) if key in data else Recipient("", url).when
        key = "plans"
        return Recipient(name, url, when, tuple(_texts(data[key], key)) if key in data else ("*",))
    except ToolkitError as error:
        raise document.error(
            error.message,
            table="to",
            key=key if key in data else None,
            number=at,
            code=error.code,
            hint=error.hint,
        ) from None


def _folder(document: TomlDocument) -> Path | None:
    if "metrics_folder" not in document.data:
        return None
    value = document.data["metrics_folder"]
    if not isinstance(value, str) or not Path(value).is_absolute() or not value.isprintable():
        raise document.error(
            "`metrics_folder` must be an absolute path",
            table="",
            key="metrics_folder",
            code="TK-0102",
            hint="the folder of node_exporter's `--collector.textfile.directory`",
        )
    return Path(value)


def _text(value: object, key: str) -> str:
    if not isinstance(value, str) or not value.strip() or not value.isprintable():
        raise ToolkitError(f"`{key}` must be a string", code="TK-0102", hint=f'write `{key} = "..."`')
    return value


def _texts(value: object, key: str) -> list[str]:
    given = value if isinstance(value, list) else [value]
    if not given:
        raise ToolkitError(f"`{key}` is empty", code="TK-0102", hint=f"omit `{key}`, or give at least one")
    return [_text(one, key) for one in given]


def _when(text: str) -> NotifyOn:
    known = [one.value for one in NotifyOn]
    if text not in known:
        raise ToolkitError(
            f"`when` cannot be `{text}`", code="TK-0102", hint=did_you_mean(text, known) or ", ".join(known)
        )
    return NotifyOn(text)
