"""What goes between a run and the processes of its users: JSON over a socket that no argument list shows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from importlib import import_module
from typing import cast

from toolkit.errors import ToolkitError
from toolkit.model.address import Address
from toolkit.model.engines import engine
from toolkit.model.protocols import DatabaseError
from toolkit.model.workload import Draw, Drawn, Measured, Told, Transaction, Workload
from toolkit.targets.base import Access, UsersTarget

Json = dict[str, object]


# -- a workload ---------------------------------------------------------------------------------------------------
def workload_of(told: Mapping[str, object]) -> Workload:
    """Return a workload as it was before `dataclasses.asdict`."""
    given = dict(told)
    transactions = tuple(_transaction(each) for each in cast("Sequence[Json]", given.pop("transactions")))
    texts = {name: tuple(cast("Sequence[str]", given.pop(name))) for name in ("settings", "loop")}
    return Workload(transactions=transactions, **texts, **given)  # type: ignore[arg-type]


def _transaction(told: Json) -> Transaction:
    drawn = tuple(map(_drawn, cast("Sequence[Json]", told["parameters"])))
    statements = tuple(cast("Sequence[str]", told["statements"]))
    return Transaction(str(told["name"]), statements, float(str(told["weight"])), drawn)


def _drawn(told: Json) -> Drawn:
    given = {**told, "draw": Draw(str(told["draw"])), "values": tuple(cast("list[str | int]", told["values"]))}
    return Drawn(**given)  # type: ignore[arg-type]


# -- the way into the database ------------------------------------------------------------------------------------
def access_told(access: Access) -> Json:
    """Return how to get in, passwords included: for the socket alone."""
    return {
        "address": asdict(access.address), "password": access.password(),
        "wallet_password": access.wallet_password(), "licences": sorted(access.licences),
        "options": [list(pair) for pair in access.options], "unseen_ok": access.unseen_ok,
        "own": sorted(map(list, access.own)),
    }  # fmt: skip


def target_of(told: Json) -> UsersTarget:
    """Return the target of an access that was told."""
    address = dict(cast("Json", told["address"]))
    parameters = _pairs(address.pop("parameters"))
    password, wallet = cast("str | None", told["password"]), cast("str | None", told["wallet_password"])
    access = Access(
        Address(parameters=parameters, **address),  # type: ignore[arg-type]
        password=lambda: password,
        licences=frozenset(cast("list[str]", told["licences"])),
        options=_pairs(told["options"]),
        wallet_password=lambda: wallet,
        unseen_ok=told["unseen_ok"] is True,
        own=frozenset(map(tuple, cast("Sequence[Sequence[str]]", told["own"]))),
    )
    module = import_module(engine(access.address.engine).target)
    return cast("UsersTarget", module.open_target(access))


def _pairs(told: object) -> tuple[tuple[str, str], ...]:
    return tuple((str(name), str(value)) for name, value in cast("Sequence[Sequence[object]]", told))


# -- what was measured --------------------------------------------------------------------------------------------
def measured_of(told: Json) -> Measured:
    """Return what was measured as it was before `dataclasses.asdict`; JSON makes texts of numbers as keys."""
    given = dict(told)
    transactions = {
        name: Told(
            {int(bucket): count for bucket, count in cast("dict[str, int]", each["latencies"]).items()},
            cast("dict[str, int]", each["errors"]),
            cast("dict[str, int]", each["retries"]),
            cast("dict[str, str]", each["messages"]),
        )
        for name, each in cast("dict[str, Json]", given.pop("transactions")).items()
    }
    return Measured(transactions, **given)  # type: ignore[arg-type]


# -- errors -------------------------------------------------------------------------------------------------------
@dataclass(frozen=True, slots=True)
class _Error:
    message: str
    code: str
    hint: str | None
    lost: bool


def error_told(error: DatabaseError | ToolkitError) -> Json:
    """Return an error as what can be sent."""
    hint = error.hint if isinstance(error, ToolkitError) else None
    return {"error": asdict(_Error(error.message, error.code, hint, getattr(error, "lost", False)))}


def raise_told(told: Json) -> None:
    """Raise the error that was sent; nothing for any other answer.

    Raises:
        DatabaseError: of the database.
    """
    if "error" in told:
        given = _Error(**cast("Json", told["error"]))  # type: ignore[arg-type]
        raise DatabaseError(given.message, code=given.code, lost=given.lost)
