"""What `--assume` can say: a release and edition, and what is otherwise read of the database: `19-ee,rac,standby`.

The words become answers of the catalogue under the keys that a connected run reads, so that whatever judges those
judges these. Sources: Database Reference (V$DATABASE, V$INSTANCE.PARALLEL, V$ARCHIVE_DEST.STATUS), Licensing
Information (Standard Edition ends with 12.1.0.1, Standard Edition 2 begins with 12.1.0.2).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from toolkit.dialects.oracle.releases import EDITIONS, RELEASES
from toolkit.documents import did_you_mean
from toolkit.errors import ToolkitError
from toolkit.model.facts import Facts, Release
from toolkit.model.values import Row

_EDITIONS = ("ee", "se2", "se", "xe", "free")
_STANDARD: dict[str, tuple[int, ...]] = {"11.2": (11, 2, 0, 4), "12.1": (12, 1, 0, 1)}
"""The releases that had a Standard Edition, and the last number of each."""

_SUFFIX = re.compile(r"(?<=\d)(?:c|g|ai)$")
"""What Oracle puts after the number: 11g, 12c, 19c, 23ai."""

_PRIMARY: Row = {
    "database_role": "PRIMARY", "open_mode": "READ WRITE", "log_mode": "ARCHIVELOG", "force_logging": "NO",
}  # fmt: skip
_MORE_NODES = re.compile(r"rac=(?:[2-9]|[1-9]\d)")


@dataclass(frozen=True, slots=True)
class Fact:
    """What a word says: columns of V$DATABASE, whole answers, reads that are refused; `about` says of what."""

    about: str
    database: Row = field(default_factory=dict)
    answers: Mapping[str, tuple[Row, ...]] = field(default_factory=dict)
    refused: str = ""


def _nodes(count: int) -> Fact:
    nodes: tuple[Row, ...] = tuple({"instance_number": n, "instance_name": None} for n in range(1, count + 1))
    here: Row = {"instance_number": 1, "instance_name": None, "cluster_database": "YES"}
    return Fact("instances", answers={"doctor_instances": nodes, "doctor_instance": (here,)})


def _standby(status: str) -> Fact:
    row: Row = {"destination_id": 2, "db_unique_name": "STANDBY", "status": status}
    # Redo goes to a standby only from a database that archives it.
    return Fact("standbys", {"log_mode": "ARCHIVELOG"}, {"doctor_standbys": (row,)})


FACTS: dict[str, Fact] = {
    "rac": _nodes(2),
    "archivelog": Fact("archiving", {"log_mode": "ARCHIVELOG"}),
    "noarchivelog": Fact("archiving", {"log_mode": "NOARCHIVELOG"}),
    "force-logging": Fact("forced logging", {"force_logging": "YES"}),
    "physical-standby": Fact(
        "role",
        {"database_role": "PHYSICAL STANDBY", "open_mode": "READ ONLY WITH APPLY", "log_mode": "ARCHIVELOG"},
    ),
    "standby": _standby("VALID"),
    "standby=valid": _standby("VALID"),
    "standby=deferred": _standby("DEFERRED"),
    "standby=error": _standby("ERROR"),
    "standby=disabled": _standby("DISABLED"),
    "standby=bad-param": _standby("BAD PARAM"),
    "standby=none": Fact("standbys", answers={"doctor_standbys": ()}),
    "standby=unknown": Fact("standbys", refused="doctor_standbys"),
}


def assume(text: str) -> Facts:
    """Return the facts of an assumed database, without a connection.

    Args:
        text: release and edition, then words of `FACTS`, or `rac=4` for that many instances, with commas between.

    Raises:
        ToolkitError: TK-0102 with the values that are known.
    """
    first, *words = (part.strip() for part in text.lower().split(","))
    release = _release(first)
    server: Row = {"version_text": release.text, "edition": release.edition}
    database, given, refused = dict(_PRIMARY), dict[str, str](), dict[str, str]()
    answers: dict[str, tuple[Row, ...]] = {"server": (server,)}
    for word in words:
        fact = _fact(word)
        for thing in (fact.about, *fact.database):
            value = str(fact.database.get(thing, word))
            if given.setdefault(thing, value) != value:
                raise ToolkitError(
                    f"the words of `--assume {text}` contradict each other on {thing.replace('_', ' ')}",
                    code="TK-0102",
                    hint="a database that has standbys archives its redo; say each thing once",
                )
        database |= fact.database
        answers |= fact.answers
        if fact.refused:
            refused[fact.refused] = "ORA-00942: table or view does not exist (assumed)"
    if words:
        answers["doctor_database"] = (database,)
    return Facts("oracle", release, answers=answers, assumed=True, refused=refused)


def _release(text: str) -> Release:
    name, _, edition = text.partition("-")
    name = _SUFFIX.sub("", name)
    known = _STANDARD if edition == "se" else RELEASES
    if name not in known or edition not in _EDITIONS:
        raise ToolkitError(
            f"`{text}` is not a release and edition of Oracle",
            code="TK-0102",
            hint=f"`19-ee`: one of {', '.join(known)} and one of {', '.join(_EDITIONS)}",
        )
    words = f"Oracle Database {name} {EDITIONS[edition].words} Release {'.'.join(map(str, known[name]))}"
    return Release(known[name], edition, words)


def _fact(word: str) -> Fact:
    if _MORE_NODES.fullmatch(word):
        return _nodes(int(word.partition("=")[2]))
    if word in FACTS:
        return FACTS[word]
    if word.startswith("rac="):
        raise ToolkitError(
            f"`{word}` is not a cluster", code="TK-0102", hint="`rac=4`: 2 or more instances, below 100"
        )
    raise ToolkitError(
        f"`{word}` is not a fact that can be assumed", code="TK-0102", hint=did_you_mean(word, FACTS)
    )
