"""What a target is: an address that opens connections, one wrapper an engine.

A wrapper records every statement in order, looks at each before it is sent (licence guard), tags the session, and
translates errors. Drivers are imported on connect only.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from typing import TYPE_CHECKING, NamedTuple, Protocol

from toolkit.errors import ToolkitError

if TYPE_CHECKING:
    from toolkit.model.address import Address
    from toolkit.model.protocols import Connection, DatabaseError
    from toolkit.model.values import Row, Scalar
    from toolkit.model.words import EngineName, Role
    from toolkit.model.workload import Workload

__all__ = [
    "Access",
    "Chosen",
    "LoopSession",
    "Looped",
    "ProgramAccess",
    "SessionTag",
    "Target",
    "UnheardError",
    "UserSession",
    "UsersTarget",
]


class UnheardError(ToolkitError):
    """A database that did not say a word while it was connected to, not even that it refuses (TK-0201).

    `timed_out` tells that nothing came in time; else the host or the network said that there is no way in.
    """

    timed_out = True


@dataclass(frozen=True, slots=True)
class Access:
    """How to get in: the password is asked for when it is needed and never kept.

    `licences` holds what the profile declares (`diagnostics_pack`, `tuning_pack`).
    """

    address: Address
    password: Callable[[], str | None] = field(default=lambda: None, repr=False)
    licences: frozenset[str] = frozenset()
    options: tuple[tuple[str, str], ...] = ()
    """Driver matters of the profile: `thick`, `config_dir`, `wallet_location`, `mode`, `proxy_user` ..."""
    wallet_password: Callable[[], str | None] = field(default=lambda: None, repr=False)
    """The password of an Oracle wallet with certificates (ewallet.pem), where it has one."""
    ask_password: Callable[[], str | None] = field(default=lambda: None, repr=False)
    """Asks a person, once, where the server wants a password; `password` returns the answer from then on."""
    unseen_ok: bool = False
    """Whether statements may be sent whose need of a licence cannot be seen."""
    own: frozenset[tuple[str, ...]] = frozenset()
    """Names that the catalogue knows as objects of a user's, as parts (`("APP", "T")`)."""


_HIDDEN = "********"
_SHORTEST_SECRET = 3


@dataclass(frozen=True, slots=True)
class Logon:
    """How a client connects: the argument that says where and as whom, and the password, typed when it asks."""

    argument: str
    password: str | None = field(default=None, repr=False)


@dataclass(frozen=True, slots=True)
class ProgramAccess:
    """How a program gets into the database: never by its arguments, which everybody on the host can read.

    Attributes:
        environment: variables that may be shown (host, port, user).
        secrets: variables that may not.
        opening: what it reads first from its standard input; may hold a password.
    """

    environment: Mapping[str, str] = field(default_factory=dict)
    secrets: Mapping[str, str] = field(default_factory=dict, repr=False)
    opening: str = field(default="", repr=False)
    hidden: tuple[str, ...] = field(default=(), repr=False)
    """Texts that must not appear in what a program writes, beside the secrets."""
    inspect: Callable[[str], None] = field(default=lambda _: None, repr=False)
    """Looks at what a program is to read, before it is begun; refuses what nobody declared (TK-0303)."""
    without: tuple[str, ...] = ()
    """Variables that it does not inherit."""
    logon: Callable[[], Logon] | None = field(default=None, repr=False)
    """How a client is let in that asks for its password itself (TK-0201 where none may be given so)."""

    def scrub(self, text: str) -> str:
        """Return a line of output without secrets."""
        for secret in (*self.secrets.values(), *self.hidden):
            if len(secret) >= _SHORTEST_SECRET:
                text = text.replace(secret, _HIDDEN)
        return text


@dataclass(frozen=True, slots=True)
class SessionTag:
    """How our sessions can be found: the run id is the session's name (`client_identifier`)."""

    run: str
    action: str = ""


@dataclass(frozen=True, slots=True)
class Exposure:
    """What somebody on the way to a server could do, because it is not verified: evidence, consequence, remedy."""

    evidence: str
    consequence: str
    remedy: str

    @property
    def sentence(self) -> str:
        return f"{self.evidence}: {self.consequence}; {self.remedy}"


class Target(Protocol):
    """A database one can reach."""

    engine: EngineName
    observer: Callable[[str], None] | None
    """Called with every statement just before it is sent (tests and `--debug` record them)."""

    @property
    def address(self) -> Address:
        """Where it is."""
        ...

    @property
    def display(self) -> str:
        """Its address without secrets."""
        ...

    @property
    def local(self) -> bool:
        """Whether the database runs on this host, as far as the address tells."""
        ...

    @property
    def exposure(self) -> Exposure | None:
        """What is at stake on the way to it, as far as is known without connecting; None where nothing is."""
        ...

    @property
    def lease_key(self) -> str:
        """What is equal for two addresses of the same database, as far as is known without connecting."""
        ...

    def connect(self, role: Role, tag: SessionTag, *, read_only: bool = False) -> Connection:
        """Open a session.

        Raises:
            ToolkitError: TK-0201 with the driver's reason and a hint; TK-0206 when the driver is missing.
        """
        ...

    def allow_folder(self, path: str) -> None:
        """Let the database read and write a folder of this host for us; to be said before the first session.

        Only a database in this process is kept from it else: a server has rules of its own.
        """

    def allow_file(self, path: str) -> None:
        """Let the database read a file of this host for us; as `allow_folder`."""

    def keep_to(self, schema: str) -> None:
        """Hold all later sessions to what was looked at: names without a schema are looked for where they were.

        Raises in `connect` then: ToolkitError TK-0313 for a session on another server, as far as the engine tells.
        """
        ...

    def programs_access(self, run: str) -> ProgramAccess:
        """Return how a program gets into the database, under the name of a run; asks for the password anew.

        Raises:
            ToolkitError: TK-0201 when the password cannot be had.
        """
        ...

    @property
    def programs_folder(self) -> str | None:
        """Where the profile says that the engine's programs are (`bin_dir`)."""
        ...

    def close(self) -> None:
        """Give back what sessions share (DuckDB: the database file)."""
        ...


