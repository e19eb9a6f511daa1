"""Pending statistics published or deleted, earlier ones restored, exported ones imported, one table in each block.

A block compares first where that was asked for, and asks at the end whether anything is still pending: a call that
leaves a locked table as it is may not say so.
Source: PL/SQL Packages, DBMS_STATS: PUBLISH_PENDING_STATS, DELETE_PENDING_STATS, RESTORE_TABLE_STATS,
IMPORT_TABLE_STATS, IMPORT_SCHEMA_STATS, DIFF_TABLE_STATS_IN_PENDING, DIFF_TABLE_STATS_IN_HISTORY,
DIFF_TABLE_STATS_IN_STATTAB, GET_STATS_HISTORY_AVAILABILITY.
"""

# ruff: noqa: ARG001 (every operation answers with the same arguments)

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import UTC, datetime, timedelta, timezone

from toolkit.dialects.implementations import Options
from toolkit.dialects.oracle.names import package_name, parse_name
from toolkit.dialects.oracle.statistics import reads
from toolkit.dialects.oracle.statistics.arguments import of_schema, owner_of, values
from toolkit.dialects.work import Call, ContextValue, Work
from toolkit.errors import ToolkitError
from toolkit.model.facts import Facts, Query
from toolkit.model.steps import Takes
from toolkit.model.values import QualifiedName, Support
from toolkit.model.words import Effect, Role, StepKind, SupportState

WAITING, HISTORY = "stats_waiting", "stats_history"
_FORM = "%Y-%m-%d %H:%M:%S"
_VIEWS = {WAITING: "DBA_TAB_PENDING_STATS", HISTORY: "DBA_TAB_STATS_HISTORY"}


def _file(options: Options) -> str:
    return WAITING if options.get("as_of") is None else HISTORY


def stored_reads(schema: str | None, table: str | None, options: Options) -> tuple[Query, ...]:
    """Ask for the clock, the tables with such statistics, and what shows later that they were published."""
    clock, binds = Query(reads.CLOCK, reads.CLOCK, optional=True), {"schema": schema, "table": table}
    if whole(options):
        return (clock,)
    files = dict.fromkeys((_file(options), WAITING if options.get("discard") is True else HISTORY))
    return (clock, *(Query(reads.of_schema(file, schema), file, binds, optional=True) for file in files))


def whole(options: Options) -> bool:
    """Tell whether they come from a table, whose columns are not documented."""
    return options.get("stat_table") is not None


def stored(schema: str | None, options: Options, facts: Facts) -> Mapping[str, str | None]:
    """Return the tables that have such statistics, each with what stands in the way."""
    file, since = _file(options), _instant(options, facts)
    key = reads.of_schema(file, schema)
    if key in facts.refused:
        user = facts.value("server", "user_name") or "this_user"
        raise ToolkitError(
            f"which tables have such statistics cannot be read: {facts.refused[key]}",
            code="TK-0304",
            hint=f"GRANT SELECT ON SYS.{_VIEWS[file]} TO {user}; GRANT SELECT ON SYS.DBA_TAB_STATISTICS TO {user}",
        )
    if since is not None:
        _check_history(since, facts)
    return {
        str(row["stored_table"]): _locked(row.get("locked"), options)
        for row in facts.require(key)
        if since is None or str(row.get("stored_at")) > since.astimezone(UTC).strftime(_FORM)
    }


def _locked(lock: object, options: Options) -> str | None:
    if not lock or options.get("force_locked") is True or options.get("discard") is True:
        return None
    return f"its statistics are locked ({lock}); give --force-locked, if that is intended"


def none_stored(options: Options) -> str:
    """Say that nothing is stored."""
    as_of = options.get("as_of")
    return "no pending statistics" if as_of is None else f"no statistics that were replaced after {as_of}"


def ended_before(work: Work, begun: Facts, now: Facts) -> bool:
    """Tell whether what was pending is so no more; what is restored or imported is the same a second time.

    It may also have been deleted, by whomever: only a history of statistics that goes on since the job began shows
    that they were published (Reference, DBA_TAB_STATS_HISTORY: the time at which statistics were updated).
    """
    options, name = work.options, work.object.name
    if whole(options) or options.get("as_of") is not None:
        return False
    key = reads.of_schema(WAITING, name.schema)
    were, are = ({row.get("stored_table") for row in facts.rows(key)} for facts in (begun, now))
    if key not in now.answers or name.name not in were - are:
        return False
    return options.get("discard") is True or _updated_since(begun, name, now)


def _updated_since(begun: Facts, table: QualifiedName, now: Facts) -> bool:
    instant = begun.value(reads.CLOCK, "instant")
    if instant is None:
        return False
    since = datetime.strptime(str(instant), f"{_FORM}.%f %z").astimezone(UTC).strftime(_FORM)
    history = now.rows(reads.of_schema(HISTORY, table.schema))
    return any(row["stored_table"] == table.name and str(row["stored_at"]) >= since for row in history)


