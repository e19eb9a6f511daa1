"""PostgreSQL: 14 to 18."""

from toolkit.model.engines import EngineDeclaration, SqlClient, SqlReading

_SESSION = (
    "search_path", "schemas", "current_schema", "role", "default_tablespace", "temp_tablespaces",
    "default_table_access_method", "session_replication_role", "row_security", "session_preload_libraries",
    "local_preload_libraries", "date_style", "interval_style", "time_zone", "max_parallel_workers_per_gather",
    "max_parallel_maintenance_workers", "parallel_leader_participation", "set_for_it", "own_settings",
)  # fmt: skip
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
    reads=SqlReading.POSTGRESQL,
    cuts_names_at=63,
    identity=(
        ("name", "server", "database_name"),
        ("oid and system identifier", "server", "database_id"),
        ("user", "server", "user_name"),
        ("host", "server_place", "host"),
        ("port", "server_place", "port"),
        ("data directory", "server_place", "data_directory"),
    ),
    same_by=("oid and system identifier",),
    session=tuple((name, "session_settings", name) for name in _SESSION),
    names_in_texts="names_in_texts",
    before_names="names_begin",
    socket_folders=True,
    stored_degrees=True,
    # libpq, "Parameter Key Words"
    verifying={
        "sslmode": ("disable", "allow", "prefer", "require", "verify-ca", "verify-full"),
        "sslrootcert": (),
        "sslcert": (),
        "sslkey": (),
        "sslcrl": (),
        "require_auth": (),
        "channel_binding": ("disable", "prefer", "require"),
        "gssencmode": ("disable", "prefer", "require"),
    },
    counted_in="database",
    ages_transactions=True,
    opens_ahead=True,
    order=2,
)
