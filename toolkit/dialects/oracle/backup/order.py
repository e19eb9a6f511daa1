"""What is asked of RMAN, read from the options of a work: each value checked before any script is made of it.

RMAN has no placeholders, and a quote, `?`, `@` or `&` means something to it inside of quotes; so a name or a path
that it could misread is refused, with another way to say the same.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from enum import StrEnum

from toolkit.dialects.oracle.backup import forms as further
from toolkit.dialects.oracle.backup import values
from toolkit.dialects.oracle.backup.forms import Clash, Forms
from toolkit.dialects.oracle.backup.texts import not_unique
from toolkit.dialects.oracle.names import parse_name
from toolkit.dialects.work import Work
from toolkit.errors import ToolkitError
from toolkit.model.words import Mode

MOST_CHANNELS = 255
"""RMAN Reference, CONFIGURE: PARALLELISM lies between 1 and 254; more was never tried."""


class BackupAction(StrEnum):
    """What is done: the two ways to measure, what stays, and the two checks."""

    JOB = "backup"
    READ = "backup validate"
    WRITE = "written trial"
    VALIDATE = "validate"
    RESTORE = "restore validate"


class BackupScope(StrEnum):
    """What it is done to, as RMAN spells it."""

    DATABASE = "DATABASE"
    TABLESPACE = "TABLESPACE"
    PDB = "PLUGGABLE DATABASE"
    DATAFILE = "DATAFILE"
    ARCHIVELOG = "ARCHIVELOG ALL"


_CHECKS = {"validate": BackupAction.VALIDATE, "restore_validate": BackupAction.RESTORE}
_SCOPES = {
    "database": BackupScope.DATABASE,
    "tablespace": BackupScope.TABLESPACE,
    "pdb": BackupScope.PDB,
    "datafile": BackupScope.DATAFILE,
    "archivelog": BackupScope.ARCHIVELOG,
}


@dataclass(frozen=True, slots=True)
class BackupOrder:
    """One backup, validation or restore check; every text fits the filter it goes through.

    Attributes:
        names: tablespaces, pluggable databases (`PDB1`), tablespaces of one (`PDB1:USERS`), or file numbers.
        places: folders or disk groups the pieces go to, in turn; empty leaves it to the recovery area.
        formats: one a channel (a format without a folder in front), or one for all.
        connects: one a channel, in turn.
        catalog: recovery catalog, `/@alias`.
    """

    act: BackupAction
    what: BackupScope = BackupScope.DATABASE
    names: tuple[str, ...] = ()
    channels: int = 1
    compression: str = "none"
    section_size: str | None = None
    files_per_set: int | None = None
    max_piece_size: str | None = None
    rate: str | None = None
    level: int | None = None
    plus_archivelog: bool = False
    tag: str | None = None
    formats: tuple[str, ...] = ()
    places: tuple[str, ...] = ()
    device: str = "DISK"
    parms: str | None = None
    connects: tuple[str, ...] = ()
    catalog: str | None = None
    forms: Forms = field(default_factory=Forms)

    @property
    def is_job(self) -> bool:
        """Whether it is done once, for good."""
        return self.act is BackupAction.JOB

    @property
    def measures(self) -> bool:
        """Whether it is a trial's way to read or write a backup."""
        return self.act in {BackupAction.READ, BackupAction.WRITE}

    @property
    def reads_backups(self) -> bool:
        """Whether backups are read, not data files."""
        return self.act is BackupAction.RESTORE

    @property
    def of_logs(self) -> bool:
        """Whether it is of archived logs alone."""
        return self.what is BackupScope.ARCHIVELOG

    @property
    def has_copies(self) -> bool:
        """Whether it is of data files that image copies are made of here."""
        bare = not any(":" in name for name in self.names)
        return bare and self.what in {BackupScope.DATABASE, BackupScope.TABLESPACE, BackupScope.DATAFILE}

    @property
    def writes(self) -> bool:
        """Whether backup pieces are written."""
        return self.act in {BackupAction.JOB, BackupAction.WRITE}

    def spread(self, values: tuple[str, ...]) -> tuple[str, ...]:
        """Deal values out to the channels, in turn."""
        return tuple(values[number % len(values)] for number in range(self.channels)) if values else ()


def act_of(work: Work) -> BackupAction:
    """Tell what a work does."""
    action = values.text(work, "action")
    if action in _CHECKS:
        return _CHECKS[action]
    if work.mode is Mode.JOB:
        return BackupAction.JOB
    return BackupAction.WRITE if work.option("write") in (True, "yes") else BackupAction.READ


