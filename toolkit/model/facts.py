"""What was read from the catalogue before planning: frozen, kept as an artifact, compared on resume."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field

from toolkit.errors import ToolkitError
from toolkit.model.engines import engines
from toolkit.model.transfers import CsvStyle
from toolkit.model.values import Row, Scalar
from toolkit.model.words import EngineName, ProbeKind


@dataclass(frozen=True, slots=True)
class Query:
    """A read of the catalogue: a file of `sql/<engine>/` and its binds; the answer is kept under `key`.

    `optional` reads that are refused (a grant is missing) give no rows and a warning instead of an error.
    `only_if` names columns by the keys of earlier answers: where no row of them has YES in its column there is
    nothing to read, and no round trip is spent on it.
    """

    key: str
    file: str
    binds: Mapping[str, Scalar] = field(default_factory=dict)
    optional: bool = False
    only_if: Mapping[str, str] = field(default_factory=dict)

    def has_no_rows(self, answers: Mapping[str, tuple[Row, ...]]) -> bool:
        """Tell whether earlier answers show that there is nothing to read."""
        asked = self.only_if.items()
        return bool(asked) and not any(
            row.get(column) == "YES" for key, column in asked for row in answers.get(key, ())
        )


@dataclass(frozen=True, slots=True)
class Probe:
    """A question about this host, asked before planning; the answer is kept under `key` as that of a query is.

    A program is looked for under each of `names`, in the folders `places` that the user named and nowhere else; if
    none is named in that of the target's profile, where it is `usual`, and on PATH. It is run with `arguments` to
    ask its version: columns `path`, `version_text`, `problem`; a lookup only tells the `path`. Of a folder
    (`names` has its path): `path`, `real_path`, `is_there`, `is_folder`, `is_writable`, `is_empty` (`yes` or
    `no`), `free_byte_count`, `owner`, `asked_by` (names of users). Of its content: `names` (at its top, with `/`
    between them), `byte_count`, `file_count`, `oldest_at` (of a file), `problem`; below it is
    looked only where a name at its top begins as one that is `usual`. Of a user (`names` has the name,
    or the path of what that user owns, and a path): `is_there`, `closed_at` (the first folder on it that is closed
    to that user). Of data files (`names` has paths and patterns) see `toolkit.executors.data_files`, of their
    columns `toolkit.executors.field_kinds`; `style` says how they are read, `chunk_bytes` how they are divided.
    """

    key: str
    kind: ProbeKind
    names: tuple[str, ...]
    places: tuple[str, ...] = ()
    usual: tuple[str, ...] = ()
    arguments: tuple[str, ...] = ("--version",)
    style: CsvStyle = field(default_factory=CsvStyle)
    chunk_bytes: int = 0
    sessions: int = 1


@dataclass(frozen=True, slots=True)
class Release:
    """Version and edition of a server; `number` compares, `text` is what the server says of itself."""

    number: tuple[int, ...]
    edition: str = ""
    text: str = ""

    def __str__(self) -> str:
        return self.text or ".".join(map(str, self.number))


@dataclass(frozen=True, slots=True)
class Facts:
    """Answers of the catalogue, by query key; `assumed` facts were given by `--assume`, not read."""

    engine: EngineName
    release: Release
    answers: Mapping[str, tuple[Row, ...]] = field(default_factory=dict)
    assumed: bool = False
    refused: Mapping[str, str] = field(default_factory=dict)
    """Optional reads that were refused: key -> the database's message."""

    def rows(self, key: str) -> tuple[Row, ...]:
        """Return the rows of an answer; an answer not read is empty."""
        return self.answers.get(key, ())

    def first(self, key: str) -> Row:
        """Return the first row of an answer, or an empty row."""
        rows = self.rows(key)
        return rows[0] if rows else {}

    def value(self, key: str, column: str, default: Scalar = None) -> Scalar:
        """Return one column of the first row, or `default` where it is missing or null."""
        found = self.first(key).get(column)
        return default if found is None else found

    def require(self, key: str) -> tuple[Row, ...]:
        """Return the rows of an answer that a script cannot be made without.

        Raises:
            ToolkitError: TK-0112 when it was not read.
        """
        if key not in self.answers:
            raise ToolkitError(
                f"the script depends on `{key}` from the catalogue, which was not read",
                code="TK-0112",
                hint="omit --assume to read it from the target, or give --facts FILE",
            )
        return self.answers[key]


def facts_to_text(facts: Facts, *, indent: int | None = None) -> str:
    """Write facts as JSON, as kept with a run and taken by `--facts`; indented for people, which takes longer."""
    document = {
        "engine": facts.engine,
        "release": {
            "number": list(facts.release.number), "edition": facts.release.edition, "text": facts.release.text,
        },
        "answers": {key: [dict(row) for row in rows] for key, rows in facts.answers.items()},
        "refused": dict(facts.refused),
    }  # fmt: skip
    return json.dumps(document, indent=indent, sort_keys=True)


def facts_from_text(text: str) -> Facts:
    """Read facts written by `facts_to_text`.

    Raises:
        ToolkitError: TK-0106 when it is not such a document.
    """
    try:
        document = json.loads(text)
        release = document["release"]
        if document["engine"] not in engines():
            raise ValueError(document["engine"])
        answers = {str(key): tuple(dict(row) for row in rows) for key, rows in document["answers"].items()}
        return Facts(
            document["engine"],
            Release(tuple(release["number"]), release["edition"], release["text"]),
            answers,
            refused=document.get("refused", {}),
        )
    except (ValueError, KeyError, TypeError, AttributeError):
        raise ToolkitError(
            "this is not a facts file", code="TK-0106", hint="create one with `dbatk doctor --facts-out FILE`"
        ) from None


@dataclass(frozen=True, eq=False)
class SameFacts:
    """Facts as a key of a cache: a big schema is searched once, not once for each of its indexes."""

    facts: Facts

    def __hash__(self) -> int:
        return id(self.facts)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, SameFacts) and other.facts is self.facts
