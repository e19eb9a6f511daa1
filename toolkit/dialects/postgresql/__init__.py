"""PostgreSQL: 14 to 18."""

from toolkit.model.engines import EngineDeclaration, SqlClient

DECLARATION = EngineDeclaration(
    name="postgresql",
    title="PostgreSQL",
    package="toolkit.dialects.postgresql",
    target="toolkit.targets.postgresql",
    schemes=("postgresql", "postgres"),
    url_form="`postgresql://user@host:5432/database`",
    client=SqlClient(
        "psql",
        opening=(r"\set ON_ERROR_STOP on", r"\timing on"),
        on_error=(r"\set ON_ERROR_STOP off", r"\set ON_ERROR_STOP on"),
        going_on=(r"\set ON_ERROR_STOP off",),
    ),
    identity=(
        ("name", "server", "database_name"),
        ("oid and system identifier", "server", "database_id"),
        ("user", "server", "user_name"),
    ),
    socket_folders=True,
    counted_in="database",
    order=2,
)