def order_of(work: Work) -> BackupOrder:
    """Read a work.

    Raises:
        ToolkitError: TK-0102 or TK-0104 for a value that RMAN would misread, TK-0107 for values that do not go
            together.
    """
    what, names = _what(work)
    order = BackupOrder(
        act_of(work),
        what,
        names,
        channels=_channels(work),
        compression=values.text(work, "compression") or "none",
        section_size=values.size(work, "section_size"),
        files_per_set=values.integer(work, "files_per_set"),
        max_piece_size=values.size(work, "max_piece_size"),
        rate=values.size(work, "rate"),
        level=values.integer(work, "incremental"),
        plus_archivelog=work.option("plus_archivelog") is True,
        tag=values.checked(work, "tag", "rman_name", values.TAG),
        formats=values.each(work, "format", "rman_format", _NO_MARKS, divided=True),
        places=values.each(work, "destination", "rman_format", _NO_MARKS),
        device="SBT" if values.text(work, "device") == "sbt" else "DISK",
        parms=values.checked(work, "parms", "rman_parms", "no quotes, `?`, `@`, `&`, `%` or `;`"),
        connects=values.each(work, "connects", "rman_connect", _WALLET_ONLY),
        catalog=values.catalog(work),
        forms=further.forms_of(work),
    )
    _fitting(order)
    return order


_NO_MARKS = "a folder or format without quotes, `?`, `@`, `&` and `;`, which have a special meaning in RMAN"
_WALLET_ONLY = (
    "`/@alias as sysbackup`: a name from tnsnames.ora with its password in a wallet; a user and password would "
    "appear in the script and its log"
)


def _what(work: Work) -> tuple[BackupScope, tuple[str, ...]]:
    scope, names = values.text(work, "scope") or "database", values.texts(work, "of")
    if scope not in _SCOPES:
        raise ToolkitError(
            f"RMAN backs up files, and has no `--scope {scope}`",
            code="TK-0107",
            hint=f"give one of {', '.join(_SCOPES)}; a schema or table is exported by Data Pump (expdp)",
        )
    what = _SCOPES[scope]
    if what in {BackupScope.DATABASE, BackupScope.ARCHIVELOG}:
        if names:
            raise ToolkitError(
                f"a backup of the {what.value.lower()} does not accept names",
                code="TK-0107",
                hint="give their scope: `--scope tablespace`, `pdb` or `datafile`",
            )
        return what, ()
    if not names:
        raise ToolkitError(
            f"`--scope {what.value.split()[0].lower()}` needs names", code="TK-0107", hint="add `--of A,B`"
        )
    if what is BackupScope.TABLESPACE:
        return what, tuple(_tablespace(name) for name in names)
    if what is BackupScope.PDB:
        return what, tuple(_name(name, "a pluggable database") for name in names)
    return what, tuple(_number(name) for name in names)


def _tablespace(text: str) -> str:
    pdb, colon, name = text.rpartition(":")
    if colon:
        return f"{_name(pdb, 'a pluggable database')}:{_name(name, 'a tablespace')}"
    return _name(name, "a tablespace")


def _name(text: str, kind: str) -> str:
    """Read a name; one that needs quotes is refused: how RMAN spells those is not written."""
    name = parse_name(text).name
    if re.fullmatch(r"[A-Z][A-Z0-9_$#]{0,29}", name):
        return name
    raise ToolkitError(
        f"`{name}` as the name of {kind} cannot be used in dbatk's RMAN scripts",
        code="TK-0104",
        hint="only capital letters, digits, `_`, `$` and `#` can; give its data files by number: `--scope "
        "datafile --of 5,6`",
    )


def _number(text: str) -> str:
    if re.fullmatch(r"[1-9][0-9]{0,6}", text):
        return text
    raise ToolkitError(
        f"`{text}` is not a data file number",
        code="TK-0102",
        hint="as in V$DATAFILE.FILE#: `--scope datafile --of 5,6`",
    )


def _channels(work: Work) -> int:
    value = work.option("channels")
    count = int(value) if isinstance(value, int | float) and not isinstance(value, bool) else max(1, work.degree)
    if not 1 <= count <= MOST_CHANNELS:
        raise ToolkitError(
            f"{count} channels are not possible", code="TK-0102", hint=f"between 1 and {MOST_CHANNELS}"
        )
    return count


