"""What is refused of programs before anything is read or run."""

from __future__ import annotations

import shlex
from collections.abc import Iterator

from toolkit.design.output_metrics import compiled, names_read
from toolkit.design.placeholders import check_placeholders, placeholders
from toolkit.design.programs import check_no_secret_in, exit_statuses, variables
from toolkit.errors import ToolkitError
from toolkit.model.operations import Levels, Options

KEPT = frozenset({
    "elapsed", "elapsed_seconds", "throughput", "user_seconds", "system_seconds", "peak_memory_bytes",
    "tree_memory_bytes", "read_bytes", "write_bytes", "output_bytes",
})  # fmt: skip
"""What dbatk itself measures of programs, and how `--judge` calls it."""
ONCE = ("setup", "cleanup")
"""What runs once, whatever the configuration."""
EACH = ("with_", "prepare", "conclude")
_TEXTS = ("cwd", "stdin")


def lines_of(options: Options, name: str) -> tuple[str, ...]:
    """Return the values of an option that takes several; absent is none."""
    given = options.get(name)
    return given if isinstance(given, tuple) else ()


def check(options: Options, levels: Levels) -> None:
    """Refuse what cannot be right.

    Raises:
        ToolkitError: TK-0102, TK-0107, TK-0108.
    """
    argv = lines_of(options, "command")
    commands = [argv, *(tuple(shlex.split(line)) for _, line in _lines(options))]
    for each in commands:
        check_no_secret_in(each)
    variables(lines_of(options, "env"))
    _check_output(options)
    exit_statuses(str(options.get("allow_exit", "0")))
    for name in ONCE:
        for line in lines_of(options, name):
            if placeholders(line):
                raise ToolkitError(
                    f"`--{name}` runs once for all configurations and cannot use `{{{placeholders(line)[0]}}}`",
                    code="TK-0107",
                    hint="use `--prepare` or `--conclude`, which run for each trial",
                )
    used: set[str] = set()
    for flag, text in _texts(options):
        check_placeholders(flag, text, list(levels))
        used.update(placeholders(text))
    for name in levels:
        if name not in used and name != "concurrency":
            raise ToolkitError(
                f"the factor `{name}` is used by no program, so that all its levels would do the same",
                code="TK-0107",
                hint=f"put `{{{name}}}` among the arguments",
            )
    _check_concurrency(options, levels)


def _check_output(options: Options) -> None:
    names = names_read(options)
    for pattern in lines_of(options, "fail_if_output"):
        compiled("--fail-if-output", pattern)
    for name in names:
        if names.count(name) > 1 or name in KEPT:
            raise ToolkitError(
                f"the metric `{name}` would be there twice", code="TK-0107", hint="give one of them another name"
            )


def _check_concurrency(options: Options, levels: Levels) -> None:
    programs = 1 + len(lines_of(options, "with_"))
    most = max((level for level in levels.get("concurrency", ()) if isinstance(level, int)), default=1)
    if most > programs:
        raise ToolkitError(
            f"`--concurrency {most}` is more than the {programs} program{'s' if programs > 1 else ''} given",
            code="TK-0107",
            hint="name each that runs beside the first one with `--with`",
        )


def _lines(options: Options) -> Iterator[tuple[str, str]]:
    for name in (*ONCE, *EACH):
        for line in lines_of(options, name):
            yield f"--{name.rstrip('_')}", line


def _texts(options: Options) -> Iterator[tuple[str, str]]:
    for word in lines_of(options, "command"):
        yield "the command", word
    for name in EACH:
        for line in lines_of(options, name):
            yield f"--{name.rstrip('_')}", line
    for name in _TEXTS:
        if options.get(name) is not None:
            yield f"--{name}", str(options[name])
    for pair in lines_of(options, "env"):
        yield "--env", pair
