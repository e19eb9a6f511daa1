"""Experiment files: TOML in, an experiment out, and back.

```toml
[experiment]
target = "dwh"
operation = "ctas"
source = "GLENNF.GTEST"
table = "GLENNF.GTEST_COPY"
[factors]
degree = [1, 2, 4]
```
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from toolkit.design.build import build_experiment
from toolkit.design.factors import read_factor
from toolkit.design.head import HeadReader, read_operation
from toolkit.documents import TomlDocument, check_no_secret, did_you_mean, parse_document, read_document
from toolkit.errors import ToolkitError
from toolkit.model.experiment import Experiment

_TABLES = ("experiment", "factors", "factor")
_BEGIN = "begin with `[experiment]`, or with `[plan]` for a maintenance plan"


def load_experiment(path: Path, *, target: str | None = None) -> Experiment:
    """Read an experiment file.

    Args:
        path: the TOML file; `query_file` in it is relative to its folder.
        target: used instead of the file's.

    Raises:
        ToolkitError: TK-0101, TK-0102, TK-0103, TK-0105, TK-0106, TK-0107 or TK-0108, with file and line.
    """
    return _experiment(read_document(path), path.parent, target)


def parse_experiment(text: str, *, name: str = "experiment.toml", target: str | None = None) -> Experiment:
    """Read the text of an experiment file; `query_file` is relative to the working folder."""
    return _experiment(parse_document(text, name), Path(), target)


def _experiment(document: TomlDocument, folder: Path, target: str | None) -> Experiment:
    check_no_secret(document)
    for name in document.data:
        if name not in _TABLES:
            raise document.error(
                f"there is no table `{name}`", table=name, key=None, hint=did_you_mean(name, _TABLES)
            )
    head = _table(document, "experiment")
    if head is None:
        raise document.error("the table `[experiment]` is missing", table="", hint=_BEGIN)
    operation = read_operation(document, head)
    reader = HeadReader(document, operation, folder)
    reader.read_head(head)
    reader.read_factors(_table(document, "factors") or {})
    general = replace(reader.general, target=target or reader.general.target)
    if not general.target:
        raise document.error("no target is named", table="experiment", code="TK-0107", hint="add `target = ...`")
    tables = document.data.get("factor", [])
    extra = [read_factor(document, one, at) for at, one in enumerate(tables if isinstance(tables, list) else [0])]
    try:
        return build_experiment(operation, reader.options, reader.levels, general, extra)
    except ToolkitError as error:
        raise document.error(error.message, table="experiment", code=error.code, hint=error.hint) from None


def _table(document: TomlDocument, name: str) -> Mapping[str, object] | None:
    value = document.data.get(name)
    if value is not None and not isinstance(value, Mapping):
        raise document.error(f"`{name}` is no table", table="", key=name, hint=f"write `[{name}]`")
    return value
