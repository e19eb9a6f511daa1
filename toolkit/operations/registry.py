"""Finds what plans an operation; each is imported when it is asked for."""

from __future__ import annotations

from importlib import import_module

from toolkit.model.operations import declaration
from toolkit.model.words import OperationName
from toolkit.operations.base import Operation


def operation(name: OperationName) -> Operation:
    """Return what plans an operation.

    Raises:
        ToolkitError: TK-0101 when there is no such operation.
    """
    module, _, maker = declaration(name).planned_by.partition(":")
    found: Operation = getattr(import_module(module), maker)(name) if maker else import_module(module).OPERATION
    return found
