"""Any program of this host."""

from dataclasses import replace

from toolkit.model.operations import Levels, OperationDeclaration, Options
from toolkit.model.options import Option, OptionKind, Topic
from toolkit.operations import options as shared


def _check(options: Options, levels: Levels) -> None:
    from toolkit.operations.command.checks import check

    check(options, levels)


DECLARATION = OperationDeclaration(
    name="command",
    command=("command",),
    help="Run any program, once or as a measurement of its configurations.",
    options=(
        Option("command", OptionKind.ARGUMENTS, "the program and its arguments, after --; {factor} is a level"),
        Option("with_", OptionKind.COMMANDS, "another program at the same time, with a time of its own (several)"),
        replace(shared.CONCURRENCY, help="how many of the programs run at once (default: all)", unit="programs"),
        Option("setup", OptionKind.COMMANDS, "program to run once, before the first trial (several)"),
        Option("prepare", OptionKind.COMMANDS, "program to run before each trial, off the clock (several)"),
        Option("conclude", OptionKind.COMMANDS,
               "program to run after each trial, also a failed one, off the clock (several)"),
        Option("cleanup", OptionKind.COMMANDS,
               "program to run at the end, also by `dbatk clean` after a crash (several)"),
        Option("cwd", OptionKind.PATH, "folder in which the programs begin", topic=Topic.WHERE),
        Option("env", OptionKind.TEXTS,
               "variable of the programs: NAME=value, or NAME for a value that is stored and shown nowhere "
               "(several)", topic=Topic.WHERE),
        Option("stdin", OptionKind.PATH, "file that the programs read (default: nothing)", topic=Topic.WHERE),
        Option("metric", OptionKind.TEXTS,
               r"number in the output: 'rows=(\d+) rows', 'tps[1/s,higher]=$.summary.tps' (several)",
               topic=Topic.MEASUREMENT),
        Option("figures", OptionKind.FLAG,
               "take the figures that pgbench, sysbench, HammerDB or another benchmark program writes, as `dbatk "
               "import` reads them", topic=Topic.MEASUREMENT),
        Option("phase", OptionKind.TEXTS,
               "time between two lines of the output, by their patterns: 'load=begin load..load done' (several)",
               topic=Topic.MEASUREMENT),
        *shared.SERVER_LOG,
        Option("fail_if_output", OptionKind.TEXTS, "pattern of a line that makes the trial failed (several)"),
        Option("allow_exit", OptionKind.TEXT, "exit statuses besides 0 that are not failures: 1,3"),
    ),
    examples=(
        "dbatk command --factor threads=1,2,4,8 -- pbzip2 -k -f -p{threads} data.txt",
        "dbatk command --repeat 5 --prepare 'rm -rf out' -- make -j4",
    ),
    planned_by="toolkit.operations.command.plan",
    required=(("command",),),
    degree="",
    several="programs",
    check=_check,
    keeps=False,
    runs_programs=True,
    free_factors=True,
    default_target="host://",
    cookbook="how-many-threads.md",
    order=7,
)  # fmt: skip
