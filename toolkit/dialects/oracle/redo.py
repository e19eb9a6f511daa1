"""Redo: which work leaves it out, who lacks what is not written, and what to say about the object afterwards.

Redo is left out only by direct path into a NOLOGGING object of an ARCHIVELOG database (in NOARCHIVELOG every
direct load leaves it out), and only where FORCE LOGGING is off for database, container and tablespace (SQL
Language Reference, logging_clause). A PDB in FORCE NOLOGGING mode writes none even for LOGGING objects (same book,
pdb_force_logging_clause). 18c knows `STANDBY NOLOGGING ...` besides YES and NO, by which the blocks reach the
standbys without redo (Data Guard Concepts, logging modes). Media recovery finds such blocks corrupt (ORA-26040)
until a backup holds them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime

from toolkit.dialects.oracle import archiving, space, spelling
from toolkit.dialects.oracle.catalog import fact_about
from toolkit.dialects.oracle.names import parse_name, quote
from toolkit.dialects.oracle.releases import Feature, has
from toolkit.dialects.oracle.work.base import asks_nologging, former_logging
from toolkit.dialects.work import Call, Work
from toolkit.model.facts import Facts, Release
from toolkit.model.values import Row, Scalar, Support
from toolkit.model.words import Effect, SupportState

_MAKES_PARTITIONS = ("partition-split", "partition-merge", "partition-coalesce")
_MAKES_SEGMENTS = frozenset({"ctas", "index-build", "index-rebuild", "table-move", *_MAKES_PARTITIONS})
_INTO_TABLES = frozenset({"insert", "table-move", "mview-refresh", *_MAKES_PARTITIONS})
_STANDBY_MODES = {
    "STANDBY NOLOGGING FOR DATA AVAILABILITY": "the commit waits until every standby has applied them",
    "STANDBY NOLOGGING FOR LOAD PERFORMANCE": "a standby that cannot keep up fetches the blocks later",
}


def place_files(release: Release) -> tuple[str, ...]:
    """Name what is read before a work that may leave out redo, besides what is read of every database."""
    return ("doctor_standbys", *(("doctor_pdb_logging",) if has(release, Feature.PLUGGABLE) else ()))


def judge(work: Work, facts: Facts) -> Support | None:
    """Refuse to leave out redo where a standby would lack the blocks (ORA-26040 when they are read), or might."""
    if not _leaves_out_redo(work, facts) or _mode(facts) in _STANDBY_MODES or _archived(facts) is False:
        return None
    wanted = "omit --nologging" if asks_nologging(work) else _how_to_log(work, facts)
    declared = facts.value("declared_standbys", "exist")
    standbys = facts.rows("doctor_standbys")
    if standbys or declared == 1:
        return _no(
            f"{_followers(standbys)}, where every block written without redo would be missing (ORA-26040)", wanted
        )
    if "doctor_standbys" in facts.refused and declared is None:
        return _no(
            "this would write blocks without redo, and it is unknown whether standby databases would lack them: "
            "V$ARCHIVE_DEST cannot be read",
            f"{wanted}; or GRANT SELECT ON SYS.V_$ARCHIVE_DEST, or set `standbys = false` in the target's profile",
        )
    return None


def remarks(work: Work, facts: Facts) -> Iterator[str]:
    """Say what NOLOGGING does here, and what is written without redo though nobody asked for that."""
    asked = asks_nologging(work)
    saves_nothing = _logged_anyway(work, facts)
    if asked and saves_nothing:
        yield saves_nothing
    elif asked and _archived(facts) is False:
        yield "the database is in NOARCHIVELOG mode: a direct load writes no redo even with LOGGING"
    elif _leaves_out_redo(work, facts):
        if not asked:
            yield f"{_why_unasked(work, facts)}: this is written without redo and needs a backup afterwards"
        if (mode := _mode(facts)) in _STANDBY_MODES:
            yield f"the database is in mode {mode}: blocks reach the standbys outside redo; {_STANDBY_MODES[mode]}"


def may_be_left_out(facts: Facts, *, asked: bool) -> bool:
    """Tell whether scratch objects are made without redo here: nobody follows, and nothing forces logging.

    They are in the user's own tablespaces, whose data files would be unrecoverable until the next backup: where
    redo is archived somebody must have asked.
    """
    if not asked and _archived(facts) is not False:
        return False
    declared = facts.value("declared_standbys", "exist")
    known = declared == 0 or ("doctor_standbys" in facts.answers and not facts.rows("doctor_standbys"))
    logged = _mode(facts) != "NO" or facts.value("doctor_pdb_logging", "force_logging") == "YES"
    return known and declared != 1 and not logged and "doctor_database" in facts.answers and not facts.assumed


def equal_levels(works: Sequence[Work], facts: Facts) -> str | None:
    """Say why LOGGING and NOLOGGING would do the same here; None where they differ, or may."""
    asked = [work for work in works if asks_nologging(work)]
    why = [_logged_anyway(work, facts) for work in asked]
    if asked and all(why):
        return f"{why[0]}; the levels of `logging` would measure the same work"
    if _archived(facts) is False:
        return "the database is in NOARCHIVELOG mode, where a direct load writes no redo with LOGGING either"
    if _pdb_forces_nologging(facts):
        return f"{_FORCED_NOLOGGING}, so redo is left out with LOGGING, too"
    return None


# -- which redo is written --------------------------------------------------------------------------------------
_FORCED_NOLOGGING = "the PDB is in FORCE NOLOGGING mode"


def _leaves_out_redo(work: Work, facts: Facts) -> bool:
    """Tell whether the blocks of a work will be missing in the redo log."""
    if not _is_direct(work) or _logged_anyway(work, facts):
        return False
    return asks_nologging(work) or _is_nologging(work, facts) or _pdb_forces_nologging(facts)


def _is_direct(work: Work) -> bool:
    if work.operation in _MAKES_SEGMENTS:
        return True
    if work.operation == "mview-refresh":
        return work.option("atomic_refresh") == "no"
    return work.operation == "insert" and work.option("load") != "conventional"


def _is_nologging(work: Work, facts: Facts) -> bool:
    """Tell whether a load goes into a table that is NOLOGGING already."""
    return work.operation in _INTO_TABLES and former_logging(work, facts) == "NOLOGGING"


def _logged_anyway(work: Work, facts: Facts) -> str | None:
    """Say why redo is written whatever the object's attribute."""
    if not _is_direct(work):
        return "a conventional insert writes redo regardless of the table's attribute: NOLOGGING saves nothing"
    mode = _mode(facts)
    if mode not in ("NO", *_STANDBY_MODES):
        return f"FORCE LOGGING of the database is {mode}: NOLOGGING saves no redo here"
    if facts.value("doctor_pdb_logging", "force_logging") == "YES":
        return "the PDB forces logging: NOLOGGING saves no redo here"
    place = _tablespace(work, facts)
    forced = {
        str(row.get("tablespace_name")) for row in space.tablespaces(facts) if row.get("force_logging") == "YES"
    }
    if place in forced:
        return f"tablespace `{place}` forces logging: NOLOGGING saves no redo there"
    return None


