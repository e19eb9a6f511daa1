"""Runs programs of this host, whatever the target is: the same on every engine that has `command`."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Iterator, Mapping

from toolkit.design.output_metrics import metric_specs, metrics_in, phases_in, read_phase
from toolkit.design.placeholders import fill
from toolkit.design.programs import exit_statuses, variables
from toolkit.dialects.answers import Granted, TrialFindings
from toolkit.dialects.implementations import Implementation, Kept, Options
from toolkit.dialects.work import Call, Work
from toolkit.model.facts import Facts, Probe
from toolkit.model.records import BY_PROC, BY_WAIT4, Metric
from toolkit.model.steps import ObjectRef, Program
from toolkit.model.values import QualifiedName, Row, Support, spell_level
from toolkit.model.words import Effect, ObjectKind, ProbeKind, Role, StepKind, SupportState

_NOTHING = ("true",)
_ALL = ("with_", "setup", "prepare", "conclude", "cleanup")
_UNITS = {
    "user_seconds": ("s", BY_WAIT4),
    "system_seconds": ("s", BY_WAIT4),
    "peak_memory_bytes": ("bytes", BY_WAIT4),
    "tree_memory_bytes": ("bytes", BY_PROC),
    "read_bytes": ("bytes", "/proc"),
    "write_bytes": ("bytes", "/proc"),
    "output_bytes": ("bytes", "its output"),
}


class RunPrograms(Implementation):
    """Programs by their argument lists."""

    def probes(self, options: Options, facts: Facts) -> tuple[Probe, ...]:
        """Look for the programs, unless one of the run's own may make them first."""
        del facts
        return tuple(
            Probe(_key(name), ProbeKind.LOOKUP, (name,), () if folder is None else (folder,))
            for name, folder in looked_for(options)
        )

    def support(self, work: Work, facts: Facts) -> Support:
        for name, folder in looked_for(work.options):
            found = facts.first(_key(name))  # nothing was looked for where facts are assumed
            if found and not found["path"] and folder is None:
                return Support(SupportState.UNSUPPORTED, f"the program `{name}` was not found", NOT_FOUND)
            if found and not found["path"]:
                sentence = f"`{folder.rstrip('/') if folder else ''}/{name}` is no program that can be run"
                return Support(SupportState.UNSUPPORTED, sentence, NO_PROGRAM)
        return Support(SupportState.SUPPORTED)

    def timed(self, work: Work, facts: Facts) -> tuple[Call, ...]:
        del facts
        argv, how = _lines(work, "command"), _how(work, ends_all=True)
        return (Call("program", kind=StepKind.COMMAND, session=Role.WORKER, argv=argv, program=how),)

    def setup(self, work: Work, facts: Facts) -> tuple[Call, ...]:
        """Run what the user wants run before; what is to be run at the end is in the journal before that."""
        del facts
        back = tuple(
            Call(
                "at_the_end", kind=StepKind.COMMAND, effect=Effect.CHANGES, argv=_NOTHING, program=Program(),
                object=ObjectRef(ObjectKind.PROGRAM, QualifiedName(line)), undo_argv=_by_itself(work, line),
            )
            for line in reversed(_lines(work, "cleanup"))
        )  # fmt: skip
        return (*back, *_calls(work, "setup", Effect.READS))

    def prepare(self, work: Work, facts: Facts) -> tuple[Call, ...]:
        del facts
        return tuple(_calls(work, "prepare", Effect.READS))

    def settle(self, work: Work, facts: Facts) -> tuple[Call, ...]:
        """Conclude; as what drops something, since it runs after a failure and a signal, too."""
        del facts
        return tuple(_calls(work, "conclude", Effect.DROPS))

    def granted(self, work: Work, kept: Kept, peaks: Mapping[str, float], notices: tuple[str, ...]) -> Granted:
        del work, kept, peaks, notices
        return Granted(None, "not known of a program")

    def tell(self, work: Work, kept: Kept, deltas: Mapping[str, float], seconds: float) -> TrialFindings:
        del deltas, seconds
        figures = tuple(_figures(kept.get("program", ())))
        cpu = sum(metric.value for metric in figures if metric.unit == "s")
        log, phases = kept.get("log", ()), tuple(map(read_phase, _lines(work, "phase")))
        found = (*metrics_in(log, metric_specs(work.options)), *phases_in(log, phases))
        metrics = tuple(one for one in found if isinstance(one, Metric))
        lacking = tuple(one for one in found if isinstance(one, str))
        return TrialFindings((*figures, *metrics), lacking, cpu_seconds=cpu or None)


def _figures(rows: Iterable[Row]) -> Iterator[Metric]:
    """Yield what the programs of a trial used together; of `peak_memory_bytes` the most that one process had.

    `tree_memory_bytes` is the sum of the highest of each program, whether they had it at one time or not.
    """
    together = tuple(rows)
    for name, (unit, source) in _UNITS.items():
        values = [float(str(row[name])) for row in together if name in row]
        if values:
            value = max(values) if name == "peak_memory_bytes" else sum(values)
            yield Metric(name, value, unit, source)


NOT_FOUND = "give its full path, or check PATH"
NO_PROGRAM = "check the path, and that the file may be executed (`chmod +x`)"


def _key(name: str) -> str:
    return f"program:{name}"


def looked_for(options: Options) -> Iterator[tuple[str, str | None]]:
    """Yield the programs that must be there, and in which folder if not on PATH."""
    values = {name: spell_level(value) for name, value in options.items() if not isinstance(value, tuple)}
    made = bool(_texts(options, "setup") or _texts(options, "prepare"))
    pairs = dict(variables(_texts(options, "env"))[0])
    every = [_texts(options, "command"), *(shlex.split(line) for name in _ALL for line in _texts(options, name))]
    for argv in every:
        name = fill(argv[0], values)
        if "/" not in name and "PATH" not in pairs:
            yield name, None
        elif name.startswith("/") and not made:
            folder, _, own = name.rpartition("/")
            yield own, folder or "/"


def after_all(work: Work) -> tuple[Call, ...]:
    """Return what runs at the end of a run, as a script shows it: a run takes it from the journal."""
    return tuple(_calls(work, "cleanup", Effect.DROPS))


def _calls(work: Work, name: str, effect: Effect) -> Iterator[Call]:
    for line in _lines(work, name):
        argv = tuple(shlex.split(line))
        yield Call(name, kind=StepKind.COMMAND, effect=effect, argv=argv, program=_how(work))


def _lines(work: Work, name: str) -> tuple[str, ...]:
    return _texts(work.options, name)


def _texts(options: Options, name: str) -> tuple[str, ...]:
    given = options.get(name)
    return given if isinstance(given, tuple) else ()


def _how(work: Work, *, ends_all: bool = False) -> Program:
    pairs, names = variables(_lines(work, "env"))
    return Program(
        cwd=str(work.option("cwd") or ""),
        stdin=str(work.option("stdin") or "") if ends_all else "",
        environment=pairs,
        secret=names,
        allowed=exit_statuses(str(work.option("allow_exit") or 0)) if ends_all else (0,),
        refused=_lines(work, "fail_if_output") if ends_all else (),
        ends_all=ends_all,
    )


def _by_itself(work: Work, line: str) -> tuple[str, ...]:
    """Spell a program with its folder and variables as one argument list, which can be run without us."""
    pairs, _ = variables(_lines(work, "env"))
    folder = ("-C", str(work.option("cwd"))) if work.option("cwd") else ()
    argv = tuple(shlex.split(line))
    return ("env", *folder, *(f"{name}={value}" for name, value in pairs), *argv) if folder or pairs else argv
