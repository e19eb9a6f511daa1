"""Backups of PostgreSQL: by pg_basebackup into a folder, or by pgBackRest into a repository."""

from __future__ import annotations

from collections.abc import Mapping
from types import ModuleType

from toolkit.dialects import backups
from toolkit.dialects.answers import Granted, TrialFindings
from toolkit.dialects.backups import Backups
from toolkit.dialects.implementations import Options
from toolkit.dialects.postgresql.backup import basebackup, pgbackrest
from toolkit.dialects.postgresql.backup.programs import (
    BASEBACKUP,
    PGBACKREST,
    VERIFY,
    missing,
    probes_of,
    too_old,
)
from toolkit.dialects.work import Call, Work
from toolkit.errors import ToolkitError
from toolkit.model.facts import Facts, Probe, Query
from toolkit.model.steps import ObjectRef, Place, PlaceKind, Takes
from toolkit.model.values import QualifiedName, Row, Support
from toolkit.model.words import Keep, Mode, ObjectKind, ProbeKind, SupportState

_SERVER, _TABLESPACES = "backup_server", "backup_tablespaces"
_SHRINKS_TO = 0.6
"""Share of the cluster that a compressed backup takes at most, as a rule of thumb; less where data repeat."""
_SENDERS = 2
"""pg_basebackup takes two: one for the files, one for the WAL meanwhile."""


def by_pgbackrest(options: Options) -> bool:
    """Tell which program it is."""
    return options.get("method") == PGBACKREST


class PostgresqlBackups(Backups):
    """Into a folder of this host; a job of pgBackRest into the user's repository."""

    reads_back = True
    clone_differs_in = (
        ("host", _SERVER, "host"), ("port", _SERVER, "port"), ("data directory", _SERVER, "data_directory"),
    )  # fmt: skip

    def reads(self, options: Options, facts: Facts) -> tuple[Query, ...]:
        del options, facts
        return (Query(_SERVER, _SERVER), Query(_TABLESPACES, _TABLESPACES, optional=True))

    def probes(self, options: Options, facts: Facts) -> tuple[Probe, ...]:
        names = (PGBACKREST,) if by_pgbackrest(options) else (BASEBACKUP, VERIFY)
        probes = [*probes_of(names, options, facts), *backups.folder_probes(options)]
        place = facts.value(_SERVER, "data_directory")
        if place is not None:
            probes.append(Probe("data_directory", ProbeKind.FOLDER, (str(place),)))
        config = pgbackrest.config_path(options)
        if config is not None:
            probes.append(Probe("backup_config", ProbeKind.FOLDER, (config,)))
        return tuple(probes)

    def object(self, options: Options, name: str, *, measuring: bool) -> ObjectRef:
        if by_pgbackrest(options) and not measuring:
            return ObjectRef(ObjectKind.BACKUP, QualifiedName(f"stanza {options.get('stanza')}"))
        return backups.folder_of(options, name)

    def label(self, work: Work) -> str:
        if work.mode is Mode.MEASUREMENT:
            return PGBACKREST if by_pgbackrest(work.options) else BASEBACKUP
        return str(work.object.name) if by_pgbackrest(work.options) else backups.final_path(work)

    def refuse(self, work: Work, facts: Facts) -> None:
        if by_pgbackrest(work.options):
            _refuse_retention(work)
            pgbackrest.refuse(work, facts)
            if work.mode is Mode.JOB:
                return
        elif work.option("stanza") is not None or work.option("backup_config") is not None:
            raise ToolkitError(
                "`--stanza` and `--backup-config` are for pgBackRest",
                code="TK-0107",
                hint="add `--method pgbackrest`, or omit them",
            )
        backups.refuse_folder(work, facts)
        _refuse_inside(facts)

    def refuse_keeping(self, keep: Keep) -> None:
        del keep

    def drops(self, work: Work) -> bool:
        del work
        return True

    def takes(self, work: Work, facts: Facts) -> tuple[Takes, ...]:
        if not work.object.scratch:
            why = "pgBackRest alone knows its repositories"
            return (Takes(None, Place(PlaceKind.FOLDER, "", str(work.object.name)), unknown=why),)
        size = facts.value(_SERVER, "byte_count")
        stays_big = work.option("compression") in (None, "none") or basebackup.file_format(work.options) == "plain"
        plain = stays_big and not (
            by_pgbackrest(work.options) and work.option("compression") not in (None, "none")
        )
        times = 1.0 if plain else _SHRINKS_TO
        return backups.takes_of_folder(float(size) * times if isinstance(size, int | float) else None, work)


def _refuse_retention(work: Work) -> None:
    """Leave the repository to pgBackRest.

    Raises:
        ToolkitError: TK-0304.
    """
    if work.option("keep_for") is not None:
        raise ToolkitError(
            "pgBackRest removes backups by its own retention, so `--keep-for` is not available for it",
            code="TK-0304",
            hint="set repo1-retention-full in its configuration, and run `pgbackrest expire`",
        )


