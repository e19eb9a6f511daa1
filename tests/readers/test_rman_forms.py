"""Forms of logs, in examples of ours: languages, date formats, wrapping, wrappers, failures, copies, sections."""
# ruff: noqa: E501 - sentences of a log stand on one line

from __future__ import annotations

import gzip
import html
import io
from collections.abc import Iterable, Sequence

import pytest

from tests.for_each import for_each
from tests.readers.rman_samples import ENGLISH, LANGUAGES, STAMPS, whole_log
from tests.tiers import thinned
from toolkit.readers.rman.decode import lines_of
from toolkit.readers.rman.log import causes_first, read_file, read_log
from toolkit.readers.rman.model import BackupPiece, Log

PLAIN = "02-MAR-2026 01:{:02d}:{:02d}"
HEAD = ["connected to target database: ACME (DBID=1234567890)", "", "allocated channel: c1",
        "channel c1: SID=9 device type=DISK", "", "Starting backup at 02-MAR-26"]  # fmt: skip
TAIL = ["Finished backup at 02-MAR-26", "released channel: c1", "", "Recovery Manager complete."]
SET = ["channel c1: starting full datafile backup set", "channel c1: specifying datafile(s) in backup set",
       "input datafile file number=00007 name=/data/ACME/users01.dbf", "channel c1: starting piece 1 at 02-MAR-26",
       "channel c1: finished piece 1 at 02-MAR-26", "piece handle=/backup/ACME_7 tag=NIGHT comment=NONE",
       "channel c1: backup set complete, elapsed time: 00:01:15"]  # fmt: skip
STACK = ["RMAN-00571: ===========================================================",
         "RMAN-00569: =============== ERROR MESSAGE STACK FOLLOWS ===============",
         "RMAN-00571: ==========================================================="]  # fmt: skip


def told(pieces: Iterable[BackupPiece]) -> list[tuple[object, ...]]:
    """Return what does not depend on the client's words or its format of dates."""
    return [
        (one.channel, one.set_type.replace("archive log", "archived log"), one.datafiles, one.archivelogs, one.extra,
         one.piece_no, one.elapsed_seconds, one.handle, one.tag, one.comment)
        for one in pieces
    ]  # fmt: skip


def one_set(*lines: str) -> Log:
    return read_log([*HEAD, *lines, *TAIL])


def test_a_row_of_a_list_ends_no_backup() -> None:
    """What DELETE OBSOLETE lists has the word and the date of an ending, and a key between them."""
    listed = [
        "Backup Set           6550   14-FEB-26",
        "  Backup Piece       6550   14-FEB-26          /backup/a_1_1",
    ]
    log = read_log([*HEAD, *SET, *listed, "", "Recovery Manager complete."])
    assert [(one.op, one.finish) for one in log.operations] == [("backup", None)]
    assert log.outcome == "incomplete"


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("stamp", thinned(sorted(STAMPS), 4))
def test_a_log_says_the_same_in_every_language_and_format(language: str, stamp: str) -> None:
    plain, other = read_log(whole_log()), read_log(whole_log(LANGUAGES[language], stamp))
    assert told(other.pieces) == told(plain.pieces)
    assert other.outcome == plain.outcome == "completed"
    assert other.channel_busy_seconds == plain.channel_busy_seconds == {"c1": 113, "c2": 91, "c3": 200}
    assert other.autobackup_handles == plain.autobackup_handles == ["/backup/c-1234567890-20260302-00"]
    assert (other.db_name, other.dbid) == ("ACME", 1234567890)
    begin, end = (stamp.format(*divmod(second, 60)) for second in (4, 210))
    assert (other.operations[0].op, other.operations[0].start, other.operations[0].finish) == (
        "backup",
        begin,
        end,
    )
    assert [one.op for one in other.operations] == ["backup", "backup", "Control File and SPFILE Autobackup"]
    assert other.pieces[0].start == stamp.format(0, 5)


