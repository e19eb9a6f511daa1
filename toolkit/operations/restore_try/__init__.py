"""Bringing a backup back into a scratch place, to prove that it can be."""

from toolkit.model.operations import JudgedBy, OperationDeclaration, SizeReads, VerifiedBy
from toolkit.model.options import Option, OptionKind, Topic
from toolkit.operations import options as shared

DECLARATION = OperationDeclaration(
    name="restore-try",
    command=("restore", "try"),
    help="Restore a backup into a scratch place, check it, and remove it again.",
    group="Prove that backups can be restored, and how long it takes.",
    options=(
        Option("backup", OptionKind.PATH,
               "folder of the backup; several are compared: /backup/plain,/backup/zstd", factor=True),
        Option("channels", OptionKind.DEGREE,
               "parallel channels: 4 (default 1); to compare several: 1,2,4 (files copied at once, "
               "process-max of pgBackRest, "
               "sessions of pg_restore, threads of DuckDB)", factor=True, low=1, high=255, unit="channels"),
        Option("destination", OptionKind.PATHS,
               "folder for the scratch copy, which gets its own subfolder and is removed at the end",
               topic=Topic.WHERE),
        Option("tables", OptionKind.NAMES,
               "compare these tables with the target: rows and checksum must be the same, so name tables that "
               "nobody has written since the backup"),
        Option("check", OptionKind.QUERY,
               "file with a SELECT to run on the copy; the last column of every row must be true"),
        Option("rpo", OptionKind.DURATION,
               "recovery point objective: fail if the restored data are older than this, such as 24h",
               topic=Topic.MEASUREMENT),
        Option("rto", OptionKind.DURATION,
               "recovery time objective: fail if the restore takes longer than this, such as 4h",
               topic=Topic.MEASUREMENT),
        Option("method", OptionKind.CHOICE, "program that made the backup (default pg_basebackup)",
               engines=shared.POSTGRESQL, choices=("pg_basebackup", "pgbackrest", "pg_dump")),
        Option("backup_set", OptionKind.TEXT, "label of one of pgBackRest's backups (default: the newest)",
               engines=shared.POSTGRESQL, factor=True),
        Option("stanza", OptionKind.TEXT, "pgBackRest stanza", engines=shared.POSTGRESQL),
        Option("backup_config", OptionKind.TEXT, "pgBackRest configuration file", engines=shared.POSTGRESQL),
        Option("bin_dir", OptionKind.TEXT, "folder of the server's programs, if they are not found automatically",
               engines=shared.POSTGRESQL),
        Option("run_as", OptionKind.NAME,
               "user as whom root runs the scratch server (default: the owner of the target's files)",
               engines=shared.POSTGRESQL, topic=Topic.SAFETY),
    ),
    examples=(
        "dbatk restore try -t crm --backup /backup/sunday --destination /scratch",
        "dbatk restore try -t crm --backup /b/1,/b/2 --channels 1,4 --destination /s",
    ),
    planned_by="toolkit.operations.restore_try.plan",
    common=("backup", "destination", "tables", "check"),
    degree="channels",
    judged_by=JudgedBy("recovery_seconds", "seconds", title="recovery time"),
    verified_by=VerifiedBy.RESTORE,
    sizes=SizeReads(database=True),
    writes_files=True,
    complete_when_timed=False,
    keeps=False,
    cookbook="can-i-restore-it.md",
    order=7,
)  # fmt: skip