def _refuse_inside(facts: Facts) -> None:
    """Refuse the data directory of the server itself, a folder in it, and one in a tablespace.

    Raises:
        ToolkitError: TK-0305.
    """
    place = str(facts.value("destination", "real_path") or "")
    rows = (facts.value("data_directory", "real_path"), *(row["place"] for row in facts.rows(_TABLESPACES)))
    for root in (str(each) for each in rows if place and each):
        if place == root or place.startswith(root.rstrip("/") + "/"):
            raise ToolkitError(
                f"`{place}` is inside the server's data directory (`{root}`): the backup would contain itself",
                code="TK-0305",
                hint="choose a `--destination` outside it, preferably on another disk",
            )


def _of(work: Work) -> ModuleType:
    return pgbackrest if by_pgbackrest(work.options) else basebackup


def support(work: Work, facts: Facts) -> Support:
    """Say whether this backup can be had."""
    if work.degree < 1:
        return _refused("channels must be a number here")
    program = PGBACKREST if by_pgbackrest(work.options) else BASEBACKUP
    sentence = missing(program, facts) or too_old(program, facts)
    if sentence is None:
        named = by_pgbackrest(work.options)
        sentence = pgbackrest.refusal(work) if named else basebackup.refusal(work, facts)
    if sentence is not None:
        return _refused(sentence)
    return _of_server(work, facts)


def _refused(sentence: str) -> Support:
    return Support(SupportState.UNSUPPORTED, sentence)


def _of_server(work: Work, facts: Facts) -> Support:
    server = facts.first(_SERVER)
    if not server or (by_pgbackrest(work.options) and work.mode is Mode.JOB):
        return Support(SupportState.SUPPORTED)
    return _for_pgbackrest(server, facts) if by_pgbackrest(work.options) else _for_basebackup(server)


def _for_pgbackrest(server: Row, facts: Facts) -> Support:
    place = server.get("data_directory")
    if place is None:
        sentence = (
            "no privilege to read the location of the data files; ask for: GRANT pg_read_all_settings TO this user"
        )
        return Support(SupportState.NEEDS_PRIVILEGE, sentence)
    if facts.value("data_directory", "is_folder") == "no":
        return _refused(
            f"`{place}` is not on this host, or not accessible to this user; pgBackRest reads the files directly"
        )
    return Support(SupportState.SUPPORTED)


def _for_basebackup(server: Row) -> Support:
    if server.get("may_replicate") != "yes":
        return Support(
            SupportState.NEEDS_PRIVILEGE,
            "pg_basebackup needs the attribute REPLICATION; ask for: ALTER ROLE this user REPLICATION",
        )
    senders = server.get("wal_senders")
    if isinstance(senders, int) and senders < _SENDERS:
        return _refused(f"max_wal_senders is {senders}, and pg_basebackup needs {_SENDERS}")
    if server.get("wal_level") == "minimal":
        return _refused("wal_level is minimal: a running server cannot be backed up")
    return Support(SupportState.SUPPORTED)


def prepare(work: Work, facts: Facts) -> tuple[Call, ...]:
    """Make the place of the backup."""
    if by_pgbackrest(work.options):
        return pgbackrest.prepare(work, facts)
    return (backups.make(work.object, str(work.mark)),)


def timed(work: Work, facts: Facts) -> tuple[Call, ...]:
    """Spell the command line."""
    return pgbackrest.timed(work, facts) if by_pgbackrest(work.options) else basebackup.timed(work, facts)


def evidence(work: Work, facts: Facts) -> tuple[Call, ...]:
    """Verify and measure; a job's backup goes where it stays."""
    size = Call("backup_size", file=True, keep_as="read")
    if by_pgbackrest(work.options):
        return pgbackrest.evidence(work, facts)
    return (size, *basebackup.evidence(work, facts))


def granted(work: Work, kept: Mapping[str, tuple[Row, ...]]) -> Granted:
    """Tell how many processes copied; the number of compressing workers is unknown."""
    if by_pgbackrest(work.options):
        return pgbackrest.granted(work, kept)
    if work.degree > 1:
        return Granted(None, BASEBACKUP, "the number of compressing workers is unknown")
    return Granted(1, BASEBACKUP)


def tell(work: Work, kept: Mapping[str, tuple[Row, ...]], seconds: float) -> TrialFindings:
    """Tell bytes, rates, CPU seconds of the program, items and doubts."""
    if by_pgbackrest(work.options):
        findings = pgbackrest.tell(work, kept, seconds)
    else:
        findings = basebackup.tell(work, kept.get("read", ({},))[0].get("byte_count"), kept, seconds)
    used = kept.get("program", ({},))[0].get("cpu_seconds")
    return backups.with_cpu(findings, used, seconds)
