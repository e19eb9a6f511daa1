"""pg_basebackup: one process copies the cluster through a session; workers are those that compress with zstd.

Sources: PostgreSQL manual 14 to 18, pg_basebackup (--compress with a method since 15), pg_verifybackup (tar format
since 18).
"""

from __future__ import annotations

from toolkit.dialects import backups
from toolkit.dialects.answers import Granted, TrialFindings
from toolkit.dialects.implementations import Kept, Options
from toolkit.dialects.postgresql.backup.programs import BASEBACKUP, VERIFY, path_to, release_of
from toolkit.dialects.postgresql.release import major
from toolkit.dialects.work import Call, Work
from toolkit.model.facts import Facts
from toolkit.model.records import Metric
from toolkit.model.steps import Takes, content_of, path_of
from toolkit.model.values import Support
from toolkit.model.words import Effect, Mode, Role, StepKind, SupportState

ACCESS = ("PGHOST", "PGPORT", "PGUSER", "PGPASSWORD", "PGAPPNAME", "PGCONNECT_TIMEOUT", "PGSSLMODE")
"""Environment variables for libpq; the target may add more (certificates)."""
PROGRAMS = (BASEBACKUP, VERIFY)
SHRINKS_TO = 0.6
"""Share of the data that a compressed backup takes at most, as a rule of thumb; less where data repeat."""
_SERVER = "backup_server"
_SENDERS = 2
"""It takes two: one for the files, one for the WAL meanwhile."""
_METHODS = {"gzip": (1, 9), "lz4": (1, 12), "zstd": (-7, 22)}
_READ_BY_A_SHELL = frozenset('"$`\\')
_WITH_METHODS = 15
_TAR_VERIFIED = 18


def compression(options: Options) -> str | None:
    """Return the method, None for none."""
    given = options.get("compression")
    return None if given in (None, "none") else str(given)


def file_format(options: Options) -> str:
    """Return the format: tar if something is compressed, else plain, unless given."""
    return str(options.get("file_format") or ("tar" if compression(options) else "plain"))


def refusal(work: Work, facts: Facts) -> str | None:
    """Say why this cannot be had; None when it can."""
    form, method = file_format(work.options), compression(work.options)
    if form not in ("plain", "tar"):
        return f"pg_basebackup writes plain or tar, not `{form}`"
    if method is None:
        return _of_nothing(work)
    if method not in _METHODS:
        return f"pg_basebackup compresses with {', '.join(_METHODS)}, not `{method}`"
    return _of_method(work, facts, method) or _of_level(work, method) or _of_tablespaces(work, facts)


def _of_nothing(work: Work) -> str | None:
    if work.degree > 1:
        return (
            "pg_basebackup copies with one process: channels above 1 are workers that compress, with "
            "--compression zstd; pgBackRest copies with several (--method pgbackrest)"
        )
    if work.option("compression_level") is not None or work.option("compress_at") is not None:
        return "a level or place of compression needs --compression gzip, lz4 or zstd"
    return None


def _of_method(work: Work, facts: Facts, method: str) -> str | None:
    at_client = at(work.options) == "client"
    if major(facts.release) < _WITH_METHODS and (method != "gzip" or not at_client):
        return (
            "the server compresses, and methods other than gzip exist, from PostgreSQL 15 on; "
            "use --compress-at client"
        )
    if at_client and file_format(work.options) == "plain":
        return "the client compresses only tar files; omit --file-format, or compress at the server"
    if work.degree > 1 and method != "zstd":
        return f"`{method}` has no workers; several channels need zstd"
    built = str(facts.value(_SERVER, "built_with") or "")
    if built and not at_client and method != "gzip" and f"--with-{method}" not in built:
        return f"this server was built without {method}"
    return None


def _of_level(work: Work, method: str) -> str | None:
    level = work.option("compression_level")
    low, high = _METHODS[method]
    if level is not None and not low <= int(str(level)) <= high:
        return f"the levels of {method} are {low} to {high}"
    return None


def _of_tablespaces(work: Work, facts: Facts) -> str | None:
    if work.mode is Mode.JOB and file_format(work.options) == "plain" and facts.rows("backup_tablespaces"):
        return "a plain backup writes tablespaces to their current location; use --file-format tar"
    return None


def at(options: Options) -> str:
    """Return where is compressed."""
    return str(options.get("compress_at") or "server")


def of_server(work: Work, facts: Facts) -> Support:
    """Say what the server lacks."""
    del work
    server = facts.first(_SERVER)
    if server and server.get("may_replicate") != "yes":
        return Support(
            SupportState.NEEDS_PRIVILEGE,
            "pg_basebackup needs the attribute REPLICATION; ask for: ALTER ROLE this user REPLICATION",
        )
    senders = server.get("wal_senders")
    if isinstance(senders, int) and senders < _SENDERS:
        return Support(
            SupportState.UNSUPPORTED, f"max_wal_senders is {senders}, and pg_basebackup needs {_SENDERS}"
        )
    if server.get("wal_level") == "minimal":
        return Support(SupportState.UNSUPPORTED, "wal_level is minimal: a running server cannot be backed up")
    return Support(SupportState.SUPPORTED)


def takes(work: Work, facts: Facts) -> tuple[Takes, ...]:
    """Say how big it gets: plain files are as big as the server's, whatever compressed them on the way."""
    size = facts.value(_SERVER, "byte_count")
    plain = compression(work.options) is None or file_format(work.options) == "plain"
    times = 1.0 if plain else SHRINKS_TO
    return backups.takes_of_folder(float(size) * times if isinstance(size, int | float) else None, work)


