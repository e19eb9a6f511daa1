"""Oracle: 11.2 to 26ai."""

from toolkit.model.engines import EngineDeclaration, SqlClient, SqlReading

_SESSION = (
    "current_schema", "edition", "proxy_user", "language", "nls_territory", "nls_calendar", "nls_date_format",
    "nls_date_language", "nls_sort",
)  # fmt: skip
_PARALLEL = ("parallel_degree_policy", "parallel_min_percent", "nls_comp")
DECLARATION = EngineDeclaration(
    name="oracle",
    title="Oracle",
    package="toolkit.dialects.oracle",
    target="toolkit.targets.oracle",
    schemes=("oracle",),
    url_form="`oracle://user@host:1521/service` or `oracle://user@tnsalias`",
    client=SqlClient(
        "SQL*Plus",
        # an `&` in a name or a literal is no variable, and a blank line does not end a statement
        opening=(
            "SET ECHO ON TIMING ON DEFINE OFF SQLBLANKLINES ON",
            "WHENEVER SQLERROR EXIT FAILURE ROLLBACK",
        ),
        on_error=("WHENEVER SQLERROR CONTINUE", "WHENEVER SQLERROR EXIT FAILURE ROLLBACK"),
        going_on=("SET ECHO ON DEFINE OFF SQLBLANKLINES ON", "WHENEVER SQLERROR CONTINUE"),
        alone=(
            "SET ECHO OFF FEEDBACK OFF HEADING OFF PAGESIZE 0 LINESIZE 32767 TRIMOUT ON",
            "SET DEFINE OFF SQLBLANKLINES ON",
            "WHENEVER OSERROR EXIT FAILURE",
            "WHENEVER SQLERROR EXIT FAILURE ROLLBACK",
        ),
    ),
    reads=SqlReading.ORACLE,
    # The DBID is that of V$DATABASE; a clone made by NID has another one.
    identity=(
        ("name", "server", "database_name"),
        ("DBID", "doctor_database", "dbid"),
        ("container", "doctor_container", "container_name"),
        ("DBID of the container", "awr_container", "con_dbid"),
        ("user", "server", "user_name"),
        ("host", "server_place", "host_name"),
        ("service", "server_place", "service_name"),
        ("unique name", "server_place", "db_unique_name"),
        ("first data file", "server_place", "first_file"),
    ),
    same_by=("DBID", "container"),
    role_mark=":",  # a standby that became the primary has its name, and a unique name of its own
    session=(
        *((name, "session_settings", name) for name in _SESSION),
        *((name, "session_parallel", name) for name in _PARALLEL),
    ),
    names_in_texts="names_in_texts",
    # a LONG or a CLOB cannot stand in a UNION
    behind_names=(
        "names_behind",
        "names_behind_views",
        "names_behind_materialized",
        "names_behind_columns",
        "names_behind_indexes",
        "names_behind_external",
    ),
    service_names=True,
    licences=True,
    keeps_snapshots=True,
    keeps_jobs=True,
    bundles=True,
    rman=True,
    consumer_groups=True,
    stored_degrees=True,
    sysdba=True,
    asks_password=True,
    verifying={"protocol": ("tcp", "tcps"), "ssl_server_dn_match": (), "ssl_server_cert_dn": ()},
    counters="vstat",
    order=1,
)
