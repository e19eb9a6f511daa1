"""Which kind of trials a file holds, by its content."""

from __future__ import annotations

import json
from collections.abc import Sequence

from toolkit.errors import ToolkitError
from toolkit.readers.trials.hyperfine import KIND as HYPERFINE
from toolkit.readers.trials.hyperfine import is_hyperfine, read_hyperfine
from toolkit.readers.trials.model import TrialFiles, refuse
from toolkit.readers.trials.pgbench import KIND as PGBENCH
from toolkit.readers.trials.pgbench import is_pgbench, read_pgbench
from toolkit.readers.trials.table import KIND as TABLE
from toolkit.readers.trials.table import is_table, read_tables

_HINT = "give hyperfine's JSON, output of pgbench, CSV with one row a trial, or what `dbatk runs export` wrote"


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
    if kind == TABLE:
        return read_tables(files)
    if kind == PGBENCH:
        return read_pgbench(files)
    return read_hyperfine([(name, document) for name, _, document in found if isinstance(document, dict)])


def _recognised(name: str, text: str) -> tuple[str, object]:
    if text.lstrip().startswith(("{", "[")):
        try:
            document = json.loads(text)
        except json.JSONDecodeError as error:
            refuse(f"`{name}`, line {error.lineno}: this is no JSON: {error.msg.lower()}", _HINT)
        except (ValueError, RecursionError):
            refuse(f"`{name}` cannot be read: it is nested too deeply, or has a number too long", _HINT)
        if is_hyperfine(document):
            return HYPERFINE, document
    elif is_pgbench(text):
        return PGBENCH, None
    elif is_table(text):
        return TABLE, None
    raise ToolkitError(f"`{name}`, line 1: this is no file of trials that dbatk reads", code="TK-0117", hint=_HINT)
