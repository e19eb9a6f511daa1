"""DuckDB: the embedded default; real parallelism by `threads`, one process a file."""

from toolkit.dialects.duckdb.dialect import DIALECT

__all__ = ["DIALECT"]
