"""What is refused of a mix before anything is read or run."""

from __future__ import annotations

from toolkit.design.mix import parse_mix
from toolkit.errors import ToolkitError
from toolkit.model.mix import MOST_JOBS, jobs_of
from toolkit.model.operations import Levels, Options


def check(options: Options, levels: Levels) -> None:
    """Refuse what cannot be right.

    Raises:
        ToolkitError: TK-0102, TK-0107; as `parse_mix`.
    """
    mix = parse_mix(str(options["jobs"]))
    most = {name: max((int(level) for level in levels.get(name, (1,))), default=1) for name in ("copies", "nodes")}
    jobs = len(jobs_of(mix)) * most["copies"] * most["nodes"]
    if jobs > MOST_JOBS:
        raise ToolkitError(
            f"the largest configuration has {jobs:,} jobs at once, and {MOST_JOBS} is the most",
            code="TK-0102",
            hint="give fewer copies or nodes",
        )
