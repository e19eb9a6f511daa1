"""The last look at a statement of Oracle before it is sent: what it needs is held against what is known.

What the guard does not know it asks of the database itself, once a target, and only when a statement needs it: the
edition, the service, and the parameter of the packs. What cannot be read is no evidence.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

from toolkit import resources
from toolkit.dialects.oracle.licences import LicenceFindings, Use, licences, look
from toolkit.dialects.oracle.licences.context import LicenceContext, refuse
from toolkit.dialects.oracle.releases import read_release
from toolkit.model.values import Row

Ask = Callable[[str], Row | None]
"""Runs one internal query and returns its first row, or None if it was refused."""


@dataclass(slots=True)
class LicenceGuard:
    """Looks at every statement of one target; shared by its sessions.

    `used` gathers what was sent that belongs to a licence. `own` are names that the catalogue knows as objects of
    a user's; with `unseen_ok` passes what nobody can see through. `ruled_by` names for a licence the profile
    of the same database that does not declare it.
    """

    declared: frozenset[str] = frozenset()
    context: LicenceContext | None = None
    own: frozenset[tuple[str, ...]] = frozenset()
    unseen_ok: bool = False
    ruled_by: Mapping[str, str] = field(default_factory=dict)
    used: dict[Use, None] = field(default_factory=dict)
    _lock: threading.Lock = field(default_factory=threading.Lock, repr=False)

    def check(self, text: str, ask: Ask) -> None:
        """Refuse a statement that needs what nobody declared or this database lacks, or that nobody can read.

        Raises:
            ToolkitError: TK-0303 naming the object, the licence, and how to do without.
        """
        self.hold(look(text, self.own), ask)

    def hold(self, findings: LicenceFindings, ask: Ask) -> None:
        """Refuse what was found in a statement, or behind its names.

        Raises:
            ToolkitError: as `check`.
        """
        hidden = bool(findings.unseen) and not self.unseen_ok
        if not findings.uses and not findings.changes_packs and not hidden:
            return
        refuse(findings, self._context(findings, ask))
        with self._lock:
            self.used.update(dict.fromkeys(findings.uses))

    def _context(self, findings: LicenceFindings, ask: Ask) -> LicenceContext:
        with self._lock:
            asks = bool(findings.unseen) or any(licences()[use.licence].declarable for use in findings.uses)
            if self.context is None and asks:
                self.context = learn(self.declared, ask)
            known = self.context or LicenceContext(self.declared)
            return replace(known, unseen_ok=self.unseen_ok, ruled_by=self.ruled_by)


def learn(declared: frozenset[str], ask: Ask) -> LicenceContext:
    """Ask the database for what a declaration is held against."""
    release = read_release(ask(statement("server")) or {})
    access = (ask(statement("pack_access")) or {}).get("pack_access")
    service = (ask(statement("cloud_service")) or {}).get("cloud_service")
    return LicenceContext(
        declared, release.edition, release.number, bool(service), None if access is None else str(access)
    )


def statement(name: str) -> str:
    """Return the statement of a file of `sql/oracle`, without header and terminator."""
    lines = resources.sql_text(f"oracle/{name}.sql").splitlines()
    return "\n".join(line for line in lines if not line.startswith("--")).strip().removesuffix(";")
