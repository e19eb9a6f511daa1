"""An export imported into a new file by a process of its own, and asked there."""

# ruff: noqa: ARG002 (every implementation answers with the same arguments)

from __future__ import annotations

import sys
from collections.abc import Mapping
from datetime import UTC, datetime

from toolkit import resources
from toolkit.dialects import backups, restores
from toolkit.dialects.answers import Granted, TrialFindings
from toolkit.dialects.implementations import Kept, Options
from toolkit.dialects.restores import Restores
from toolkit.dialects.work import Call, ContextValue, Work
from toolkit.errors import ToolkitError
from toolkit.model.facts import Facts, Probe, Query
from toolkit.model.steps import SUMS, ObjectRef, Takes, content_of
from toolkit.model.values import Support
from toolkit.model.words import Effect, Role, StepKind, SupportState

_IMPORT, _STATE = "IMPORT DATABASE", "restored_state"
_GROWS_TO = 4.0
"""How much bigger than an export the database is, as a rule of thumb."""


class DuckdbRestores(Restores):
    """Into a folder of this host, as a database file of its own."""

    def reads(self, options: Options, facts: Facts) -> tuple[Query, ...]:
        return ()

    def probes(self, options: Options, facts: Facts) -> tuple[Probe, ...]:
        return restores.probes(options, "schema.sql")

    def object(self, options: Options, name: str) -> ObjectRef:
        return backups.folder_of(options, name)

    def label(self, work: Work) -> str:
        return str(restores.backup_of(work.options))

    def refuse(self, work: Work, facts: Facts) -> None:
        restores.refuse_folders(work, facts)
        names = restores.names_in(work, facts)
        if restores.content(work, facts) and "schema.sql" not in names:
            raise ToolkitError(
                f"`{self.label(work)}` holds no export: schema.sql is not in it",
                code="TK-0204",
                hint="give the folder of EXPORT DATABASE, or one of `dbatk backup run`",
            )

    def support(self, work: Work, facts: Facts) -> Support:
        if work.degree < 1:
            return Support(SupportState.UNSUPPORTED, "DuckDB has no automatic degree; give a number")
        return Support(SupportState.SUPPORTED)

    def takes(self, work: Work, facts: Facts) -> tuple[Takes, ...]:
        size = restores.content(work, facts).get("byte_count")
        return backups.takes_of_folder(size * _GROWS_TO if isinstance(size, int | float) else None, work)

    def prepare(self, work: Work, facts: Facts) -> tuple[Call, ...]:
        return (backups.make(work.object, str(work.mark)),)

    def timed(self, work: Work, facts: Facts) -> tuple[Call, ...]:
        """Compare the files with their checksums where there are some, and import them."""
        prove = (backups.prove(work.object, self.label(work)),) if self._sealed(work, facts) else ()
        argv = _program("import", "--threads", str(work.degree), self.label(work), _file(work))
        load = Call(
            "import_database", kind=StepKind.COMMAND, session=Role.WORKER, effect=Effect.CHANGES,
            object=work.object, argv=argv,
        )  # fmt: skip
        return (*prove, load)

    @staticmethod
    def _sealed(work: Work, facts: Facts) -> bool:
        return SUMS in restores.names_in(work, facts) or not restores.content(work, facts)

    def evidence(self, work: Work, facts: Facts) -> tuple[Call, ...]:
        point = restores.content(work, facts).get("oldest_at")
        found = [_ask("restore_state", {"written_at": float(str(point or 0))}, work, _STATE)]
        if work.tables:
            values: dict[str, ContextValue] = {"tables": work.tables, "labels": restores.tables_of(work)}
            found.append(Call("restore_tables", values, session=Role.WORKER, keep_as=restores.SOURCE))
            found.append(_ask("restore_tables", values, work, restores.RESTORED))
        query = work.option("check")
        if query is not None:
            found.append(_ask("restore_check", {"query": str(query)}, work, restores.CHECKED))
        return (*found, backups.measure(work.object))

    def refuted(self, work: Work, kept: Kept) -> str | None:
        point, now = _instants(kept)
        wrong = restores.refuted(work, kept, point, now)
        return wrong or restores.too_slow(work, _times(kept)["copy"])

    def granted(self, work: Work, kept: Kept, peaks: Mapping[str, float], notices: tuple[str, ...]) -> Granted:
        if work.degree == 1:
            return Granted(1, _IMPORT)
        return Granted(None, _IMPORT, "the number of threads that worked is unknown of another process")

    def tell(self, work: Work, kept: Kept, deltas: Mapping[str, float], seconds: float) -> TrialFindings:
        proof = SUMS if any("verified" in row for row in kept.get("program", ())) else ""
        return restores.findings(kept, _times(kept), _IMPORT, *_instants(kept), proof)


def _times(kept: Kept) -> dict[str, float]:
    rows = kept.get("program", ())
    sums = [row for row in rows if "verified" in row]
    return restores.times(kept, {"verify": len(sums), "copy": len(rows) - len(sums)})


def _instants(kept: Kept) -> tuple[datetime | None, datetime | None]:
    """Return when the oldest file of the export was written, and when that was asked."""
    rows = restores.records(kept, _STATE)
    if not rows:
        return None, None
    written, now = (datetime.fromtimestamp(float(text), UTC) for text in rows[0][:2])
    return (written if float(rows[0][0]) else None), now


def _file(work: Work) -> str:
    return f"{content_of(work.object)}/copy.duckdb"


def _program(act: str, *arguments: str) -> tuple[str, ...]:
    return (sys.executable, "-I", resources.program("targets", "duckdb_scratch"), act, *arguments)


def _ask(template: str, values: Mapping[str, ContextValue], work: Work, keep_as: str) -> Call:
    return Call(
        template, values, kind=StepKind.SCRIPT, session=Role.WORKER, effect=Effect.READS, object=work.object,
        argv=_program("query", _file(work)), keep_as=keep_as,
    )  # fmt: skip
