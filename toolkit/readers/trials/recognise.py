"""Which kind of trials a file holds, by its content."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence

from toolkit.errors import ToolkitError
from toolkit.readers.trials import (
    benchbase,
    benchbox,
    hammerdb,
    hyperfine,
    pgbench,
    pgbench_log,
    pytest_benchmark,
    swingbench,
    sysbench,
    table,
)
from toolkit.readers.trials.model import TrialFiles, refuse

_Documents = Sequence[tuple[str, Mapping[str, object]]]
_Texts = Sequence[tuple[str, str]]

_OF_JSON: tuple[tuple[str, Callable[[object], bool], Callable[[_Documents], TrialFiles]], ...] = (
    (hyperfine.KIND, hyperfine.is_hyperfine, hyperfine.read_hyperfine),
    (pytest_benchmark.KIND, pytest_benchmark.is_pytest_benchmark, pytest_benchmark.read_pytest_benchmark),
    (benchbase.KIND, benchbase.is_benchbase, benchbase.read_benchbase),
    (benchbox.KIND, benchbox.is_benchbox, benchbox.read_benchbox),
)
_OF_TEXT: tuple[tuple[str, Callable[[str], bool], Callable[[_Texts], TrialFiles]], ...] = (
    (table.TOML_KIND, table.is_toml, table.read_toml),
    (swingbench.KIND, swingbench.is_xml, swingbench.read_swingbench),
    (pgbench.KIND, pgbench.is_pgbench, pgbench.read_pgbench),
    (sysbench.KIND, sysbench.is_sysbench, sysbench.read_sysbench),
    (hammerdb.KIND, hammerdb.is_hammerdb, hammerdb.read_hammerdb),
    (pgbench_log.KIND, pgbench_log.is_pgbench_log, pgbench_log.read_pgbench_logs),
    (table.KIND, table.is_table, table.read_tables),
)
READ = (
    "JSON of hyperfine, pytest-benchmark, BenchBase or BenchBox; output or logs of pgbench, sysbench, HammerDB; "
    "Swingbench's XML; CSV with one row, or TOML with one `[[trial]]`, a trial"
)
_HINT = (
    f"give {READ} (columns such as `degree,elapsed_seconds` or `users,tps[1/s,higher]`); or what `dbatk runs "
    "export` wrote"
)


def read_trials(files: Sequence[tuple[str, str]]) -> TrialFiles:
    """Read files of one kind, by their names.

    Raises:
        ToolkitError: TK-0117 for a file of no kind that is read, and for files of several.
    """
    found = [(name, *_recognised(name, text)) for name, text in files]
    first, kind, _ = found[0]
    for name, other, _ in found:
        if other != kind:
            refuse(f"`{first}` is {kind} and `{name}` is {other}", "import files of one kind at once")
    for known, _, read in _OF_TEXT:
        if known == kind:
            return read(files)
    documents = [(name, document) for name, _, document in found if isinstance(document, dict)]
    return next(read_json(documents) for known, _, read_json in _OF_JSON if known == kind)


def _recognised(name: str, text: str) -> tuple[str, object]:
    if not text.strip():
        raise ToolkitError(f"`{name}` is empty: no trial is in it", code="TK-0117", hint=_HINT)
    if text.lstrip().startswith(("{", "[")) and not table.is_toml(text):
        document = _document(name, text)
        kinds = [kind for kind, fits, _ in _OF_JSON if fits(document)]
    else:
        document = None
        kinds = [kind for kind, fits, _ in _OF_TEXT if fits(text)]
    if kinds:
        return kinds[0], document
    raise ToolkitError(
        f"`{name}`, line 1: this is not a file of trials that dbatk reads", code="TK-0117", hint=_HINT
    )


def _document(name: str, text: str) -> object:
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        refuse(
            f"`{name}`, line {error.lineno}: neither JSON nor TOML with a `[[trial]]`: {error.msg.lower()}",
            _HINT,
        )
    except (ValueError, RecursionError):
        refuse(f"`{name}` cannot be read: it is nested too deeply, or has a number too long", _HINT)
