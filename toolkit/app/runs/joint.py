"""What the runs of one measurement on several targets know of each other: a resume goes on with all of them.

Each keeps it as an artifact before its first trial: whichever of them is resumed, the others are found by it.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from toolkit.app.runs.execute import Guarding
from toolkit.errors import ToolkitError
from toolkit.model.experiment import Experiment
from toolkit.model.records import Artifact
from toolkit.model.words import RunState
from toolkit.runner import Gates, Stop
from toolkit.store import Store, experiment_from_json, experiment_to_json

ARTIFACT = "in_turns.json"
_BETWEEN = "\n"


@dataclass(frozen=True, slots=True)
class Joint:
    """One measurement on several targets.

    Attributes:
        run: the id of the run with what all of them measured, which is stored when all have ended.
        names: the targets.
        experiment: what each of them runs.
    """

    run: str
    names: tuple[str, ...]
    experiment: Experiment

    def artifact(self, name: str) -> Artifact:
        """Return what the run on one of the targets keeps of it."""
        document = {
            "run": self.run,
            "targets": _BETWEEN.join(self.names),
            "target": name,
            "experiment": experiment_to_json(self.experiment),
        }
        return Artifact(ARTIFACT, "application/json", json.dumps(document).encode())


def joint_of(store: Store, run: str) -> Joint | None:
    """Return the measurement on several targets that a run is part of and that has not ended; None for any other.

    Raises:
        ToolkitError: TK-0402 where what the run keeps of it is damaged.
    """
    kept = store.load_artifact(run, ARTIFACT)
    if kept is None:
        return None
    joint = _read(run, kept.content)
    return None if store.has_run(joint.run) else joint


def parts_of(store: Store, joint: Joint) -> dict[str, str]:
    """Return the runs of a measurement by the names of their targets; one that never began is not among them."""
    found = {}
    for run, content in store.artifacts_named(ARTIFACT).items():
        document = _document(run, content)
        if document.get("run") == joint.run:
            found[str(document["target"])] = run
    return found


def has_ended(store: Store, run: str) -> bool:
    """Tell whether a part ran all of its trials, so that nothing of it is left to resume."""
    return store.load_head(run).state is RunState.DONE


def keeping_joint(store: Store, joint: Joint, name: str, guarding: Guarding) -> Guarding:
    """Return guards that first let the run on a target keep what it is part of."""

    @contextmanager
    def guarded(run: str, experiment: Experiment, stop: Stop) -> Iterator[Gates]:
        store.keep_artifact(run, joint.artifact(name))
        with guarding(run, experiment, stop) as gates:
            yield gates

    return guarded


def _read(run: str, content: bytes) -> Joint:
    document = _document(run, content)
    names = tuple(str(document["targets"]).split(_BETWEEN))
    return Joint(str(document["run"]), names, experiment_from_json(str(document["experiment"])))


def _document(run: str, content: bytes) -> dict[str, object]:
    try:
        document = json.loads(content)
    except ValueError:
        document = None
    if not isinstance(document, dict) or not {"run", "targets", "target", "experiment"} <= set(document):
        raise ToolkitError(
            f"what run {run} keeps of the other targets is damaged",
            code="TK-0402",
            hint="measure again on all of them",
        )
    return document
