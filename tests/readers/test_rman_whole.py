"""Logs read whole: all that a session says in one comparison, however its lines come."""
# ruff: noqa: E501 - a line of a log stands on one line

from __future__ import annotations

import io
import json
from pathlib import Path

import pytest

from tests.for_each import for_each
from tests.readers.rman_samples import ENGLISH, GERMAN, LANGUAGES, NUMBERED, TENG, whole_log
from tests.readers.test_rman_forms import HEAD, SET, STACK, TAIL, failover
from toolkit.readers.rman import decode
from toolkit.readers.rman import log as reader
from toolkit.readers.rman.log import blocks_of_lines, read_file, read_log
from toolkit.readers.rman.model import BackupPiece, Datafile, LogOutcome, log_document, piece_document

HERE = Path(__file__).parent
SESSION = (HERE / "rman_session.txt").read_text(encoding="utf-8").split("\n")
LOGS = {
    "session": SESSION, "english": whole_log(ENGLISH), "10g": whole_log(TENG), "numbered": whole_log(NUMBERED),
    "failover": failover(),
}  # fmt: skip


def test_all_that_a_session_says_is_read() -> None:
    """Two sets of one piece or more, a section, copies, logs, an image copy, lists, a restore, a validation."""
    wanted = json.loads((HERE / "rman_session.json").read_text(encoding="utf-8"))
    assert log_document(read_log(SESSION), "log") == wanted


@for_each("name", LOGS)
def test_whole_messages_and_single_lines_say_the_same(name: str) -> None:
    """What is indented is no whole message, and is read line by line."""
    assert read_log([f" {line}" if line else line for line in LOGS[name]]) == read_log(LOGS[name])


