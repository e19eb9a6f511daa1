"""Where the plain SQL files and the templates live: beside the package in a checkout, inside it in a wheel.

Every file goes through here whenever it is used, not only when it is read first: so it can be noted which files
something uses, and one that is not as it was approved can be barred. A process reads each file once: what was
checked is what is used later.
"""

from __future__ import annotations

import functools
import os
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from hashlib import sha256
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


def program(folder: str, name: str) -> str:
    """Return the path of a module of the package that is run as a program of its own."""
    return str(_PACKAGE / folder / f"{name}.py")


def _text(root: Path, name: str) -> str:
    path = (root / name).resolve()
    if not path.is_relative_to(root.resolve()):
        msg = f"`{name}` is outside {root}"
        raise ValueError(msg)
    return path.read_text(encoding="utf-8")


def template_text(name: str) -> str:
    """Return the text of `templates/<name>`."""
    touch(f"templates/{name}")
    return _read(f"templates/{name}")


def sql_text(name: str) -> str:
    """Return the text of `sql/<name>`, its header included."""
    touch(f"sql/{name}")
    return _read(f"sql/{name}")


@functools.cache
def _read(path: str) -> str:
    folder, _, name = path.partition("/")
    for more in _more:
        if (more / path).is_file():
            return _text(more / folder, name)
    return _text(sql_root() if folder == "sql" else template_root(), name)


_more: list[Path] = []


@contextmanager
def added(folder: Path) -> Iterator[None]:
    """Take files from the `sql` and `templates` of another folder, too, until the block ends."""
    _more.append(folder)
    try:
        yield
    finally:
        _more.remove(folder)
        _read.cache_clear()


def foreign() -> Iterator[str]:
    """Yield where code or scripts of this process may come from that belong neither to Python nor to dbatk.

    `PYTHONPATH`, a `.pth` file and `python -m` add to `sys.path`, from where drivers are imported.
    """
    own = {Path(folder).resolve() for folder in (sys.prefix, sys.base_prefix, sys.exec_prefix, _PACKAGE.parent)}
    for entry in sys.path:
        place = Path(entry).resolve()
        if not any(place.is_relative_to(one) for one in own) and (place.is_dir() or place.is_file()):
            yield f"Python looks for modules in `{place}`"
    if os.environ.get("PYTHONHOME") and not sys.flags.ignore_environment:
        yield "PYTHONHOME says where Python itself is"
    if os.environ.get("PYTHONTZPATH") and not sys.flags.ignore_environment:
        yield "PYTHONTZPATH says what time it is in a zone, and so when a window is open"
    if sys.pycache_prefix is not None:
        yield f"Python takes compiled modules from `{sys.pycache_prefix}`"
    yield from (f"scripts and templates are taken from `{folder}`" for folder in _more)


# -- which files are used -----------------------------------------------------------------------------------------
_looking: list[Callable[[str], None]] = []


def touch(path: str) -> None:
    """Say that a file (`sql/...`, `templates/...`) is used now to all that observe it: raises what they raise."""
    for look in tuple(_looking):
        look(path)


@contextmanager
def noting() -> Iterator[set[str]]:
    """Note the files that are used, by all threads, until the block ends."""
    found: set[str] = set()
    with looking(found.add):
        yield found


@contextmanager
def looking(look: Callable[[str], None]) -> Iterator[None]:
    """Let every use of a file be observed until the block ends; what `look` raises keeps it from being used."""
    _looking.append(look)
    try:
        yield
    finally:
        _looking.remove(look)


def hashes(folder: str) -> Mapping[str, str]:
    """Return the hash of each file of an engine's folders, `sql/<folder>` and `templates/<folder>`."""
    roots = {"sql": sql_root() / folder, "templates": template_root() / folder}
    paths = (
        f"{name}/{folder}/{one.name}" for name, root in roots.items() if root.is_dir() for one in root.iterdir()
    )
    return {path: hash_of(path) for path in sorted(paths) if path.endswith((".sql", ".j2"))}


def hash_of(path: str) -> str:
    """Return the hash of a file's text, as this process uses it."""
    return f"sha256:{sha256(_read(path).encode()).hexdigest()}"


@functools.cache
def program_hash() -> str:
    """Return the hash of the program's own files."""
    whole = sha256()
    for path in sorted(_PACKAGE.rglob("*.py")):
        whole.update(f"{path.relative_to(_PACKAGE)} {sha256(path.read_bytes()).hexdigest()}\n".encode())
    return f"sha256:{whole.hexdigest()}"
