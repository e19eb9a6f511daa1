"""The scratch server: who runs it, what it is configured to, how it is started, asked and ended.

It listens on a socket in a folder of its own and nowhere else, archives nothing, replicates nothing, loads none of
the libraries that the backup's configuration names, and begins no worker of a subscription.
Sources: PostgreSQL manual, chapters "Server Configuration" and "Continuous Archiving"; `pg_ctl`.
"""

from __future__ import annotations

import sys
from dataclasses import replace

from toolkit import resources
from toolkit.dialects import backups
from toolkit.dialects.postgresql.backup.programs import path_to
from toolkit.dialects.postgresql.release import major
from toolkit.dialects.work import Call, ContextValue, Work
from toolkit.errors import ToolkitError
from toolkit.model.facts import Facts
from toolkit.model.steps import content_of, path_of
from toolkit.model.words import Effect, Role, StepKind

PG_CTL, PSQL, SOURCE, STATE = "pg_ctl", "psql", "restore_source", "restored_state"
STEPS = 2
"""Steps on the clock: the configuration, and the start with the recovery."""
UNSAFE = frozenset("'\"$`\\\n\r")
_LONGEST_NAME = f"dbatk_{'0' * 16}_{'0' * 4}"
_LONGEST_SOCKET = 107
"""Bytes of a socket's path (sun_path of Linux, less its end)."""
_PORT, _OTHER = 65010, 65011
_NO_LOGIN_TRIGGERS = 17
_LIBRARY_OF_ARCHIVES = 15
_OPTIONS = (
    "-c default_transaction_read_only=on -c timezone=UTC -c datestyle=ISO -c intervalstyle=postgres "
    "-c extra_float_digits=1 -c bytea_output=hex -c search_path=pg_catalog,public -c row_security=off"
)
"""Settings by which target and copy spell values alike; a query fails where a policy would hide rows."""
_OPTIONS_OF_SUPERUSER = (
    "-c default_transaction_read_only=off -c timezone=UTC -c datestyle=ISO -c search_path=pg_catalog"
)
"""Settings with which no name leads to what the backup holds."""


def port(facts: Facts) -> int:
    """Return a port that is not the target's; it only names the socket, for nothing listens on the network."""
    return _OTHER if facts.value("backup_server", "port") == _PORT else _PORT


def socket_folder(work: Work) -> str:
    """Return the folder of the socket."""
    return f"{path_of(work.object)}/socket"


# -- who runs it --------------------------------------------------------------------------------------------------
def user(work: Work, facts: Facts) -> str | None:
    """Return the user as whom root runs the server; None for everybody else, who runs it as himself."""
    if facts.value("destination", "asked_by") != "root":
        return None
    given = work.option("run_as")
    if given is not None:
        return str(given)
    owners = (facts.value("data_directory", "owner"), facts.value(f"backup:{work.option('backup')}", "owner"))
    return next((str(owner) for owner in owners if owner not in (None, "root")), None)


def refuse(work: Work, facts: Facts) -> None:
    """Refuse a place that cannot have a socket, and a user who cannot run a server there.

    Raises:
        ToolkitError: TK-0102, TK-0107 or TK-0305.
    """
    place = f"{(work.object.name.schema or '').rstrip('/')}/{_LONGEST_NAME}"
    path = f"{place}/socket/.s.PGSQL.{_PORT}"
    if UNSAFE.intersection(path):
        raise ToolkitError(
            f"`{work.object.name.schema}` cannot be the place of a scratch server: its programs use a shell",
            code="TK-0102",
            hint="choose a `--destination` without quotes, `$`, backquotes and backslashes",
        )
    if len(path.encode()) > _LONGEST_SOCKET:
        raise ToolkitError(
            f"the socket of the scratch server would be `{path}`, longer than the {_LONGEST_SOCKET} bytes that "
            "the system allows",
            code="TK-0102",
            hint="choose a `--destination` with a shorter path",
        )
    _refuse_user(work, facts)


def _refuse_user(work: Work, facts: Facts) -> None:
    me = facts.value("destination", "asked_by")
    given = work.option("run_as")
    if me not in (None, "root"):
        if given not in (None, me):
            raise ToolkitError(
                f"`{me}` cannot run a server as `{given}`: only root can choose",
                code="TK-0305",
                hint="omit --run-as",
            )
        return
    if me is None:
        return
    who = user(work, facts)
    if who in (None, "root"):
        raise ToolkitError(
            "PostgreSQL refuses to run as root, and nobody else is known to own the target's files",
            code="TK-0305",
            hint="give `--run-as USER`, such as postgres, or run dbatk as that user",
        )
    found = facts.first("run_as")
    if found.get("is_there") == "no":
        raise ToolkitError(f"there is no user `{who}` on this host", code="TK-0204", hint="check `--run-as`")
    if found.get("closed_at") is not None:
        raise ToolkitError(
            f"`{who}` may not enter `{found['closed_at']}`, so no server of that user can run below it",
            code="TK-0305",
            hint="choose another `--destination`, or let that user pass (chmod o+x)",
        )


# -- steps --------------------------------------------------------------------------------------------------------
def make(work: Work, facts: Facts) -> Call:
    """Make the folder of the copy; the server's user owns it."""
    call, who = backups.make(work.object, str(work.mark)), user(work, facts)
    return call if who is None else replace(call, argv=(*call.argv, who))


def helper(act: str, *arguments: str) -> tuple[str, ...]:
    """Return the argument list of our own program."""
    return (sys.executable, "-I", resources.program("executors", "scratch_server"), act, *arguments)


