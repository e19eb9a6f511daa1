"""Where the plain SQL files and the templates live: beside the package in a checkout, inside it in a wheel."""

from __future__ import annotations

import functools
from pathlib import Path

_PACKAGE = Path(__file__).resolve().parent


def _root(name: str) -> Path:
    installed = _PACKAGE / "_data" / name
    return installed if installed.is_dir() else _PACKAGE.parent / name


def sql_root() -> Path:
    """Return the folder of the plain SQL files, one folder an engine."""
    return _root("sql")


def template_root() -> Path:
    """Return the folder of the templates."""
    return _root("templates")


def _text(root: Path, name: str) -> str:
    path = (root / name).resolve()
    if not path.is_relative_to(root.resolve()):
        msg = f"`{name}` lies outside {root}"
        raise ValueError(msg)
    return path.read_text(encoding="utf-8")


@functools.cache
def template_text(name: str) -> str:
    """Return the text of `templates/<name>`."""
    return _text(template_root(), name)


@functools.cache
def sql_text(name: str) -> str:
    """Return the text of `sql/<name>`, its header included."""
    return _text(sql_root(), name)
