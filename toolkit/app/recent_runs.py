"""How lately a run was heard of: the report of a job that failed before its run began shows no older one."""

from __future__ import annotations

from toolkit.errors import ToolkitError
from toolkit.model.records import RunRecord
from toolkit.store import Store
from toolkit.units import parse_duration


def refuse_older(store: Store, record: RunRecord, ref: str, within: str) -> None:
    """Refuse a run of which nothing was heard lately: a job that failed before its run began has none to show.

    Args:
        store: where the run is.
        record: the run.
        ref: how it was named.
        within: how long ago it ended at most, or gave its last sign of life where it never ended (`15m`).

    Raises:
        ToolkitError: TK-0109; TK-0102 for what is no duration.
    """
    lease = store.lease_of_run(record.head.run)
    heard = max(
        record.head.began_at,
        record.head.ended_at or record.head.began_at,
        *(trial.ended_at for trial in record.trials),
        *(() if lease is None else (lease.heartbeat_at,)),
    )
    if (store.now() - heard).total_seconds() > parse_duration(within):
        raise ToolkitError(
            f"no run of `{ref}` ended within {within}; the last one, {record.head.run}, ended at"
            f" {heard:%Y-%m-%d %H:%M} UTC",
            code="TK-0109",
            hint="a scheduled job that failed before its run began says why in its log: `journalctl -u UNIT`",
        )