class UserSession(Protocol):
    """The session of one user of a workload: as near to the driver as it gets, for it is used all the time.

    `retried` are the codes of errors by which the database gave a transaction up for the sake of others.
    """

    retried: frozenset[str]

    def prepare(self, workload: Workload) -> None:
        """Run its settings and prepare its statements.

        Raises:
            DatabaseError: one of them is wrong; the message names its transaction.
        """
        ...

    def read(self, query: str) -> list[str | int]:
        """Return the first column of a query, without nulls."""
        ...

    def bind(self, which: int, values: Mapping[str, str | int]) -> Callable[[], None]:
        """Return what runs one transaction with these values, as often as it is called, and waits for its end.

        It raises a DatabaseError when the transaction failed, and was rolled back. It is bound ahead of its time,
        so that little is left to do between two transactions.
        """
        ...

    def cancel(self) -> None:
        """Cancel what runs, from another thread."""
        ...

    def close(self) -> None:
        """Close it; never raises."""
        ...


class Chosen(NamedTuple):
    """A transaction that was chosen, by its place in the workload, and the values of its parameters, in order."""

    which: int
    values: Mapping[str, str | int]


@dataclass(frozen=True, slots=True)
class Looped:
    """What one call of a loop in the server did.

    Attributes:
        ended: of each transaction that was committed, in order: after how many seconds of the call by its clock.
        error: what the next one failed of, and was rolled back; None where none failed.
    """

    ended: Sequence[float]
    error: DatabaseError | None = None


class LoopSession(UserSession, Protocol):
    """The session of a user whose transactions a loop in the server begins."""

    def loop(self, chosen: Sequence[Chosen], seconds: float) -> Looped:
        """Let the server run transactions one after the other, each with a commit, until one fails.

        It begins none after so many seconds; the first one it always runs.

        Raises:
            DatabaseError: the session is lost.
        """
        ...


class UsersTarget(Protocol):
    """A target on which users of a workload can work."""

    engine: EngineName

    @property
    def users_access(self) -> Access:
        """How to get in, and what is allowed there: what a process needs that opens sessions of its own."""
        ...

    def connect_user(self, tag: SessionTag) -> UserSession:
        """Open the session of a user of a workload.

        Raises:
            ToolkitError: as `connect`.
        """
        ...

    def close(self) -> None:
        """Give back what sessions share."""
        ...


# -- values -------------------------------------------------------------------------------------------------------
def plain(value: object) -> Scalar:
    """Return a value as text, number, boolean or None.

    Instants become ISO 8601 in UTC, intervals seconds, bytes hexadecimal text.
    """
    if isinstance(value, datetime) and value.tzinfo:
        value = value.astimezone(UTC)
    match value:
        case None | str() | bool() | int() | float():
            return value
        case Decimal():
            return int(value) if value == value.to_integral_value() else float(value)
        case date():
            return value.isoformat()
        case timedelta():
            return value.total_seconds()
        case bytes():
            return value.hex()
    return str(value)


_PLAIN = (str, int, float, type(None))


def plain_rows(
    columns: Sequence[str], rows: Iterable[Sequence[object]], spell: Callable[[object], Scalar] = plain
) -> tuple[Row, ...]:
    """Return rows as mappings from lower-case column names to plain scalars; `spell` makes such of all others."""
    names = [column.lower() for column in columns]
    return tuple(
        [
            {
                name: each if isinstance(each, _PLAIN) else spell(each)
                for name, each in zip(names, row, strict=True)
            }
            for row in rows
        ]
    )


# -- binds --------------------------------------------------------------------------------------------------------
_TOKEN = re.compile(
    r"""(?P<skip>--[^\n]*|/\*.*?\*/|'(?:[^']|'')*'|"(?:[^"]|"")*"|::)|:(?P<name>[a-z][a-z0-9_]*)""",
    re.DOTALL,
)


def translate(text: str, spell: Callable[[str], str], escape: Callable[[str], str] = str) -> str:
    """Return the text with every bind spelled by `spell`; all other text goes through `escape`.

    Args:
        text: one statement with binds as `:name`.
        spell: turns a bind's name into the driver's spelling.
        escape: for drivers that give another character a meaning (psycopg's `%`).
    """
    texts, names = _around_binds(text)
    return "".join(
        [escape(texts[0]), *(part for name, after in zip(names, texts[1:], strict=True)
                             for part in (spell(name), escape(after)))]
    )  # fmt: skip


def names_in(text: str) -> tuple[str, ...]:
    """Return the names of the binds, in order, each once."""
    return tuple(dict.fromkeys(_around_binds(text)[1]))


@functools.lru_cache(maxsize=256)
def _around_binds(text: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the texts around the binds, one more than there are, and their names: a run sends the same again."""
    texts, names, at = list[str](), list[str](), 0
    for match in _TOKEN.finditer(text):
        if match["name"]:
            texts.append(text[at : match.start()])
            names.append(match["name"])
            at = match.end()
    return (*texts, text[at:]), tuple(names)
