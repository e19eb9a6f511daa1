"""Write what is known of a run as a whole: its head, state, warnings, environment, facts and artifacts."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import Connection, func, select, update

from toolkit.errors import ToolkitError
from toolkit.model.records import Artifact, RunHead
from toolkit.model.values import Scalar
from toolkit.model.words import RunState
from toolkit.store import schema
from toolkit.store.codec import experiment_to_json
from toolkit.store.database import StorePart, checked_id, require_run, unknown_run
from toolkit.store.journal import OPEN_STATES
from toolkit.store.leases import refuse_live
from toolkit.store.rows import pack
from toolkit.store.seals import RUN_SEAL, Seal, seal_of_run


def _put_environment(connection: Connection, run: str, environment: Mapping[str, Scalar]) -> None:
    rows = []
    for position, (name, value) in enumerate(environment.items()):
        text, kind = pack(value)
        rows.append({"run": run, "position": position, "name": name, "value": text, "value_type": kind})
    connection.execute(schema.environment.delete().where(schema.environment.c.run == run))
    if rows:
        connection.execute(schema.environment.insert(), rows)


def _put_artifact(connection: Connection, run: str, artifact: Artifact) -> None:
    table, trial = schema.artifact, artifact.trial or 0
    row = {
        "run": run,
        "trial": trial,
        "name": artifact.name,
        "media_type": artifact.media_type,
        "size_bytes": len(artifact.content),
        "content": artifact.content,
    }
    same = (table.c.run == run, table.c.trial == trial, table.c.name == artifact.name)
    connection.execute(table.delete().where(*same))
    connection.execute(table.insert().values(row))


def _put_facts(connection: Connection, run: str, text: str) -> None:
    connection.execute(schema.facts.delete().where(schema.facts.c.run == run))
    connection.execute(schema.facts.insert().values(run=run, content=text))


class Runs(StorePart):
    """Writes runs."""

    def create_run(self, head: RunHead, seal: Seal | None = None) -> None:
        """Store a new run, sealed where a seal is given; its trials come later.

        It survives a power cut once the next durable write has, which is before anything is changed.

        Raises:
            ToolkitError: TK-0901 when a run of this id is stored.
        """
        with self._database.write(f"run `{checked_id(head.run)}`", durable=False) as connection:
            connection.execute(schema.run.insert().values(run_row(head)))
            if seal is not None:
                made = seal_of_run(connection, head.run, seal)
                _put_artifact(connection, head.run, Artifact(RUN_SEAL, "text/plain", made.encode()))

    def end_run(self, run: str, state: RunState, at: datetime) -> None:
        """Record how a run ended, and when.

        Raises:
            ToolkitError: TK-0109 when no such run is stored.
        """
        self._set(run, state=state.value, ended_at=at)

    def reopen_run(self, run: str) -> None:
        """Record that a run is at work again: a resume.

        Raises:
            ToolkitError: TK-0109 when no such run is stored.
        """
        self._set(run, state=RunState.RUNNING.value, ended_at=None)

    def set_target_name(self, run: str, target_name: str) -> None:
        """Record what identifies the database itself, once it was asked.

        Raises:
            ToolkitError: TK-0109 when no such run is stored.
        """
        self._set(run, target_name=target_name)

    def warn(self, run: str, text: str, *, instead_of: str | None = None) -> None:
        """Keep a warning; one that the run already has is not repeated.

        Args:
            run: the run.
            text: the warning.
            instead_of: a warning of the run whose place it takes.

        Raises:
            ToolkitError: TK-0109 when no such run is stored.
        """
        table = schema.warning
        with self._database.write("a warning") as connection:
            self._database.serialize(connection)
            known = connection.execute(select(table.c.text).where(table.c.run == run)).scalars().all()
            now = self._database.now(connection)
            if instead_of in known and text not in known:
                former = (table.c.run == run) & (table.c.text == instead_of)
                connection.execute(table.update().where(former).values(text=text, warned_at=now))
            elif text not in known:
                row = {"run": run, "position": len(known), "text": text, "warned_at": now}
                connection.execute(table.insert().values(row))

    def explain(
        self, run: str, environment: Mapping[str, Scalar], artifacts: Iterable[Artifact], facts: str
    ) -> None:
        """Keep at once what explains a run: where it takes place, its script and the like, and its facts.

        Raises:
            ToolkitError: TK-0109 when no such run is stored.
        """
        with self._database.write("what explains the run", durable=False) as connection:
            require_run(connection, run)
            _put_environment(connection, run, environment)
            for artifact in artifacts:
                _put_artifact(connection, run, artifact)
            _put_facts(connection, run, facts)

    def set_environment(self, run: str, environment: Mapping[str, Scalar]) -> None:
        """Keep where the run takes place, in place of what was kept before.

        Raises:
            ToolkitError: TK-0109 when no such run is stored.
        """
        with self._database.write("the environment") as connection:
            require_run(connection, run)
            _put_environment(connection, run, environment)

    def save_facts(self, run: str, text: str) -> None:
        """Keep the facts of a run, in place of those kept before.

        Raises:
            ToolkitError: TK-0109 when no such run is stored.
        """
        with self._database.write("the facts") as connection:
            _put_facts(connection, run, text)

    def load_facts(self, run: str) -> str | None:
        """Return the facts kept for a run, or None."""
        with self._database.read() as connection:
            query = select(schema.facts.c.content).where(schema.facts.c.run == run)
            return connection.execute(query).scalar()

    def keep_artifact(self, run: str, artifact: Artifact) -> None:
        """Keep an artifact; a second one of the same name and trial replaces the first.

        Raises:
            ToolkitError: TK-0109 when no such run is stored.
        """
        with self._database.write(f"artifact `{artifact.name}`") as connection:
            _put_artifact(connection, run, artifact)

    def load_artifact(self, run: str, name: str, trial: int | None = None) -> Artifact | None:
        """Return an artifact of the run, or of one of its trials, or None."""
        table = schema.artifact
        query = select(table.c.media_type, table.c.content).where(
            table.c.run == run, table.c.trial == (trial or 0), table.c.name == name
        )
        with self._database.read() as connection:
            found = connection.execute(query).first()
        return None if found is None else Artifact(name, found.media_type, bytes(found.content), trial)

    def artifact_names(self, run: str) -> tuple[tuple[str, int | None, int], ...]:
        """Return name, trial and size in bytes of every artifact of a run."""
        table = schema.artifact
        query = select(table.c.name, func.nullif(table.c.trial, 0), table.c.size_bytes)
        with self._database.read() as connection:
            rows = connection.execute(query.where(table.c.run == run).order_by(table.c.trial, table.c.name))
            return tuple((name, trial, size) for name, trial, size in rows)

    def artifacts_named(self, name: str) -> dict[str, bytes]:
        """Return the artifacts of a name that runs, not their trials, have, by run."""
        table = schema.artifact
        query = select(table.c.run, table.c.content).where(table.c.name == name, table.c.trial == 0)
        with self._database.read() as connection:
            return {run: bytes(content) for run, content in connection.execute(query.order_by(table.c.run))}

    def artifacts(self, run: str) -> RunArtifacts:
        """Return where the artifacts of one run are kept (`protocols.Artifacts`)."""
        return RunArtifacts(self, run)

    def _set(self, run: str, **values: object) -> None:
        with self._database.write(f"run `{run}`") as connection:
            done = connection.execute(update(schema.run).where(schema.run.c.run == run).values(**values))
            if done.rowcount == 0:
                raise unknown_run(run)


@dataclass(frozen=True, slots=True)
class RunArtifacts:
    """Keeps artifacts of one run."""

    store: Runs
    run: str

    def keep(self, artifact: Artifact) -> None:
        """Store it; a second one of the same name and trial replaces the first."""
        self.store.keep_artifact(self.run, artifact)


def run_row(head: RunHead) -> dict[str, object]:
    """Return the row of a run; what people search for stands in columns beside the whole experiment."""
    experiment = head.experiment
    return {
        "run": head.run,
        "parent_run": head.parent,
        "label": experiment.label,
        "name": experiment.name,
        "mode": experiment.mode.value,
        "state": head.state.value,
        "target": experiment.target,
        "target_name": head.target_name,
        "engine": head.engine,
        "operation": experiment.operation,
        "operation_version": head.operation_version,
        "tool_version": head.tool_version,
        "began_at": head.began_at,
        "ended_at": head.ended_at,
        "seed": experiment.seed,
        "trials_planned": head.trials_planned,
        "experiment": experiment_to_json(experiment),
    }


# -- deleting -----------------------------------------------------------------------------------------------------
class Deleting(StorePart):
    """Deletes runs."""

    def delete_run(self, run: str) -> None:
        """Delete a run and the child runs of a plan, with everything kept of them.

        Raises:
            ToolkitError: TK-0109 when no such run is stored, TK-0302 when a live process works on it,
                TK-0307 when entries of its journal are open. Nothing is deleted then.
        """
        with self._database.write(f"run `{run}`") as connection:
            self._database.serialize(connection)
            require_run(connection, run)
            family = _family(connection, run)
            now = self._database.now(connection)
            for each in family:
                refuse_live(connection, each, now)
                _refuse_open_entries(connection, each)
            for each in family:
                connection.execute(schema.lease.delete().where(schema.lease.c.run == each))
                connection.execute(schema.run.delete().where(schema.run.c.run == each))


def _family(connection: Connection, run: str) -> list[str]:
    """Return the run and all runs below it."""
    tree = select(schema.run.c.run).where(schema.run.c.run == run).cte("family", recursive=True)
    tree = tree.union(select(schema.run.c.run).where(schema.run.c.parent_run == tree.c.run))
    return list(connection.execute(select(tree.c.run)).scalars())


def _refuse_open_entries(connection: Connection, run: str) -> None:
    table = schema.journal
    query = select(func.count()).select_from(table).where(table.c.run == run, table.c.state.in_(OPEN_STATES))
    entries = connection.execute(query).scalar_one()
    if entries:
        raise ToolkitError(
            f"run `{run}` has {entries} database change(s) not yet undone",
            code="TK-0307",
            hint=f"run `dbatk clean --run {run}` first",
        )
