"""External tables of ORACLE_LOADER: files of the server's directories as rows, whatever their text says.

The clauses are taken in the order of the manual (Database Utilities, access_parameters), each rejected row goes to
the bad file, its reason to the log. A record ends at each line end, also within quotes.
"""

from __future__ import annotations

import csv
import datetime
import re
from collections.abc import MutableMapping
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation

from seerdb.server.backend import BackendError

from tests.oracle.standin.errors import ora

_NAME = r'"[^"]+"'
_TEXT = r"'(?:[^']|'')*'"
_FILE = rf"(?P<{{0}}>NO{{1}}|{{1}}\s+{_NAME}:(?P<{{0}}_name>{_TEXT}))"
FORMS: tuple[tuple[str, str], ...] = (
    (
        "external_table",
        rf"CREATE\s+TABLE\s+(?P<name>(?:{_NAME}\.)?{_NAME})\s*\((?P<columns>[^;]*?)\)\s*ORGANIZATION\s+EXTERNAL\s*"
        rf"\(\s*TYPE\s+ORACLE_LOADER\s+DEFAULT\s+DIRECTORY\s+(?P<directory>{_NAME})\s+ACCESS\s+PARAMETERS\s*\("
        rf"\s*RECORDS\s+DELIMITED\s+BY\s+NEWLINE\s+CHARACTERSET\s+(?P<charset>{_TEXT})\s+(?P<header>FIELD\s+NAMES\s+ALL\s+FILES\s+IGNORE\s+)?"
        rf"{_FILE.format('bad', 'BADFILE')}\s+NODISCARDFILE\s+{_FILE.format('log', 'LOGFILE')}\s+"
        rf"FIELDS\s+TERMINATED\s+BY\s+(?P<delimiter>{_TEXT})(?:\s+OPTIONALLY\s+ENCLOSED\s+BY\s+(?P<quote>{_TEXT}))?\s+NOTRIM\s+"
        r"MISSING\s+FIELD\s+VALUES\s+ARE\s+NULL\s+REJECT\s+ROWS\s+WITH\s+ALL\s+NULL\s+FIELDS\s*\((?P<fields>.*)\)\s*\)\s*"
        r"LOCATION\s*\((?P<files>[^()]*)\)"
        r"\s*\)\s*REJECT\s+LIMIT\s+(?P<most>\d+)",
    ),
)
_COLUMN = re.compile(r'("[^"]+")\s+([A-Z_0-9]+)(?:\(([^()]*)\))?')
_FIELD = re.compile(
    r'("[^"]+")\s+CHAR\((\d+)\)(?:\s+DATE_FORMAT\s+(DATE|TIMESTAMP)\s+MASK\s+("[^"]+"))?'
    rf"(?:\s+NULLIF\s+\1\s*=\s*({_TEXT}))?"
)
_MASKS = {"YYYY-MM-DD HH24:MI:SS": "%Y-%m-%d %H:%M:%S", "YYYY-MM-DD HH24:MI:SS.FF": "%Y-%m-%d %H:%M:%S.%f"}
_CHARSETS = {"AL32UTF8": "utf-8", "WE8MSWIN1252": "cp1252", "WE8ISO8859P1": "latin-1", "US7ASCII": "ascii"}
_DUCKDB = {"NUMBER": "DOUBLE", "DATE": "TIMESTAMP", "TIMESTAMP": "TIMESTAMP"}
Files = MutableMapping[tuple[str, str], str]


@dataclass(frozen=True)
class Column:
    """A column: its name, its type with its size, and how long its text may be."""

    name: str
    kind: str
    size: int
    field: int
    mask: str
    null: str | None

    @property
    def in_duckdb(self) -> str:
        return _DUCKDB.get(self.kind, "VARCHAR")

    def value(self, text: str) -> object:
        """Return what a text is.

        Raises:
            ValueError: nothing.
        """
        if text in ("", self.null):
            return None
        if len(text.encode()) > self.field:
            raise ValueError(f"field {self.name} is longer than {self.field}")
        if self.mask:
            # what is left out of a mask is its end
            parts = re.split(r"(?<=[^%])(?=[^%\w]?%)", _MASKS[self.mask])
            for count in range(len(parts), 2, -1):
                try:
                    return datetime.datetime.strptime(text, "".join(parts[:count]))
                except ValueError:
                    continue
            raise ValueError(f"error converting column {self.name} to a date")
        if self.kind == "NUMBER":
            try:
                return float(Decimal(text))
            except InvalidOperation:
                raise ValueError(f"error converting column {self.name}: ORA-01722: invalid number") from None
        if self.size and len(text) > self.size:
            raise ValueError(f"ORA-12899: value too large for column {self.name}")
        return text


