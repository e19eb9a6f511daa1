"""`backup read` as a user types it: a screen, a picture, a document, a page, the right exit code."""

from __future__ import annotations

import base64
import gzip
import json
import re
from pathlib import Path

import pytest

from tests.readers.mangling import escaped, mailed, quoted, tarred, zipped
from tests.readers.rman_samples import LANGUAGES, whole_log
from tests.readers.test_rman_forms import HEAD, SET, STACK, failover
from toolkit.cli.main import main

FAILED = [*HEAD, *SET[:4], *STACK, "RMAN-03009: failure of backup command on c1 channel at 03/02/2026 01:02:03",
          "ORA-19504: failed to create file \"/backup/<b>&x\"", "ORA-27040: file create error", "",
          "Recovery Manager complete."]  # fmt: skip


def write(folder: Path, name: str, lines: list[str]) -> str:
    path = folder / name
    path.write_text("\n".join(lines))
    return str(path)


@pytest.fixture
def good(tmp_path: Path) -> str:
    return write(tmp_path, "good.log", whole_log())


@pytest.fixture
def failed(tmp_path: Path) -> str:
    return write(tmp_path, "failed.log", FAILED)


@pytest.fixture
def cut(tmp_path: Path) -> str:
    return write(tmp_path, "cut.log", whole_log()[:45])


@pytest.fixture
def junk(tmp_path: Path) -> str:
    return write(tmp_path, "junk.log", ["nothing of the kind"] * 9)


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_log_is_one_screen_with_its_verdict_first(
    language: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["backup", "read", write(tmp_path, "a.log", whole_log(LANGUAGES[language]))]) == 0
    shown = capsys.readouterr().out
    assert max(map(len, shown.splitlines())) <= 80
    assert "COMPLETED" in shown.splitlines()[1] + shown.splitlines()[2]
    for words in ("ACME", "c3", "3 min 20 s", "file 3", "timeline", "imbalance 1.49", "slowest pieces",
                  "worked alone"):  # fmt: skip
        assert words in shown


def test_the_picture_shows_who_waited(good: str, capsys: pytest.CaptureFixture[str]) -> None:
    main(["backup", "read", good])
    lines = capsys.readouterr().out.splitlines()
    at = next(n for n, line in enumerate(lines) if line.startswith("timeline"))
    first, second, third = (line[17:] for line in lines[at + 1 : at + 4])
    assert third.count("=") > 50 > first.count("=") > second.count("=") > 10
    assert "#" in first and "#" not in third


def test_a_failure_shows_its_cause_and_what_to_do(failed: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["backup", "read", failed]) == 1
    shown = capsys.readouterr().out
    assert "FAILED" in shown
    assert shown.index("ORA-19504") < shown.index("cannot create or write") < shown.index("check folder")
    assert "left 1 piece unfinished" in shown


def test_exit_codes_tell_how_it_ended(good: str, failed: str, cut: str, junk: str, tmp_path: Path) -> None:
    taken_over = write(tmp_path, "over.log", failover())
    for files, code in (([good], 0), ([cut], 3), ([taken_over], 3), ([failed], 1), ([junk], 2),
                        ([good, cut], 3), ([cut, failed, good], 1), ([failed, junk], 2)):  # fmt: skip
        assert main(["backup", "read", *files]) == code, files


def test_one_file_gives_one_document_and_several_a_list(
    good: str, failed: str, junk: str, capsys: pytest.CaptureFixture[str]
) -> None:
    main(["backup", "read", good, "--json"])
    one = json.loads(capsys.readouterr().out)
    assert list(one)[:7] == ["file", "db_name", "db_name_source", "dbid", "version", "outcome", "downgraded"]
    assert (one["outcome"], len(one["pieces"]), one["channel_busy_seconds"]["c3"]) == ("completed", 7, 200)
    assert one["pieces"][0]["elapsed_seconds"] == 90
    assert main(["backup", "read", good, junk, failed, "--json"]) == 2
    several = capsys.readouterr()
    assert [log["outcome"] for log in json.loads(several.out)["logs"]] == ["completed", "failed"]
    assert json.loads(several.out)["logs"][0] == one
    assert "junk.log` is not an RMAN log" in several.err
    assert main(["backup", "read", junk, junk, "--json"]) == 2
    assert json.loads(capsys.readouterr().out) == {"logs": []}


def test_the_document_of_a_long_log_is_written_in_portions(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["backup", "read", write(tmp_path, "long.log", whole_log() * 400), "--json"]) == 0
    assert len(json.loads(capsys.readouterr().out)["pieces"]) == 2800


