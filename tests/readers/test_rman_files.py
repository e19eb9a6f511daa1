"""The bytes of a log: how they become lines, which are wrapped in an archive or a mail, and what lists add to it."""
# ruff: noqa: E501 - a case stands on one line

from __future__ import annotations

import base64
import gzip
import io
import tarfile
import zipfile
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.for_each import for_each
from tests.readers.rman_samples import whole_log
from tests.readers.test_rman_forms import HEAD, SET, TAIL
from toolkit.readers.rman import decode
from toolkit.readers.rman.decode import blocks_of, lines_of
from toolkit.readers.rman.listing import sized_pieces, sized_reads
from toolkit.readers.rman.log import read_log
from toolkit.readers.rman.model import BackupPiece, Datafile, RestoreRead
from toolkit.readers.rman.parts import parts_in
from toolkit.readers.texts import UnreadableError

LOG = "\n".join(whole_log())


# -- from bytes to lines ----------------------------------------------------------------------------------------
@given(
    st.lists(st.text("abä\u4e2d \t", max_size=9), min_size=1, max_size=9),
    st.sampled_from(["\n", "\r\n", "\r"]),
    st.sampled_from(["utf-8", "utf-8-sig", "utf-16", "utf-32"]),
    st.integers(4, 30),
    st.booleans(),
)
def test_lines_are_those_of_the_text_wherever_it_is_cut(
    lines: list[str], end: str, encoding: str, step: int, packed: bool
) -> None:
    raw = f"begin{end}{end.join(lines)}".encode(encoding)
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(decode, "_STEP", step)
        patched.setattr(decode, "_SNIFFED", step)
        blocks = list(blocks_of(io.BytesIO(gzip.compress(raw, mtime=0) if packed else raw)))
    assert all(block.endswith("\n") for block in blocks)
    wanted = ["begin", *lines]
    assert "".join(blocks) == "\n".join(wanted if wanted[-1] else wanted[:-1]) + "\n"


def test_the_first_of_several_packed_members_may_be_a_single_byte() -> None:
    raw = "begin\nend\n".encode("utf-8-sig")
    packed = gzip.compress(raw[:1]) + gzip.compress(raw[1:])
    assert list(lines_of(io.BytesIO(packed))) == ["begin", "end"]


def test_a_long_line_is_cut_and_the_rest_of_the_file_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(decode, "_LONGEST_LINE", 10)
    monkeypatch.setattr(decode, "_STEP", 7)
    monkeypatch.setattr(decode, "_SNIFFED", 7)
    assert list(lines_of(io.BytesIO(b"0123456789\nxy\n"))) == ["0123456789", "xy"]
    cut = list(lines_of(io.BytesIO(b"one\n" + b"x" * 25 + b"\ntwo")))
    assert (cut[0], cut[1], cut[-1]) == ("one", "x" * 10, "two")
    assert set("".join(cut[1:-1])) == {"x"}


@for_each(
    ("raw", "text"),
    [
        ("grün".encode("cp1252") + b" and more", "grün and more"),
        ("und grün".encode()[:-2], "und gr\ufffd"),
        (b"abcd\xe4bcd", "abcd\ufffdbcd"), (b"abcd\xe4bcde", "abcdäbcde"),
        ("a log".encode("utf-16-le"), "a log"), ("a log".encode("utf-16-be"), "a log"),
        (b"a\0bcdef", "a\0bcdef"), (b"ab\0d", "ab\0d"),
        (b"", None), (b"\xef\xbb\xbf", None), (b"\n", ""),
    ],
)  # fmt: skip
def test_the_code_page_is_known_by_the_bytes(raw: bytes, text: str | None) -> None:
    assert list(lines_of(io.BytesIO(raw))) == ([] if text is None else [text])


