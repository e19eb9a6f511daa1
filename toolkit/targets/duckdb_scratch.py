"""Imports an export into a new DuckDB file, and asks it: `python -I duckdb_scratch.py import|query ...`.

A program of its own: what an export's scripts say runs beside no database of the user's, may load no extension,
and reads no file but those of the export; a crash of the library ends this process alone.
"""

from __future__ import annotations

import argparse
import csv
import sys
from pathlib import Path

import duckdb

_SCRIPTS = ("schema.sql", "load.sql")
_CONFINED = {"autoinstall_known_extensions": "false", "autoload_known_extensions": "false"}


def main(arguments: list[str]) -> int:
    """Import an export, or answer one query of the standard input as CSV."""
    reader = argparse.ArgumentParser()
    act = reader.add_subparsers(required=True, dest="act")
    importing, asking = act.add_parser("import"), act.add_parser("query")
    importing.add_argument("--threads", type=int, default=1)
    importing.add_argument("folder", type=Path)
    for one in (importing, asking):
        one.add_argument("file", type=Path)
    given = reader.parse_args(arguments)
    try:
        if given.act == "import":
            _import(given.folder, given.file, given.threads)
        else:
            _ask(given.file, sys.stdin.read())
    except (duckdb.Error, OSError, ValueError) as error:
        print(f"{given.act}: error: {_sentence(error)}", flush=True)  # noqa: T201 (a program of its own)
        return 1
    return 0


def _sentence(error: Exception) -> str:
    return " ".join(str(error).split()) or type(error).__name__


def _import(folder: Path, file: Path, threads: int) -> None:
    for name in _SCRIPTS:
        if not (folder / name).is_file():
            msg = f"`{name}` is missing in the backup"
            raise ValueError(msg)
    file.parent.mkdir(mode=0o700)
    settings: dict[str, str | bool | int | float | list[str]] = {**_CONFINED, "threads": threads}
    with duckdb.connect(str(file), config=settings) as session:
        allowed = ", ".join(_literal(f"{each}/") for each in (folder, file.parent))
        session.execute(f"SET allowed_directories = [{allowed}]")
        session.execute("SET enable_external_access = false")
        session.execute(f"IMPORT DATABASE {_literal(str(folder))}")
        session.execute("CHECKPOINT")


def _literal(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


def _ask(file: Path, text: str) -> None:
    settings: dict[str, str | bool | int | float | list[str]] = {**_CONFINED, "enable_external_access": "false"}
    with duckdb.connect(str(file), read_only=True, config=settings) as session:
        rows = session.execute(text).fetchall()
    csv.writer(sys.stdout, lineterminator="\n").writerows(rows)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
