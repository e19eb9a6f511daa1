"""Backups of PostgreSQL: by pg_basebackup or pg_dump into a folder, or by pgBackRest into a repository."""

# ruff: noqa: ARG002 (every implementation answers with the same arguments)

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

from toolkit.dialects import backups
from toolkit.dialects.answers import Granted, TrialFindings
from toolkit.dialects.backups import Backups
from toolkit.dialects.implementations import Kept, Options
from toolkit.dialects.postgresql.backup import basebackup, dump, pgbackrest
from toolkit.dialects.postgresql.backup.programs import BASEBACKUP, DUMP, PGBACKREST, missing, probes_of, too_old
from toolkit.dialects.work import Call, Work
from toolkit.errors import ToolkitError
from toolkit.model.facts import Facts, Probe, Query
from toolkit.model.steps import ObjectRef, Takes
from toolkit.model.values import Support
from toolkit.model.words import Keep, Mode, ProbeKind, SupportState

_SERVER, _TABLESPACES = "backup_server", "backup_tablespaces"
_OWN = {
    "checkpoint": (BASEBACKUP, PGBACKREST), "file_format": (BASEBACKUP,), "compress_at": (BASEBACKUP,),
    "manifest_checksums": (BASEBACKUP,), "scope": (DUMP,), "of": (DUMP,),
}  # fmt: skip
"""Options that only some of the programs have."""


class _Program(Protocol):
    """What the module of each program answers, as `Backups` does for all of them."""

    @property
    def PROGRAMS(self) -> Sequence[str]: ...  # noqa: N802 (a constant of a module)

    def refusal(self, work: Work, facts: Facts, /) -> str | None: ...
    def of_server(self, work: Work, facts: Facts, /) -> Support: ...
    def takes(self, work: Work, facts: Facts, /) -> tuple[Takes, ...]: ...
    def prepare(self, work: Work, facts: Facts, /) -> tuple[Call, ...]: ...
    def timed(self, work: Work, facts: Facts, /) -> tuple[Call, ...]: ...
    def evidence(self, work: Work, facts: Facts, /) -> tuple[Call, ...]: ...
    def granted(self, work: Work, kept: Kept, /) -> Granted: ...
    def tell(self, work: Work, kept: Kept, seconds: float, /) -> TrialFindings: ...


_PROGRAMS: Mapping[str, _Program] = {BASEBACKUP: basebackup, PGBACKREST: pgbackrest, DUMP: dump}


def _name_of(options: Options) -> str:
    return str(options.get("method") or BASEBACKUP)


def _of(options: Options) -> _Program:
    return _PROGRAMS[_name_of(options)]


class PostgresqlBackups(Backups):
    """Into a folder of this host; a job of pgBackRest into the user's repository."""

    reads_back = True
    clone_differs_in = (
        ("host", _SERVER, "host"), ("port", _SERVER, "port"), ("data directory", _SERVER, "data_directory"),
    )  # fmt: skip

    def reads(self, options: Options, facts: Facts) -> tuple[Query, ...]:
        return (Query(_SERVER, _SERVER), Query(_TABLESPACES, _TABLESPACES, optional=True), *dump.reads(options))

    def probes(self, options: Options, facts: Facts) -> tuple[Probe, ...]:
        probes = [*probes_of(_of(options).PROGRAMS, options, facts), *backups.folder_probes(options)]
        place = facts.value(_SERVER, "data_directory")
        if place is not None:
            probes.append(Probe("data_directory", ProbeKind.FOLDER, (str(place),)))
        config = pgbackrest.config_path(options)
        if config is not None:
            probes.append(Probe("backup_config", ProbeKind.FOLDER, (config,)))
        return tuple(probes)

    def object(self, options: Options, name: str, *, measuring: bool) -> ObjectRef:
        if _name_of(options) == PGBACKREST and not measuring:
            return pgbackrest.object_of(options)
        return backups.folder_of(options, name)

    def label(self, work: Work) -> str:
        if work.mode is Mode.MEASUREMENT:
            return _name_of(work.options)
        return backups.final_path(work) if work.object.scratch else str(work.object.name)

    def refuse(self, work: Work, facts: Facts) -> None:
        program = _name_of(work.options)
        if program == PGBACKREST:
            pgbackrest.refuse(work, facts)
            if work.mode is Mode.JOB:
                return
        elif work.option("stanza") is not None or work.option("backup_config") is not None:
            raise ToolkitError(
                "`--stanza` and `--backup-config` are for pgBackRest",
                code="TK-0107",
                hint="add `--method pgbackrest`, or omit them",
            )
        if program == DUMP:
            dump.refuse(work, facts)
        backups.refuse_folder(work, facts)
        _refuse_inside(facts)

    def refuse_keeping(self, keep: Keep) -> None:
        return

    def drops(self, work: Work) -> bool:
        return True

    def takes(self, work: Work, facts: Facts) -> tuple[Takes, ...]:
        return _of(work.options).takes(work, facts)

    def support(self, work: Work, facts: Facts) -> Support:
        program = _name_of(work.options)
        sentence = "channels must be a number here" if work.degree < 1 else None
        sentence = sentence or missing(program, facts) or too_old(program, facts)
        sentence = sentence or _of_others(work, program) or _of(work.options).refusal(work, facts)
        if sentence is not None:
            return Support(SupportState.UNSUPPORTED, sentence)
        return _of(work.options).of_server(work, facts)

    def remarks(self, work: Work, facts: Facts) -> tuple[str, ...]:
        """Say that a backup waits for a checkpoint, which by default is not a fast one in a job."""
        program, asked = _name_of(work.options), work.option("checkpoint")
        if program == DUMP or asked == "fast" or (work.mode is Mode.MEASUREMENT and asked != "spread"):
            return ()
        most = f" ({limit})" if (limit := facts.value(_SERVER, "checkpoint_timeout")) else ""
        unless = ", unless its configuration has `start-fast`" if program == PGBACKREST and asked is None else ""
        return (
            f"the backup begins after a checkpoint that is spread over time{unless}: that can take about "
            f"checkpoint_timeout{most}; `--checkpoint fast` has it done at once, in one burst",
        )

    def prepare(self, work: Work, facts: Facts) -> tuple[Call, ...]:
        return _of(work.options).prepare(work, facts)

    def timed(self, work: Work, facts: Facts) -> tuple[Call, ...]:
        return _of(work.options).timed(work, facts)

    def evidence(self, work: Work, facts: Facts) -> tuple[Call, ...]:
        return _of(work.options).evidence(work, facts)

    def granted(self, work: Work, kept: Kept, peaks: Mapping[str, float], notices: tuple[str, ...]) -> Granted:
        return _of(work.options).granted(work, kept)

    def tell(self, work: Work, kept: Kept, deltas: Mapping[str, float], seconds: float) -> TrialFindings:
        used = kept.get("program", ({},))[0].get("cpu_seconds")
        return backups.with_cpu(_of(work.options).tell(work, kept, seconds), used, seconds)


def _of_others(work: Work, program: str) -> str | None:
    """Say that an option is for other programs."""
    for name, programs in _OWN.items():
        if work.option(name) is not None and program not in programs:
            return (
                f"--{name.replace('_', '-')} is for {' and '.join(programs)}, and this backup is made by {program}"
            )
    return None


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