def _mode(facts: Facts) -> str:
    """Return V$DATABASE.FORCE_LOGGING: NO, YES, or a mode of 18c."""
    return str(facts.value("doctor_database", "force_logging", "NO") or "NO").strip().upper()


def is_archived(facts: Facts) -> bool:
    """Tell whether the database is known to keep its redo."""
    return _archived(facts) is True


def _archived(facts: Facts) -> bool | None:
    mode = facts.value("doctor_database", "log_mode")
    return None if mode is None else mode != "NOARCHIVELOG"


def _pdb_forces_nologging(facts: Facts) -> bool:
    return facts.value("doctor_pdb_logging", "force_nologging") == "YES"


def _tablespace(work: Work, facts: Facts) -> str | None:
    """Return where the blocks go: the tablespace asked for, that of the object, or the default of its schema."""
    text = spelling.text_option(work, "tablespace")
    if text:
        return parse_name(text).name
    own = fact_about(facts, work.object.name, "tablespace_name")
    return str(own) if own else space.default_tablespace(facts, work.object.name.schema)


# -- what is said before ----------------------------------------------------------------------------------------
def _no(sentence: str, hint: str) -> Support:
    return Support(SupportState.UNSUPPORTED, sentence, hint)


def _followers(standbys: Sequence[Row]) -> str:
    if not standbys:
        return "this database has standbys (its profile says so)"
    shown = [
        f"{row.get('db_unique_name') or row.get('destination_id')}"
        + ("" if row.get("status") in (None, "VALID") else f" ({row['status']})")
        for row in standbys[:4]
    ]
    count = "a standby database" if len(standbys) == 1 else f"{len(standbys)} standby databases"
    return f"this primary has {count}, {', '.join(shown)}"


