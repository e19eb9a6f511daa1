"""What is refused of a mix before anything is read or run."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import product

from toolkit.design.mix import parse_mix
from toolkit.design.mix_factors import check_factors
from toolkit.documents import parse_document
from toolkit.errors import ToolkitError
from toolkit.model.mix import MOST_JOBS, jobs_of
from toolkit.model.operations import Levels, Options


def check(options: Options, levels: Levels) -> None:
    """Refuse what cannot be right.

    Raises:
        ToolkitError: TK-0102, TK-0107; as `parse_mix`.
    """
    text = str(options["jobs"])
    check_factors(parse_document(text, "mix"), list(levels))
    most = 0
    for cell in _cells(levels):
        mix = parse_mix(text, cell)
        most = max(most, len(jobs_of(mix)) * int(str(cell.get("copies", 1))) * int(str(cell.get("nodes", 1))))
    if most > MOST_JOBS:
        raise ToolkitError(
            f"the largest configuration has {most:,} jobs at once, and {MOST_JOBS} is the most",
            code="TK-0102",
            hint="give fewer copies or nodes",
        )


def _cells(levels: Levels) -> Iterator[Mapping[str, object]]:
    """Yield each configuration: what a level makes of a job is checked before anything runs."""
    for each in product(*levels.values()):
        yield dict(zip(levels, each, strict=True))
