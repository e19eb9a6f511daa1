"""Delivers messages by `apprise`: mail, chats, webhooks and a hundred more, each by its URL.

A URL may hold a password or a token: it appears in no message of dbatk, and the library's own log, which may hold
it, is not shown. Who does not answer in time is given up; his thread ends with the process.
"""

from __future__ import annotations

import logging
import threading
import time
import warnings
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

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
        answers[at] = _send(services[at], message)

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


def _send(service: NotifyBase | None, message: Message) -> str | None:
    """Send to one; return why it failed, in words that hold nothing of the URL."""
    if service is None:
        return "its URL is unknown to apprise"
    import apprise

    try:
        sent = service.notify(
            title=message.subject,
            body=message.text,
            body_format=apprise.NotifyFormat.TEXT,
            notify_type=apprise.NotifyType.INFO,
        )
    except Exception as error:  # noqa: BLE001 - a hundred plugins; a plan run never fails for its message
        return type(error).__name__
    return None if sent else "the service refused it or cannot be reached"


def _hush() -> None:
    """Keep the library's log from standard error, where a URL could come out."""
    log = logging.getLogger("apprise")
    log.propagate = False
    if not log.handlers:
        log.addHandler(logging.NullHandler())
