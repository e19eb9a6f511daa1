"""pgBackRest: `process-max` processes copy and compress, each writing down what it did.

A job goes into the stanza and repository of the user's configuration and expires nothing. A trial has a stanza
and a repository of its own, in a folder of dbatk, and reads nothing from the configuration or environment of the
user, so it does not affect the real backups, their retention and archive. It does not wait for WAL in an archive
(archive-check=n), since the archive_command of the cluster leads elsewhere: it cannot be restored.
Sources: pgBackRest Command Reference, backup (archive-check, expire-auto, start-fast); tried with 2.45.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from datetime import datetime

from toolkit.dialects import backups
from toolkit.dialects.answers import Granted, TrialFindings
from toolkit.dialects.implementations import Kept, Options
from toolkit.dialects.postgresql.backup.basebackup import ACCESS, SHRINKS_TO
from toolkit.dialects.postgresql.backup.programs import PGBACKREST, path_to
from toolkit.dialects.work import Call, Work
from toolkit.errors import ToolkitError
from toolkit.model.facts import Facts
from toolkit.model.records import ItemRecord
from toolkit.model.steps import ObjectRef, Place, PlaceKind, Takes, content_of, path_of
from toolkit.model.values import QualifiedName, Row, Support
from toolkit.model.words import Effect, Mode, ObjectKind, Outcome, Role, StepKind, SupportState

PROGRAMS = (PGBACKREST,)
STANZA_OF_TRIALS = "dbatk"
_TYPES = {"none": "none", "gzip": "gz", "lz4": "lz4", "zstd": "zst", "bzip2": "bz2"}
_LEVELS = {"gzip": (0, 9), "lz4": (-5, 12), "zstd": (-7, 22), "bzip2": (1, 9)}
_STANZA = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,126}", re.ASCII)
_LINE = re.compile(r"(?P<at>\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{3}) P(?P<process>\d+)\s+\w+: (?P<text>.*)")
_FILE = re.compile(
    r"(?:match file from prior backup|backup file) (?P<name>.+) \((?P<size>[\d.]+)(?P<unit>[KMGTP]?B),"
)
_BEGUN = re.compile(r"backup start archive = |execute .*backup start: ")
_UNITS = {"B": 1, "KB": 1 << 10, "MB": 1 << 20, "GB": 1 << 30, "TB": 1 << 40, "PB": 1 << 50}
_MOST_ITEMS = 300
"""The largest files of a trial are kept as items; thousands of small ones would drown them."""
_OWN_ENVIRONMENT = ("PGBACKREST_",)


def object_of(options: Options) -> ObjectRef:
    """Name the backup of a job: it is in the user's repository."""
    return ObjectRef(ObjectKind.BACKUP, QualifiedName(f"stanza {options.get('stanza')}"))


def refusal(work: Work, facts: Facts) -> str | None:
    """Say why this cannot be had; None when it can."""
    del facts
    compression = str(work.option("compression") or "none")
    if compression not in _TYPES:
        return f"pgBackRest compresses with {', '.join(_TYPES)}, not `{compression}`"
    level = work.option("compression_level")
    if level is None:
        return None
    low, high = _LEVELS.get(compression, (0, -1))
    if not low <= int(str(level)) <= high:
        return (
            f"the levels of {compression} are {low} to {high}"
            if compression in _LEVELS
            else "no compression has no level"
        )
    return None


def check_stanza(stanza: object, what: str) -> None:
    """Refuse a stanza that is missing or cannot be one.

    Raises:
        ToolkitError: TK-0104, TK-0107.
    """
    if stanza is None:
        raise ToolkitError(f"{what} needs a stanza", code="TK-0107", hint="give `--stanza NAME`")
    if _STANZA.fullmatch(str(stanza)) is None:
        raise ToolkitError(
            f"`{stanza}` is not a valid stanza name",
            code="TK-0104",
            hint="use letters, digits, `-` and `_`; `pgbackrest info` lists existing ones",
        )


