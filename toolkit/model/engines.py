"""The registry of engines: what each declares about itself, in the one place where it is declared.

An engine is a package of `toolkit.dialects`: its `DECLARATION` is light to import; its module `dialect` holds all
that is asked of it when it is used. The packages are found by looking; `registered` adds one from elsewhere.
"""

from __future__ import annotations

import pkgutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import import_module

from toolkit.errors import ToolkitError
from toolkit.model.words import EngineName

_PACKAGE = "toolkit.dialects"


@dataclass(frozen=True, slots=True)
class EngineDeclaration:
    """All that is known of an engine without its dialect.

    Attributes:
        name: in files, stores and reports; the folder of its templates and of its SQL files.
        title: as people write it.
        package: the package with the modules `dialect`, `states` and `guards`.
        target: the module with `open_target`, which makes a target of an access.
        embedded: whether the database is a file that our own process opens.
        order: its place in lists; ties go by name.
    """

    name: EngineName
    title: str
    package: str
    target: str
    embedded: bool = False
    order: int = 100


_known: dict[EngineName, EngineDeclaration] = {}


def engines() -> Mapping[EngineName, EngineDeclaration]:
    """Return every engine by its name."""
    if not _known:
        found = import_module(_PACKAGE)
        for module in pkgutil.iter_modules(found.__path__):
            if module.ispkg:
                declared: EngineDeclaration = import_module(f"{_PACKAGE}.{module.name}").DECLARATION
                _known[declared.name] = declared
    return {one.name: one for one in sorted(_known.values(), key=lambda one: (one.order, one.name))}


def engine(name: EngineName) -> EngineDeclaration:
    """Return what an engine declares.

    Raises:
        ToolkitError: TK-0101 when there is no such engine.
    """
    if name not in _known:
        engines()
    found = _known.get(name)
    if found is None:
        raise ToolkitError(f"`{name}` is no engine", code="TK-0101", hint=f"there are {', '.join(engines())}")
    return found


@contextmanager
def registered(declared: EngineDeclaration) -> Iterator[EngineDeclaration]:
    """Add an engine from outside `toolkit.dialects` for as long as the block lasts.

    Raises:
        ToolkitError: TK-0107 when the name is taken.
    """
    if declared.name in engines():
        raise ToolkitError(f"there is an engine `{declared.name}` already", code="TK-0107")
    _known[declared.name] = declared
    try:
        yield declared
    finally:
        del _known[declared.name]
