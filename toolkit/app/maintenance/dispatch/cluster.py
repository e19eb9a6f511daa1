"""Has targets worked on by a cluster of dask.distributed that is there already.

Nothing that must hold depends on the cluster. A worker that is lost is a lease that ends; its scheduler gives the
order to another, who takes over what the store and the journal say was begun. The locks in the store tell workers
whether the plan is still wanted. So the cluster may lose workers, or itself, at any time.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

from toolkit import __version__
from toolkit.app.maintenance.dispatch.orders import Orders
from toolkit.app.maintenance.dispatch.worker import WorkerCheck, look
from toolkit.app.maintenance.plan_targets import PlanTarget
from toolkit.app.maintenance.target_run import PlanRun
from toolkit.documents import parse_document
from toolkit.errors import ToolkitError
from toolkit.model.plan import MaintenancePlan
from toolkit.runner import Locks
from toolkit.store import Store

if TYPE_CHECKING:
    from distributed import Client

_SCHEMES = {"dask": "tcp", "dask+tls": "tls"}
_CONNECT_SECONDS = 15.0


@contextmanager
def cluster_at(address: str, plan: MaintenancePlan, store: Store, targets: Sequence[str]) -> Iterator[Cluster]:
    """Connect to a scheduler, and see that every worker can do what the plan wants.

    Args:
        address: `dask://host:port`, or `dask+tls://host:port` with the certificates of dask's configuration.
        plan: what will run.
        store: where its leases and results are.
        targets: names of its targets.

    Raises:
        ToolkitError: TK-0102 for another address, TK-0107 for a store or plan that cannot be shared, TK-0206
            without the library, TK-0201 when nobody answers, TK-0210 when a worker does not fit.
    """
    where = _scheduler(address)
    shared = _shareable(plan, store)
    client = _connect(where, address)
    try:
        found = Cluster(client, address, shared)
        found.check(targets)
        yield found
    finally:
        with suppress(Exception):
            client.close(timeout=_CONNECT_SECONDS)


def _scheduler(address: str) -> str:
    scheme, separator, where = address.partition("://")
    if not separator or scheme not in _SCHEMES or not where.rpartition(":")[2].isdigit() or "@" in where:
        raise ToolkitError(
            "a plan runs on a scheduler of dask", code="TK-0102", hint="such as `--on dask://scheduler:8786`"
        )
    return f"{_SCHEMES[scheme]}://{where}"


def _shareable(plan: MaintenancePlan, store: Store) -> str:
    """Return the address of the store for workers; refuse what exists on this host only."""
    if store.address is None:
        raise ToolkitError(
            f"workers on other hosts cannot use the store `{store.place}`: it is a file of this one",
            code="TK-0107",
            hint="give `--store postgresql://user@host/database`",
        )
    steps = parse_document(plan.text, f"plan {plan.name}").data.get("step", ())
    for step in steps if isinstance(steps, list) else ():
        if "query_file" in step:
            raise ToolkitError(
                f"step `{step.get('name') or step.get('operation')}` takes its query from a file of this host",
                code="TK-0107",
                hint="write the query into the plan, as `query`: its text travels to the workers",
            )
    return store.address


def _connect(where: str, address: str) -> Client:
    try:
        from distributed import Client
    except ModuleNotFoundError:
        raise ToolkitError(
            "to run on a cluster needs the library `distributed`", code="TK-0206", hint="pip install 'dbatk[dask]'"
        ) from None
    # What matters is told by us; its own log would write tracebacks of lost connections between.
    logging.getLogger("distributed").setLevel(logging.CRITICAL)
    try:
        return Client(where, timeout=_CONNECT_SECONDS, set_as_default=False, name="dbatk")
    except (OSError, TimeoutError, ValueError, RuntimeError) as error:
        raise ToolkitError(
            f"no scheduler answers at `{address}`: {type(error).__name__}", code="TK-0201",
            hint="is `dask scheduler` at work there, and is the port the one it says?",
        ) from None  # fmt: skip


class Cluster:
    """Carries out a night on the workers of a scheduler."""

    def __init__(self, client: Client, address: str, store: str) -> None:
        self._client, self._address, self._store = client, address, store

    def check(self, targets: Sequence[str]) -> None:
        """Refuse a cluster without workers, and one with a worker that cannot do the work.

        Raises:
            ToolkitError: TK-0210, TK-0201.
        """
        try:
            found = self._client.run(look, list(targets), self._store, on_error="return")
        except Exception as error:  # noqa: BLE001 - whatever the cluster's library raises
            raise ToolkitError(
                f"the workers at `{self._address}` could not be asked: {type(error).__name__}", code="TK-0201"
            ) from None
        if not found:
            raise ToolkitError(
                f"no worker is at the scheduler `{self._address}`",
                code="TK-0210",
                hint="begin some: `dask worker`",
            )
        for worker, answer in sorted(found.items()):
            _check_worker(worker, answer)

    def carry_out(self, night: PlanRun, places: Sequence[PlanTarget], locks: Locks) -> None:
        """Have the targets worked on by workers, and return when all are done."""
        with Orders(self._client, self._store, night, locks).listening() as orders:
            orders.carry_out(places)

    @property
    def address(self) -> str:
        """Where the scheduler is, as the user wrote it."""
        return self._address


def _check_worker(worker: str, answer: object) -> None:
    if not isinstance(answer, WorkerCheck):
        # what cannot even be loaded there: no dbatk, or one that knows nothing of this
        raise ToolkitError(
            f"the worker {worker} has no dbatk {__version__}: {type(answer).__name__}", code="TK-0210",
            hint="install `dbatk[dask,postgresql]` of this version where the workers are",
        )  # fmt: skip
    if answer.version != __version__:
        raise ToolkitError(
            f"the worker {worker} on `{answer.host}` has dbatk {answer.version}, here is {__version__}",
            code="TK-0210",
            hint="install the same version everywhere",
        )
    if answer.faults:
        raise ToolkitError(
            f"the worker {worker} on `{answer.host}` cannot do the plan: {'; '.join(answer.faults)}",
            code="TK-0210",
        )
