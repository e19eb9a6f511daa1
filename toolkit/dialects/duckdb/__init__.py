"""DuckDB: the embedded default, with real parallelism by `threads`, one process a file."""

from toolkit.model.engines import EngineDeclaration, SqlClient

DECLARATION = EngineDeclaration(
    name="duckdb",
    title="DuckDB",
    package="toolkit.dialects.duckdb",
    target="toolkit.targets.duckdb",
    order=3,
    schemes=("duckdb",),
    url_form="`duckdb:///relative.duckdb` or `duckdb:////absolute.duckdb`",
    client=SqlClient(
        "the DuckDB shell",
        opening=(".bail on", ".timer on"),
        on_error=(".bail off", ".bail on"),
        going_on=(".bail off",),
    ),
    identity=(("file", "server", "database_id"),),
    session=(("current_schema", "server", "current_schema"), ("SQL also reaches", "reach", "reach")),
    names_in_texts="names_in_texts",
    embedded=True,
    in_process=True,
    dates_statistics=False,
)
