"""What is refused of a mix before anything is read or run."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import product

from toolkit.config.clusters import scheduler_of
from toolkit.design.mix import parse_mix
from toolkit.design.mix_factors import check_factors
from toolkit.documents import parse_document
from toolkit.errors import ToolkitError
from toolkit.model.mix import MOST_JOBS, Mix, jobs_of
from toolkit.model.operations import Levels, Options


def check(options: Options, levels: Levels) -> None:
    """Refuse what cannot be right.

    Raises:
        ToolkitError: TK-0102, TK-0107; as `parse_mix`.
    """
    text = str(options["jobs"])
    if "on" in options:
        _check_hosts(str(options["on"]), levels)
    check_factors(parse_document(text, "mix"), list(levels))
    most = 0
    for cell in _cells(levels):
        mix = parse_mix(text, cell)
        if "on" in options:
            _refuse_what_runs_here(mix)
        most = max(most, len(jobs_of(mix)) * int(str(cell.get("copies", 1))) * int(str(cell.get("nodes", 1))))
    if most > MOST_JOBS:
        raise ToolkitError(
            f"the largest configuration has {most:,} jobs at once, and {MOST_JOBS} is the most",
            code="TK-0102",
            hint="give fewer copies or nodes",
        )


def _check_hosts(address: str, levels: Levels) -> None:
    """Refuse an address that is none, and a cluster of which nobody says how many hosts take part.

    Raises:
        ToolkitError: TK-0102, TK-0107.
    """
    scheduler_of(address)
    if "nodes" not in levels:
        raise ToolkitError(
            "`--on` does not say how many hosts of the cluster take part", code="TK-0107",
            hint="add `--nodes 2`; each of them runs the whole mix",
        )  # fmt: skip


def _refuse_what_runs_here(mix: Mix) -> None:
    """Refuse what can only run on this host, where the jobs are on others.

    Raises:
        ToolkitError: TK-0107.
    """
    if own := next((job.name for job in mix.jobs if job.own), None):
        raise ToolkitError(
            f"the job `{own}` is dbatk itself, which runs on this host", code="TK-0107",
            hint="run it beside the mix, or omit `--on`",
        )  # fmt: skip
    if around := next((name for name in ("setup", "cleanup") if name in mix.options), None):
        raise ToolkitError(
            f"`{around}` runs once, on this host, and the jobs run on others", code="TK-0107",
            hint="give `prepare` and `conclude`, which run on each host around each trial",
        )  # fmt: skip


def _cells(levels: Levels) -> Iterator[Mapping[str, object]]:
    """Yield each configuration: what a level makes of a job is checked before anything runs."""
    for each in product(*levels.values()):
        yield dict(zip(levels, each, strict=True))
