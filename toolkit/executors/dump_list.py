"""Divides what is in a dump between a superuser and a role without rights: a program of its own.

It reads the list of the dump and writes two files: `dump.list`, what pg_restore restores as that role, and
`before.sql`, what the superuser makes before: schemas, extensions and their comments. Their statements are taken
only where they are, to the last character, what pg_dump writes: whatever else a dump had there would run as a
superuser. Event triggers and publications are in neither file.
Sources: PostgreSQL 14 to 18, `PrintTOCSummary` and `_printTocEntry` of pg_backup_archiver.c, `dumpExtension`,
`dumpNamespace` and `dumpComment` of pg_dump.c, `fmtId` of string_utils.c.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

_BEFORE = re.compile(r"\d+; (?:3079 \d+ EXTENSION |2615 \d+ SCHEMA |0 0 COMMENT - EXTENSION )")
_LEFT_OUT = re.compile(r"\d+; (?:(?:3466|6104|6106|6237) \d+ |0 0 COMMENT - (?:EVENT TRIGGER|PUBLICATION) )")
"""Entries begin with a number of their own, the catalogue, and the number there."""
_NAME = r'(?:[a-z_][a-z0-9_]*|"(?:[^"]|"")+")'
_PASSED_OVER = re.compile(
    r"\s+|--[^\n]*\n|\\(?:un)?restrict \w+\n|SET [a-z_]+ = [^;\n]*;"
    r"|SELECT pg_catalog\.set_config\('search_path', '[^'\n]*', false\);"
)
_TAKEN = re.compile(
    rf"CREATE EXTENSION IF NOT EXISTS {_NAME} WITH SCHEMA {_NAME};|COMMENT ON EXTENSION {_NAME} IS '(?:[^']|'')*';"
)
_SCHEMA = re.compile(rf"CREATE SCHEMA ({_NAME});")
_ENCODING = re.compile(rb"^SET client_encoding = '([^'\n]*)';", re.MULTILINE)
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")
_CODECS = {
    "UTF8": "utf-8", "EUC_JP": "euc_jp", "EUC_CN": "gb2312", "EUC_KR": "euc_kr", "EUC_JIS_2004": "euc_jis_2004",
    "SJIS": "cp932", "BIG5": "cp950", "GBK": "gbk", "UHC": "cp949", "GB18030": "gb18030", "JOHAB": "johab",
    "LATIN1": "iso8859-1", "LATIN2": "iso8859-2", "LATIN3": "iso8859-3", "LATIN4": "iso8859-4",
    "LATIN5": "iso8859-9", "LATIN6": "iso8859-10", "LATIN7": "iso8859-13", "LATIN8": "iso8859-14",
    "LATIN9": "iso8859-15", "LATIN10": "iso8859-16", "ISO_8859_5": "iso8859-5", "ISO_8859_6": "iso8859-6",
    "ISO_8859_7": "iso8859-7", "ISO_8859_8": "iso8859-8", "KOI8R": "koi8-r", "KOI8U": "koi8-u", "WIN866": "cp866",
    "WIN874": "cp874", "WIN1250": "cp1250", "WIN1251": "cp1251", "WIN1252": "cp1252", "WIN1253": "cp1253",
    "WIN1254": "cp1254", "WIN1255": "cp1255", "WIN1256": "cp1256", "WIN1257": "cp1257", "WIN1258": "cp1258",
}  # fmt: skip
"""Encodings of PostgreSQL, as pg_dump names them, and of Python: ASCII bytes that begin a character are ASCII."""


class UnexpectedTextError(Exception):
    """What is in the dump is not what pg_dump writes; the message says what."""


def main(arguments: list[str]) -> int:
    """Write both files."""
    reader = argparse.ArgumentParser()
    reader.add_argument("--pg-restore", required=True)
    reader.add_argument("--into", type=Path, required=True)
    reader.add_argument("--restrict", action="store_true")
    reader.add_argument("dump")
    given = reader.parse_args(arguments)
    try:
        _refuse_links(given.dump)
        listed = _run(given.pg_restore, "--list", given.dump).splitlines(keepends=True)
        own, before = divide(listed)
        text = b""
        if before:
            options = ("--no-owner", "--no-privileges", "--use-list=/dev/stdin", "--file=-")
            text = _run(given.pg_restore, *options, given.dump, given=b"".join(before))
        script = _script(text, restricted=given.restrict)
        _write(given.into, {"dump.list": b"".join(own), "before.sql": script.encode()})
    except OSError as error:
        problem = f"{(error.strerror or type(error).__name__).lower()}: {error.filename}"
    except UnexpectedTextError as error:
        problem = str(error)
    except subprocess.CalledProcessError as error:
        sys.stdout.buffer.write(error.stderr)
        return 1
    else:
        return 0
    print(f"dump_list: error: {problem}", flush=True)  # noqa: T201 (a program of its own)
    return 1


def _refuse_links(dump: str) -> None:
    """Refuse what would lead pg_restore out of the folder, or hold it up."""
    with os.scandir(dump) as entries:
        for entry in entries:
            if not entry.is_file(follow_symlinks=False):
                raise UnexpectedTextError(f"`{entry.name}` in the dump is not a plain file")


def _run(*argv: str, given: bytes = b"") -> bytes:
    return subprocess.run(argv, input=given, capture_output=True, check=True).stdout


def _write(into: Path, files: dict[str, bytes]) -> None:
    """Write new files for the owner of the folder, who runs psql: nothing that is there is written to."""
    folder = os.open(into, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    try:
        owner = os.fstat(folder)
        for name, content in files.items():
            flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW
            with os.fdopen(os.open(name, flags, 0o600, dir_fd=folder), "wb") as file:
                file.write(content)
                os.fchown(file.fileno(), owner.st_uid, owner.st_gid)
    finally:
        os.close(folder)


def _script(text: bytes, *, restricted: bool) -> str:
    """Return what psql runs as superuser; restricted, it takes none of its commands, such as one for the shell."""
    found = "".join(statements(text))
    key = os.urandom(16).hex()
    return f"\\restrict {key}\n{found}\\unrestrict {key}\n" if restricted else found


def divide(listed: list[bytes]) -> tuple[list[bytes], list[bytes]]:
    """Divide the lines of a list: those of the role without rights, and those of the superuser before it."""
    before = [line for line in listed if _BEFORE.match(line.decode("latin-1"))]
    left_out = [line for line in listed if _LEFT_OUT.match(line.decode("latin-1"))]
    not_own = {*before, *left_out}
    return [line for line in listed if line not in not_own], before


def statements(text: bytes) -> Iterator[str]:
    """Yield what a superuser may run of a script of pg_dump's, a line each.

    Raises:
        UnexpectedTextError: something else stands in it.
    """
    script, at = _decoded(text), 0
    while at < len(script):
        if found := _PASSED_OVER.match(script, at):
            pass
        elif found := _TAKEN.match(script, at):
            yield f"{found[0]}\n"
        elif found := _SCHEMA.match(script, at):
            yield f"CREATE SCHEMA IF NOT EXISTS {found[1]};\n"
        else:
            line = script[at:].partition("\n")[0][:100]
            msg = f"the dump has for an extension or a schema what pg_dump does not write: {line}"
            raise UnexpectedTextError(msg)
        at = found.end()


def _decoded(text: bytes) -> str:
    """Return the text of a script, in the encoding that it names: another one might hide the end of a name.

    Nothing that it names is looked up but here: Python knows encodings in which letters stand for a zero byte, at
    which psql would end the line. Where all of it is ASCII, its encoding does not matter.
    """
    named = set(_ENCODING.findall(text)) or {b"UTF8"}
    shown = " and ".join(sorted(name.decode("ascii", "replace") for name in named))
    try:
        script = text.decode("ascii" if text.isascii() and len(named) == 1 else _CODECS[shown])
    except (KeyError, UnicodeDecodeError):
        msg = f"names of schemas and extensions cannot be read in the dump's encoding {shown}; try --as-superuser"
        raise UnexpectedTextError(msg) from None
    if found := _CONTROL.search(script):
        msg = f"the dump has the control character U+{ord(found[0]):04X} in what it says of schemas and extensions"
        raise UnexpectedTextError(msg)
    return script


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