@pytest.mark.parametrize(("step", "tail"), [(1, 0), (7, 40), (64, 700), (1000, 1)])
def test_where_the_blocks_of_a_file_end_does_not_matter(
    step: int, tail: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    raw = "\r\n".join(SESSION).encode()
    whole = read_file(io.BytesIO(raw))
    monkeypatch.setattr(decode, "_STEP", step)
    monkeypatch.setattr(decode, "_SNIFFED", step)
    monkeypatch.setattr(reader, "_TAIL", tail)
    assert read_file(io.BytesIO(raw)) == whole


def test_lines_are_taken_as_they_come_and_not_all_at_once() -> None:
    lines = iter(["a line\r\n", "another", *["x"] * 20_000])
    first = next(blocks_of_lines(lines))
    assert first.startswith("a line\nanother\nx\n") and first.endswith("x\n")
    assert len(list(lines)) > 10_000


# -- small logs, and all that each says ---------------------------------------------------------------------------
NOBODY = log_document(read_log([]), "log")
SPANISH_HEAD = [
    "conectado a la base de datos de destino: ACME (DBID=1234567890)",
    "canal asignado: c1",
    "canal c1: SID=9 tipo de dispositivo=DISK",
]
SPANISH_TAIL = ["Se ha finalizado backup a las 02-MAR-26", "Recovery Manager terminado."]
FILE = (Datafile(7, "/data/ACME/users01.dbf"),)
DONE = BackupPiece(
    "c1",
    "full datafile",
    FILE,
    piece_no=1,
    start="02-MAR-26",
    finish="02-MAR-26",
    elapsed_seconds=75,
    handle="/backup/ACME_7",
    tag="NIGHT",
    comment="NONE",
)
NO_END = "the end of the log is missing: the log does not show that RMAN completed"


def backup(line: int, op: str = "backup", finish: str | None = "02-MAR-26") -> dict[str, object]:
    return {"op": op, "start": "02-MAR-26", "finish": finish, "line": line}


def pieces(*made: BackupPiece) -> list[object]:
    return [piece_document(one) for one in made]


def error(code: str, text: str, line: int) -> dict[str, object]:
    return {"code": code, "text": text, "line": line}


def numbered(channel: str, begin: str, end: str) -> list[str]:
    return [
        "RMAN-06005: x: ACME (DBID=1234567890)", "RMAN-08030: y: c1", f"RMAN-08500: {channel} c1: SID=9 z=DISK", f"RMAN-03090: {begin} 02-MAR-26",
        f"RMAN-08008: {channel} c1: aaa bbb", f"RMAN-08010: {channel} c1: ccc ddd", "RMAN-08522: eee=00007 fff=/data/ACME/users01.dbf",
        f"RMAN-08038: {channel} c1: ggg 1 hhh 02-MAR-26", f"RMAN-08044: {channel} c1: iii 1 jjj 02-MAR-26",
        "RMAN-08530: kkk=/backup/ACME_7 lll=NIGHT mmm=NONE", f"RMAN-08540: {channel} c1: nnn: 00:01:15", f"RMAN-03091: {end} 02-MAR-26",
    ]  # fmt: skip


ONE_SET = {"pieces": pieces(DONE), "channel_busy_seconds": {"c1": 75}}
UNKNOWN = {"operations": [backup(4)], **ONE_SET, "missing": [NO_END], "outcome": "incomplete"}
FRAME = error("RMAN-03009", "failure of backup command on c1 channel at 03/02/2026 01:02:03", 10)
CAUSE = error("ORA-19504", 'failed to create file "/no/where"', 11)
LAST = error("ORA-27040", "file create error, unable to create file,", 12)
SMALL: dict[str, tuple[list[str], dict[str, object]]] = {
    "image copies of a file and a log in another language": (
        [*SPANISH_HEAD, "Empezando backup a las 02-MAR-26", "canal c1: iniciando copia de archivo de datos",
         "número de archivo de datos de entrada=00007 nombre=/data/ACME/users01.dbf",
         "nombre de archivo de salida=/copy/x.dbf etiqueta=NIGHT RECID=5 STAMP=1226901000",
         "canal c1: copia de archivo de datos terminada, tiempo transcurrido: 00:00:25", "canal c1: iniciando copia de archive log",
         "thread de archive log de entrada=1 secuencia=9 RECID=6 STAMP=1", "nombre de archivo de salida=/copy/1_9.dbf RECID=0 STAMP=0",
         "canal c1: copia de archive log terminada, tiempo transcurrido: 01:00:01", *SPANISH_TAIL],
        {"operations": [backup(4)], "channel_busy_seconds": {"c1": 3626}, "pieces": pieces(
            BackupPiece("c1", "datafile copy", FILE, elapsed_seconds=25, handle="/copy/x.dbf", tag="NIGHT"),
            BackupPiece("c1", "archived log copy", archivelogs=((1, 9),), elapsed_seconds=3601, handle="/copy/1_9.dbf"),
        )},
    ),
    "a restore in another language": (
        [*SPANISH_HEAD, "Empezando restore a las 02-MAR-26", "canal c1: iniciando restauración del juego de copias",
         "canal c1: leyendo desde la parte de copia de seguridad /backup/p1", "canal c1: manejador de parte=/backup/p1 etiqueta=NIGHT",
         "canal c1: restauración terminada, tiempo transcurrido: 00:01:05", "Se ha finalizado restore a las 02-MAR-26", SPANISH_TAIL[1]],
        {"operations": [backup(4, "restore")], "channel_busy_seconds": {"c1": 65},
         "reads": [{"channel": "c1", "op": "restore", "handles": ["/backup/p1"], "datafiles": [], "elapsed_seconds": 65, "bytes": None}]},
    ),
    "numbered lines in a language of which no word is known": (numbered("kaista", "qqq backup www", "ppp backup www"), UNKNOWN),
    "numbers say what begins and ends, whatever the words": (numbered("kanal", "beendet backup um", "gestartet backup um"), UNKNOWN),
    "a piece that never ended": (
        [*HEAD, *SET[:4], "channel c1: starting piece 2 at 03-MAR-26", *(line.replace("piece 1", "piece 2") for line in SET[4:]), *TAIL],
        {"operations": [backup(6)], "outcome": "incomplete", "pieces": pieces(DONE._replace(piece_no=2, start="03-MAR-26")),
         "unfinished": pieces(BackupPiece("c1", "full datafile", FILE, piece_no=1, start="02-MAR-26")), "channel_busy_seconds": {"c1": 75}},
    ),
    "copies that were promised and did not come": (
        [*HEAD, *SET[:4], f"{SET[4]} with 2 copies and tag NIGHT", *SET[5:], *TAIL], {"operations": [backup(6)], **ONE_SET},
    ),
    "an error behind a time keeps its quotation mark": (
        [f"2026-03-02 01:02:03 {line}" for line in (
            *HEAD, *STACK, f"RMAN-03009: {FRAME['text']}", f"ORA-19504: {CAUSE['text']}", f"ORA-27040: {LAST['text']}")],
        {"operations": [backup(6, finish=None)], "outcome": "failed", "unfinished": pieces(BackupPiece("c1", "backup")),
         "errors": [FRAME, CAUSE, LAST], "causes": [CAUSE], "missing": [NO_END], "channel_busy_seconds": {"c1": 0}},
    ),
    "parts of a log without what stood before them": (
        [*HEAD, "channel c1: datafile copy complete, elapsed time: soon", "channel c1: datafile copy failed, elapsed time: 00:00:02",
         "output file name=/copy/x.dbf tag=NIGHT RECID=5 STAMP=1226901000", "channel c1: datafile copy complete, elapsed time: 00:00:25",
         *SET[:4], SET[6], TAIL[0], "channel c1: starting datafile backup set restore", *TAIL[1:]],
        {"operations": [backup(6)], "outcome": "incomplete", "channel_busy_seconds": {"c1": 100},
         "pieces": pieces(BackupPiece("c1", "copy", elapsed_seconds=25, handle="/copy/x.dbf", tag="NIGHT")),
         "unfinished": pieces(BackupPiece("c1", "full datafile", FILE, piece_no=1, start="02-MAR-26"), BackupPiece("c1", "restore"))},
    ),
    "what another report calls a manager is no end of a session": (
        ["RMAN> backup database;", *HEAD[5:], *SET, "Recovery Manager (RMAN) is a tool", TAIL[0]],
        {"operations": [backup(2)], **ONE_SET, "excerpt": ["neither the start nor the end of the session is in the log"], "db_name": None, "dbid": None, "db_name_source": None},
    ),
}  # fmt: skip


@for_each("name", SMALL)
def test_all_that_a_small_log_says_is_read(name: str) -> None:
    lines, told = SMALL[name]
    connected = {
        "db_name": "ACME",
        "db_name_source": "connected",
        "dbid": 1234567890,
        "channels": ["c1"],
        "outcome": "completed",
    }
    assert log_document(read_log(lines), "log") == NOBODY | connected | told


@for_each("language", LANGUAGES)
def test_an_autobackup_that_begins_while_a_set_is_written_ends_no_set(language: str) -> None:
    words, auto = LANGUAGES[language], "Control File and SPFILE Autobackup"
    lines = whole_log(words)
    at = max(n for n, line in enumerate(lines) if "file05.dbf" in line)
    within = [
        words["begin"].format(op=auto, at="02-MAR-2026 01:00:59"),
        words["end"].format(op=auto, at="02-MAR-2026 01:01:00"),
    ]
    found = read_log([*lines[: at + 1], *within, *lines[at + 1 :]])
    assert [one._replace(operation=0) for one in found.pieces] == [
        one._replace(operation=0) for one in read_log(lines).pieces
    ]
    assert len(found.operations) == 4


@pytest.mark.parametrize(("file", "outcome"), [("00007", "completed_with_warnings"), ("00008", "failed")])
def test_a_restore_that_another_channel_took_over_is_made_good_by_the_same_file(file: str, outcome: str) -> None:
    """A backup of the file does not make good that it was not restored."""
    reads = [
        "channel {}: starting datafile backup set restore", "channel {}: specifying datafile(s) to restore from backup set",
        "channel {}: restoring datafile {} to /data/ACME/users01.dbf",
    ]  # fmt: skip
    found = read_log([
        *HEAD, *SET, TAIL[0], "Starting restore at 02-MAR-26", *(line.format("c1", "00007") for line in reads),
        "RMAN-03009: failure of restore command on c1 channel at 03/02/2026 01:02:03", "ORA-19870: error while restoring",
        "channel c1 disabled, job failed on it will be run on another channel", *(line.format("c2", file) for line in reads),
        "channel c2: piece handle=/backup/ACME_7 tag=NIGHT", "channel c2: restore complete, elapsed time: 00:00:05",
        "Finished restore at 02-MAR-26", *TAIL[1:],
    ])  # fmt: skip
    assert (found.outcome, [one.set_type for one in found.unfinished]) == (outcome, ["restore"])


def test_a_channel_of_which_only_its_failure_is_told_lost_what_its_command_did() -> None:
    found = read_log(
        [*HEAD[:5], "Starting restore at 02-MAR-26", *STACK,
         "RMAN-03009: failure of restore command on c9 channel at 03/02/2026 01:02:03", "ORA-19870: error while restoring"]
    )  # fmt: skip
    assert [(one.channel, one.set_type, one.operation) for one in found.unfinished] == [("c9", "restore", 0)]


def test_a_copy_keeps_the_stamp_that_tells_when_it_ended() -> None:
    lines = SMALL["image copies of a file and a log in another language"][0]
    assert [one.stamp for one in read_log(lines).pieces] == [1226901000, 0]
    assert [one.stamp for one in read_log(SESSION).pieces if one.set_type == "datafile copy"] == [1226901000]


@pytest.mark.parametrize("sample", [ENGLISH, GERMAN], ids=["english", "german"])
def test_what_pieces_have_alike_is_kept_once(sample: dict[str, str]) -> None:
    nights = 20
    log = read_log([line for _ in range(nights) for line in whole_log(sample)])
    for kept in (
        [one.datafiles for one in log.pieces if one.datafiles],
        [one.set_type for one in log.pieces],
        [one.tag for one in log.pieces],
        [one.op for one in log.operations],
    ):
        assert len(kept) >= nights
        assert len({id(one) for one in kept}) == len(set(kept))


def test_a_job_that_was_not_run_again_is_one_that_a_later_command_made_good() -> None:
    broken = [
        line.replace("channel c1 disabled, job failed on it will be run on another channel",
                     "continuing other job steps, job failed will not be re-run") for line in failover()
    ]  # fmt: skip
    found = read_log(["RMAN> backup datafile 7;", *broken, "RMAN> backup datafile 7;", *HEAD, *SET, *TAIL])
    assert (found.outcome, [one.finish for one in found.operations]) == (
        LogOutcome.COMPLETED_WITH_WARNINGS,
        ["02-MAR-26", "02-MAR-26"],
    )


def test_who_was_connected_stays_so_whatever_has_the_shape_of_a_connection_later() -> None:
    first = "connected to target database: ACME (not mounted)"
    assert read_log([first, "Hash: Enqueue (Result Cache)"]).missing == (NO_END,)


def test_a_command_that_goes_on_behind_an_empty_prompt_was_typed() -> None:
    log = [
        "Recovery Manager: Release 19.0.0.0.0 - Production on Mon Mar 2 10:00:00 2026",
        "connected to target database: ORCL (DBID=1234567890)", "", "RMAN> crosscheck copy;", "",
        "validation succeeded for archived log", "Crosschecked 1 objects", "", "RMAN> ",
    ]  # fmt: skip
    assert read_log(log).outcome is LogOutcome.COMPLETED
    assert read_log([*log, "2>"]).outcome is LogOutcome.COMPLETED
    assert read_log([*log, "2> backup database;"]).outcome is LogOutcome.INCOMPLETE
