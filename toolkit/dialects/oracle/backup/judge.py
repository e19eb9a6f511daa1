"""What stands in the way of a backup, each in a sentence a DBA would want."""

from __future__ import annotations

from toolkit.dialects.oracle.backup import facts as known
from toolkit.dialects.oracle.backup.order import BackupAction, BackupOrder, BackupScope, order_of
from toolkit.dialects.oracle.options import advanced_compression, advanced_security, option_is_off
from toolkit.dialects.oracle.places import ServiceLimit, service_of
from toolkit.dialects.oracle.releases import Feature, edition_of, has
from toolkit.dialects.work import Work
from toolkit.errors import ToolkitError
from toolkit.model.facts import Facts
from toolkit.model.values import Support
from toolkit.model.words import Mode, SupportState
from toolkit.units import byte_size

_SAFE_SHARE = 0.15
"""Of the recovery area: below 15 % of reclaimable space Oracle itself warns (User's Guide, fast recovery area)."""
_LICENSED = frozenset({"low", "medium", "high"})
_OF_RMAN = frozenset({"none", "basic"}) | _LICENSED
PARALLEL = "Parallel backup and recovery"
"""The row of V$OPTION (Database Licensing Information: not in Standard Edition 2, XE and Free)."""
INCREMENTAL = "Incremental backup and recovery"
"""The row of V$OPTION that allows level 1 (Error Help, RMAN-06180: incremental needs Enterprise Edition)."""


def judge(work: Work, facts: Facts) -> Support | None:
    """Judge one cell.

    Raises:
        ToolkitError: as `order_of`; TK-0204 for a name that is not there.
    """
    order = order_of(work)
    _names(order, facts)
    return (
        _service(facts)
        or _channels(order, facts)
        or _compression(order, facts)
        or _encryption(order, facts)
        or _unencrypted(work, order, facts)
        or _release(order, facts)
        or _archiving(order, facts)
        or _no_place(order, facts)
        or _kept(order, facts)
        or _deleted(order, facts)
        or _retention(order, facts)
        or _somebody_else(work, facts)
    )


def _service(facts: Facts) -> Support | None:
    refusal = service_of(facts).barred.get(ServiceLimit.RMAN)
    return None if refusal is None or service_of(facts).code == "rds" else _no(refusal)


def _channels(order: BackupOrder, facts: Facts) -> Support | None:
    """Refuse channels that would be allocated and do nothing: RMAN only warns (RMAN-06908, RMAN-06909)."""
    if order.channels == 1:
        return None
    edition = edition_of(facts)
    if not edition.parallel:
        return _no(
            f"Oracle {edition.words} uses only one channel for backups (RMAN-06908, RMAN-06909): "
            f"{order.channels} channels need Enterprise Edition",
            "use `--channels 1`",
        )
    if option_is_off(facts, PARALLEL):
        return _no(f"according to V$OPTION, `{PARALLEL}` is not part of this installation: only one channel works")
    return None


def _compression(order: BackupOrder, facts: Facts) -> Support | None:
    level = order.compression
    if level not in _OF_RMAN:
        return _no(f"RMAN has no compression `{level}`", "none, basic, low, medium or high")
    if level not in _LICENSED:
        return None
    refused = advanced_compression(f"RMAN compression `{level}`", facts)
    if refused is not None:
        return refused
    rows = [row for row in facts.rows("backup_algorithms") if str(row.get("algorithm_name")) == level.upper()]
    if rows and str(rows[0].get("is_valid")) == "NO":
        return _no(f"RMAN compression `{level}` needs a higher COMPATIBLE than this database has")
    return None


def _encryption(order: BackupOrder, facts: Facts) -> Support | None:
    cipher = order.forms.encryption
    return None if cipher is None else advanced_security(f"RMAN encryption `{cipher.lower()}`", facts)


