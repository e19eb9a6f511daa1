"""Restores of PostgreSQL: of a base backup, pgBackRest's or a dump, on a scratch server that reaches nobody."""

# ruff: noqa: ARG002 (every implementation answers with the same arguments)

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Protocol

from toolkit.dialects import backups, restores
from toolkit.dialects.answers import Granted, TrialFindings
from toolkit.dialects.implementations import Kept, Options
from toolkit.dialects.postgresql.backup.programs import BASEBACKUP, DUMP, PGBACKREST, missing, probes_of
from toolkit.dialects.postgresql.restore import basebackup, checks, dump, pgbackrest, recovery, server
from toolkit.dialects.restores import Restores
from toolkit.dialects.work import Call, Work
from toolkit.errors import ToolkitError
from toolkit.model.facts import Facts, Probe, Query
from toolkit.model.records import Metric
from toolkit.model.steps import ObjectRef, Takes
from toolkit.model.values import Support
from toolkit.model.words import ProbeKind, SupportState


class _Program(Protocol):
    """What the module of each kind of backup answers: how it is brought back."""

    @property
    def PROGRAMS(self) -> Sequence[str]: ...  # noqa: N802 (a constant of a module)
    @property
    def PROGRAM(self) -> str: ...  # noqa: N802

    def label(self, work: Work, /) -> str: ...
    def refuse(self, work: Work, facts: Facts, /) -> None: ...
    def refusal(self, work: Work, facts: Facts, /) -> str | None: ...
    def size(self, work: Work, facts: Facts, /) -> float | None: ...
    def timed(self, work: Work, facts: Facts, /) -> tuple[Call, ...]: ...
    def phases(self, work: Work, kept: Kept, /) -> Mapping[str, int]: ...
    def granted(self, work: Work, kept: Kept, /) -> Granted: ...
    def proof(self, kept: Kept, /) -> str: ...


class _Origin(Protocol):
    """What is asked, after the clock, of where the data come from and until when there are some."""

    def calls(self, work: Work, facts: Facts, /) -> tuple[Call, ...]: ...
    def point(self, kept: Kept, /) -> datetime | None: ...
    def another(self, kept: Kept, /) -> str | None: ...
    def behind(self, kept: Kept, /) -> tuple[Metric, ...]: ...
    def left_out(self, work: Work, kept: Kept, /) -> tuple[str, ...]: ...


_WAYS: Mapping[str, tuple[_Program, _Origin]] = {
    BASEBACKUP: (basebackup, recovery),
    PGBACKREST: (pgbackrest, recovery),
    DUMP: (dump, dump),
}
_OF_PGBACKREST = ("backup_set", "stanza", "backup_config")
_ALL = (server.PG_CTL, server.PSQL)


def _of(options: Options) -> tuple[_Program, _Origin]:
    return _WAYS[str(options.get("method") or BASEBACKUP)]


class PostgresqlRestores(Restores):
    """Into a folder of this host, with a server of its own on it."""

    def reads(self, options: Options, facts: Facts) -> tuple[Query, ...]:
        return (Query(server.SOURCE, server.SOURCE), Query("backup_server", "backup_server", optional=True))

    def probes(self, options: Options, facts: Facts) -> tuple[Probe, ...]:
        names = (*_ALL, *_of(options)[0].PROGRAMS)
        place = facts.value("backup_server", "data_directory")
        asked = () if place is None else (Probe("data_directory", ProbeKind.FOLDER, (str(place),)),)
        user, where = options.get("run_as") or place, backups.destination(options)
        enters = () if user is None or where is None else (Probe("run_as", ProbeKind.USER, (str(user), where)),)
        in_folder = options.get("method") != PGBACKREST
        folders = restores.probes(options, *basebackup.SIGNS, *dump.SIGNS, in_folder=in_folder)
        return (*probes_of(names, options, facts), *folders, *asked, *enters)

    def object(self, options: Options, name: str) -> ObjectRef:
        return backups.folder_of(options, name)

    def label(self, work: Work) -> str:
        return _of(work.options)[0].label(work)

    def refuse(self, work: Work, facts: Facts) -> None:
        for name in _OF_PGBACKREST if work.option("method") != PGBACKREST else ():
            if work.option(name) is not None:
                raise ToolkitError(
                    f"`--{name.replace('_', '-')}` is for pgBackRest",
                    code="TK-0107",
                    hint="add `--method pgbackrest`",
                )
        _of(work.options)[0].refuse(work, facts)
        server.refuse(work, facts)

    def support(self, work: Work, facts: Facts) -> Support:
        way, _ = _of(work.options)
        sentence = next(filter(None, (missing(name, facts) for name in (*_ALL, *way.PROGRAMS))), None)
        sentence = sentence or way.refusal(work, facts)
        return Support(SupportState.SUPPORTED if sentence is None else SupportState.UNSUPPORTED, sentence or "")

    def takes(self, work: Work, facts: Facts) -> tuple[Takes, ...]:
        return backups.takes_of_folder(_of(work.options)[0].size(work, facts), work)

    def prepare(self, work: Work, facts: Facts) -> tuple[Call, ...]:
        return (server.make(work, facts),)

    def timed(self, work: Work, facts: Facts) -> tuple[Call, ...]:
        return _of(work.options)[0].timed(work, facts)

    def evidence(self, work: Work, facts: Facts) -> tuple[Call, ...]:
        _, origin = _of(work.options)
        asked = checks.calls(work, facts, as_it_was=origin is recovery)
        return (*origin.calls(work, facts), *asked, backups.measure(work.object))

    def end(self, work: Work, facts: Facts) -> tuple[Call, ...]:
        return (server.stop(work),)

    def refuted(self, work: Work, kept: Kept) -> str | None:
        way, origin = _of(work.options)
        wrong = origin.another(kept) or restores.refuted(work, kept, origin.point(kept), checks.now(kept))
        took = restores.times(kept, way.phases(work, kept))
        return wrong or restores.too_slow(work, restores.recovery_seconds(took))

    def granted(self, work: Work, kept: Kept, peaks: Mapping[str, float], notices: tuple[str, ...]) -> Granted:
        return _of(work.options)[0].granted(work, kept)

    def tell(self, work: Work, kept: Kept, deltas: Mapping[str, float], seconds: float) -> TrialFindings:
        way, origin = _of(work.options)
        took, now = restores.times(kept, way.phases(work, kept)), checks.now(kept)
        found = restores.findings(kept, took, way.PROGRAM, origin.point(kept), now, way.proof(kept))
        sentences = (*found.sentences, *origin.left_out(work, kept))
        return TrialFindings((*found.metrics, *origin.behind(kept)), sentences, items=found.items)
