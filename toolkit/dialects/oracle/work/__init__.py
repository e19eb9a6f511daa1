"""The operations in Oracle's words, one module each: what is timed, what is asked after, what is left behind."""

from __future__ import annotations

from toolkit.dialects.implementations import Implementations
from toolkit.dialects.oracle.work import ctas, index_build, index_rebuild
from toolkit.dialects.oracle.work.base import COLUMNS, INDEXES
from toolkit.dialects.oracle.work.in_session import OracleInSession
from toolkit.dialects.programs import RunPrograms

WORK = Implementations(
    "oracle",
    {
        "ctas": OracleInSession(
            ctas,
            elsewhere=("CREATE ANY TABLE", "COMMENT ANY TABLE", "ALTER ANY TABLE", "DROP ANY TABLE"),
            files=(COLUMNS,),
        ),
        "index-build": OracleInSession(
            index_build,
            elsewhere=("CREATE ANY INDEX", "ALTER ANY INDEX", "DROP ANY INDEX"),
            files=(COLUMNS, INDEXES),
        ),
        "index-rebuild": OracleInSession(index_rebuild, elsewhere=("ALTER ANY INDEX",), files=(INDEXES,)),
        "command": RunPrograms(),
    },
    later={
        "insert": f"{__name__}.of_rows",
        "load": f"{__name__}.of_rows",
        "purge": f"{__name__}.of_chunks",
        "stats-gather": f"{__name__}.of_statistics",
        "stats-export": f"{__name__}.of_statistics",
        "stats-publish": f"{__name__}.of_statistics",
        "stats-extend": f"{__name__}.of_statistics",
        "table-move": f"{__name__}.of_tables",
        "table-shrink": f"{__name__}.of_tables",
        "mview-refresh": f"{__name__}.of_tables",
        "constraint-validate": f"{__name__}.of_tables",
        **dict.fromkeys(
            (f"partition-{verb}" for verb in ("drop", "exchange", "split", "merge", "coalesce")),
            f"{__name__}.of_tables",
        ),
        "datapump-export": f"{__name__}.of_datapump",
        "datapump-import": f"{__name__}.of_datapump",
        "backup": f"{__name__}.of_backup",
        "backup-report": f"{__name__}.of_backup",
        "workload": f"{__name__}.of_users",
    },
    instead={
        "restore-try": "a restore needs an instance of its own. `dbatk backup run --action restore_validate` "
        "reads all that a restore would read, and `dbatk restore script` writes what duplicates or restores the "
        "database elsewhere, with checks",
        "table-create": "a file does not tell how long texts may be; create the table, and `dbatk load` fills it",
    },
)
