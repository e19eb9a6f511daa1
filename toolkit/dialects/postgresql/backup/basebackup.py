"""pg_basebackup: one process copies the cluster through a session; workers are those that compress with zstd.

Sources: PostgreSQL manual 14 to 18, pg_basebackup (--compress with a method since 15), pg_verifybackup (tar format
since 18).
"""

from __future__ import annotations

from collections.abc import Mapping

from toolkit.dialects import backups
from toolkit.dialects.answers import TrialFindings
from toolkit.dialects.implementations import Options
from toolkit.dialects.postgresql.backup.programs import BASEBACKUP, VERIFY, path_to, release_of
from toolkit.dialects.postgresql.release import major
from toolkit.dialects.work import Call, Work
from toolkit.model.facts import Facts
from toolkit.model.records import Metric
from toolkit.model.steps import content_of, path_of
from toolkit.model.values import Row
from toolkit.model.words import Effect, Mode, Role, StepKind

ACCESS = ("PGHOST", "PGPORT", "PGUSER", "PGPASSWORD", "PGAPPNAME", "PGCONNECT_TIMEOUT", "PGSSLMODE")
"""Environment variables for libpq; the target may add more (certificates)."""
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
        return f"{method} has no workers; several channels need zstd"
    built = str(facts.value("backup_server", "built_with") or "")
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
    by = VERIFY if verified(work, facts) else None
    verify = () if by is None else (_program(by, _verify_argv(work, facts), work, (), "verified"),)
    moved = (backups.publish(work, verified_by=by),) if work.mode is Mode.JOB else ()
    return (*verify, backups.measure(work.object), *moved)


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


def tell(work: Work, facts_size: object, kept: Mapping[str, tuple[Row, ...]], seconds: float) -> TrialFindings:
    """Tell bytes in and out, CPU of the client, and whether the backup was verified."""
    written = kept.get("bytes", ({},))[0].get("byte_count")
    metrics = list(backups.volume(facts_size, written, seconds, BASEBACKUP))
    metrics.append(Metric("verified", 1.0 if "verified" in kept else 0.0, "yes/no", VERIFY))
    sentences = () if "verified" in kept else (_not_verified(work),)
    return TrialFindings(tuple(metrics), sentences)


def _not_verified(work: Work) -> str:
    if file_format(work.options) == "tar":
        return "the backup was not verified: pg_verifybackup reads tar files from PostgreSQL 18 on"
    return "the backup was not verified: pg_verifybackup was not found"
