"""Restores of PostgreSQL: of a base backup or pgBackRest's, recovered by a scratch server that reaches nobody."""

# ruff: noqa: ARG002 (every implementation answers with the same arguments)

from __future__ import annotations

from collections.abc import Mapping
from types import ModuleType

from toolkit.dialects import backups, restores
from toolkit.dialects.answers import Granted, TrialFindings
from toolkit.dialects.implementations import Kept, Options
from toolkit.dialects.postgresql.backup.programs import PGBACKREST, VERIFY, missing, probes_of
from toolkit.dialects.postgresql.restore import basebackup, checks, pgbackrest, server
from toolkit.dialects.restores import Restores
from toolkit.dialects.work import Call, Work
from toolkit.model.facts import Facts, Probe, Query
from toolkit.model.steps import ObjectRef, Takes
from toolkit.model.values import Support
from toolkit.model.words import ProbeKind, SupportState


def _by_pgbackrest(options: Options) -> bool:
    return options.get("method") == PGBACKREST


def _of(work: Work) -> ModuleType:
    return pgbackrest if _by_pgbackrest(work.options) else basebackup


class PostgresqlRestores(Restores):
    """Into a folder of this host, with a server of its own on it."""

    def reads(self, options: Options, facts: Facts) -> tuple[Query, ...]:
        return (Query(server.SOURCE, server.SOURCE), Query("backup_server", "backup_server", optional=True))

    def probes(self, options: Options, facts: Facts) -> tuple[Probe, ...]:
        own = PGBACKREST if _by_pgbackrest(options) else VERIFY
        names = (server.PG_CTL, server.PSQL, own)
        place = facts.value("backup_server", "data_directory")
        asked = () if place is None else (Probe("data_directory", ProbeKind.FOLDER, (str(place),)),)
        user, where = options.get("run_as") or place, backups.destination(options)
        enters = () if user is None or where is None else (Probe("run_as", ProbeKind.USER, (str(user), where)),)
        folders = restores.probes(options, *basebackup.SIGNS, in_folder=not _by_pgbackrest(options))
        return (*probes_of(names, options, facts), *folders, *asked, *enters)

    def object(self, options: Options, name: str) -> ObjectRef:
        return backups.folder_of(options, name)

    def label(self, work: Work) -> str:
        return str(_of(work).label(work))

    def refuse(self, work: Work, facts: Facts) -> None:
        _of(work).refuse(work, facts)
        server.refuse(work, facts)

    def support(self, work: Work, facts: Facts) -> Support:
        needed = (server.PG_CTL, server.PSQL, PGBACKREST if _by_pgbackrest(work.options) else VERIFY)
        sentence = next(filter(None, (missing(name, facts) for name in needed)), None)
        sentence = sentence or _of(work).refusal(work, facts)
        return Support(SupportState.SUPPORTED if sentence is None else SupportState.UNSUPPORTED, sentence or "")

    def takes(self, work: Work, facts: Facts) -> tuple[Takes, ...]:
        return backups.takes_of_folder(_of(work).size(work, facts), work)

    def prepare(self, work: Work, facts: Facts) -> tuple[Call, ...]:
        return (server.make(work, facts),)

    def timed(self, work: Work, facts: Facts) -> tuple[Call, ...]:
        return (*_of(work).timed(work, facts), server.configure(work, facts), server.start(work, facts))

    def evidence(self, work: Work, facts: Facts) -> tuple[Call, ...]:
        return (*checks.calls(work, facts), backups.measure(work.object))

    def end(self, work: Work, facts: Facts) -> tuple[Call, ...]:
        return (server.stop(work),)

    def refuted(self, work: Work, kept: Kept) -> str | None:
        point, now = checks.recovery_point(kept), checks.now(kept)
        wrong = checks.another_cluster(kept) or restores.refuted(work, kept, point, now)
        return wrong or restores.too_slow(work, self._recovery_seconds(work, kept))

    @staticmethod
    def _times(work: Work, kept: Kept) -> Mapping[str, float]:
        return restores.times(kept, {**_of(work).PHASES, "start": server.STEPS})

    def _recovery_seconds(self, work: Work, kept: Kept) -> float:
        took = self._times(work, kept)
        return took["copy"] + took["start"]

    def granted(self, work: Work, kept: Kept, peaks: Mapping[str, float], notices: tuple[str, ...]) -> Granted:
        found: Granted = _of(work).granted(work, kept)
        return found

    def tell(self, work: Work, kept: Kept, deltas: Mapping[str, float], seconds: float) -> TrialFindings:
        return checks.tell(work, kept, self._times(work, kept), _of(work))