def test_what_gzip_packed_in_several_members_is_read_as_far_as_it_goes(monkeypatch: pytest.MonkeyPatch) -> None:
    packed = gzip.compress(b"one\n" * 9, mtime=0) + gzip.compress(b"two\n")
    assert list(lines_of(io.BytesIO(packed))) == ["one"] * 9 + ["two"]
    assert list(lines_of(io.BytesIO(packed[:-14]))) == ["one"] * 9
    assert list(lines_of(io.BytesIO(gzip.compress(b"one\n", mtime=0) + b"junk"))) == ["one"]
    assert list(lines_of(io.BytesIO(b"\x1f\x8b junk"))) == []
    monkeypatch.setattr(decode, "_STEP", 8)
    for most in (40, 39, 16):  # bytes that are unpacked at most
        monkeypatch.setattr(decode, "_LONGEST_UNPACKED", most)
        kept = list(lines_of(io.BytesIO(packed)))
        assert (len(kept) == 10) == (most == 40)
        assert most - 8 <= len("\n".join(kept)) + 1 <= most


@for_each(
    ("raw", "lines"),
    [
        ("<pre>a &lt;b&gt; &amp; c\xa0d</pre>", ["a <b> & c d"]), ("<p>one</p><p>two</p>", ["one", "two"]),
        ("one<br>two<BR />three", ["one", "two", "three"]), ("one<br/><br/>", ["one", ""]),
        ("<td>a</td><td>b</td></tr>next", ["ab", "next"]), ("\x1b[1;31mred\x1b[0m\nplain", ["red", "plain"]),
        ("\x1b[1m<p>a &gt; b</p>", ["a > b"]), ("a < b & c\n&#62; d", ["a < b & c", "> d"]),
        ("a &copy; b <x>", ["a &copy; b <x>"]), ("<div></div>", [""]),
    ],
)  # fmt: skip
def test_a_page_and_colours_become_plain_lines(raw: str, lines: list[str]) -> None:
    assert list(lines_of(io.BytesIO(raw.encode()))) == lines


# -- archives and mails -----------------------------------------------------------------------------------------
def _zipped(name: str, text: str) -> bytes:
    kept = io.BytesIO()
    with zipfile.ZipFile(kept, "w") as packed:
        packed.writestr(name, text)
    return kept.getvalue()


def _tarred(name: str, text: str) -> bytes:
    kept = io.BytesIO()
    with tarfile.open(fileobj=kept, mode="w") as packed:
        entry = tarfile.TarInfo(name)
        entry.size = len(text.encode())
        packed.addfile(entry, io.BytesIO(text.encode()))
    return kept.getvalue()


_MAIL = "From: a@b.example\nMIME-Version: 1.0\nContent-Type: text/plain\n\n"
WRAPPED: dict[str, Callable[[str], bytes]] = {
    "zip": lambda text: _zipped("night.log", text), "tar": lambda text: _tarred("night.log", text),
    "tar in gzip": lambda text: gzip.compress(_tarred("night.log", text)),
    "mail": lambda text: f"{_MAIL}{text}".encode(),
    "quoted": lambda text: "\n".join(f"> {line}" for line in text.split("\n")).encode(),
    "base64": lambda text: base64.encodebytes(text.encode()),
    "quoted, in gzip": lambda text: gzip.compress("\n".join(f"> {line}" for line in text.split("\n")).encode()),
}  # fmt: skip


@for_each("way", WRAPPED)
def test_a_log_in_an_archive_or_a_mail_is_taken_out(way: str) -> None:
    found = parts_in(io.BufferedReader(io.BytesIO(WRAPPED[way](LOG))))  # type: ignore[arg-type]
    assert found is not None
    (part,) = found
    assert part.text.strip() == LOG.strip()
    assert part.source == ("night.log" if way.startswith(("zip", "tar")) else "")


@for_each(
    "raw", [LOG.encode(), gzip.compress(LOG.encode(), mtime=0), b"\x1f\x8b" + b"junk" * 99, b"", b"\0\1\2" * 99]
)
def test_a_log_as_it_was_written_is_left_in_its_file(raw: bytes) -> None:
    file = io.BufferedReader(io.BytesIO(raw))  # type: ignore[arg-type]
    assert parts_in(file) is None
    assert file.read() == raw


def test_quoted_lines_of_another_code_page_are_taken_out() -> None:
    quoted = "\n".join(f"> {line} für" for line in whole_log() if line).encode("cp1252")
    found = parts_in(io.BufferedReader(io.BytesIO(quoted)))  # type: ignore[arg-type]
    assert found is not None
    assert found[0].text.startswith(
        "Recovery Manager: Release 19.0.0.0.0 - Production on Mon Mar 2 01:00:00 2026 für\n"
    )


