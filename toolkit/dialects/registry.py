"""Finds an engine's dialect; each is imported when it is asked for."""

from __future__ import annotations

from importlib import import_module

from toolkit.dialects.base import Dialect
from toolkit.model.words import EngineName


def dialect_of(engine: EngineName) -> Dialect:
    """Return the dialect of an engine."""
    dialect: Dialect = import_module(f"toolkit.dialects.{engine.value}").DIALECT
    return dialect
