"""The hosts of a cluster on which an operation works instead of this one."""

from __future__ import annotations

from toolkit.config.clusters import scheduler_of
from toolkit.errors import ToolkitError
from toolkit.model.operations import Levels, Options
from toolkit.model.options import Option, OptionKind
from toolkit.operations.options import NOT_DUCKDB


def options_of(what: str, elsewhere: str = "") -> tuple[Option, Option]:
    """Return `--on` and `--hosts`.

    Args:
        what: is on the hosts, as `users live`.
        elsewhere: what to do on an engine that works in one process.
    """
    return (
        Option("on", OptionKind.TEXT,
               f"cluster on whose hosts the {what} instead of this one: dask://HOST:PORT",
               engines=NOT_DUCKDB, elsewhere=elsewhere),
        Option("hosts", OptionKind.INTEGER,
               "on how many hosts of the cluster: all; to compare: 1,2,4", factor=True, low=1, high=1000,
               engines=NOT_DUCKDB, elsewhere=elsewhere),
    )  # fmt: skip


def check_hosts(options: Options, levels: Levels, what: str) -> None:
    """Refuse an address that is none, and a number of hosts of no cluster.

    Args:
        options: as given.
        levels: of the factors.
        what: is on the hosts, as `users live`.

    Raises:
        ToolkitError: TK-0102, TK-0107.
    """
    if "on" in options:
        scheduler_of(str(options["on"]))
    elif "hosts" in levels:
        raise ToolkitError(
            "`--hosts` is about the hosts of a cluster, and none is named", code="TK-0107",
            hint=f"add `--on dask://HOST:PORT`, or omit it: the {what} on this host",
        )  # fmt: skip