@dataclass(frozen=True)
class External:
    """An external table."""

    columns: tuple[Column, ...]
    directory: str
    files: tuple[str, ...]
    encoding: str
    header: bool
    delimiter: str
    quote: str
    most: int
    bad: str | None
    log: str | None

    def rows(self, there: Files) -> list[list[object]]:
        """Read all files.

        Raises:
            BackendError: ORA-29913, with KUP-04040 for a file that is not there, with ORA-30653 above the limit.
        """
        found: list[list[object]] = []
        rejected: list[tuple[str, str]] = []
        for file in self.files:
            if (self.directory, file) not in there:
                raise _callout(
                    "OPEN", 29400, f"data cartridge error\nKUP-04040: file {file} in {self.directory} not found"
                )
            lines = there[self.directory, file].splitlines()
            for line in lines[1:] if self.header else lines:
                try:
                    found.append(self._row(line))
                except (ValueError, csv.Error) as error:
                    rejected.append((line, str(error)))
        self._write(there, rejected)
        if len(rejected) > self.most:
            raise _callout("FETCH", 30653, "reject limit reached")
        return found

    def _row(self, line: str) -> list[object]:
        given = next(csv.reader([line], delimiter=self.delimiter, quotechar=self.quote or None, strict=True), [])
        texts = [*given, *[""] * (len(self.columns) - len(given))]
        values = [column.value(text) for column, text in zip(self.columns, texts, strict=False)]
        if all(value is None for value in values):
            raise ValueError("KUP-04073: record ignored because all referenced fields are null for a record")
        return values

    def _write(self, there: Files, rejected: list[tuple[str, str]]) -> None:
        if self.bad is not None and rejected:
            name = (self.directory, self.bad.replace("%a", "000"))
            there[name] = there.get(name, "") + "".join(f"{line}\n" for line, _ in rejected)
        if self.log is not None:
            name = (self.directory, self.log.replace("%a", "000"))
            there[name] = there.get(name, "LOG file opened\n") + "".join(
                f"KUP-04101: {why}\n" for _, why in rejected
            )


def _callout(which: str, number: int, text: str) -> BackendError:
    return ora(29913, said=f"error in executing ODCIEXTTABLE{which} callout\nORA-{number:05d}: {text}")


def made(parts: dict[str, str | None], directories: set[str]) -> External:
    """Read the definition of a table.

    Raises:
        BackendError: ORA-30657 for fields that are not its columns, ORA-06564 for no such directory.
    """
    directory = str(parts["directory"]).strip('"')
    if directory not in directories:
        raise ora(6564, said=f"object {directory} does not exist")
    types = {name: (kind, size) for name, kind, size in _COLUMN.findall(str(parts["columns"]))}
    fields = _FIELD.findall(str(parts["fields"]))
    if [field[0] for field in fields] != list(types) or parts["charset"] is None:
        raise ora(30657, said="operation not supported on external organized table")
    columns = tuple(
        Column(
            name.strip('"'), types[name][0], int(re.sub(r"\D.*", "", types[name][1]) or 0), int(size),
            mask.strip('"'), _literal(null) if null else None,
        )
        for name, size, _, mask, null in fields
    )  # fmt: skip
    return External(
        columns, directory, tuple(map(_literal, re.findall(_TEXT, str(parts["files"])))),
        _CHARSETS[_literal(parts["charset"])], parts["header"] is not None, _literal(str(parts["delimiter"])),
        _literal(parts["quote"]) if parts["quote"] else "", int(parts["most"] or 0),
        *(_literal(name) if (name := parts[f"{kind}_name"]) else None for kind in ("bad", "log")),
    )  # fmt: skip


def _literal(text: str) -> str:
    return text[1:-1].replace("''", "'")
