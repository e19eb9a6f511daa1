"""What must hold between the jobs of a mix."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from toolkit.design.plan_file import circle_of
from toolkit.documents import TomlDocument, did_you_mean
from toolkit.model.mix import MOST_JOBS, Mix, MixJob, jobs_of


def check_names(document: TomlDocument, jobs: Sequence[MixJob]) -> None:
    """Refuse two jobs of one name, and jobs that wait for one that is not there, or for each other.

    Raises:
        ToolkitError: TK-0101, TK-0107.
    """
    names = [job.name for job in jobs]
    for number, job in enumerate(jobs):
        if Counter(names[: number + 1])[job.name] > 1:
            raise document.error(
                f"two jobs are called `{job.name}`", table="job", key="name", number=number, code="TK-0107",
                hint="`copies` runs a job several times",
            )  # fmt: skip
        for other in job.after:
            if other not in names:
                raise document.error(
                    f"there is no job `{other}`", table="job", key="after", number=number, code="TK-0101",
                    hint=did_you_mean(other, names),
                )  # fmt: skip
    circle = circle_of({job.name: job.after for job in jobs})
    if circle:
        raise document.error(
            "the jobs wait for each other: " + " after ".join((*circle, circle[0])),
            table="job", key="after", number=names.index(circle[0]), code="TK-0107", hint="break the circle",
        )  # fmt: skip


def check_count(document: TomlDocument, mix: Mix) -> None:
    """Refuse more jobs than can be kept.

    Raises:
        ToolkitError: TK-0102.
    """
    if len(jobs_of(mix)) > MOST_JOBS:
        raise document.error(
            f"a mix has at most {MOST_JOBS} jobs, and this has {len(jobs_of(mix)):,}",
            table="job", code="TK-0102", hint="give fewer copies",
        )  # fmt: skip
