"""Whose log it is: release, database and DBID, as told at the top or, where that is missing, by names of files."""

from __future__ import annotations

from collections import Counter

from toolkit.readers.rman import words

_ENOUGH = 200
"""Names of files that are looked at: those after them tell nothing new."""


class Identity:
    """The first target that was connected, else what handles and commands tell."""

    def __init__(self) -> None:
        self.release: str | None = None
        self.patch_level: str | None = None
        self._target: tuple[str, int | None] | None = None
        self._auxiliary: tuple[str, int | None] | None = None
        self._set_dbid: int | None = None
        self._dbid_in_names: int | None = None
        self._looked = 0
        self._folders: Counter[str] = Counter()

    def connected(self, line: str) -> bool:
        """Read `connected to target database: NAME (DBID=n)` in any language."""
        found = words.CONNECTED.search(line)
        if found is None:
            return False
        name, dbid = found[1].partition(":")[0], int(found[2]) if found[2] else None
        if words.AUXILIARY.search(line[: found.start()]):
            self._auxiliary = self._auxiliary or (name, dbid)
        elif self._target is None or (self._target[1] is None and dbid is not None):
            self._target = (name, dbid)
        return True

    def command(self, line: str) -> None:
        """Learn from a command that was typed."""
        if "dbid" in line or "DBID" in line:
            found = words.SET_DBID.search(line)
            if found:
                self._set_dbid = self._set_dbid or int(found[1])

    def file(self, name: str) -> None:
        """Learn from the name of a piece."""
        if self._looked >= _ENOUGH:
            return
        self._looked += 1
        found = words.OMF.search(name)
        if found:
            self._folders[found[1]] += 1
        if self._dbid_in_names is None:
            told = words.FORMAT_F.search(name)
            self._dbid_in_names = int(told[1]) if told else None

    @property
    def version(self) -> str | None:
        """The release of the client, and its patch level where that is another."""
        if self.release is None or self.patch_level in {None, self.release}:
            return self.release
        return f"{self.release} ({self.patch_level})"

    @property
    def database(self) -> tuple[str | None, str | None]:
        """The name of the database and where it is from."""
        if self._target:
            return self._target[0], "connected"
        if self._auxiliary:
            return self._auxiliary[0], "auxiliary"
        if self._folders:
            return self._folders.most_common(1)[0][0], "file names"
        return None, None

    @property
    def dbid(self) -> int | None:
        """The DBID."""
        told = (self._target or self._auxiliary or ("", None))[1]
        return told if told is not None else self._set_dbid or self._dbid_in_names
