"""All files of a bundle as text; nothing is written here."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass

from toolkit import resources
from toolkit.dialects.base import Dialect
from toolkit.model.bundle import DRIVER, PLAN, SUMS, BundleItem
from toolkit.model.experiment import PlannedTrial
from toolkit.model.facts import Facts, Query
from toolkit.model.runid import run_key
from toolkit.model.steps import Stages, Step
from toolkit.model.values import Scalar

from .client import session_language
from .trial import Writer, numbered_shares, steps_of, undoing

_HEADING = "trials in their order: number, sessions, what it is"


@dataclass(frozen=True, slots=True)
class Bundled:
    """A trial of a bundle with its stages; None where its cell cannot be had."""

    planned: PlannedTrial
    title: str
    stages: Stages | None
    refused: str | None = None

    @property
    def items(self) -> tuple[BundleItem, ...]:
        """The items in the order of their numbers, each with its session."""
        if self.stages is None:
            return ()
        numbered = sorted(
            (number, session, item.label)
            for session, share in enumerate(numbered_shares(self.stages), 1)
            for number, item in share
        )
        return tuple(BundleItem(label, session) for _, session, label in numbered)


def bundle_files(
    dialect: Dialect, run: str, trials: Sequence[Bundled], facts: Facts, *,
    snapshots: tuple[str, ...], readme: str, born: Scalar = None,
) -> dict[str, str]:  # fmt: skip
    """Return the text of every file by its path, checksums included.

    Args:
        dialect: of the engine; its statements are written as they would be sent.
        run: the run's id.
        trials: in the order in which they run.
        facts: of the catalogue; they tell the language of a session.
        snapshots: the SQL files read around each trial.
        readme: one screen for whoever runs it.
        born: the database's instant when the bundle was made, where it was asked.
    """
    writer = Writer(dialect, run, snapshots, session_language(facts))
    ran = [(each, each.stages) for each in trials if each.stages is not None]
    files = {DRIVER: resources.template_text("bundle/run.sh"), "README.txt": readme, PLAN: _plan(run, trials)}
    scripts = {"check": writer.check(_reads(run))}
    everything: list[Step] = []
    if ran:
        first = ran[0][1]
        around = (*undoing(dialect, first.setup, born), *(step for step in first.cleanup if step.object is None))
        if first.setup:
            scripts["setup"] = writer.setup(first)
        if around:
            scripts["cleanup"] = writer.cleaning(0, "cleanup, once", around)
        everything += around
    for each, stages in ran:
        number = each.planned.number
        scripts |= writer.trial(number, each.title, stages)
        back = undoing(dialect, [step for part in steps_of(stages).values() for step in part], born)
        scripts[f"t{number:04d}-clean"] = writer.cleaning(number, f"put {each.title} back", back)
        everything += back
    files["undo.sql"] = writer.cleaning(0, "puts everything back, whatever was done", _distinct(everything))
    files |= {f"sql/{name}.sql": text for name, text in scripts.items()}
    return {**files, SUMS: "".join(f"{digest(text)}  {path}\n" for path, text in sorted(files.items()))}


def digest(text: str) -> str:
    """Return the SHA-256 of a text as UTF-8."""
    return hashlib.sha256(text.encode()).hexdigest()


def _distinct(steps: Sequence[Step]) -> list[Step]:
    return list({step.text: step for step in steps}.values())


def _plan(run: str, trials: Sequence[Bundled]) -> str:
    lines = [f"{each.planned.number} {each.stages.timed.workers} {each.title}" for each in trials if each.stages]
    return "\n".join([f"# {_HEADING}", f"run {run}", *lines]) + "\n"


def _reads(run: str) -> tuple[Query, ...]:
    return (
        Query("server", "server"),
        Query("settings", "settings"),
        Query("sessions", "sessions_of", {"run": run}),
        Query("objects", "objects_of", {"prefix": f"DBATK_{run_key(run)}_"}),
    )
