"""The Oracle dialect.

It is put together when it is asked for: what others need of Oracle (licences, errors) must not cost all of it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from toolkit.dialects.oracle.dialect import DIALECT

__all__ = ["DIALECT"]


def __getattr__(name: str) -> object:
    """Return the dialect, by importing what it is made of (PEP 562)."""
    if name != "DIALECT":
        raise AttributeError(name)
    from toolkit.dialects.oracle.dialect import DIALECT

    return DIALECT