def _instant(options: Options, facts: Facts) -> datetime | None:
    """Return the time asked for with its offset; without one it is by the clock of the database.

    Raises:
        ToolkitError: TK-0304 when that clock was not read.
    """
    given = options.get("as_of")
    if given is None:
        return None
    found = datetime.fromisoformat(str(given))
    if found.tzinfo is not None:
        return found
    offset = str(facts.value(reads.CLOCK, "instant") or "").rpartition(" ")[2]
    if not offset:
        raise ToolkitError(
            "the clock of the database was not read, by which the time is meant",
            code="TK-0304",
            hint="give the time with its offset: 2026-11-25T22:00+01:00",
        )
    hours, _, minutes = offset.lstrip("+-").partition(":")
    ahead = timedelta(hours=int(hours), minutes=int(minutes))
    return found.replace(tzinfo=timezone(-ahead if offset.startswith("-") else ahead))


def _check_history(since: datetime, facts: Facts) -> None:
    """Refuse what is older than the history, or still to come.

    Raises:
        ToolkitError: TK-0304.
    """
    oldest, now = (facts.value(reads.CLOCK, name) for name in ("oldest", "instant"))
    if oldest is not None and since < datetime.strptime(str(oldest), f"{_FORM} %z"):
        raise ToolkitError(
            f"the history of statistics begins at {oldest}, after the time asked for",
            code="TK-0304",
            hint="choose a later time",
        )
    if now is not None and since > datetime.strptime(str(now), f"{_FORM}.%f %z"):
        raise ToolkitError(
            f"{since.isoformat()} is still to come: the database has {now}",
            code="TK-0304",
            hint="choose an earlier time",
        )


def prepare(work: Work, facts: Facts) -> tuple[Call, ...]:
    """Nothing."""
    return ()


def timed(work: Work, facts: Facts) -> tuple[Call, ...]:
    """Spell the block of one table."""
    sent, owner, most = values(work), owner_of(work), work.option("max_difference")
    instant, table = _instant(work.options, facts), None if of_schema(work) else work.object.name.name
    given: dict[str, ContextValue] = {
        **{name: sent[name] for name in ("no_invalidate", "no_invalidate_constant", "force")},
        "owner": package_name(owner) if owner else None,
        "table": None if table is None else package_name(table),
        "catalogue_owner": owner,
        "catalogue_table": table,
        **stat_table(work),
        "instant": None if instant is None else _spelled(instant),
        "discard": work.option("discard") is True,
        "most": most if isinstance(most, int | float) else None,
    }
    return (
        Call(
            "stats_publish", given, kind=StepKind.BLOCK, session=Role.WORKER, effect=Effect.CHANGES,
            object=work.object,
        ),
    )  # fmt: skip


def stat_table(work: Work) -> dict[str, ContextValue]:
    """Return the table of statistics and the set in it, as the package takes them; empty where none is named."""
    text, known = work.option("stat_table"), work.option("stat_id")
    if text is None:
        return dict.fromkeys(("holder_owner", "holder", "statid"))
    name = parse_name(str(text))
    return {
        "holder_owner": package_name(name.schema) if name.schema else None,
        "holder": package_name(name.name),
        "statid": None if known is None else parse_name(str(known)).name,
    }


def _spelled(instant: datetime) -> str:
    """Spell it in whole seconds with its offset, as `TZH:TZM` reads it."""
    return instant.replace(microsecond=0).isoformat(" ")


def evidence(work: Work, facts: Facts) -> tuple[Call, ...]:
    """Nothing: the block itself fails where something is still pending; see `remarks` for the rest."""
    return ()


def settle(work: Work, facts: Facts) -> tuple[Call, ...]:
    """Nothing."""
    return ()


def takes(work: Work, facts: Facts) -> tuple[Takes, ...]:
    """Nothing that counts."""
    return ()


def judge(work: Work, facts: Facts) -> Support | None:
    """Refuse to compare a whole schema, which no function of the package does."""
    if of_schema(work) and work.option("max_difference") is not None:
        return Support(
            SupportState.UNSUPPORTED,
            "statistics of a table of statistics are compared for one table at a time",
            "give `--table`, or omit `--max-difference`",
        )
    return None


def remarks(work: Work, facts: Facts) -> Iterator[str]:
    """Say what changes for others, and what takes it back."""
    if work.option("discard") is True:
        yield "pending statistics that are deleted cannot be restored: gather them again"
        return
    instant = facts.value(reads.CLOCK, "instant")
    yield (
        "execution plans may change as soon as the statistics are published; nothing takes that back by itself, "
        "and by hand DBMS_STATS.RESTORE_TABLE_STATS does, with as_of_timestamp of "
        + ("the instant before" if instant is None else f"'{instant}'")
    )
    since = _instant(work.options, facts)
    if since is not None:
        yield (
            f"statistics become those of {_spelled(since)} (an offset that was not given is the one that the "
            "database has today), also where others gathered, imported or set them since; that is not verified "
            "further than by the end of the call"
        )
    if work.option("stat_table") is not None:
        yield "what is imported is not verified further than by the end of the call, which commits"
    if work.option("max_difference") is not None:
        yield (
            "each table is compared first; one that differs more, or nobody knows how much, fails (ORA-20901) and "
            "stays as it is"
        )
