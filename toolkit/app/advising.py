"""What a stored run leads to: what to set, and the experiment to run next as a file."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from toolkit.analysis.choice import WORTH_PCT
from toolkit.analysis.holding import gain_to_verify
from toolkit.analysis.next_experiment import says_how
from toolkit.analysis.recommendation import Recommendation, recommend
from toolkit.app.files import write_file
from toolkit.app.results import find_run
from toolkit.design.build import check_engine
from toolkit.design.file import dump_experiment, parse_experiment
from toolkit.errors import ToolkitError
from toolkit.model.experiment import Experiment
from toolkit.store import Store


def advised(store: Store, ref: str, worth_pct: float, present: Mapping[str, str]) -> Recommendation:
    """Return what to set after a stored run.

    Raises:
        ToolkitError: TK-0109 for no such run, TK-0102 for present levels that were not measured.
    """
    return recommend(find_run(store, ref, samples=True), worth_pct, present=present)


def gain_of(store: Store, experiment: Experiment) -> Recommendation:
    """Return the recommendation whose gain an experiment measures again.

    Raises:
        ToolkitError: TK-0109 for no such run, TK-0102 where it has no such present levels, TK-0110 where it
            recommends nothing, or only what was set already.
    """
    found = advised(store, experiment.verifies, WORTH_PCT, experiment.present)
    gain_to_verify(found)
    return found


def write_next(found: Recommendation, path: Path) -> None:
    """Write the next experiment to a new file, which loads again.

    Raises:
        ToolkitError: TK-0102 when nothing promises to tell more, TK-0405 when the file cannot be written.
    """
    if path.exists():
        raise ToolkitError(f"`{path}` exists", code="TK-0405", hint="choose another name; nothing is overwritten")
    head = found.found.run.head
    if not says_how(head.experiment):
        raise ToolkitError(
            f"run `{head.run}` was imported, and does not say how its work is done",
            code="TK-0102",
            hint="leave out `--next`, and write the next experiment yourself",
        )
    if found.following is None:
        raise ToolkitError(
            "there is nothing to measure next: no further level promises a gain",
            code="TK-0102",
            hint="leave out `--next`, or vary another factor",
        )
    following = found.following
    check_engine(following.experiment, head.engine)
    text = f"# After run {head.run}: {following.why}\n{dump_experiment(following.experiment)}"
    parse_experiment(text, name=str(path))
    write_file(path, text)
