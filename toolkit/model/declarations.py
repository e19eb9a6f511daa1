"""Declarations found by looking: each package of a folder holds one, and none stands in a list."""

from __future__ import annotations

import pkgutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from importlib import import_module
from typing import Generic, Protocol, TypeVar

from toolkit.errors import ToolkitError


class Declared(Protocol):
    """What has a name, and a place in lists; ties go by name."""

    @property
    def name(self) -> str: ...

    @property
    def order(self) -> int: ...


D = TypeVar("D", bound=Declared)


class Declarations(Generic[D]):
    """The `DECLARATION` of every package of a folder, by name; `registered` adds one from elsewhere."""

    def __init__(self, folder: str, called: str) -> None:
        """Args: the package whose packages are looked through, and what one is called: `an engine`."""
        self._folder, self._called = folder, called
        self._known: dict[str, D] = {}
        self._in_order: dict[str, D] = {}

    def every(self) -> Mapping[str, D]:
        """Return all by name, in their order."""
        if not self._known:
            # At once: while one thread still looks, another one must not take a part for all.
            self._known = {declared.name: declared for declared in self._look()}
        if len(self._in_order) != len(self._known):
            ordered = sorted(self._known.values(), key=lambda one: (one.order, one.name))
            self._in_order = {one.name: one for one in ordered}
        return self._in_order

    def _look(self) -> Iterator[D]:
        for module in pkgutil.iter_modules(import_module(self._folder).__path__):
            if module.ispkg:
                yield import_module(f"{self._folder}.{module.name}").DECLARATION

    def get(self, name: str) -> D | None:
        """Return the one of a name, None where there is none."""
        return self._known.get(name) or self.every().get(name)

    def of(self, name: str) -> D:
        """Return the one of a name.

        Raises:
            ToolkitError: TK-0101 when there is none.
        """
        found = self.get(name)
        if found is None:
            raise ToolkitError(
                f"`{name}` is not {self._called}", code="TK-0101", hint=f"there are {', '.join(self.every())}"
            )
        return found

    @contextmanager
    def registered(self, declared: D) -> Iterator[D]:
        """Add one from outside the folder for as long as the block lasts.

        Raises:
            ToolkitError: TK-0107 when the name is taken.
        """
        if declared.name in self.every():
            raise ToolkitError(f"there is {self._called} `{declared.name}` already", code="TK-0107")
        self._known[declared.name] = declared
        try:
            yield declared
        finally:
            del self._known[declared.name]
