"""What a backup is asked for beyond its files and channels: what is checked, skipped, kept and deleted.

Sources: RMAN Reference, BACKUP (10.2 B14194 img_text: backupoperand, archlogrange; 11.2 E10643 rcmsynta007),
allocOperandList, archivelogRecordSpecifier (21: which logs a range of times means).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from toolkit.dialects.oracle.backup import values
from toolkit.dialects.work import Work
from toolkit.errors import ToolkitError

if TYPE_CHECKING:
    from toolkit.dialects.oracle.backup.order import BackupOrder

_SKIPPED = ("readonly", "offline", "inaccessible")
Clash = tuple[bool, str, str]
"""Whether two things cannot go together, why, and what helps."""


@dataclass(frozen=True, slots=True)
class Forms:
    """Further words of a BACKUP command.

    Attributes:
        skip: files left out: READONLY, OFFLINE, INACCESSIBLE.
        keep_days: how long the backup is exempt from the retention policy.
        minutes: after which it is ended (DURATION).
        minimize: LOAD spreads it over that time, TIME is as fast as it can.
        since: minutes ago, of archived logs: those that end after it.
        until: minutes ago, of archived logs: those that begin before it.
        not_backed_up: leaves out archived logs that so many backups have.
        delete_input: whether the archived logs that were backed up are deleted.
        merge_copy: tag of the image copies into which incremental backups are merged.
        encryption: the algorithm, with the keystore of the database (transparent mode).
    """

    cumulative: bool = False
    check_logical: bool = False
    max_open_files: int | None = None
    skip: tuple[str, ...] = ()
    keep_days: int | None = None
    minutes: int | None = None
    minimize: str | None = None
    since: int | None = None
    until: int | None = None
    not_backed_up: int | None = None
    delete_input: bool = False
    encryption: str | None = None
    merge_copy: str | None = None

    @property
    def duration(self) -> str | None:
        """The duration in hours and minutes, as RMAN writes it."""
        return None if self.minutes is None else f"{self.minutes // 60}:{self.minutes % 60:02d}"

    @property
    def of_jobs(self) -> tuple[str, ...]:
        """The options given that only a job can have."""
        given = (
            ("--cumulative", self.cumulative), ("--skip", self.skip), ("--keep-days", self.keep_days),
            ("--duration", self.minutes), ("--minimize", self.minimize), ("--logs-since", self.since),
            ("--logs-until", self.until), ("--not-backed-up", self.not_backed_up),
            ("--delete-input", self.delete_input), ("--merge-copy", self.merge_copy),
        )  # fmt: skip
        return tuple(flag for flag, value in given if value)


def forms_of(work: Work) -> Forms:
    """Read them from the options of a work.

    Raises:
        ToolkitError: TK-0102.
    """
    skip = tuple(text.strip().lower() for text in values.texts(work, "skip"))
    for text in skip:
        if text not in _SKIPPED:
            raise ToolkitError(
                f"`--skip` cannot be `{text[:40]}`", code="TK-0102", hint=f"one or more of {', '.join(_SKIPPED)}"
            )
    minimize, encryption = values.text(work, "minimize"), values.text(work, "encryption")
    return Forms(
        cumulative=work.option("cumulative") is True,
        check_logical=work.option("check_logical") is True,
        max_open_files=values.integer(work, "max_open_files"),
        skip=tuple(text.upper() for text in dict.fromkeys(skip)),
        keep_days=values.integer(work, "keep_days"),
        minutes=values.minutes(work, "duration"),
        minimize=None if minimize is None else minimize.upper(),
        since=values.minutes(work, "logs_since"),
        until=values.minutes(work, "logs_until"),
        not_backed_up=values.integer(work, "not_backed_up"),
        delete_input=work.option("delete_input") is True,
        encryption=None if encryption in (None, "none") else str(encryption).upper(),
        merge_copy=values.checked(work, "merge_copy", "rman_name", values.TAG),
    )


def clashes(order: BackupOrder) -> tuple[Clash, ...]:
    """Say which of them cannot go together, whatever the database."""
    forms = order.forms
    only = forms.of_jobs[0] if forms.of_jobs else ""
    return (
        (
            bool(only) and not order.is_job,
            f"`{only}` is for a job: a measurement backs up the same files in each trial and keeps none",
            f"omit `{only}`, or run one configuration without `--repeat`",
        ),
        (
            forms.check_logical and order.reads_backups,
            "backups are read as they were written: `--check-logical` looks into data files",
            "`--action validate --check-logical`",
        ),
        (
            forms.cumulative and order.level != 1,
            "CUMULATIVE is of level 1: all changes since level 0",
            "add `--incremental 1`",
        ),
        (
            bool(forms.skip or forms.check_logical) and order.of_logs,
            "archived logs are not data files: none is skipped or checked for its rows",
            "omit `--skip` and `--check-logical`",
        ),
        (
            forms.encryption is not None and not order.writes,
            "validating does not encrypt: encryption can only be measured by writing",
            "add `--write` and a folder (`--destination`)",
        ),
        (
            order.catalog is not None and order.measures,
            "trials would be recorded in the recovery catalog: `--catalog` is for a job, or to validate backups",
            "omit `--catalog`, or run one configuration without `--repeat`",
        ),
        *_of_time(order),
        *_of_logs(order),
        *_of_copies(order),
    )


def _of_copies(order: BackupOrder) -> tuple[Clash, ...]:
    """Say what image copies and their merge have no place for."""
    forms = order.forms
    sets = {
        "--compression": order.compression != "none", "--encryption": forms.encryption is not None,
        "--section-size": order.section_size is not None, "--files-per-set": order.files_per_set is not None,
        "--max-piece-size": order.max_piece_size is not None,
    }  # fmt: skip
    others = {
        "--incremental": order.level is not None, "--tag": order.tag is not None,
        "--keep-days": forms.keep_days is not None,
    }  # fmt: skip
    of_sets = next((flag for flag, given in sets.items() if given), "")
    other = next((flag for flag, given in others.items() if given), "")
    merges = forms.merge_copy is not None
    return (
        (
            merges and bool(of_sets),
            f"`{of_sets}` is of backup sets: image copies are files as the database has them",
            f"omit `{of_sets}`",
        ),
        (
            merges and bool(other),
            f"`--merge-copy` decides level, tag and use of its backups: `{other}` does not apply",
            f"omit `{other}`",
        ),
        (
            merges and order.device == "SBT",
            "image copies are written to disk only",
            "omit `--device`",
        ),
        (
            merges and not order.has_copies,
            "image copies are of the database, of tablespaces or of data files",
            "`--scope database`, `tablespace` or `datafile`",
        ),
    )


def _of_time(order: BackupOrder) -> tuple[Clash, ...]:
    forms = order.forms
    return (
        (
            forms.minimize is not None and forms.minutes is None,
            "`--minimize` spreads a backup over a time",
            "add `--duration 4h`",
        ),
        (
            forms.minutes is not None and order.plus_archivelog,
            "DURATION cannot be combined with PLUS ARCHIVELOG",
            "back up the archived logs in a step of their own: `--scope archivelog`",
        ),
        (
            forms.keep_days is not None and (order.plus_archivelog or order.of_logs or order.level is not None),
            "a backup to keep is a full one, which includes the archived logs that it needs",
            "omit `--incremental` and `--plus-archivelog`",
        ),
    )


def _of_logs(order: BackupOrder) -> tuple[Clash, ...]:
    forms = order.forms
    of_logs = bool(forms.since or forms.until or forms.not_backed_up)
    return (
        (
            forms.delete_input and not order.of_logs,
            "`--delete-input` deletes the archived logs that the job names and has backed up",
            "back up the archived logs in a step of their own: `--scope archivelog --delete-input`",
        ),
        (
            of_logs and not order.of_logs,
            "`--logs-since`, `--logs-until` and `--not-backed-up` choose archived logs",
            "add `--scope archivelog`",
        ),
        (
            forms.since is not None and forms.until is not None and forms.since <= forms.until,
            "`--logs-since` must be longer ago than `--logs-until`",
            "as in `--logs-since 7d --logs-until 1h`",
        ),
    )
