"""Delivers messages by `apprise`: mail, chats, webhooks and a hundred more, each by its URL.

A URL may hold a password or a token: it appears in no message of dbatk, and the library's own log, which may hold
it, is not shown. Only what the system or the server gave as the reason of a failure is taken from it: the words of
the system, a status of HTTP, an answer of SMTP that repeats no secret of the URL. Who does not answer in time is
given up; his thread ends with the process.
"""

from __future__ import annotations

import logging
import re
import threading
import time
import warnings
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING
from urllib.parse import parse_qsl, unquote, urlsplit

from toolkit.errors import ToolkitError
from toolkit.notify.message import Message

if TYPE_CHECKING:
    from apprise import NotifyBase

LIMIT_SECONDS = 30.0


@dataclass(frozen=True, slots=True)
class DeliveryAddress:
    """Where a message goes; only the name may be shown."""

    name: str
    url: str = field(repr=False)


def deliver(
    addresses: Sequence[DeliveryAddress], message: Message, *, limit_seconds: float = LIMIT_SECONDS
) -> tuple[str, ...]:
    """Send a message to all, at once; return a sentence for each who did not get it.

    Raises:
        ToolkitError: TK-0206 when the library is missing.
    """
    services = [_service(one) for one in addresses]
    answers: dict[int, str | None] = {}

    def work(at: int) -> None:
        answers[at] = _send(services[at], message, addresses[at].url)

    threads = [threading.Thread(target=work, args=(at,), daemon=True) for at in range(len(services))]
    for thread in threads:
        thread.start()
    deadline = time.monotonic() + limit_seconds
    for thread in threads:
        thread.join(max(0.0, deadline - time.monotonic()))
    late = f"did not take it within {limit_seconds:g} s"
    problems = [(one.name, answers.get(at, late)) for at, one in enumerate(addresses)]
    return tuple(f"`{name}` received no message: {why}" for name, why in problems if why is not None)


def _service(address: DeliveryAddress) -> NotifyBase | None:
    """Return what sends to an address; nothing is connected yet. None for a URL that is none."""
    with warnings.catch_warnings():
        # its plugins are all loaded, and what some of them import is old
        warnings.simplefilter("ignore")
        try:
            import apprise
        except ImportError:
            raise ToolkitError(
                "messages need the notify extra, which is not installed",
                code="TK-0206",
                hint="install `dbatk[notify]`",
            ) from None
        _hush()
        try:
            asset = apprise.AppriseAsset(
                app_id="dbatk", app_desc="dbatk", app_url="", async_mode=False, language="en", timezone="UTC",
                interpret_escapes=False, interpret_emojis=False, http_redirects=False, storage_mode="memory",
            )  # fmt: skip
            return apprise.Apprise.instantiate(address.url, asset=asset)
        except Exception:  # noqa: BLE001 - a hundred plugins read URLs; what they raise could hold one
            return None


def _send(service: NotifyBase | None, message: Message, url: str) -> str | None:
    """Send to one; return why it failed, in words that hold nothing of the URL."""
    if service is None:
        return _no_service(url)
    import apprise

    log, logged = logging.getLogger("apprise"), _Logged()
    log.addHandler(logged)
    try:
        sent = service.notify(
            title=message.subject,
            body=message.text,
            body_format=apprise.NotifyFormat.TEXT,
            notify_type=apprise.NotifyType(message.tone.value),
        )
    except Exception as error:  # noqa: BLE001 - a hundred plugins; a plan run never fails for its message
        return type(error).__name__
    finally:
        log.removeHandler(logged)
    return None if sent else f"the service refused it or cannot be reached{_reason(logged.lines, url)}"


def _no_service(url: str) -> str:
    """Say why a URL leads to no service; a mail needs a sender, which a host such as `mail` does not give."""
    parts = urlsplit(url)
    given = {key.lower() for key, _ in parse_qsl(parts.query)}
    if parts.scheme.lower() in ("mailto", "mailtos") and "from" not in given:
        return "its URL gives no valid mail address of a sender; add `&from=dbatk@example.com` to it"
    return "its URL is unknown to apprise"


class _Logged(logging.Handler):
    """What the library logs of a failure in one thread."""

    def __init__(self) -> None:
        super().__init__()
        self.lines: list[str] = []
        self._thread = threading.get_ident()

    def emit(self, record: logging.LogRecord) -> None:
        line = record.getMessage()
        if record.thread == self._thread and line.startswith(("Socket Exception:", "Failed to send")):
            self.lines.append(line)


_REASON = re.compile(
    r"\[Errno -?\d+\] (?P<system>[A-Za-z ]+)|(?P<late>timed out)|\[SSL: (?P<tls>[A-Z_]+)"
    r"|error=(?P<http>[45]\d\d)\b|\((?P<smtp>[45]\d\d), b?(?P<quote>['\"])(?P<text>.*?)(?P=quote)"
)


def _reason(lines: Sequence[str], url: str) -> str:
    """Return why it failed as the end of a sentence; empty where nothing is known that may be shown."""
    found = next((match for line in lines if (match := _REASON.search(line))), None)
    if found is None:
        return ""
    if found["smtp"]:
        text = found["text"].replace("\\n", " ")[:160]  # as Python writes it: nothing in it acts on a terminal
        shown = "" if any(secret in text for secret in _secrets(url)) else f" {text}"
        return f": the server answered {found['smtp']}{shown}"
    if found["http"]:
        return f": the server answered {found['http']}"
    return ": " + (f"TLS: {found['tls']}" if found["tls"] else (found["system"] or found["late"]).strip().lower())


_ADDRESSES = {"from", "to", "cc", "bcc", "reply"}


def _secrets(url: str) -> set[str]:
    """Return what of a URL must not be repeated: all but the host and who sends and receives."""
    login, _, _ = urlsplit(url).netloc.rpartition("@")
    given = [value for key, value in parse_qsl(urlsplit(url).query) if key.lower() not in _ADDRESSES]
    parts = [login.partition(":")[2], unquote(login.partition(":")[2]), *given]
    return {part for part in parts if part}


def _hush() -> None:
    """Keep the library's log from standard error, where a URL could come out."""
    log = logging.getLogger("apprise")
    log.propagate = False
    log.setLevel(logging.DEBUG)  # the reason of a failure is logged for debugging only
    if not log.handlers:
        log.addHandler(logging.NullHandler())