def test_of_a_mail_the_part_that_is_a_log_counts() -> None:
    mail = (
        'From: a@b.example\nMIME-Version: 1.0\nContent-Type: multipart/mixed; boundary="x"\n\n'
        f"--x\nContent-Type: text/plain\n\nsee below\n--x\nContent-Type: text/plain\n\n{LOG}\n--x--\n"
    )
    found = parts_in(io.BufferedReader(io.BytesIO(mail.encode())))  # type: ignore[arg-type]
    assert found is not None
    assert [part.text.strip() for part in found] == [LOG.strip()]


def test_what_is_larger_than_any_archive_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    raw = _zipped("night.log", LOG)
    monkeypatch.setattr("toolkit.readers.rman.parts.LARGEST_UNPACKED", len(raw))
    assert parts_in(io.BufferedReader(io.BytesIO(raw)))  # type: ignore[arg-type]
    monkeypatch.setattr("toolkit.readers.rman.parts.LARGEST_UNPACKED", len(raw) - 1)
    with pytest.raises(UnreadableError, match="an archive or a mail larger than 200 MB") as caught:
        parts_in(io.BufferedReader(io.BytesIO(raw)))  # type: ignore[arg-type]
    assert caught.value.hint == "unpack it, and name what is in it"


# -- sizes of lists ---------------------------------------------------------------------------------------------
def size_of(*listed: str) -> int | None:
    (piece,) = read_log([*HEAD, *SET, *TAIL[:1], "", "RMAN> list backup;", "", *listed, "", *TAIL[1:]]).pieces
    return piece.bytes


NAMED = "        Piece Name: /backup/ACME_7"


@for_each(
    ("row", "size"),
    [
        ("6550    Full    15.00M     DISK        00:00:01     02-MAR-26", 15 * 2**20),
        ("6550    Incr 0  1.25G      SBT_TAPE    00:00:01     02-MAR-26", 5 * 2**28),
        ("6550    2.00K      DISK        00:00:01     02-MAR-26", 2048), ("9 1.5T DISK 00:00:01 x", 3 * 2**39),
        ("9 1.00P DISK 00:00:01 x", 2**50), ("9 512 DISK 00:00:01 x", 512),
        ("9 1.00M DISK", None), ("9 1.00M TAPE 00:00:01 x", None), ("x 1.00M DISK 00:00:01 x", None),
    ],
)  # fmt: skip
def test_the_size_of_a_set_is_that_of_the_piece_below_it(row: str, size: int | None) -> None:
    assert size_of(row, "  BP Key: 1  Status: AVAILABLE", NAMED) == size
    assert size_of(row, "        Handle: /backup/ACME_7   Media: T1") == size
    assert size_of(row, NAMED.replace("ACME_7", "other"), NAMED) is None  # the second piece of a set
    assert size_of(NAMED, row) is None
    assert size_of(row, "        Piece Name /backup/ACME_7") is None


def test_pieces_that_were_not_listed_have_no_size() -> None:
    pieces = [
        BackupPiece("c1", "full", handle="/a"),
        BackupPiece("c1", "full", handle="/b"),
        BackupPiece("c1", ""),
    ]
    assert [one.bytes for one in sized_pieces(pieces, {"/a": 7})] == [7, None, None]
    assert sized_pieces(pieces, {}) is pieces


def test_a_restore_has_the_size_of_its_whole_files_where_all_are_known() -> None:
    def read(op: str, *files: int) -> RestoreRead:
        return RestoreRead("c1", op, 9, ("/p",), tuple(Datafile(file, f"/{file}") for file in files))

    reads = [read("restore", 1, 2), read("restore", 3), read("restore", 4, 3), read("restore", 9),
             read("validate", 1), read("restore"), read("restore", 5)]  # fmt: skip
    sizes = {2: 20, 3: 30, 4: 40, 1: 10, 5: 50}
    assert [one.bytes for one in sized_reads(reads[:1] + reads[3:4], sizes)] == [30, None]
    assert [one.bytes for one in sized_reads(reads, sizes)] == [None, None, None, None, None, None, 50]
    assert sized_reads(reads, {}) is reads
