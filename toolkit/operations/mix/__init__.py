"""Many jobs of different kinds at once: will they fit together, and who waits for whom?"""

from toolkit.model.operations import Levels, OperationDeclaration, Options
from toolkit.model.options import Option, OptionKind


def _check(options: Options, levels: Levels) -> None:
    from toolkit.operations.mix.checks import check

    check(options, levels)


DECLARATION = OperationDeclaration(
    name="mix",
    command=("mix",),
    help="Run many jobs at once: programs and operations, as they arrive or when others end.",
    options=(
        Option("jobs", OptionKind.JOBS, "a TOML file with the jobs: what each runs, how often, and when"),
        Option("copies", OptionKind.INTEGER, "how often the whole mix is run at once (default 1); to "
                                             "compare: 1,2,4",
               factor=True, low=1, high=400),
        Option("nodes", OptionKind.INTEGER,
               "groups of CPUs of this host, each with the whole mix, whose jobs are bound to them; they share "
               "memory and disks", factor=True, low=1, high=64),
        Option("on", OptionKind.TEXT,
               "cluster whose hosts are the nodes, instead of CPUs of this host: dask://HOST:PORT"),
        Option("concurrency", OptionKind.INTEGER, "how many jobs run at once (default: all that are due)",
               factor=True, low=1, high=400, unit="jobs"),
    ),
    examples=(
        "dbatk mix tonight.toml",
        "dbatk mix tonight.toml --copies 1,2,4 --factor threads=1,2 --repeat 3",
    ),
    planned_by="toolkit.operations.mix.plan",
    required=(("jobs",),),
    degree="",
    common=("copies", "nodes", "concurrency"),
    several="jobs",
    check=_check,
    keeps=False,
    runs_programs=True,
    free_factors=True,
    default_target="host://",
    cookbook="will-the-jobs-fit-together.md",
    order=9,
)  # fmt: skip
