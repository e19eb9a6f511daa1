"""Clusters of dask.distributed that are there already: how one is reached, and whether its workers fit."""

from __future__ import annotations

import asyncio
import logging
import threading
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, TypeVar

from toolkit import __version__
from toolkit.config.clusters import scheduler_of
from toolkit.errors import ToolkitError
from toolkit.store.leases import this_boot
from toolkit.units import seconds

if TYPE_CHECKING:
    from distributed import Client

_Heard = TypeVar("_Heard")
_CONNECT_SECONDS = 15.0
_LOOK_SECONDS = 60.0
_NO_CODE: Mapping[str, object] = {"distributed.client.preload": [], "distributed.client.security-loader": None}
"""What dask's configuration, a file or a variable of anybody's, may not bring into this process."""


@dataclass(frozen=True, slots=True)
class WorkerCheck:
    """What a worker is found to be: its host and version, why it could not work, and its host's boot."""

    host: str
    version: str
    faults: tuple[str, ...] = ()
    boot: str = field(default_factory=this_boot)


def connect(address: str) -> Client:
    """Connect to a scheduler; `leave` it in the end.

    Raises:
        ToolkitError: TK-0102 for an address that is none, TK-0206 without the library, TK-0201 without an answer.
    """
    where = scheduler_of(address)
    try:
        import dask
        from distributed import Client
    except ModuleNotFoundError:
        raise ToolkitError(
            "running on a cluster needs the library `distributed`",
            code="TK-0206",
            hint="pip install 'dbatk[dask]'",
        ) from None
    # dbatk reports what matters; dask's own log would add tracebacks of lost connections.
    logging.getLogger("distributed").setLevel(logging.CRITICAL)
    try:
        with dask.config.set(_NO_CODE):
            return Client(where, timeout=_CONNECT_SECONDS, set_as_default=False, name="dbatk")
    except (OSError, TimeoutError, ValueError, RuntimeError):
        raise ToolkitError(
            f"no scheduler responds at `{address}`",
            code="TK-0201",
            hint="check that `dask scheduler` runs there and that the port is right",
        ) from None


def leave(client: Client) -> None:
    """Close a client; never raises."""
    with suppress(Exception):
        client.close(timeout=_CONNECT_SECONDS)


def workers_of(client: Client) -> frozenset[str]:
    """Ask the scheduler which workers it knows.

    Not by `scheduler_info`: the client's own look, which asks for no workers, may put its answer in the place of
    this one before that is read.
    """
    return frozenset(client.sync(client.scheduler.identity, n_workers=-1)["workers"])


def within(limit_seconds: float, ask: Callable[[], _Heard]) -> _Heard:
    """Ask a cluster, and return what it says, or raise what it raises: it may hang, and has no limit of its own.

    Raises:
        TimeoutError: nothing was heard; whoever waits for the answer is left behind.
    """
    came: list[_Heard | Exception] = []

    def run() -> None:
        try:
            came.append(ask())
        except Exception as error:  # noqa: BLE001 - whatever the cluster's library raises
            came.append(error)

    asking = threading.Thread(target=run, daemon=True, name="ask a cluster")
    asking.start()
    asking.join(limit_seconds)
    if not came:
        raise TimeoutError(f"nothing was heard for {seconds(limit_seconds)}")
    if isinstance(came[0], Exception):
        raise came[0]
    return came[0]


async def beside_its_work(work: Callable[..., _Heard], *arguments: object) -> _Heard:
    """Do something in a thread of a worker: what waits or reads long must not keep it from its other runs."""
    return await asyncio.to_thread(work, *arguments)


def check_workers(
    client: Client, address: str, purpose: str, look: Callable[..., WorkerCheck], *arguments: object
) -> Mapping[str, WorkerCheck]:
    """Refuse a cluster without workers, and one with a worker that cannot do the work.

    Args:
        client: of the scheduler.
        address: of it, as the user wrote it.
        purpose: what the workers are to do, for a sentence.
        look: run on each worker with the arguments, in a thread of its own.
        arguments: of it.

    Returns:
        What each worker was found to be, by its address.

    Raises:
        ToolkitError: TK-0210, TK-0201.
    """
    ask = partial(client.run, beside_its_work, look, *arguments, on_error="return")
    try:
        found: Mapping[str, object] = within(_LOOK_SECONDS, ask)
    except Exception as error:  # noqa: BLE001 - whatever the cluster's library raises
        why = str(error) if isinstance(error, TimeoutError) and str(error) else type(error).__name__
        raise ToolkitError(
            f"the workers at `{address}` did not respond: {why}", code="TK-0201",
            hint="see whether one of them hangs, and end it",
        ) from None  # fmt: skip
    if not found:
        raise ToolkitError(
            f"the scheduler `{address}` has no workers", code="TK-0210", hint="start some with `dask worker`"
        )
    return {worker: _checked(worker, answer, purpose) for worker, answer in sorted(found.items())}


def _checked(worker: str, answer: object, purpose: str) -> WorkerCheck:
    if not isinstance(answer, WorkerCheck):
        # what cannot even be loaded there: no dbatk, or one that knows nothing of this
        raise ToolkitError(
            f"the worker {worker} has no dbatk {__version__}: {type(answer).__name__}", code="TK-0210",
            hint="install `dbatk[dask,postgresql]` in this version on the workers",
        )  # fmt: skip
    if answer.version != __version__:
        raise ToolkitError(
            f"the worker {worker} on `{answer.host}` has dbatk {answer.version}, this host has {__version__}",
            code="TK-0210",
            hint="install the same version everywhere",
        )
    if answer.faults:
        raise ToolkitError(
            f"the worker {worker} on `{answer.host}` cannot {purpose}: {'; '.join(answer.faults)}",
            code="TK-0210",
        )
    return answer
