"""Addresses of clusters, as users write them."""

from __future__ import annotations

from toolkit.errors import ToolkitError

_SCHEMES = {"dask": "tcp", "dask+tls": "tls"}


def scheduler_of(address: str) -> str:
    """Return the address of a scheduler as dask writes it.

    Args:
        address: `dask://host:port`, or `dask+tls://host:port` with the certificates of dask's configuration.

    Raises:
        ToolkitError: TK-0102 for another one.
    """
    scheme, separator, where = address.partition("://")
    if not separator or scheme not in _SCHEMES or not where.rpartition(":")[2].isdigit() or "@" in where:
        raise ToolkitError(
            "`--on` needs the address of a Dask scheduler", code="TK-0102",
            hint="such as `--on dask://scheduler:8786`",
        )  # fmt: skip
    return f"{_SCHEMES[scheme]}://{where}"
