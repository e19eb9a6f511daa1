"""DuckDB: the embedded default, with real parallelism by `threads`, one process a file."""

from toolkit.model.engines import EngineDeclaration

DECLARATION = EngineDeclaration(
    name="duckdb",
    title="DuckDB",
    package="toolkit.dialects.duckdb",
    target="toolkit.targets.duckdb",
    order=3,
    embedded=True,
)