def configure(work: Work, facts: Facts, *, new: bool = False) -> Call:
    """Write the configuration that cuts the server off; `new` where the cluster is not from a backup."""
    values: dict[str, ContextValue] = {
        "port": port(facts),
        "sockets": socket_folder(work),
        "library_of_archives": major(facts.release) >= _LIBRARY_OF_ARCHIVES,
        "login_triggers": major(facts.release) >= _NO_LOGIN_TRIGGERS,
    }
    return Call(
        "restore_server.conf", values, kind=StepKind.SCRIPT, session=Role.WORKER, effect=Effect.CHANGES,
        object=work.object, argv=helper("configure", *(("--new",) if new else ()), content_of(work.object)),
    )  # fmt: skip


def start(work: Work, facts: Facts) -> Call:
    """Start the server, and wait until it has recovered and is open."""
    log = f"{path_of(work.object)}/server.log"
    who = user(work, facts)
    owner = () if who is None else ("--user", who)
    argv = helper("start", "--pg-ctl", path_to(PG_CTL, facts), "--log", log, *owner, content_of(work.object))
    return replace(command("start_server", argv, work, facts, Effect.CHANGES), as_user=None)


def stop(work: Work) -> Call:
    """End whatever runs in the copy, also after a failure."""
    return Call(
        "stop_server", kind=StepKind.COMMAND, effect=Effect.DROPS, argv=helper("stop", content_of(work.object))
    )


def command(
    name: str, argv: tuple[str, ...], work: Work, facts: Facts, effect: Effect, keep_as: str | None = None
) -> Call:
    """Run a program as the server's user, without any setting of the user's own PostgreSQL environment."""
    return Call(
        name, kind=StepKind.COMMAND, session=Role.WORKER, effect=effect, object=work.object, argv=argv,
        as_user=user(work, facts), without=("PG",), keep_as=keep_as,
    )  # fmt: skip


def ask_copy(template: str, values: dict[str, ContextValue], work: Work, facts: Facts, keep_as: str) -> Call:
    """Ask the scratch server as a role without rights: views and functions of the backup run with its rights."""
    asks = _psql_of_copy(asker(work, facts), work, facts)
    return _ask(template, values, asks, work, facts, keep_as, user(work, facts), ())


def ask_as_superuser(template: str, work: Work, facts: Facts, keep_as: str) -> Call:
    """Ask the scratch server something that no table, view or function of the backup has a part in."""
    return _by_superuser(_ask(template, {}, (), work, facts, keep_as, user(work, facts), ()), work, facts)


def run_as_superuser(
    template: str, values: dict[str, ContextValue], work: Work, facts: Facts, *files: str
) -> Call:
    """Run a script as the superuser of the scratch server, after files of this host, in one transaction."""
    call = _by_superuser(_ask(template, values, (), work, facts, None, user(work, facts), ()), work, facts)
    given = (*(f"--file={each}" for each in files), "--file=-") if files else ()
    return replace(call, effect=Effect.CHANGES, argv=(*call.argv, *given))


def _by_superuser(call: Call, work: Work, facts: Facts) -> Call:
    environment = {**call.environment, "PGOPTIONS": _OPTIONS_OF_SUPERUSER}
    return replace(call, argv=_psql_of_copy(superuser(facts), work, facts), environment=environment)


def asker(work: Work, facts: Facts) -> str:
    """Return as whom the copy is asked: a role of the trial's own name, which no backup can have."""
    return superuser(facts) if trusted(work) else work.object.name.name


def trusted(work: Work) -> bool:
    """Tell whether what the backup holds may run with the rights of a superuser of the scratch server."""
    return bool(work.option("as_superuser"))


def superuser(facts: Facts) -> str:
    """Return the superuser of the copy."""
    return str(facts.value(SOURCE, "superuser") or "postgres")


def _psql_of_copy(name: str, work: Work, facts: Facts) -> tuple[str, ...]:
    where = (f"--host={socket_folder(work)}", f"--port={port(facts)}", f"--username={name}")
    return (*_psql(facts), *where)


def ask_target(
    template: str, values: dict[str, ContextValue], work: Work, facts: Facts, keep_as: str, access: tuple[str, ...]
) -> Call:
    """Ask the target by the same program, with the same settings."""
    return _ask(template, values, _psql(facts), work, facts, keep_as, None, access)


def _psql(facts: Facts) -> tuple[str, ...]:
    return (
        path_to(PSQL, facts), "--no-psqlrc", "--no-password", "--quiet", "--csv", "--tuples-only",
        "--set=ON_ERROR_STOP=1", "--single-transaction",
    )  # fmt: skip


def _ask(
    template: str, values: dict[str, ContextValue], argv: tuple[str, ...], work: Work, facts: Facts,
    keep_as: str | None, who: str | None, access: tuple[str, ...],
) -> Call:  # fmt: skip
    """Ask by psql; the database is named in the environment, for as an argument it may read like settings."""
    name = {"PGDATABASE": str(facts.value("server", "database_name") or "postgres")}
    return Call(
        template, values, kind=StepKind.SCRIPT, session=Role.WORKER, effect=Effect.READS, object=work.object,
        argv=argv, environment={"PGOPTIONS": _OPTIONS, "PGCLIENTENCODING": "UTF8", **name}, as_user=who,
        without=("PG",), access=access, keep_as=keep_as,
    )  # fmt: skip