def _fitting(order: BackupOrder) -> None:
    """Refuse what cannot go together, whatever the database.

    Raises:
        ToolkitError: TK-0107.
    """
    clashes: tuple[tuple[bool, str, str], ...] = (
        (
            order.section_size is not None and order.max_piece_size is not None,
            "SECTION SIZE cannot be combined with MAXPIECESIZE",
            "a section is a piece: choose one of them (RMAN Reference, BACKUP)",
        ),
        (
            order.parms is not None and order.device == "DISK",
            "PARMS are for a media manager, not for disk",
            "add `--device sbt`, or omit `--parms`",
        ),
        (
            order.what is BackupScope.ARCHIVELOG and (order.plus_archivelog or order.level is not None),
            "archived logs are backed up as they are: there are no levels and nothing is added",
            "omit `--incremental` and `--plus-archivelog`",
        ),
        (
            bool(order.places) and order.device == "SBT",
            "a media manager has no folders",
            "omit `--destination`; `--format` names the pieces",
        ),
        *_naming(order),
        *_in_a_trial(order),
        *further.clashes(order),
    )
    for clash, sentence, hint in clashes:
        if clash:
            raise ToolkitError(sentence, code="TK-0107", hint=hint)


def _naming(order: BackupOrder) -> tuple[Clash, ...]:
    several = order.section_size is not None or order.max_piece_size is not None
    lacks = ((form, not_unique(form, several_pieces=several)) for form in order.formats)
    return tuple(
        (True, f"`--format {form}` cannot name every piece: {lack}", "add `%U`, which is always unique")
        for form, lack in lacks
        if lack
    )


def _in_a_trial(order: BackupOrder) -> tuple[Clash, ...]:
    return (*_reading(order), *_measuring(order), *_writing(order), *_checking(order))


def _reading(order: BackupOrder) -> tuple[Clash, ...]:
    reads = not order.writes
    return (
        (
            reads and order.compression != "none",
            "validating does not compress: compression can only be measured by writing",
            "add `--write` and a folder (`--destination`); the files there are deleted after each trial",
        ),
        (
            reads and (order.max_piece_size is not None or bool(order.formats) or bool(order.places)),
            "validating writes no pieces: their size, format and folder do not apply",
            "add `--write`, or omit `--max-piece-size`, `--format` and `--destination`",
        ),
    )


def _measuring(order: BackupOrder) -> tuple[Clash, ...]:
    measured = order.act in {BackupAction.READ, BackupAction.WRITE}
    return (
        (
            measured and order.level is not None,
            "a measurement makes no incremental backup: its level 0 would be the parent of your next level 1, "
            "which would be useless once it is deleted",
            "omit `--incremental`; as a job (one configuration, no --repeat) it is made and kept",
        ),
        (
            order.act is BackupAction.WRITE and (order.plus_archivelog or order.what is BackupScope.ARCHIVELOG),
            "a measurement does not back up archived logs: its copy would count for the deletion policy, your "
            "job would delete the log, and then the copy is deleted: a gap in recovery",
            "omit them",
        ),
        (
            order.act is not BackupAction.JOB and order.plus_archivelog,
            "PLUS ARCHIVELOG switches and archives the log: only jobs do that",
            "omit `--plus-archivelog`",
        ),
    )


def _writing(order: BackupOrder) -> tuple[Clash, ...]:
    return (
        (
            order.act is BackupAction.WRITE and order.tag is not None,
            "a measurement sets its own tag, by which its backups are found and deleted",
            "omit `--tag`",
        ),
        (
            order.act is BackupAction.WRITE and order.device == "SBT",
            "backups on tape are not measured: the deletion of their pieces could not be verified",
            "measure on disk, or make one backup as a job",
        ),
        (
            order.act is BackupAction.WRITE and not order.places,
            "a trial that writes needs its own folder, outside the recovery area",
            "`--destination /backup/bench`: on the database server, writable for its owner",
        ),
        (
            order.act is BackupAction.WRITE and bool(order.formats),
            "a measurement names its pieces itself, so that dbatk recognizes them",
            "omit `--format`; `--destination` sets their folder",
        ),
    )


def _checking(order: BackupOrder) -> tuple[Clash, ...]:
    return (
        (
            order.act is BackupAction.RESTORE
            and (order.section_size is not None or order.files_per_set is not None),
            "RESTORE VALIDATE reads the sets as they were written",
            "omit `--section-size` and `--files-per-set`",
        ),
        (
            order.act is BackupAction.VALIDATE and order.files_per_set is not None,
            "VALIDATE has no files per set",
            "omit `--files-per-set`, or measure with `BACKUP VALIDATE` (no `--action`)",
        ),
    )
