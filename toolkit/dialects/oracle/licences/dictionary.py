"""What Oracle's dictionary is known to hold: objects of the packs, and objects that are free of them.

The lists are generated (`dictionary.txt` names its sources). A name that looks like one of Oracle's and stands in
neither list is unknown: it may be an object of a pack in a release that nobody has looked through yet.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Mapping
from pathlib import Path

FILE = Path(__file__).with_name("dictionary.txt")
PACKS = ("diagnostics_pack", "tuning_pack")
FREE = "free"

_DYNAMIC = re.compile(r"G?V_?\$")
_KIN = re.compile(r"(?:CDB|ALL|USER)_")
_BESIDE = frozenset(["DUAL", "PLAN_TABLE$", "ODCI_SECOBJ$", "DBMS_MVIEW"])
"""What of SYS everybody may name and the sources, lists of views and packages, do not have: tables, a synonym."""
_ORACLES = re.compile(r"G?V_?\$|X\$|(?:DBA|CDB)_|WR[A-Z]\$_|INT\$|DBMS_|PRVT_|_DBA_|_CDB_|_ALL_|_USER_")


def canonical(name: str) -> str:
    """Return a name as the lists have it: upper case, and GV$X, V_$X and GV_$X as V$X."""
    upper = name.upper()
    found = _DYNAMIC.match(upper)
    return "V$" + upper[found.end() :] if found else upper


def kin(name: str) -> str:
    """Return the name under which a free view stands in the list: CDB_X, ALL_X and USER_X are kin of DBA_X."""
    return _KIN.sub("DBA_", canonical(name), count=1) if _KIN.match(name.upper()) else canonical(name)


@functools.cache
def named() -> Mapping[str, frozenset[str]]:
    """Return the lists by licence, and those free of the packs under `free`."""
    lists: dict[str, set[str]] = {}
    here: set[str] = set()
    for line in FILE.read_text(encoding="utf-8").splitlines():
        if line.startswith("["):
            here = lists.setdefault(line.strip("[]"), set())
        elif not line.startswith("#"):
            here.update(line.split())
    return {key: frozenset(names) for key, names in lists.items()}


def looks_like_oracles(name: str) -> bool:
    """Tell whether a name is of a kind that Oracle gives to its own objects."""
    return _ORACLES.match(name.upper()) is not None


def is_known_free(name: str) -> bool:
    """Tell whether a name is on the list of what is free of the packs."""
    return not named()[FREE].isdisjoint((kin(name), canonical(name))) or name.upper() in _BESIDE