def _unencrypted(work: Work, order: BackupOrder, facts: Facts) -> Support | None:
    """Refuse to call a backup unencrypted that RMAN is configured to encrypt: dbatk does not switch that off."""
    if work.option("encryption") != "none" or not order.writes:
        return None
    unread = known.unread(facts)
    if unread:
        user = facts.value("server", "user_name") or "this_user"
        return Support(
            SupportState.NEEDS_PRIVILEGE,
            "it is unknown whether RMAN is configured to encrypt backups, so `none` may be none: "
            + "; ".join(f"GRANT SELECT ON {view} TO {user}" for view in unread),
        )
    names = sorted({file.tablespace for file in known.chosen(order, facts) if file.encrypted})
    if (known.configured(facts, "ENCRYPTION FOR DATABASE") or "").upper() == "ON":
        what = "DATABASE is ON"
    elif names:
        what = f"TABLESPACE is ON for `{'`, `'.join(names)}`"
    else:
        return None
    return _no(
        f"CONFIGURE ENCRYPTION FOR {what}: a backup with `none` would be encrypted all the same",
        "omit `none`: without `--encryption` backups are made as configured",
    )


def _release(order: BackupOrder, facts: Facts) -> Support | None:
    pluggable = order.what is BackupScope.PDB or any(":" in name for name in order.names)
    if pluggable and not has(facts.release, Feature.PLUGGABLE):
        return _no("pluggable databases need 12.1: this release has none")
    if (order.level == 1 or order.forms.merge_copy) and option_is_off(facts, INCREMENTAL):
        return _no(
            f"according to V$OPTION, `{INCREMENTAL}` is not part of this installation: RMAN refuses level 1 "
            "(RMAN-06180)",
            "use `--incremental 0`, or a full backup",
        )
    if order.level == 1 and order.section_size is not None and not has(facts.release, Feature.SECTIONED_LEVELS):
        return _no(
            "a section size for incremental backups of level 1 needs 12.1: this release divides only full backups",
            "omit `--section-size`, or use `--incremental 0`",
        )
    return None


def _archiving(order: BackupOrder, facts: Facts) -> Support | None:
    if not order.writes or not known.tells_open_without_archive(facts):
        return None
    return _no(
        "the database is open in NOARCHIVELOG mode: its backup could not be restored, so RMAN refuses it "
        "(RMAN-06149)",
        "mount it after a clean shutdown, or measure reads only, without `--write`",
    )


def _no_place(order: BackupOrder, facts: Facts) -> Support | None:
    """Refuse pieces that would lie in ORACLE_HOME: RMAN's default without a recovery area (formatSpec)."""
    places = order.places or order.formats
    if not order.writes or places or order.device != "DISK" or facts.assumed or known.AREA not in facts.answers:
        return None
    if service_of(facts).code == "rds" or facts.value(known.AREA, "place"):
        return None
    return _no(
        "there is no destination and no recovery area: RMAN would write the backup into ORACLE_HOME/dbs",
        "give `--destination FOLDER` or `--format`, or set DB_RECOVERY_FILE_DEST; formats of CONFIGURE CHANNEL do "
        "not apply to the channels that dbatk allocates",
    )


def _kept(order: BackupOrder, facts: Facts) -> Support | None:
    """Refuse to keep what would lie in the recovery area, which RMAN refuses too (RMAN Reference, keepOption)."""
    given = order.places or order.formats
    if order.forms.keep_days is None or given or order.device != "DISK" or not facts.value(known.AREA, "place"):
        return None
    return _no(
        "a backup to keep cannot be written to the recovery area, which would fill up",
        "give `--destination FOLDER` outside of it",
    )


def _deleted(order: BackupOrder, facts: Facts) -> Support | None:
    """Refuse to delete archived logs that could not be shown first."""
    if not order.forms.delete_input or facts.assumed or known.LOGS in facts.answers:
        return None
    user = facts.value("server", "user_name") or "this_user"
    return Support(
        SupportState.NEEDS_PRIVILEGE,
        "the archived logs that `--delete-input` would delete cannot be shown first: "
        f"GRANT SELECT ON SYS.V_$ARCHIVED_LOG TO {user}",
    )


