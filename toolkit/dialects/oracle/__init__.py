"""Oracle: 11.2 to 26ai."""

from toolkit.model.engines import EngineDeclaration, SqlClient, SqlReading

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
    ),
    reads=SqlReading.ORACLE,
    # The DBID is that of V$DATABASE; a clone made by NID has another one.
    identity=(
        ("name", "server", "database_name"),
        ("DBID", "doctor_database", "dbid"),
        ("container", "doctor_container", "container_name"),
        ("DBID of the container", "awr_container", "con_dbid"),
        ("user", "server", "user_name"),
    ),
    service_names=True,
    licences=True,
    keeps_snapshots=True,
    keeps_jobs=True,
    bundles=True,
    rman=True,
    consumer_groups=True,
    asks_password=True,
    counters="vstat",
    order=1,
)
