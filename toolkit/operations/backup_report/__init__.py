"""Reports on the backups there are: what needs one, what is obsolete, what is recorded and not found."""

from toolkit.errors import ToolkitError
from toolkit.model.operations import Levels, OperationDeclaration, Options
from toolkit.model.options import Option, OptionKind
from toolkit.model.words import ObjectKind
from toolkit.operations import options as shared
from toolkit.operations.backup import CATALOG

REPORTS = ("need_backup", "obsolete", "unrecoverable", "expired", "schema")


def _check(options: Options, levels: Levels) -> None:
    """Refuse a report that RMAN does not have.

    Raises:
        ToolkitError: TK-0102.
    """
    del levels
    given = options.get("reports") or ()
    for name in given if isinstance(given, tuple) else (given,):
        if str(name).lower() not in REPORTS:
            raise ToolkitError(
                f"there is no report `{str(name)[:40]}`",
                code="TK-0102",
                hint=f"one or more of {', '.join(REPORTS)}",
            )


DECLARATION = OperationDeclaration(
    name="backup-report",
    command=("backup", "report"),
    help="Report which files need a backup, and which backups are obsolete or missing; nothing is deleted.",
    options=(
        Option("reports", OptionKind.NAMES,
               "which reports (default need_backup,obsolete,unrecoverable,expired; also schema)",
               engines=shared.ORACLE),
        Option("crosscheck", OptionKind.FLAG,
               "first look for each recorded backup and archived log, and mark what is not found as EXPIRED, what "
               "is found again as AVAILABLE (CROSSCHECK)", engines=shared.ORACLE),
        Option("redundancy", OptionKind.INTEGER,
               "judge by this many backups of each file, not by the configured retention policy",
               engines=shared.ORACLE, low=1, high=100, unit="backups"),
        Option("recovery_days", OptionKind.INTEGER,
               "judge by a recovery window of so many days, not by the configured retention policy",
               engines=shared.ORACLE, low=1, high=36500, unit="days"),
        CATALOG,
    ),
    examples=(
        "dbatk backup report -t orcl",
        "dbatk backup report -t orcl --crosscheck --recovery-days 14 --catalog /@rcat",
    ),
    planned_by="toolkit.operations.backup.plan:Backup",
    common=("reports", "crosscheck", "redundancy", "recovery_days", "catalog"),
    object=ObjectKind.BACKUP,
    degree="",
    excludes=(("redundancy", "recovery_days", "RMAN judges by one policy"),),
    check=_check,
    one_session="one client of RMAN asks one question after the other",
    once=True,
    keeps=False,
    cookbook="which-backups-are-missing.md",
    order=7,
)  # fmt: skip
