"""The registry of engines: what each declares about itself, in the one place where it is declared.

An engine is a package of `toolkit.dialects`: its `DECLARATION` is light to import; its module `dialect` holds all
that is asked of it when it is used. The packages are found by looking; `registered` adds one from elsewhere.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from toolkit.model.declarations import Declarations
from toolkit.model.words import EngineName


class SqlReading(StrEnum):
    """How the texts that users write are read: which quotes there are, and what a sign means outside them.

    `standard` has dollar quotes, nested comments and `::`; `postgresql` has also `U&`, and letters that look like
    blanks; `oracle` has q-quotes, and SQL*Plus replaces `&`.
    """

    STANDARD = "standard"
    POSTGRESQL = "postgresql"
    ORACLE = "oracle"


@dataclass(frozen=True, slots=True)
class SqlClient:
    """The engine's own client, in which printed scripts run.

    Attributes:
        title: its name.
        opening: its commands that open a script.
        on_error: its commands before and after a statement that may fail.
        going_on: what opens a script whose statements do not depend on each other.
        alone: what opens a script that a program gives it: no headings, whole lines, an end at the first error.
        comment: what begins a comment line; a shell's is `#`, and programs stand in it as they are.
    """

    title: str
    opening: tuple[str, ...] = ()
    on_error: tuple[str, ...] = ("", "")
    going_on: tuple[str, ...] = ()
    alone: tuple[str, ...] = ()
    comment: str = "--"


@dataclass(frozen=True, slots=True)
class EngineDeclaration:
    """All that is known of an engine without its dialect.

    Attributes:
        name: in files, stores and reports; the folder of its templates and of its SQL files.
        title: as people write it.
        package: the package with the modules `dialect`, `states` and `guards`.
        target: the module with `open_target`, which makes a target of an access.
        schemes: of its URLs; the first one is its own.
        url_form: how its URL is written, for hints.
        client: in which its scripts run.
        reads: how texts of its users are read.
        cuts_names_at: bytes of a name behind which it drops the rest in silence; 0 where it refuses longer ones.
        identity: what identifies a database and where it is: name, catalogue file and column of each part.
        same_by: the parts that are equal however one gets there; limits of profiles go by them.
        role_mark: what separates, in its `database_id`, a name that changes with the database's role from one that
            stays; none where it stays as a whole.
        session: settings of a session on which it depends what its statements do, as in `identity`.
        names_in_texts: catalogue file that says what names without a schema lead to; else they lead to one.
        behind_names: catalogue files that say what stands behind these, and what to ask for next; none where
            `names_in_texts` says all of it.
        before_names: catalogue file that its session runs first: nothing leads it elsewhere or slows it down.
        embedded: whether the database is a file that our own process opens.
        in_process: whether its work is done by threads of this process, so that their CPU time is the work's.
        service_names: whether the path of its URL is a service name, of one or several hosts, or an alias.
        socket_folders: whether the host of its URL may be the folder of a socket.
        dates_statistics: whether its catalogue tells when statistics were gathered.
        ages_transactions: whether its transaction numbers wrap around, so that its tables have an age in them.
        opens_ahead: whether the sessions of a job are opened while other work is done, each by a thread.
        licences: whether features of it are licensed one by one, so that statements are held against declarations.
        keeps_snapshots: whether it may keep snapshots of its counters itself (AWR, Statspack).
        keeps_jobs: whether its own scheduler can run a plan (DBMS_SCHEDULER).
        bundles: whether `export` writes its scripts with a driver script.
        rman: whether RMAN backs it up, a client that starts servers of its own.
        consumer_groups: whether sessions belong to resource consumer groups.
        stored_degrees: whether a table or an index has a degree of its own, or workers, that a run restores.
        sysdba: whether a client connects as SYSDBA and works on a server that is down, too.
        asks_password: whether a URL with a user alone needs a password asked for.
        verifying: options of a profile by which the server is verified and the connection encrypted, with the
            values that each takes, or none where it takes any text.
        counters: the name of its counters among snapshot sources, where snapshots do not name it.
        counted_in: what its counters are of, `instance` or `database`.
        order: its place in lists; ties go by name.
    """

    name: EngineName
    title: str
    package: str
    target: str
    schemes: tuple[str, ...]
    url_form: str
    client: SqlClient
    reads: SqlReading = SqlReading.STANDARD
    cuts_names_at: int = 0
    identity: tuple[tuple[str, str, str], ...] = (("name", "server", "database_name"),)
    same_by: tuple[str, ...] = ()
    role_mark: str = ""
    session: tuple[tuple[str, str, str], ...] = ()
    names_in_texts: str = ""
    behind_names: tuple[str, ...] = ()
    before_names: str = ""
    embedded: bool = False
    in_process: bool = False
    service_names: bool = False
    socket_folders: bool = False
    dates_statistics: bool = True
    ages_transactions: bool = False
    opens_ahead: bool = False
    licences: bool = False
    keeps_snapshots: bool = False
    keeps_jobs: bool = False
    bundles: bool = False
    rman: bool = False
    consumer_groups: bool = False
    stored_degrees: bool = False
    sysdba: bool = False
    asks_password: bool = False
    verifying: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    counters: str = ""
    counted_in: str = "instance"
    order: int = 100


_ENGINES: Declarations[EngineDeclaration] = Declarations("toolkit.dialects", "an engine")
engines = _ENGINES.every
engine = _ENGINES.of
registered = _ENGINES.registered