def prepare(work: Work, facts: Facts) -> tuple[Call, ...]:
    """Make the place of the backup."""
    del facts
    return (backups.make(work.object, str(work.mark)),)


def timed(work: Work, facts: Facts) -> tuple[Call, ...]:
    """Spell the command line."""
    fast = work.option("checkpoint") or ("fast" if work.mode is Mode.MEASUREMENT else "spread")
    argv = [
        path_to(BASEBACKUP, facts),
        f"--pgdata={content_of(work.object)}",
        f"--format={file_format(work.options)}",
        f"--checkpoint={fast}",
        "--wal-method=stream",
        f"--label={work.object.name.name}",
        "--no-password",
        "--verbose",
        *_compress(work, facts),
        *_checksums(work),
        *_mapping(work, facts),
    ]
    return (_program(BASEBACKUP, argv, work, ACCESS),)


def _compress(work: Work, facts: Facts) -> tuple[str, ...]:
    method, level = compression(work.options), work.option("compression_level")
    if method is None:
        return ()
    if major(facts.release) < _WITH_METHODS and release_of(BASEBACKUP, facts)[:1] < (_WITH_METHODS,):
        return ("--gzip",) if level is None else (f"--compress={level}",)
    details = [f"level={level}"] if level is not None else []
    details += [f"workers={work.degree}"] if work.degree > 1 else []
    return (f"--compress={at(work.options)}-{method}" + (f":{','.join(details)}" if details else ""),)


def _checksums(work: Work) -> tuple[str, ...]:
    given = work.option("manifest_checksums")
    return () if given is None else (f"--manifest-checksums={given}",)


def _mapping(work: Work, facts: Facts) -> tuple[str, ...]:
    """Put tablespaces beside the copy: in plain format they would go where the server's are."""
    if file_format(work.options) != "plain":
        return ()
    folder = f"{path_of(work.object)}/tablespaces"
    pairs = [(str(row["place"]), f"{folder}/{row['number']}") for row in facts.rows("backup_tablespaces")]
    return tuple(f"--tablespace-mapping={_escaped(old)}={_escaped(new)}" for old, new in pairs)


def _escaped(path: str) -> str:
    return path.replace("\\", "\\\\").replace("=", "\\=")


def evidence(work: Work, facts: Facts) -> tuple[Call, ...]:
    """Verify what was written, measure it, and let the backup of a job go where it stays."""
    size = Call("backup_size", file=True, keep_as="read")
    by = VERIFY if verified(work, facts) else None
    verify = () if by is None else (_program(by, _verify_argv(work, facts), work, (), "verified"),)
    moved = (backups.publish(work, verified_by=by),) if work.mode is Mode.JOB else ()
    return (size, *verify, backups.measure(work.object), *moved)


def verified(work: Work, facts: Facts) -> bool:
    """Tell whether pg_verifybackup is there and reads what was written: plain files, tar files from 18 on."""
    if VERIFY in facts.answers and facts.value(VERIFY, "problem") is not None:
        return False
    return file_format(work.options) == "plain" or release_of(VERIFY, facts)[:1] >= (_TAR_VERIFIED,)


def _verify_argv(work: Work, facts: Facts) -> list[str]:
    """Parse the WAL too where the program is of the server's release and the files are plain.

    It calls pg_waldump through a shell, with the path in double quotes: what a shell reads in there stays away.
    """
    own = release_of(VERIFY, facts)
    same = not own or own[0] == major(facts.release)
    harmless = not _READ_BY_A_SHELL.intersection(content_of(work.object))
    parse = () if same and harmless and file_format(work.options) == "plain" else ("--no-parse-wal",)
    return [path_to(VERIFY, facts), *parse, content_of(work.object)]


def _program(name: str, argv: list[str], work: Work, access: tuple[str, ...], keep_as: str | None = None) -> Call:
    return Call(
        name,
        kind=StepKind.COMMAND,
        session=Role.WORKER,
        effect=Effect.READS if keep_as else Effect.CHANGES,
        object=work.object,
        argv=tuple(argv),
        access=access,
        keep_as=keep_as,
    )


def granted(work: Work, kept: Kept) -> Granted:
    """Tell how many processes copied; the number of compressing workers is unknown."""
    del kept
    if work.degree > 1:
        return Granted(None, BASEBACKUP, "the number of compressing workers is unknown")
    return Granted(1, BASEBACKUP)


def tell(work: Work, kept: Kept, seconds: float) -> TrialFindings:
    """Tell bytes in and out, and whether the backup was verified."""
    read, written = (kept.get(key, ({},))[0].get("byte_count") for key in ("read", "bytes"))
    metrics = list(backups.volume(read, written, seconds, BASEBACKUP))
    metrics.append(Metric("verified", 1.0 if "verified" in kept else 0.0, "yes/no", VERIFY))
    sentences = () if "verified" in kept else (_not_verified(work),)
    return TrialFindings(tuple(metrics), sentences)


def _not_verified(work: Work) -> str:
    if file_format(work.options) == "tar":
        return "the backup was not verified: pg_verifybackup reads tar files from PostgreSQL 18 on"
    return "the backup was not verified: pg_verifybackup was not found"
