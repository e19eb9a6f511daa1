"""What REPORT and LIST EXPIRED say in a log of RMAN, with and without message numbers."""

from __future__ import annotations

import pytest

from toolkit.analysis.rman_sentences import report_sentence
from toolkit.readers.rman.log import read_log
from toolkit.readers.rman.model import Log, LogOutcome, log_document
from toolkit.readers.rman.reports import ReportKind, RmanReport

_LOG = """\
Recovery Manager: Release 19.0.0.0.0 - Production on Fri Jun 5 03:35:44 2026

connected to target database: CRASHDB (DBID=1234567890)
using target database control file instead of recovery catalog

RMAN retention policy will be applied to the command
RMAN retention policy is set to redundancy 2
Report of files with less than 2 redundant backups
File #bkps Name
---- ----- -----------------------------------------------------
2    0     /oradata/trgt/undotbs01.dbf
11   1     /oradata/trgt/the users.dbf

RMAN retention policy will be applied to the command
RMAN retention policy is set to redundancy 2
Report of obsolete backups and copies
Type                 Key    Completion Time    Filename/Handle
-------------------- ------ ------------------ --------------------
Archive Log          1022   2026-06-01 09:00:01 /disk1/arch/1_1017_594857490.arc
Backup Set           6      2026-06-01 09:00:02
  Backup Piece       6      2026-06-01 09:00:02 /fra/backupset/o1_mf_nnndf.bkp
Control File Copy     4      14-JUN-26 /home/oracle/tmp/a.ctl

Report of files that need backup due to unrecoverable operations
File Type of Backup Required Name
---- ----------------------- -----------------------------------
1    full or incremental     +DATA/trgt/tbs_01.f
4    full                    +DATA/trgt/tbs_04.f

Report of database schema for database with db_unique_name CRASHDB

List of Permanent Datafiles
===========================
File Size(MB) Tablespace           RB segs Datafile Name
---- -------- -------------------- ------- ------------------------
1    2000     SYSTEM               YES     +DATA/CRASHDB/DATAFILE/system.258.1235092711
2    600      PDB$SEED:SYSTEM      NO      +DATA/CRASHDB/SEED/DATAFILE/system.262.1235092459

List of Temporary Files
=======================
File Size(MB) Tablespace           Maxsize(MB) Tempfile Name
---- -------- -------------------- ----------- --------------------
1    1024     TEMP                 524288      +DATA/CRASHDB/TEMPFILE/temp.261.1235092827

List of Backup Sets
===================

BS Key  Type LV Size       Device Type Elapsed Time Completion Time
------- ---- -- ---------- ----------- ------------ ---------------
7       Full    981.00K    DISK        00:00:02     21-MAR-26
        BP Key: 7   Status: EXPIRED  Compressed: NO  Tag: TAG20260321T143457
        Piece Name: /backup/gone_7.bkp

BS Key  Type LV Size       Device Type Elapsed Time Completion Time
------- ---- -- ---------- ----------- ------------ ---------------
8       Full    981.00K    DISK        00:00:02     21-MAR-26
        BP Key: 8   Status: AVAILABLE  Compressed: NO  Tag: TAG20260321T143458
        Piece Name: /backup/there_8.bkp

List of Archived Log Copies for database with db_unique_name CRASHDB
=====================================================================

Key     Thrd Seq     S Low Time
------- ---- ------- - ---------
32      1    17      X 05-JUN-26
        Name: +RECO/CRASHDB/thread_1_seq_17.294.1235100341

35      1    18      A 05-JUN-26
        Name: +RECO/CRASHDB/thread_1_seq_18.297.1235100347

specification does not match any datafile copy in the repository

Recovery Manager complete.
"""


def _numbered(text: str) -> str:
    """Return a log as `msgno` prints it: a number before every line."""
    return "".join(
        f"RMAN-06{100 + number}: {line}\n" if line else "\n" for number, line in enumerate(text.splitlines())
    )


def _read(text: str) -> Log:
    return read_log(text.splitlines())


def _of(log: Log, kind: ReportKind) -> RmanReport:
    [found] = [one for one in log.reports if one.kind is kind]
    return found


@pytest.mark.parametrize(
    "text", [_LOG, _numbered(_LOG), _LOG.replace("\n", "\n\n")], ids=["plain", "msgno", "spaced"]
)
def test_each_report_names_its_files(text: str) -> None:
    log = _read(text)
    assert log.outcome in {
        LogOutcome.COMPLETED,
        LogOutcome.COMPLETED_WITH_WARNINGS,
    }  # numbers that are none of RMAN's
    assert [(row.number, row.detail, row.name) for row in _of(log, ReportKind.NEED_BACKUP).rows] == [
        (2, "0", "/oradata/trgt/undotbs01.dbf"), (11, "1", "/oradata/trgt/the users.dbf"),
    ]  # fmt: skip
    assert [(row.thing, row.number, row.name) for row in _of(log, ReportKind.OBSOLETE).rows] == [
        ("archive log", 1022, "/disk1/arch/1_1017_594857490.arc"), ("backup set", 6, None),
        ("backup piece", 6, "/fra/backupset/o1_mf_nnndf.bkp"), ("control file copy", 4, "/home/oracle/tmp/a.ctl"),
    ]  # fmt: skip
    assert [(row.number, row.detail) for row in _of(log, ReportKind.UNRECOVERABLE).rows] == [
        (1, "full or incremental"), (4, "full"),
    ]  # fmt: skip
    assert [row.detail for row in _of(log, ReportKind.SCHEMA).rows] == ["SYSTEM", "PDB$SEED:SYSTEM"]
    assert [(row.number, row.name) for row in _of(log, ReportKind.EXPIRED).rows] == [
        (7, "/backup/gone_7.bkp"), (32, "+RECO/CRASHDB/thread_1_seq_17.294.1235100341"),
    ]  # fmt: skip


def test_the_heading_tells_the_policy() -> None:
    report = _of(_read(_LOG), ReportKind.NEED_BACKUP)
    assert report.heading == "Report of files with less than 2 redundant backups"
    document = log_document(_read(_LOG), "x.log")["reports"]
    assert isinstance(document, list) and [one["count"] for one in document] == [2, 4, 2, 2, 2]


def test_that_nothing_is_obsolete_is_an_answer() -> None:
    head, tail = (
        _LOG.split("\nRMAN retention policy", 1)[0],
        "\nno obsolete backups found\n\nRecovery Manager complete.\n",
    )
    log = _read(head + tail)
    assert log.outcome is LogOutcome.COMPLETED
    assert [report_sentence(one) for one in log.reports] == ["no backup is obsolete"]


def test_the_sentences_name_what_is_to_be_done() -> None:
    assert [report_sentence(one) for one in _read(_LOG).reports] == [
        "2 data files in need of a backup: /oradata/trgt/undotbs01.dbf, /oradata/trgt/the users.dbf",
        "1 archive log, 1 backup set, 1 backup piece, 1 control file copy obsolete: "
        "/disk1/arch/1_1017_594857490.arc, /fra/backupset/o1_mf_nnndf.bkp, /home/oracle/tmp/a.ctl",
        "2 data files not recoverable from their backups (NOLOGGING work since): +DATA/trgt/tbs_01.f, "
        "+DATA/trgt/tbs_04.f",
        "2 data files in the database",
        "1 backup piece, 1 copy or archived log expired: not found by a crosscheck: /backup/gone_7.bkp, "
        "+RECO/CRASHDB/thread_1_seq_17.294.1235100341",
    ]