def refuse(work: Work, facts: Facts) -> None:
    """Refuse a stanza that cannot be one, and what a job or a trial does not take.

    Raises:
        ToolkitError: TK-0104, TK-0107, TK-0204, TK-0304 or TK-0305.
    """
    _refuse_retention(work)
    stanza = work.option("stanza")
    if work.mode is Mode.MEASUREMENT:
        if stanza is not None or work.option("backup_config") is not None:
            raise ToolkitError(
                "a measurement uses its own stanza and repository: yours are for jobs",
                code="TK-0107",
                hint="omit `--stanza` and `--backup-config`, and give `--destination FOLDER`",
            )
        return
    if work.option("destination") is not None:
        raise ToolkitError(
            "pgBackRest's configuration sets the destination for jobs",
            code="TK-0107",
            hint="omit `--destination`",
        )
    check_stanza(stanza, "a job of pgBackRest")
    owner, me = facts.value("data_directory", "owner"), facts.value("data_directory", "asked_by")
    if owner is not None and me not in (owner, "root"):
        raise ToolkitError(
            f"pgBackRest must run as `{owner}`, who owns the server's files, and this user is `{me}`",
            code="TK-0305",
            hint=f"run dbatk as `{owner}`, or as root, which runs pgBackRest as `{owner}`",
        )
    if facts.value("backup_config", "is_there") == "no":
        path = facts.value("backup_config", "path")
        raise ToolkitError(f"file `{path}` does not exist", code="TK-0204", hint="check `--backup-config`")


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


def of_server(work: Work, facts: Facts) -> Support:
    """Say what keeps it from reading the server's files; the configuration of a job tells where they are."""
    server = facts.first("backup_server")
    if not server or work.mode is Mode.JOB:
        return Support(SupportState.SUPPORTED)
    place = server.get("data_directory")
    if place is None:
        return Support(
            SupportState.NEEDS_PRIVILEGE,
            "no privilege to read the location of the data files; ask for: GRANT pg_read_all_settings TO this "
            "user",
        )
    if facts.value("data_directory", "is_folder") == "no":
        return Support(
            SupportState.UNSUPPORTED,
            f"`{place}` is not on this host, or not accessible to this user; pgBackRest reads the files directly",
        )
    return Support(SupportState.SUPPORTED)


def takes(work: Work, facts: Facts) -> tuple[Takes, ...]:
    """Say how big it gets; of the user's repositories only pgBackRest knows."""
    if not work.object.scratch:
        why = "pgBackRest alone knows its repositories"
        return (Takes(None, Place(PlaceKind.FOLDER, "", str(work.object.name)), unknown=why),)
    size = facts.value("backup_server", "byte_count")
    times = 1.0 if work.option("compression") in (None, "none") else SHRINKS_TO
    return backups.takes_of_folder(float(size) * times if isinstance(size, int | float) else None, work)


def prepare(work: Work, facts: Facts) -> tuple[Call, ...]:
    """Make repository and stanza of a trial."""
    if work.mode is Mode.JOB:
        return ()
    create = _call("stanza_create", [*_own(work, facts), *_cluster(facts), "stanza-create"], work, ACCESS)
    return (backups.make(work.object, str(work.mark)), create)


def timed(work: Work, facts: Facts) -> tuple[Call, ...]:
    """Spell the command line."""
    options = ["--type=full", f"--process-max={work.degree}", "--log-level-console=detail", "--no-expire-auto"]
    options += _compression(work)
    if work.mode is Mode.JOB:
        checkpoint = {"fast": ["--start-fast"], "spread": ["--no-start-fast"]}
        options += checkpoint.get(str(work.option("checkpoint")), [])
        tag = work.option("tag")
        options += [] if tag is None else [f"--annotation=tag={tag}"]
        argv = [*_of_user(work, facts), *options, "backup"]
    else:
        fast = "--no-start-fast" if work.option("checkpoint") == "spread" else "--start-fast"
        own = [fast, "--no-archive-check", "--repo1-retention-full=1"]
        argv = [*_own(work, facts), *_cluster(facts), *options, *own, "backup"]
    return (_call(PGBACKREST, argv, work, ACCESS, facts=facts),)


def _compression(work: Work) -> list[str]:
    given, level = work.option("compression"), work.option("compression_level")
    if given is None and work.mode is Mode.JOB:
        return []
    return [
        f"--compress-type={_TYPES[str(given or 'none')]}",
        *([] if level is None else [f"--compress-level={level}"]),
    ]


def _of_user(work: Work, facts: Facts) -> list[str]:
    config = work.option("backup_config")
    own = [] if config is None else [f"--config={config}"]
    return [path_to(PGBACKREST, facts), f"--stanza={work.option('stanza')}", *own]


def _own(work: Work, facts: Facts) -> list[str]:
    """Return what keeps a trial apart from every configuration and repository of the user's."""
    folder = path_of(work.object)
    return [
        path_to(PGBACKREST, facts),
        "--config=/dev/null",
        f"--stanza={STANZA_OF_TRIALS}",
        f"--repo1-path={content_of(work.object)}",
        f"--lock-path={folder}/lock",
        "--log-level-file=off",
    ]


