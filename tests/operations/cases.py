"""Tables on which the suites plan and run each operation; `made` is one that is not there yet."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from toolkit.model.experiment import OptionValue
from toolkit.model.words import OperationName

TABLES: Mapping[OperationName, Mapping[str, str]] = {
    "ctas": {"source": "orders", "table": "made"},
    "insert": {"source": "orders", "table": "filled"},
    "load": {"table": "orders"},
    "index-build": {"table": "orders"},
    "index-rebuild": {"table": "orders"},
    "stats-gather": {"table": "orders"},
    "stats-extend": {"table": "orders"},
    "vacuum": {"table": "orders"},
    "table-move": {"table": "orders"},
    "purge": {"table": "orders"},
}
COLUMNS = frozenset({"index-build", "stats-extend"})
"""Those that need columns too."""
MORE: Mapping[OperationName, Mapping[str, OptionValue]] = {
    "load": {"files": (str(Path(__file__).parent / "gtest.csv"),)},
    "purge": {"where": "id < 100"},
    "constraint-validate": {"constraint": ("gtest_fk",)},
}
"""Further options that an operation cannot do without."""
