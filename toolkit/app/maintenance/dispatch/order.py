"""What travels between the conductor of a night and a worker on another host: plain text, and no secret.

Profiles, passwords and the password of the store are looked up by the worker, on its own host.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, fields
from datetime import datetime

from toolkit.app.approvals import Approvals
from toolkit.errors import ToolkitError
from toolkit.model.window import TimeSpan


@dataclass(frozen=True, slots=True)
class TargetOrder:
    """One target of a night.

    Attributes:
        version: dbatk's, which must be the worker's too.
        plan_text: the file as the conductor read it.
        plan_run: the night.
        target: name of a profile, or a URL without a secret.
        steps: names of the steps to do there.
        lock: lock of the plan on the target, which the conductor holds while it lives and wants the work done.
        store: address of the store, without a secret.
        window_begin: of the opening that is on; None where any time will do.
        window_end: when it closes.
        allowed: what the user approved.
    """

    version: str
    plan_text: str
    plan_run: str
    target: str
    steps: tuple[str, ...]
    lock: str
    store: str
    window_begin: str | None
    window_end: str | None
    allowed: dict[str, str | bool]

    def to_text(self) -> str:
        """Return it as JSON."""
        return json.dumps(asdict(self))

    @classmethod
    def from_text(cls, text: str) -> TargetOrder:
        """Read what `to_text` wrote."""
        data = json.loads(text)
        return cls(**{**data, "steps": tuple(data["steps"])})

    @property
    def span(self) -> TimeSpan | None:
        if self.window_begin is None or self.window_end is None:
            return None
        return TimeSpan(datetime.fromisoformat(self.window_begin), datetime.fromisoformat(self.window_end))

    @property
    def approvals(self) -> Approvals:
        return Approvals(**self.allowed)  # type: ignore[arg-type]


@dataclass(frozen=True, slots=True)
class OrderResult:
    """How an order ended: what stopped the work, and why nothing could be begun (message, code, hint)."""

    stopped_by: tuple[str, ...] = ()
    refused: tuple[str, str, str | None] | None = None

    def to_text(self) -> str:
        """Return it as JSON."""
        return json.dumps(asdict(self))

    @classmethod
    def from_text(cls, text: str) -> OrderResult:
        """Read what `to_text` wrote."""
        data = json.loads(text)
        told = data["refused"]
        return cls(tuple(data["stopped_by"]), None if told is None else (told[0], told[1], told[2]))

    @property
    def error(self) -> ToolkitError | None:
        if self.refused is None:
            return None
        message, code, hint = self.refused
        return ToolkitError(message, code=code, hint=hint)


def allowed_by(approvals: Approvals) -> dict[str, str | bool]:
    """Return what a user approved as plain values; nobody can be asked on another host."""
    said = {each.name: getattr(approvals, each.name) for each in fields(approvals)}
    return {name: value for name, value in said.items() if isinstance(value, str | bool)}
