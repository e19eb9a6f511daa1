"""What a database says when a store cannot be used, as a sentence and a hint."""

from __future__ import annotations

import sqlite3
from urllib.parse import unquote

from sqlalchemy.exc import DBAPIError, IntegrityError, SQLAlchemyError
from sqlalchemy.exc import TimeoutError as PoolTimeoutError

from toolkit.errors import ToolkitError
from toolkit.store.location import HIDDEN, StoreLocation

CANNOT_BE_WRITTEN = frozenset({"TK-0401", "TK-0404"})
"""A store that is full, read-only, away or locked: what may pass, and what nothing can be told meanwhile."""
_BY_SQLITE = {
    "BUSY": "TK-0404",
    "LOCKED": "TK-0404",
    "READONLY": "TK-0401",
    "FULL": "TK-0401",
    "IOERR": "TK-0401",
    "CANTOPEN": "TK-0401",
    "PERM": "TK-0401",
    "NOTADB": "TK-0402",
    "CORRUPT": "TK-0402",
    "ERROR": "TK-0402",
    "SCHEMA": "TK-0402",
}
_BY_SQLSTATE = {
    "55P03": "TK-0404",
    "57014": "TK-0404",
    "40P01": "TK-0404",
    "3F000": "TK-0402",
    "42P01": "TK-0402",
    "42703": "TK-0402",
}
_FULL = "free space there, then `dbatk runs list` shows what can be resumed; or another place with --store"
_SENTENCES = {
    "TK-0401": "the store `{place}` cannot be written",
    "TK-0402": "`{place}` is damaged or not a dbatk store",
    "TK-0404": "the store `{place}` is locked by another process",
}


def translate(error: SQLAlchemyError, place: StoreLocation, what: str) -> ToolkitError:
    """Return the error that a user can act upon.

    Args:
        error: what SQLAlchemy raised.
        place: the store.
        what: what was being written, for a conflict: `trial 3 of run x`.
    """
    if isinstance(error, IntegrityError):
        return _conflict(error, what)
    if isinstance(error, PoolTimeoutError):
        return _sentence("TK-0404", place, "", None)
    if isinstance(error, DBAPIError):
        code, database_code = _codes(error)
        return _sentence(code, place, _own_words(error, place), database_code)
    return _sentence("TK-0402", place, type(error).__name__, None)


def _codes(error: DBAPIError) -> tuple[str, str | None]:
    if isinstance(error.orig, sqlite3.Error):
        name = str(getattr(error.orig, "sqlite_errorname", "SQLITE_ERROR"))
        return _BY_SQLITE.get(name.split("_")[1], "TK-0401"), name
    state = getattr(error.orig, "sqlstate", None)
    return _BY_SQLSTATE.get(str(state), "TK-0401"), state


def _conflict(error: IntegrityError, what: str) -> ToolkitError:
    name, state = getattr(error.orig, "sqlite_errorname", ""), getattr(error.orig, "sqlstate", "")
    if name == "SQLITE_CONSTRAINT_FOREIGNKEY" or state == "23503":
        return ToolkitError(f"{what} cannot be stored: its run is not in this store", code="TK-0109")
    if name in ("SQLITE_CONSTRAINT_PRIMARYKEY", "SQLITE_CONSTRAINT_UNIQUE") or state == "23505":
        return ToolkitError(f"{what} is already stored", code="TK-0901", hint="nothing was changed")
    return ToolkitError(f"{what} lacks a value that the store needs", code="TK-0901", hint="nothing was changed")


def _own_words(error: DBAPIError, place: StoreLocation) -> str:
    """Return the first line of the driver's message, unless it might show what the address holds."""
    first = str(error.orig).strip().partition("\n")[0]
    return "" if _shows_secret(first, place) else first


def _shows_secret(text: str, place: StoreLocation) -> bool:
    if place.shown.endswith(HIDDEN):
        return True
    address = (place.url or "").partition("://")[2]
    parts = [address.rpartition("@")[0].partition(":")[2]]
    parts += [option.partition("=")[2] for option in address.partition("?")[2].split("&")]
    return any(part and (part in text or unquote(part) in text) for part in parts)


def _sentence(code: str, place: StoreLocation, reason: str, database_code: str | None) -> ToolkitError:
    sentence = _SENTENCES[code].format(place=place)
    hint = _FULL if database_code in ("SQLITE_FULL", "53100") else None
    return ToolkitError(
        f"{sentence}: {reason}" if reason else sentence, code=code, hint=hint, database_code=database_code
    )
