"""Report on backups: planned as a backup is, which writes nothing."""

from toolkit.operations.backup.plan import Backup

OPERATION = Backup("backup-report")