def _why_unasked(work: Work, facts: Facts) -> str:
    return f"`{work.object.name}` is NOLOGGING" if _is_nologging(work, facts) else _FORCED_NOLOGGING


def _how_to_log(work: Work, facts: Facts) -> str:
    if _is_nologging(work, facts):
        name = ".".join(quote(part) for part in (work.object.name.schema, work.object.name.name) if part)
        other = "--atomic-refresh yes" if work.operation == "mview-refresh" else "--load conventional"
        return f"ALTER TABLE {name} LOGGING first, or use {other}"
    return "ALTER PLUGGABLE DATABASE DISABLE FORCE NOLOGGING first"


# -- the object afterwards --------------------------------------------------------------------------------------
def marked(calls: tuple[Call, ...], work: Work, facts: Facts) -> tuple[Call, ...]:
    """Mark the calls whose blocks the redo log will lack, and say how much redo they write."""
    unlogged = _leaves_out_redo(work, facts)
    written = archiving.redo_bytes(work, facts, logged=not unlogged)
    changing = (Effect.CREATES, Effect.CHANGES)
    return tuple(
        replace(call, unlogged=unlogged, redo_bytes=written) if call.effect in changing else call for call in calls
    )


def backup_reads(since: Scalar) -> Call:
    """Ask what V$DATAFILE records since an instant, in the terms of `instant`."""
    return Call("unrecoverable", file=True, binds={"since": since})


def backup_sentence(what: str, since: Scalar, rows: Sequence[Row] | None) -> str | None:
    """Say that an object needs a backup, since when, and what the server itself records.

    Args:
        what: the object.
        since: when it was begun, in the terms of `instant`.
        rows: the answer to `backup_reads`; None when it was refused.

    Returns:
        None where the database forces logging, so that redo was written all the same.
    """
    # FORCE_LOGGING may also be a text (18c: STANDBY NOLOGGING ...): then redo is left out all the same.
    if rows and str(rows[0].get("force_logging")).upper() == "YES":
        return None
    when = ""
    if since is not None:
        when = f" since {datetime.fromtimestamp(float(since), UTC):%Y-%m-%d %H:%M:%S} (the database's clock)"
    return (
        f"{what} needs a backup{when}: it was written NOLOGGING, so until then media recovery and standbys lose it"
        f" (ORA-26040); {_record(rows)}"
    )


def _record(rows: Sequence[Row] | None) -> str:
    if rows is None:
        return "V$DATAFILE cannot be read, so the server's own record is unknown"
    files = [f"{row['file_name']} at {row['unrecoverable_at']}" for row in rows if row.get("file_name")]
    if not files:
        return "V$DATAFILE records no unrecoverable change since then"
    more = f" and {len(files) - 3} more" if len(files) > 3 else ""
    return f"V$DATAFILE records unrecoverable changes in {', '.join(files[-3:])}{more}"
