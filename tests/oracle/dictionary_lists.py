"""Writes the lists of the dictionary's objects, by licence, from lists of what the dictionary holds.

`python -m tests.oracle.dictionary_lists FOLDER` reads three lists in FOLDER (never copied here) and writes
`toolkit/dialects/oracle/licences/dictionary.txt`:

    dict/dbcli_sys_objects.csv                      objects and subprograms that exist in 11.2 to 26ai (23.26)
    dict/oracle_19c_docs_view_columns.csv           views that the Reference of 19c documents
    dict/oracle_19c_docs_plsql_subprograms.json     subprograms that the Packages Reference of 19c documents

What belongs to which pack is decided by the rules of `lists.toml`: `families`, `objects`, and `named`, words
of the Licensing Information. Everything else is free of the packs; a name in neither list is unknown to the guard.
"""

from __future__ import annotations

import csv
import json
import re
import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path

from toolkit.dialects.oracle.licences.dictionary import FILE, FREE, PACKS, canonical, kin
from toolkit.dialects.oracle.licences.lists import licences

_SERVICE_ONLY = ("C##",)
"""Schemas of Autonomous Database, where the packs come with the service."""
_NAME = re.compile(r"[A-Z_][A-Z0-9_$#]*")
_HEAD = """\
# Objects of Oracle's dictionary by licence: written by `python -m tests.oracle.dictionary_lists`, never by hand.
# Sources: hyee/dbcli, oracle/dict.pack (MIT): what exists in 11.2 to 26ai (23.26); jkstill/oracle-doc-parser
# (MIT): what the Reference and the PL/SQL Packages and Types Reference of 19c document. Names only.
# V$X also stands for GV$X, V_$X and GV_$X, in `free` DBA_X for CDB_X, ALL_X and USER_X; P.S is a subprogram.
"""


def objects(folder: Path) -> Iterator[str]:
    """Yield every object (`V$SQL`, `DBMS_XPLAN`) and subprogram (`DBMS_XPLAN.DISPLAY_AWR`) of the sources."""
    with (folder / "dict/dbcli_sys_objects.csv").open(encoding="utf-8", newline="") as file:
        yield from (row["object"] for row in csv.DictReader(file) if not row["owner"].startswith(_SERVICE_ONLY))
    with (folder / "dict/oracle_19c_docs_view_columns.csv").open(encoding="utf-8", newline="") as file:
        yield from (row["view"] for row in csv.DictReader(file))
    text = (folder / "dict/oracle_19c_docs_plsql_subprograms.json").read_text(encoding="utf-8")
    yield from (one["name"] for one in json.loads(text))


def classified(folder: Path) -> dict[str, set[str]]:
    """Return the names by pack, and those that are free of both."""
    found: dict[str, set[str]] = {key: set() for key in (*PACKS, FREE)}
    for name in objects(folder):
        package, _, subprogram = name.upper().partition(".")
        if not _NAME.fullmatch(package) or (subprogram and not _NAME.fullmatch(subprogram)):
            continue
        packs = [key for key in PACKS if _belongs(package, key)]
        if packs and not subprogram:
            for key in packs:
                found[key].add(canonical(package))
        elif not packs and subprogram:
            for key in (key for key in PACKS if _belongs(subprogram, key)):
                found[key].add(f"{package}.{subprogram}")
        if not packs:
            shared = kin(package)
            found[FREE].add(canonical(package) if any(_belongs(shared, key) for key in PACKS) else shared)
    return found


def _belongs(name: str, key: str) -> bool:
    one, known = licences()[key], canonical(name)
    if known in one.free:
        return False
    return known.startswith(one.families) or known in one.objects or any(word.search(known) for word in one.named)


def text_of(found: dict[str, set[str]]) -> str:
    """Return the file's text."""
    sections = (
        f"\n[{key}]\n"
        + textwrap.fill(" ".join(sorted(names)), 118, break_long_words=False, break_on_hyphens=False)
        for key, names in found.items()
    )
    return _HEAD + "".join(f"{section}\n" for section in sections)


if __name__ == "__main__":
    FILE.write_text(text_of(classified(Path(sys.argv[1]))), encoding="utf-8")