def _retention(order: BackupOrder, facts: Facts) -> Support | None:
    """Refuse trials that could cost a real backup: under REDUNDANCY n the newest n full backups count.

    While a trial's backup exists, the oldest of yours is obsolete: DELETE OBSOLETE deletes it, and so does a
    recovery area that needs space (Backup and Recovery User's Guide, deletion rules of the fast recovery area).
    """
    if order.act is not BackupAction.WRITE or facts.assumed or known.has_full_backup(facts) is False:
        return None
    if known.CONFIGURATION in facts.refused:
        return _no(
            "the retention policy cannot be read (V$RMAN_CONFIGURATION), and a written trial may make a real "
            "backup obsolete",
            "GRANT SELECT ON SYS.V_$RMAN_CONFIGURATION, or measure without `--write`",
        )
    count = known.redundancy(facts)
    if count is None:
        return None
    policy = known.retention(facts)
    if count == 1:
        unknown = known.has_full_backup(facts) is None
        there = "it is unknown whether there are real backups" if unknown else "there are real backups"
        return _no(
            f"the retention policy is `{policy}`, and {there}: a trial's full backup would make them obsolete, to "
            "be deleted by DELETE OBSOLETE or by a full recovery area, and is then deleted itself",
            "measure without `--write`; or let the policy hold more while you measure (a RECOVERY WINDOW, or "
            "REDUNDANCY 2)",
        )
    return _tight_area(policy, facts)


def _tight_area(policy: str, facts: Facts) -> Support | None:
    if known.AREA in facts.refused:
        return _no(
            f"the retention policy is `{policy}`, and it is unknown whether the recovery area is full: then it "
            "would delete a real backup that a trial made obsolete",
            "GRANT SELECT ON SYS.V_$RECOVERY_FILE_DEST, or measure without `--write`",
        )
    limit, used = (float(facts.value(known.AREA, key) or 0) for key in ("limit_bytes", "used_bytes"))
    if limit - used >= _SAFE_SHARE * limit:
        return None
    return _no(
        f"the retention policy is `{policy}` and the recovery area is nearly full ({byte_size(used)} of "
        f"{byte_size(limit)}): a trial's full backup would make a real one obsolete, which is deleted for space",
        f"free at least {_SAFE_SHARE:.0%} of it, or measure without `--write`",
    )


def _somebody_else(work: Work, facts: Facts) -> Support | None:
    """Keep a measurement away from a backup that runs: both would be slow, and no time would mean anything."""
    running = facts.rows(known.RUNNING)
    if work.mode is Mode.JOB or not running:
        return None
    first = running[0]
    return _no(
        f"RMAN is already working on this database: {first.get('operation')}, started {first.get('begun')}",
        "measure when it has ended; a measurement would slow down the real backup",
    )


def _names(order: BackupOrder, facts: Facts) -> None:
    missing = known.unknown(order, facts)
    if missing:
        raise ToolkitError(
            f"no data file belongs to `{missing[0]}`",
            code="TK-0204",
            hint="a tablespace of a pluggable database is `PDB:NAME` when connected to the root; see V$DATAFILE",
        )


def refuse_places(order: BackupOrder, facts: Facts) -> None:
    """Refuse folders that a trial must not or cannot write to.

    Raises:
        ToolkitError: TK-0204, TK-0305 or TK-0107, each with what to do.
    """
    area = str(facts.value(known.AREA, "place") or "")
    for number, place in enumerate(order.places):
        found = facts.first(known.place_key(number))
        real = str(found.get("real_path") or place)
        if area and any(_inside(each, area) for each in (place, real)):
            raise ToolkitError(
                f"`{place}` is in the recovery area `{area}`: files there are counted and purged with your own "
                "backups",
                code="TK-0305",
                hint="use a folder outside it (V$RECOVERY_FILE_DEST)"
                + (
                    ""
                    if order.act is BackupAction.WRITE
                    else "; or omit `--destination`, and RMAN writes there itself"
                ),
            )
        if found:
            _refuse_folder(place, found.get("is_there"), found.get("is_folder"), found.get("is_writable"))


def _inside(place: str, area: str) -> bool:
    return (place.rstrip("/") + "/").startswith(area.rstrip("/") + "/")


def _refuse_folder(place: str, there: object, folder: object, writable: object) -> None:
    if there != "yes":
        raise ToolkitError(
            f"there is no folder `{place}` on this host",
            code="TK-0204",
            hint="it must be on the database server, where rman also runs; create it first, with mode 0700",
        )
    if folder != "yes":
        raise ToolkitError(
            f"`{place}` is not a folder", code="TK-0204", hint="give a folder on the database server"
        )
    if writable != "yes":
        raise ToolkitError(
            f"`{place}` is not writable for this user",
            code="TK-0305",
            hint="its owner must be the database's operating system user, and dbatk must run as that user",
        )


def _no(sentence: str, hint: str = "") -> Support:
    return Support(SupportState.UNSUPPORTED, sentence, hint)
