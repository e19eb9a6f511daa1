"""Mixes of jobs as a user writes them: a TOML file with programs and operations, and when each of them begins.

```toml
[mix]
setup = ["mkdir -p /var/tmp/mix"]   # as of `dbatk command`, and prepare, conclude, cleanup, cwd, env
seed = 7                                          # of the arrivals by chance

[[job]]
name = "sort"
command = "sort -o /dev/null rows.txt"            # or a list of arguments; no shell reads either
group = "CPU"                                     # what reports put together
copies = 4
every = "10s"                                     # or poisson = "10s", at = ["0s", "5s"], begin = "30s"

[[job]]
name = "statistics"
operation = "stats-gather"                        # with its keys as in an experiment file: a run of its own
target = "crm"
table = "orders"
after = ["sort"]                                  # begins when these have ended well
```

The same tables stand in the file of an experiment whose `operation` is `mix`. What is kept of an experiment is the
whole text. A factor's name in braces stands for its level: `toolkit.design.mix_factors`.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import cast

from toolkit.design.build import General, build_experiment
from toolkit.design.file import load_experiment
from toolkit.design.head import (
    ErrorLocation,
    HeadReader,
    read_between,
    read_duration,
    read_text,
    read_texts,
    read_whole,
)
from toolkit.design.levels import check_value
from toolkit.design.mix_checks import check_count, check_names
from toolkit.design.mix_factors import filled, texts_in
from toolkit.design.placeholders import placeholders
from toolkit.design.programs import check_no_secret_in, exit_statuses, variables
from toolkit.design.typed import typed, typed_levels
from toolkit.documents import TomlDocument, check_no_secret, did_you_mean, parse_document, read_utf8
from toolkit.errors import ToolkitError
from toolkit.model.experiment import OptionValue
from toolkit.model.mix import MOST_JOBS, Mix, MixJob
from toolkit.model.operations import declaration, every_option, operations, options_of
from toolkit.model.options import Option, OptionKind
from toolkit.model.words import OperationName

_TABLE, _HEAD = "job", "mix"
_OF_EXPERIMENTS = ("experiment", "factors", "factor")
AROUND = ("setup", "prepare", "conclude", "cleanup")
"""The keys of the programs that run around all jobs."""
_HEAD_KEYS = (*AROUND, "cwd", "env", "seed")
_WHAT = ("command", "operation", "file")
_ARRIVALS = ("begin", "every", "poisson", "at", "after")
_OF_PROGRAMS = ("cwd", "stdin", "env", "allow_exit", "fail_if_output")
_KEYS = ("name", "group", "copies", "not_production", *_WHAT, *_ARRIVALS, *_OF_PROGRAMS)
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,59}", re.ASCII)
_DAY = 86_400.0


# -- reading ------------------------------------------------------------------------------------------------------
def read_mix(path: Path) -> str:
    """Read a file of jobs into the text that is kept; files that it names are relative to its folder.

    Raises:
        ToolkitError: TK-0101, TK-0102, TK-0106 or TK-0107 with file and line; TK-0108 for a secret.
    """
    document = parse_document(read_utf8(path), str(path))
    if "experiment" in document.data:
        raise document.error(
            "this is the file of an experiment",
            table="experiment",
            code="TK-0107",
            hint=f"`dbatk run {path}` runs it",
        )
    return mix_in(document, path.parent)


def mix_in(document: TomlDocument, folder: Path) -> str:
    """Return `[mix]` and the `[[job]]` of a document as the text that is kept; see `read_mix`."""
    import tomli_w

    jobs = [
        {**_resolved(each, folder), **({"target": job.target} if "file" in each else {})}
        for each, job in zip(_tables(document), _mix(document, folder).jobs, strict=True)
    ]
    head = {_HEAD: document.data[_HEAD]} if _HEAD in document.data else {}
    return tomli_w.dumps({**head, _TABLE: jobs}, multiline_strings=True)


def _resolved(given: Mapping[str, object], folder: Path) -> dict[str, object]:
    """Return a job whose files are named by their whole paths, wherever it is read again."""
    found = dict(given)
    if "file" in given:
        found["file"] = str((folder / str(given["file"])).absolute())
    for option in every_option().values():
        if option.kind is OptionKind.FILES and option.key in given:
            found[option.key] = list(cast("tuple[str, ...]", check_value(option, given[option.key])))
    return found


def parse_mix(text: str, levels: Mapping[str, object] | None = None) -> Mix:
    """Read the text of a mix that is kept; see `read_mix`. Files that it names are not read again.

    Args:
        text: as it is kept.
        levels: of the factors, by name; without them what a factor stands in is not looked at.
    """
    document = parse_document(text, "mix")
    return _mix(document if levels is None else filled(document, levels), Path(), kept=True)


def mix_of(
    operation: OperationName, options: Mapping[str, OptionValue], levels: Mapping[str, object] | None = None
) -> Mix | None:
    """Return the jobs that an operation runs; None for one that takes none. `levels` as in `parse_mix`."""
    name = next((one.name for one in options_of(operation) if one.kind is OptionKind.JOBS), None)
    return None if name is None or name not in options else parse_mix(str(options[name]), levels)


def _mix(document: TomlDocument, folder: Path, *, kept: bool = False) -> Mix:
    check_no_secret(document)
    document.refuse_other_tables((_HEAD, _TABLE, *_OF_EXPERIMENTS), "write `[mix]` and `[[job]]`")
    options, seed = _head(document)
    jobs = tuple(
        _Reader(document, folder, number, each, kept=kept).job() for number, each in enumerate(_tables(document))
    )
    check_names(document, jobs)
    mix = Mix(jobs, options, seed)
    check_count(document, mix)
    return mix


def _tables(document: TomlDocument) -> list[Mapping[str, object]]:
    given = document.data.get(_TABLE)
    if not isinstance(given, list) or not given or not all(isinstance(each, Mapping) for each in given):
        raise document.error("a mix has no job", table=_TABLE, hint="add `[[job]]`", code="TK-0107")
    return given


def _head(document: TomlDocument) -> tuple[dict[str, OptionValue], int]:
    head = document.data.get(_HEAD, {})
    if not isinstance(head, Mapping):
        raise document.error("`mix` must be a table", table="", key=_HEAD, hint="write `[mix]`")
    options, seed = dict[str, OptionValue](), 1
    for key, value in head.items():
        with ErrorLocation(document, _HEAD, key):
            if key not in _HEAD_KEYS:
                raise ToolkitError(
                    f"unknown key `{key}` of a mix", code="TK-0101", hint=did_you_mean(key, _HEAD_KEYS)
                )
            if key == "seed":
                seed = read_between(key, read_whole(key, value), 0, 2**31)
            else:
                options[key] = check_value(_option(key), value)
    with ErrorLocation(document, _HEAD, "env"):
        _check_programs([shlex.split(line) for key in AROUND for line in _texts(options, key)], options)
    return options, seed


def _option(key: str) -> Option:
    return next(one for one in operations()["command"].options if one.key == key)


def _texts(options: Mapping[str, OptionValue], key: str) -> tuple[str, ...]:
    given = options.get(key, ())
    return given if isinstance(given, tuple) else ()


def _check_programs(commands: Sequence[Sequence[str]], options: Mapping[str, OptionValue]) -> None:
    for argv in commands:
        check_no_secret_in(argv)
    variables(_texts(options, "env"))
    exit_statuses(str(options.get("allow_exit", "0")))


class _Reader:
    """Reads one `[[job]]`."""

    def __init__(
        self, document: TomlDocument, folder: Path, number: int, given: Mapping[str, object], *, kept: bool
    ) -> None:
        self._document, self._folder, self._number, self._given = document, folder, number, given
        self._kept = kept

    def job(self) -> MixJob:
        name = self._name()
        what = [key for key in _WHAT if key in self._given]
        rest = {key: value for key, value in self._given.items() if key not in _KEYS}
        if not what and rest:
            raise self._unknown(next(iter(rest)))
        if len(what) != 1:
            raise self._wrong(f"the job `{name}` needs one of {_among(_WHAT)}", "say what it runs", what)
        own = what[0] != "command"
        if self._kept and what[0] == "file":
            rest.pop("target", None)
        if rest and what[0] != "operation":
            raise self._unknown(next(iter(rest)))
        read = {"command": self._command, "file": self._file, "operation": self._operation}[what[0]]
        argv, target = read()
        taken = () if own else _OF_PROGRAMS
        if other := next((key for key in _OF_PROGRAMS if key in self._given and key not in taken), None):
            raise self._wrong(f"`{other}` is for programs, and `{name}` is one of dbatk's own", "omit it", [other])
        if "not_production" in self._given and not own:
            raise self._wrong("`not_production` is for operations", "omit it", ["not_production"])
        options = {key: self._read(key) for key in taken if key in self._given}
        with self._at("env"):
            _check_programs([argv], options)
        approved = ("--not-production",) if self._given.get("not_production") is True else ()
        self._check_arrival(name)
        return MixJob(
            name,
            (*argv, *approved),
            own,
            what[0] == "operation",
            self._text("group"),
            self._copies(),
            begin=self._duration("begin"),
            every=self._duration("every", above_zero=True),
            poisson=self._duration("poisson", above_zero=True),
            offsets=self._offsets(),
            after=self._after(),
            target=target,
            options=options,
        )

    def _unknown(self, key: str) -> ToolkitError:
        return self._wrong(f"unknown key `{key}` of a job", did_you_mean(key, _KEYS), [key], "TK-0101")

    def _check_arrival(self, name: str) -> None:
        """Refuse a job that would begin in two ways."""
        given = [key for key in _ARRIVALS if key in self._given]
        if len(given) > 1 and set(given) != {"begin", "every"}:
            raise self._wrong(f"the job `{name}` begins in one way only", "keep one of " + _among(given), given)
        if "at" in self._given and "copies" in self._given:
            raise self._wrong("`at` says how many copies there are", "omit `copies`", ["copies"])

    def _duration(self, key: str, *, above_zero: bool = False) -> float:
        if key not in self._given:
            return 0.0
        with self._at(key):
            if self._open(key):
                return 0.0
            found = _seconds(key, self._given[key])
            if above_zero and not found:
                raise ToolkitError(f"`{key}` must be above 0", code="TK-0102", hint='such as `"10s"`')
            return found

    def _offsets(self) -> tuple[float, ...]:
        if "at" not in self._given:
            return ()
        with self._at("at"):
            return tuple(_seconds("at", each) for each in _list("at", self._given["at"]))

    def _after(self) -> tuple[str, ...]:
        if "after" not in self._given:
            return ()
        with self._at("after"):
            return tuple(read_texts("after", self._given["after"]))

    def _copies(self) -> int:
        with self._at("copies"):
            if self._open("copies"):
                return 1
            return read_between("copies", read_whole("copies", self._given.get("copies", 1)), 1, MOST_JOBS)

    def _name(self) -> str:
        if "name" not in self._given:
            raise self._wrong("a job has no name", '`name = "sort"`', [])
        name = self._text("name")
        if not _NAME.fullmatch(name):
            raise self._wrong(
                f"`{name[:80]}` cannot name a job",
                "up to 60 letters, digits, `_`, `-` and `.`",
                ["name"],
                "TK-0102",
            )
        return name

    def _command(self) -> tuple[tuple[str, ...], str]:
        with self._at("command"):
            value = self._given["command"]
            line = check_value(_option("setup"), [value])
            assert isinstance(line, tuple)
            return tuple(shlex.split(line[0])), ""

    def _file(self) -> tuple[tuple[str, ...], str]:
        with self._at("file"):
            path = (self._folder / read_text("file", self._given["file"])).absolute()
            if self._kept:
                return ("dbatk", "run", str(path)), str(self._given.get("target", ""))
            experiment = load_experiment(path)
            if declaration(experiment.operation).free_factors or experiment.operation == _HEAD:
                raise _no_job(experiment.operation)
            return ("dbatk", "run", str(path)), experiment.target

    def _operation(self) -> tuple[tuple[str, ...], str]:
        """Return the command line of an operation, which is checked as that of an experiment is."""
        with self._at("operation"):
            name = read_text("operation", self._given["operation"])
            if name not in operations():
                raise ToolkitError(
                    f"there is no operation `{name}`", code="TK-0101", hint=did_you_mean(name, list(operations()))
                )
            if declaration(name).free_factors or name == _HEAD:
                raise _no_job(name)
        reader = HeadReader(self._document, name, self._folder, _TABLE, self._number)
        own = {key: value for key, value in self._given.items() if key not in _KEYS}
        reader.read_head({key: value for key, value in own.items() if key == "target" or not self._open(key)})
        target = reader.general.target or declaration(name).default_target
        with self._at("operation"):
            if not target:
                raise ToolkitError("the job has no target", code="TK-0107", hint="add `target = ...`")
            several = next((key for key, levels in reader.levels.items() if len(levels) > 1), None)
            if several:
                raise ToolkitError(f"`{several}` has several levels", code="TK-0107", hint="a job has one of each")
            if placeholders(target):
                raise ToolkitError(
                    "the target of a job is no factor", code="TK-0107", hint="write a mix for each target"
                )
            if not any(map(self._open, own)):
                build_experiment(name, reader.options, reader.levels, General(target=target))
            words = [*typed(reader.options), *typed_levels(reader.levels)]
        return ("dbatk", *declaration(name).command, "-t", target, *words), target

    def _read(self, key: str) -> OptionValue:
        with self._at(key):
            return check_value(_option(key), self._given[key])

    def _open(self, key: str) -> bool:
        """Tell whether a factor whose level is not known here stands in a value."""
        return any(placeholders(text) for text in texts_in(self._given.get(key)))

    def _text(self, key: str) -> str:
        with self._at(key):
            return read_text(key, self._given[key]) if key in self._given else ""

    def _at(self, key: str) -> ErrorLocation:
        return ErrorLocation(self._document, _TABLE, key, self._number)

    def _wrong(self, sentence: str, hint: str, keys: Sequence[str], code: str = "TK-0107") -> ToolkitError:
        key = keys[-1] if keys else None
        return self._document.error(sentence, table=_TABLE, key=key, number=self._number, hint=hint, code=code)


def _no_job(operation: OperationName) -> ToolkitError:
    return ToolkitError(f"`{operation}` cannot be a job of a mix", code="TK-0107", hint="use `command = ...`")


def _among(words: Sequence[str]) -> str:
    return ", ".join(f"`{word}`" for word in words)


def _seconds(key: str, value: object) -> float:
    """Read a duration; `0s` is one here: at once."""
    if isinstance(value, str) and re.fullmatch(r"\s*0+(?:\.0+)?\s*s?\s*", value):
        return 0.0
    found = read_duration(key, value)
    if found > _DAY:
        raise ToolkitError(f"`{key}` is more than a day", code="TK-0102", hint="use a plan with a window")
    return found


def _list(key: str, value: object) -> list[object]:
    if not isinstance(value, list) or not value:
        raise ToolkitError(f"`{key}` must be a list of durations", code="TK-0102", hint='`at = ["0s", "5s"]`')
    return value
