"""Servers that a run was restarting for a setting when it was cut off."""

from __future__ import annotations

from toolkit.app.approvals import TargetPolicy
from toolkit.executors import Sessions
from toolkit.model.protocols import Event, Events
from toolkit.runner.restarting import bring_back
from toolkit.store import Store
from toolkit.store.seals import Seal
from toolkit.targets.base import Target


def bring_server_back(
    target: Target, policy: TargetPolicy | None, store: Store, run: str | None, events: Events, seal: Seal | None,
    *, held: bool,
) -> None:  # fmt: skip
    """See that a server answers that a run was restarting for a setting when it was cut off.

    Where a seal is asked for, only what is sealed is put back. `held` says that the caller holds the lease of the
    run, so that the live process it would find is its own.

    Raises:
        ToolkitError: TK-0302 when such a run is alive; TK-0405, TK-0203, TK-0207, TK-0202 when it stays down.
    """
    if policy is None or not policy.restart:
        return
    entries = [
        entry
        for entry in store.open_entries_all(seal)
        if entry.sealed
        and entry.proof.get("restart")
        and run in (None, entry.run)
        and store.load_head(entry.run).experiment.target == policy.used
    ]
    if not held:
        for entry in entries:
            store.refuse_live_run(entry.run)
    sessions = Sessions(target, "dbatk restart")
    sessions.administer(policy.restart, policy.sysdba)
    try:
        if bring_back(sessions, entries):
            told = "the server did not answer: its settings were put back, and it was started again"
            events.emit(Event("warning", told))
    finally:
        sessions.close()