def test_a_page_is_one_file_that_takes_no_text_for_markup(
    good: str, failed: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    page = tmp_path / "page.html"
    assert main(["backup", "read", good, failed, "--out", str(page)]) == 1
    text = page.read_text()
    assert '<rect class="span' in text and text.count("<section") == 2
    first = text[: text.index("<section")]  # several begin with a table of them
    assert '<table class="stacked">' in first and '<tr class="failed">' in first and ">completed<" in first
    assert '<a href="#log1">good.log</a>' in first and '<a href="#log2">failed.log</a>' in first
    assert re.search(r"<h2>RMAN log of ACME, [^<]*: completed</h2>", re.sub("</?span[^>]*>", "", text))
    assert "/backup/<b>" not in text and "/backup/&lt;b&gt;" in text
    assert "http://" not in text.replace("http://www.w3.org", "") and "<script" not in text


@pytest.mark.parametrize("where", ["no/such/folder/page.html", "good.log"])
def test_a_page_goes_nowhere_it_should_not(
    where: str, good: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    before = Path(good).read_text()
    assert main(["backup", "read", good, "--out", where]) != 0
    assert Path(good).read_text() == before
    assert "hint" in capsys.readouterr().err


@pytest.mark.parametrize("name", ["missing.log", "."])
def test_a_path_that_is_no_file_gets_a_sentence(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["backup", "read", str(tmp_path / name), "--json"]) == 2
    assert json.loads(capsys.readouterr().out)["error"]["code"] == "TK-0116"


def test_a_report_with_words_like_those_of_a_connection_is_no_rman_log(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """As an AWR report lists its enqueues."""
    report = tmp_path / "awr.html"
    report.write_text("<td>Result Cache: Enqueue (RC: Contention)</td>\nResult Cache: Enqueue (Contention)\n")
    assert main(["backup", "read", str(report)]) == 2
    assert "is not an RMAN log" in capsys.readouterr().err
    log = tmp_path / "rman.log"
    log.write_text("connected to target database: ORCL (not mounted)\n")
    assert main(["backup", "read", str(log)]) == 3


def test_a_terminal_acts_on_nothing_in_a_log(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    bad = [line.replace("NIGHT", "NI\x9b31mGHT").replace("/backup", "/\u202ebackup") for line in whole_log()]
    main(["backup", "read", write(tmp_path, "bad.log", bad)])
    shown = capsys.readouterr().out
    assert "\x9b" not in shown and "\u202e" not in shown


LOG, BAD = "\n".join(whole_log()), "\n".join(FAILED)
ON_ITS_WAY = {
    "zip": zipped(LOG), "tar in gzip": tarred(LOG), "gzip": gzip.compress(LOG.encode()),
    "quoted": quoted(LOG).encode(), "escaped": escaped(LOG).encode(),
    "escaped and quoted": quoted(escaped(LOG)).encode(), "base64": base64.encodebytes(LOG.encode()),
    "zip in gzip": gzip.compress(zipped(LOG)), "attached": mailed(LOG, "attached"),
    "mail of base64": mailed(LOG, "base64"), "mail of escapes": mailed(LOG, "quoted-printable"),
}  # fmt: skip


@pytest.mark.parametrize("way", ON_ITS_WAY)
def test_a_log_in_an_archive_or_a_mail_is_read_as_the_log_itself(
    way: str, good: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["backup", "read", good, "--json"]) == 0
    plain = json.loads(capsys.readouterr().out)
    (tmp_path / "sent").write_bytes(ON_ITS_WAY[way])
    assert main(["backup", "read", str(tmp_path / "sent"), "--json"]) == 0
    sent = json.loads(capsys.readouterr().out)
    assert {**sent, "file": ""} == {**plain, "file": ""}


def test_each_log_of_an_archive_is_read_and_what_is_none_is_skipped(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "three.zip"
    file.write_bytes(zipped(LOG, "only words " * 20, BAD))
    assert main(["backup", "read", str(file), "--json"]) == 1
    shown = capsys.readouterr()
    found = [(one["file"].removeprefix(f"{tmp_path}/"), one["outcome"]) for one in json.loads(shown.out)["logs"]]
    assert found == [
        ("three.zip#1 (reports/1.html)", "completed"), ("three.zip#3 (reports/3.html)", "failed"),
    ]  # fmt: skip
    assert shown.err == f"skipped: `{file}#2 (reports/2.html)` is not an RMAN log\n"


@pytest.mark.parametrize(
    "raw", [zipped("only words " * 20), zipped(LOG)[:400], mailed("only words " * 20, "base64")]
)
def test_an_archive_without_a_log_is_bad_input(
    raw: bytes, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "none.zip").write_bytes(raw)
    assert main(["backup", "read", str(tmp_path / "none.zip")]) == 2
    shown = capsys.readouterr()
    assert "is not an RMAN log" in shown.err and not shown.out


def test_a_database_known_by_its_files_is_named_without_a_stray_comma(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    name = "/fra/ACME/backupset/2026_03_02/o1_mf_nnndf_NIGHT_abcdefgh_.bkp"
    by_files = [line.replace("/backup/ACME_7", name) for line in SET]
    log = write(tmp_path, "x.log", ["RMAN> backup database;", *HEAD[5:], *by_files, "Recovery Manager complete."])
    main(["backup", "read", log])
    shown = next(line for line in capsys.readouterr().out.splitlines() if line.startswith("  database "))
    assert shown.split(maxsplit=1)[1].startswith("ACME (name taken from its files)")
