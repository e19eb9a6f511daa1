"""Finds an engine's dialect; each is imported when it is asked for."""

from __future__ import annotations

from importlib import import_module

from toolkit.dialects.base import Dialect
from toolkit.dialects.states import GuardFiles, States
from toolkit.model.engines import engine as declared
from toolkit.model.words import EngineName


def dialect_of(engine: EngineName) -> Dialect:
    """Return the dialect of an engine."""
    dialect: Dialect = import_module(f"{declared(engine).package}.dialect").DIALECT
    return dialect


def states_of(engine: EngineName) -> States:
    """Return what a snapshot reads of an engine."""
    states: States = import_module(f"{declared(engine).package}.states").STATES
    return states


def guards_of(engine: EngineName) -> GuardFiles:
    """Return what an engine answers the guards of a plan."""
    guards: GuardFiles = import_module(f"{declared(engine).package}.states").GUARDS
    return guards
