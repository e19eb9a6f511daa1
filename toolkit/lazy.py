"""The public face of a package that loads its parts when they are first asked for (PEP 562)."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module


def lazy(package: str, **modules: tuple[str, ...]) -> Callable[[str], object]:
    """Return the `__getattr__` of a package.

    Args:
        package: its name.
        modules: the names that each of its modules has for others.

    Raises:
        AttributeError: by what is returned, for any other name.
    """
    homes = {name: module for module, names in modules.items() for name in names}

    def load(name: str) -> object:
        if name not in homes:
            raise AttributeError(f"module `{package}` has no attribute `{name}`")
        return getattr(import_module(f"{package}.{homes[name]}"), name)

    return load