ENCODINGS = ("utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "cp1252")


@pytest.mark.parametrize("encoding", thinned(ENCODINGS, 3))
@pytest.mark.parametrize("end", ["\n", "\r\n", "\r", "\n\n"])
def test_bytes_of_any_encoding_and_line_end_are_read(encoding: str, end: str) -> None:
    raw = end.join(whole_log()).encode(encoding)
    assert told(read_log(lines_of(io.BytesIO(raw))).pieces) == told(read_log(whole_log()).pieces)
    packed = gzip.compress(raw)
    assert read_log(lines_of(io.BytesIO(packed))).outcome == "completed"


@for_each(
    "around",
    ["    {}", "> {}", "2026-03-02 01:00:00 {}", "[host42]: {}", "<span>{}</span><br/>", "| {}", "\t{}", "\x1b[32m{}\x1b[0m"],
)  # fmt: skip
def test_what_stands_around_each_line_does_not_matter(around: str) -> None:
    lines = [around.format(line) if line else line for line in whole_log()]
    found = read_log(lines_of(io.BytesIO("\n".join(lines).encode())))
    assert told(found.pieces) == told(read_log(whole_log()).pieces)


def test_a_page_of_html_is_read() -> None:
    page = "<html><body><p>Our night:</p><pre>" + html.escape("\n".join(whole_log())) + "</pre></body></html>"
    page = page.replace("/backup/ACME_1_1", "/backup/A&amp;B")
    found = read_log(lines_of(io.BytesIO(page.encode())))
    assert found.outcome == "completed"
    assert found.pieces[0].handle == "/backup/A&B"


@pytest.mark.parametrize("width", [60, 72, 80])
def test_wrapped_lines_are_put_together(width: int) -> None:
    long = "/backup/" + "a_rather_long_name_" * 5 + "7_1_1.bkp"
    lines = [
        *HEAD,
        *(line.replace("/backup/ACME_7", long).replace("users01", "users" * 14) for line in SET),
        *TAIL,
    ]
    wrapped = [
        part for line in lines for part in ([line[n : n + width] for n in range(0, len(line), width)] or [""])
    ]
    found = read_log(wrapped)
    assert told(found.pieces) == told(read_log(lines).pieces)
    assert found.pieces[0].handle == long


def test_a_line_wrapped_between_words_is_put_together() -> None:
    lines = [*SET[:5], "piece", "handle=/backup/ACME", "_7 tag=NIGHT comment=NONE", SET[6]]
    assert one_set(*lines).pieces[0].handle == "/backup/ACME_7"
    lines = [
        *SET[:5],
        "piece handle=/backup/ACME_7",
        "tag=NIGHT comment=NONE",
        *SET[6].replace(": 00", ":|00").split("|"),
    ]
    assert (one_set(*lines).pieces[0].tag, one_set(*lines).channel_busy_seconds) == ("NIGHT", {"c1": 75})


def test_a_section_of_a_file_keeps_its_blocks() -> None:
    lines = [*SET[:3], "backing up blocks 12801 through 25600", *SET[3:]]
    section = one_set(*lines).pieces[0].section
    assert section == (12801, 25600)


def test_image_copies_are_told_with_what_they_wrote() -> None:
    found = one_set(
        "channel c1: starting datafile copy", "input datafile file number=00001 name=/data/ACME/system01.dbf",
        "output file name=/copy/system01.dbf tag=NIGHT RECID=5 STAMP=917073126",
        "channel c1: datafile copy complete, elapsed time: 00:02:15",
        "channel c1: starting archived log copy", "input archived log thread=1 sequence=9 RECID=6 STAMP=1",
        "output file name=/copy/1_9.dbf RECID=0 STAMP=0", "channel c1: archived log copy complete, elapsed time: 00:00:01",
    )  # fmt: skip
    assert [(one.set_type, one.handle, one.tag, one.elapsed_seconds) for one in found.pieces] == [
        ("datafile copy", "/copy/system01.dbf", "NIGHT", 135), ("archived log copy", "/copy/1_9.dbf", None, 1),
    ]  # fmt: skip
    assert found.pieces[0].stamp == 917073126


def test_a_set_of_several_pieces_has_the_time_of_each() -> None:
    at = PLAIN.format
    found = read_log([
        *HEAD, *SET[:3],
        f"channel c1: starting piece 1 at {at(1, 0)}", f"channel c1: finished piece 1 at {at(1, 40)}",
        "piece handle=/backup/p1 tag=NIGHT comment=NONE",
        f"channel c1: starting piece 2 at {at(1, 40)}", f"channel c1: finished piece 2 at {at(1, 58)}",
        "piece handle=/backup/p2 tag=NIGHT comment=API Version 2.0,MMS Version 8.1.3.0",
        "channel c1: backup set complete, elapsed time: 00:00:58", *TAIL,
    ])  # fmt: skip
    assert [(one.piece_no, one.elapsed_seconds, one.handle) for one in found.pieces] == [
        (1, 40, "/backup/p1"), (2, 18, "/backup/p2"),
    ]  # fmt: skip
    assert found.pieces[1].comment == "API Version 2.0,MMS Version 8.1.3.0"
    assert found.channel_busy_seconds == {"c1": 58}


def test_the_time_that_a_message_tells_outranks_its_stamps() -> None:
    at = PLAIN.format
    found = read_log([
        *HEAD, *SET[:3],
        f"channel c1: starting piece 1 at {at(1, 0)}", f"channel c1: finished piece 1 at {at(1, 40)}",
        "piece handle=/backup/p1 tag=NIGHT comment=NONE",
        f"channel c1: starting piece 2 at {at(1, 40)}", f"channel c1: finished piece 2 at {at(1, 58)}",
        "piece handle=/backup/p2 tag=NIGHT comment=NONE",
        "channel c1: backup set complete, elapsed time: 00:00:58", *SET[:3],
        f"channel c1: starting piece 1 at {at(2, 0)}", f"channel c1: finished piece 1 at {at(2, 30)}",
        "piece handle=/backup/p3 tag=NIGHT comment=NONE",
        "channel c1: backup set complete, elapsed time: 01:02:03", *TAIL,
    ])  # fmt: skip
    assert [one.elapsed_seconds for one in found.pieces] == [40, 18, 3723]
    assert found.channel_busy_seconds == {"c1": 58 + 3723}


def test_a_channel_is_known_by_its_first_word() -> None:
    assert read_log([*HEAD[:2], "allocated channel: c9", TAIL[-1]]).channels == ("c9",)
    cut = read_log(["channel t7: starting piece 1 at 02-MAR-26", "channel t7: finished piece 1 at 02-MAR-26"])
    assert cut.channels == ("t7",)


def test_a_piece_written_twice_has_both_handles() -> None:
    lines = [*SET[:4], "channel c1: finished piece 1 at 02-MAR-26 with 2 copies and tag NIGHT",
             "piece handle=/one/p comment=NONE", "piece handle=/two/p comment=NONE", SET[6]]  # fmt: skip
    piece = one_set(*lines).pieces[0]
    assert (piece.handle, piece.copies, piece.tag, piece.finish) == ("/one/p", ("/two/p",), "NIGHT", "02-MAR-26")


def test_one_channel_whatever_was_asked_is_a_warning_and_downgraded() -> None:
    found = one_set(
        "RMAN-06908: WARNING: operation will not run in parallel on the allocated channels",
        "RMAN-06909: WARNING: parallelism require Enterprise Edition", *SET,
    )  # fmt: skip
    assert (found.outcome, found.downgraded) == ("completed_with_warnings", True)
    assert [one.code for one in found.warnings] == ["RMAN-06908", "RMAN-06909"]


def failover() -> list[str]:
    second = [line.replace("c1", "c2") for line in SET]
    return [
        *HEAD[:4], "allocated channel: c2", "channel c2: SID=10 instance=acme2 device type=DISK", *HEAD[4:],
        *SET[:4], "RMAN-03009: failure of backup command on c1 channel at 03/02/2026 01:02:03",
        "ORA-19502: write error on file \"/backup/ACME_7\", block number 5 (block size=8192)",
        "ORA-27072: File I/O error", "channel c1 disabled, job failed on it will be run on another channel",
        *second, *TAIL,
    ]  # fmt: skip


def test_work_that_another_channel_took_over_ends_with_a_warning() -> None:
    found = read_log(failover())
    assert found.outcome == "completed_with_warnings"
    assert [one.code for one in found.errors] == ["RMAN-03009", "ORA-19502", "ORA-27072"]
    assert [(one.channel, one.handle) for one in found.pieces] == [("c2", "/backup/ACME_7")]
    assert [one.channel for one in found.unfinished] == ["c1"]


def test_a_piece_whose_handle_never_came_is_no_backup() -> None:
    lines = failover()
    at = lines.index(SET[3]) + 1
    found = read_log([*lines[:at], SET[4], *lines[at:]])
    assert [(one.channel, one.handle) for one in found.pieces] == [("c2", "/backup/ACME_7")]
    assert [(one.channel, one.piece_no, one.handle) for one in found.unfinished] == [("c1", 1, None)]


def test_a_piece_whose_handle_came_outlives_its_channel() -> None:
    lines = failover()
    at = lines.index(SET[3]) + 1
    found = read_log([*lines[:at], *SET[4:6], *lines[at:]])
    assert [(one.channel, one.handle) for one in found.pieces] == [
        ("c1", "/backup/ACME_7"),
        ("c2", "/backup/ACME_7"),
    ]
    assert found.unfinished == []


def test_work_that_no_channel_took_over_is_a_failure() -> None:
    nobody = [line for line in failover() if "c2: " not in line or "SID" in line]
    assert read_log([line for line in nobody if "handle=" not in line]).outcome == "failed"
    not_run = [line.replace("channel c1 disabled, job failed on it will be run on another channel",
                            "continuing other job steps, job failed will not be re-run") for line in failover()]  # fmt: skip
    assert read_log(not_run).outcome == "failed"


def test_what_goes_into_a_set_may_be_told_after_another_channels_words() -> None:
    found = read_log([
        *HEAD[:4], "allocated channel: c2", "channel c2: SID=10 device type=DISK", *HEAD[4:],
        *SET[:4], *(line.replace("c1", "c2") for line in SET[:2]), *SET[4:],
        *(line.replace("00007", "00009") for line in SET[:4]), "including standby control file in backup set",
        "channel c2: starting piece 1 at 02-MAR-26", "channel c2: finished piece 1 at 02-MAR-26",
        "piece handle=/backup/control tag=FOR STANDBY comment=NONE",
        "channel c2: backup set complete, elapsed time: 00:00:01", *SET[4:], *TAIL,
    ])  # fmt: skip
    assert [(one.channel, [file.file for file in one.datafiles], one.extra, one.tag) for one in found.pieces] == [
        ("c1", [7], (), "NIGHT"), ("c2", [], ("standby control file",), "FOR STANDBY"), ("c1", [9], (), "NIGHT"),
    ]  # fmt: skip


def test_the_media_managers_own_words_belong_to_its_error() -> None:
    found = read_log([*HEAD, *STACK, "RMAN-03009: failure of backup command on c1 channel at 03/02/2026 01:02:03",
                      "ORA-19511: Error received from media manager layer, error text:",
                      "    ANS1017E (RC-50)  Session rejected: TCP/IP connection failure."])  # fmt: skip
    assert found.causes[0].code == "ORA-19511"
    assert found.causes[0].text.endswith("Session rejected: TCP/IP connection failure.")


def test_a_stack_in_a_list_of_quoted_lines_is_read() -> None:
    lines = [
        *STACK,
        "RMAN-03002: failure of backup command at 03/02/2026 01:02:03",
        "ORA-19836: cannot use passphrase",
    ]
    found = read_log([f'"{line}", ' for line in lines])
    assert [(one.code, one.text) for one in found.errors][1] == ("ORA-19836", "cannot use passphrase")


def test_a_restore_tells_which_files_each_channel_read() -> None:
    found = read_log(["RMAN> restore datafile 3;", "Starting restore at 02-MAR-26", "using channel ORA_DISK_1",
                      "channel ORA_DISK_1: starting datafile backup set restore",
                      "channel ORA_DISK_1: specifying datafile(s) to restore from backup set",
                      "channel ORA_DISK_1: restoring datafile 00003 to +DATA/ACME/sysaux.1",
                      "channel ORA_DISK_1: reading from backup piece /backup/p1",
                      "channel ORA_DISK_1: piece handle=/backup/p1 tag=NIGHT",
                      "channel ORA_DISK_1: restored backup piece 1",
                      "channel ORA_DISK_1: restore complete, elapsed time: 00:00:05", "Finished restore at 02-MAR-26"])  # fmt: skip
    assert found.outcome == "completed"
    assert (found.reads[0].handles, found.reads[0].datafiles[0]) == (("/backup/p1",), (3, "+DATA/ACME/sysaux.1"))


def test_a_stack_is_a_failure_and_its_cause_stands_in_front() -> None:
    found = read_log([
        *HEAD, *SET[:4], *STACK, "RMAN-03009: failure of backup command on c1 channel at 03/02/2026 01:02:03",
        "ORA-19809: limit exceeded for recovery files",
        "ORA-19804: cannot reclaim 52428800 bytes disk space from 4294967296 limit", "", "Recovery Manager complete.",
    ])  # fmt: skip
    assert found.outcome == "failed"
    assert causes_first(found)[0].code == "ORA-19804"
    assert [one.code for one in found.errors] == ["RMAN-03009", "ORA-19809", "ORA-19804"]
    assert (found.unfinished[0].channel, found.unfinished[0].finish) == ("c1", None)


@pytest.mark.parametrize(
    "title", ["错误消息堆栈跟随", "エラー・メッセージ・スタックが続きます", "СТЕК СООБЩЕНИЙ ОБ ОШИБКАХ"]
)
def test_a_stack_is_known_by_its_numbers(title: str) -> None:
    lines = [STACK[0], f"RMAN-00569: =============== {title} ===============", STACK[2]]
    found = read_log(
        [*HEAD, *lines, "RMAN-03002: 在 03/02/2026 01:02:03 上 backup 命令失败", "RMAN-06059: 未找到归档日志"]
    )
    assert (found.outcome, found.causes[0].code) == ("failed", "RMAN-06059")


def test_numbered_messages_are_no_errors_but_their_errors_are() -> None:
    numbered = whole_log(LANGUAGES["numbered"])
    warned = [*numbered[:20], "RMAN-08137: WARNING: archived log not deleted, needed for standby", *numbered[20:]]
    assert read_log(warned).outcome == "completed_with_warnings"
    at = next(n for n, line in enumerate(numbered) if "RMAN-08540" in line)
    broken = [*numbered[:at], *STACK, "RMAN-03002: failure of backup command at 03/02/2026 01:00:00",
              "RMAN-06026: some targets not found", "RMAN-06023: no backup of datafile 3"]  # fmt: skip
    found = read_log(broken)
    assert (found.outcome, found.causes[0].code) == ("failed", "RMAN-06023")


@for_each("language", LANGUAGES)
def test_the_time_a_channel_was_throttled_is_not_the_time_it_worked(language: str) -> None:
    lines = whole_log(LANGUAGES[language])
    at = next(n for n, line in enumerate(lines) if "00:01:30" in line)
    throttled = [*lines[: at + 1], lines[at].rpartition("00:")[0][:-3] + "0:00:09", *lines[at + 1 :]]
    assert read_log(throttled).channel_busy_seconds == read_log(lines).channel_busy_seconds


def test_logs_deleted_after_their_backup_in_another_language_are_no_set() -> None:
    lines = whole_log(LANGUAGES["chinese"])
    at = max(n for n, line in enumerate(lines) if "备份集已完成" in line)
    log_set = next(n for n, line in enumerate(lines) if "归档日志备份集" in line)
    end = next(n for n, line in enumerate(lines) if n > log_set and "已完成, 经过时间" in line) + 1
    deleted = ["通道 c1: 正在删除归档日志", "归档日志文件名=D:\\FRA\\O1_MF_1_77_.ARC RECID=1 STAMP=953149873"]
    again = ["完成 backup 于 02-MAR-2026 01:03:40", "启动 backup 于 02-MAR-2026 01:03:41", "当前日志已存档",
             *(line.replace("77", "78") for line in lines[log_set:end])]  # fmt: skip
    found = read_log([*lines[: at + 1], *deleted, *again, *lines[at + 1 :]])
    assert (found.outcome, len(found.pieces), len(found.unfinished)) == ("completed", 8, 0)
    assert found.pieces[-1].extra == ()
    assert [one.sequence for one in found.pieces[-1].archivelogs] == [78, 31]


def test_a_file_that_was_not_cataloged_is_no_fault_and_numbers_nothing() -> None:
    reason = ["File Name: /fra/x.bkp", "  RMAN-07518: Reason: Foreign database file DBID: 1  Database Name: OTHER"]
    assert one_set(*SET, *reason).outcome == "completed"
    late = one_set(*SET, *reason, "RMAN-06820: failed to archive current log at primary database")
    assert [one.code for one in late.warnings] == ["RMAN-06820"]


def test_two_sessions_are_one_log_and_each_must_end() -> None:
    lines = whole_log()
    both = read_log([*lines, *lines])
    assert (both.outcome, len(both.pieces)) == ("completed", 14)
    cut = lines[: next(n for n, line in enumerate(lines) if line.startswith("Finished"))]
    assert read_log([*cut, *lines]).outcome == "incomplete"
    assert read_log([*lines, *cut]).outcome == "incomplete"


def test_notes_of_one_command_and_its_answer_are_complete() -> None:
    notes = ["Here is what I did.", "```", "RMAN> validate datafile 7;", "", "Starting validate at 02-MAR-26",
             "using channel ORA_DISK_1", "channel ORA_DISK_1: starting validation of datafile",
             "channel ORA_DISK_1: specifying datafile(s) for validation",
             "input datafile file number=00007 name=/data/ACME/users01.dbf",
             "channel ORA_DISK_1: validation complete, elapsed time: 00:00:07", "List of Datafiles",
             "=================", "File Status Marked Corrupt Empty Blocks Blocks Examined High SCN",
             "---- ------ -------------- ------------ --------------- ----------",
             "7    OK     0              12567        12800           76440591", "Finished validate at 02-MAR-26",
             "```", "That was all."]  # fmt: skip
    found = read_log(notes)
    assert (found.outcome, found.reads[0].op, found.reads[0].elapsed_seconds) == ("completed", "validate", 7)
    assert found.reads[0].datafiles[0].name == "/data/ACME/users01.dbf"
    assert read_log(notes[:-3]).outcome == "incomplete"
    broken = [line.replace("7    OK    ", "7    FAILED") for line in notes]
    assert (read_log(broken).outcome, read_log(broken).corrupt) == ("completed_with_warnings", [7])


@for_each(
    "lines",
    [[], [""], ["nothing of the kind"], ["SQL> select 1 from dual;", "ORA-00942: table or view does not exist"],
     ["Starting backup at your own risk", "channel four: the news"], ["=====", "RMAN"]],
)  # fmt: skip
def test_what_is_no_log_is_not_taken_for_one(lines: Sequence[str]) -> None:
    found = read_log(lines)
    assert not found.recognised
    assert found.outcome == "incomplete"


def test_the_database_is_known_by_its_files_where_no_connection_is_shown() -> None:
    name = "/fra/ACME/backupset/2026_03_02/o1_mf_nnndf_NIGHT_abcdefgh_.bkp"
    found = read_log(
        ["RMAN> backup database;", *HEAD[5:], *(line.replace("/backup/ACME_7", name) for line in SET), *TAIL]
    )
    assert (found.db_name, found.db_name_source) == ("ACME", "file names")


def test_a_message_of_a_stack_that_was_wrapped_is_whole() -> None:
    first = "RMAN-03009: failure of backup command on a_channel_with_a_rather_long_name channel at"
    found = read_log([*HEAD, *STACK, first, "03/02/2026 01:02:03", 'ORA-19504: failed to create file "/no/where"'])
    assert found.errors[0].text.endswith("channel at 03/02/2026 01:02:03")


def test_english_is_read_alike_by_whole_messages_and_line_by_line() -> None:
    plain, indented = read_log(whole_log(ENGLISH)), read_log([f"  {line}" for line in whole_log(ENGLISH)])
    assert plain.pieces == indented.pieces
    assert plain.operations == indented.operations
    assert plain.channel_busy_seconds == indented.channel_busy_seconds


def of_file(*lines: str) -> Log:
    return read_file(io.BytesIO("\n".join(lines).encode() + b"\n"))


def test_an_excerpt_is_judged_by_what_it_shows() -> None:
    lines = whole_log()
    end = max(n for n, line in enumerate(lines) if line.startswith("Finished")) + 1
    excerpt = of_file(*lines[:end])
    assert (excerpt.outcome, excerpt.missing) == ("completed", ())
    assert excerpt.excerpt == ("the end of the log is missing: the log does not show that RMAN completed",)
    assert of_file(*lines[: end - 1]).outcome == "incomplete"
    assert of_file(*lines).excerpt == ()
    # a run of its own must see the end of the session
    assert read_log(lines[:end]).outcome == "incomplete"


CROSSCHECKED = ["crosschecked backup piece: found to be 'AVAILABLE'", "backup piece handle=/b/x_1_1 RECID=1 STAMP=9",
                "Crosschecked 1 objects"]  # fmt: skip
DELETED = ["deleted backup piece", "backup piece handle=/b/x_1_1 RECID=1 STAMP=9", "Deleted 1 objects"]
CATALOGED = ["searching for all files that match the pattern /b", "cataloging files...", "cataloging done"]
IMPLICIT = ["Starting implicit crosscheck backup at 19-DEC-24", "Crosschecked 5 objects",
            "Finished implicit crosscheck backup at 19-DEC-24"]  # fmt: skip


@for_each("answer", [CROSSCHECKED, DELETED, [*CROSSCHECKED, *DELETED], [*IMPLICIT, *CATALOGED]])
def test_an_excerpt_of_a_command_without_a_beginning_ends_with_its_last_line(answer: Sequence[str]) -> None:
    for head in ([], HEAD[:5]):
        typed = [*head, "RMAN> crosscheck backup;", "", *answer]
        found = of_file(*typed)
        assert (found.outcome, found.missing, len(found.excerpt)) == ("completed", (), 1)
        assert of_file(*typed[:-1]).outcome in ("incomplete", "nothing_done")
        # it is cut off within what comes next
        assert of_file(*typed, *DELETED[:2]).outcome == "incomplete"
        # a run of its own must see the end of the session
        assert read_log(typed).outcome != "completed" or not head


def test_a_typed_command_without_its_answer_is_a_log_in_which_nothing_was_done() -> None:
    assert of_file("RMAN> backup database;").outcome == "nothing_done"
    assert of_file("RMAN> delete noprompt obsolete;", *DELETED).outcome == "completed"


@pytest.mark.parametrize(
    "answer", [[], ["", "using target database control file instead of recovery catalog", ""]]
)
def test_a_log_in_which_nothing_was_done_is_not_completed(answer: Sequence[str]) -> None:
    found = of_file(*HEAD[:5], "", "RMAN> list backup;", *answer, "RMAN> exit", "", *TAIL[-2:])
    assert found.outcome == "nothing_done"


@pytest.mark.parametrize(
    "message", ["deleted backup piece", "Crosschecked 3 objects", "database registered in recovery catalog"]
)
def test_what_has_no_beginning_and_no_end_is_done_all_the_same(message: str) -> None:
    assert (
        of_file(*HEAD[:5], "", "RMAN> delete obsolete;", "", message, "", "RMAN> exit", "", *TAIL[-2:]).outcome
        == "completed"
    )


FRAMES = ["RMAN-03002: failure of backup command at 03/02/2026 01:10:00", "RMAN-06004: ORACLE error"]


def test_a_typed_command_that_was_corrected_is_told_and_is_no_failure() -> None:
    syntax = [*STACK, "RMAN-00558: error encountered while parsing input commands",
              'RMAN-01009: syntax error: found "identifier": expecting one of: "backup"']  # fmt: skip
    for failed in (["Starting backup at 02-MAR-26", *STACK, *FRAMES], syntax):
        typed = [*HEAD[:5], "", "RMAN> backup databas;", "", *failed, "", "RMAN> backup database;", ""]
        good = of_file(*typed, *HEAD[5:], *SET, *TAIL)
        assert (good.outcome, len(good.corrected)) == ("completed_with_warnings", 1)
        assert of_file(*typed, "RMAN> exit", "", *TAIL[-2:]).outcome == "failed"
    # from a command file nobody corrects anything
    silent = of_file(*HEAD[:5], "Starting backup at 02-MAR-26", *STACK, *FRAMES, *HEAD[5:], *SET, *TAIL)
    assert silent.outcome == "failed"