def _cluster(facts: Facts) -> list[str]:
    place, port = facts.value("backup_server", "data_directory"), facts.value("backup_server", "port")
    database = facts.value("server", "database_name")
    return [f"--pg1-path={place}", f"--pg1-port={port}", *([f"--pg1-database={database}"] if database else [])]


def evidence(work: Work, facts: Facts) -> tuple[Call, ...]:
    """Ask what the repository knows of the backup; that of a trial is measured as well."""
    if work.mode is Mode.JOB:
        return (_call("info", [*_of_user(work, facts), "--output=json", "info"], work, (), "info", facts),)
    own = [each for each in _own(work, facts) if not each.startswith("--lock-path")]
    info = _call("info", [*own, "--output=json", "info"], work, (), "info")
    return (info, backups.measure(work.object))


def _call(
    name: str,
    argv: list[str],
    work: Work,
    access: tuple[str, ...],
    keep_as: str | None = None,
    facts: Facts | None = None,
) -> Call:
    """Run it; in a job as the owner of the server's files, for files of root's would shut the archive out."""
    owner = facts.value("data_directory", "owner") if facts is not None and work.mode is Mode.JOB else None
    return Call(
        name,
        kind=StepKind.COMMAND,
        session=Role.WORKER if name != "stanza_create" else Role.CONTROL,
        effect=Effect.READS if keep_as else Effect.CHANGES,
        object=work.object,
        argv=tuple(argv),
        access=access,
        as_user=None if owner is None else str(owner),
        without=_OWN_ENVIRONMENT if work.mode is Mode.MEASUREMENT else (),
        keep_as=keep_as,
    )


# -- what it wrote ------------------------------------------------------------------------------------------------
def granted(work: Work, kept: Kept) -> Granted:
    """Count the processes that copied files, each of which names itself in the log."""
    busy = {item.worker for item in _items(kept.get("log", ()))}
    if not busy:
        return Granted(None, "pgBackRest's log", "the log shows no process")
    if len(busy) >= work.degree:
        return Granted(work.degree, "pgBackRest's log")
    return Granted(len(busy), "pgBackRest's log", f"{len(busy)} of {work.degree} processes copied files")


def tell(work: Work, kept: Kept, seconds: float) -> TrialFindings:
    """Tell bytes in and out, and the largest files, each with its process and time."""
    read, label, written = _info(kept.get("info", ()))
    measured = kept.get("bytes", ({},))[0].get("byte_count")
    metrics = backups.volume(read, written if written is not None else measured, seconds, PGBACKREST)
    items = sorted(_items(kept.get("log", ())), key=lambda item: -(item.bytes or 0))[:_MOST_ITEMS]
    ordered = sorted(items, key=lambda item: (item.begin_seconds or 0.0, item.label))
    stays = (ItemRecord(f"backup {label}", Outcome.OK, bytes=written),) if work.mode is Mode.JOB and label else ()
    return TrialFindings(metrics, bytes=written, items=(*stays, *ordered))


def _info(rows: Sequence[Row]) -> tuple[int | None, str | None, int | None]:
    """Read the size of the newest backup, its label, and its size in the repository from `info --output=json`."""
    text = "\n".join(str(row.get("line") or "") for row in rows)
    try:
        backup = json.loads(text[text.index("[") :])[0]["backup"][-1]
        repository = backup["info"]["repository"]
        return int(backup["info"]["delta"]), str(backup["label"]), int(repository["delta"])
    except (ValueError, KeyError, IndexError, TypeError):
        return None, None, None


def _items(log: Sequence[Row]) -> list[ItemRecord]:
    """Return each file with its process; it began when its process had ended the one before."""
    return list(_files(log))


def _files(log: Sequence[Row]) -> Iterator[ItemRecord]:
    origin: datetime | None = None
    copying = 0.0
    free: dict[int, float] = {}
    for row in log:
        line = _LINE.match(str(row.get("line") or ""))
        if line is None:
            continue
        instant = datetime.fromisoformat(line["at"])
        origin = origin or instant
        now = (instant - origin).total_seconds()
        if _BEGUN.search(line["text"]):
            copying = now
        found, process = _FILE.match(line["text"]), int(line["process"])
        if found is None or process == 0:
            continue
        begun = free.get(process, copying)
        free[process] = now
        size = int(float(found["size"]) * _UNITS[found["unit"]])
        yield ItemRecord(
            found["name"], Outcome.OK, elapsed_seconds=max(0.0, now - begun), begin_seconds=begun,
            worker=process - 1, bytes=size,
        )  # fmt: skip


def config_path(options: Options) -> str | None:
    """Return the configuration file that was named."""
    given = options.get("backup_config")
    return None if given is None else str(given)
