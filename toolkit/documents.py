"""TOML files a person writes: reading them, and saying on which line something is wrong.

`tomllib` keeps no line numbers; a small scan of the text finds where a table or a key stands.
"""

from __future__ import annotations

import difflib
import errno
import fcntl
import os
import re
import stat
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from io import BufferedReader, FileIO
from pathlib import Path, PurePath

from toolkit.errors import ToolkitError

_HEADER = re.compile(r"\s*(\[\[?)([^\[\]]++)\]\]?\s*(?:#.*)?$")
_KEY = re.compile(r"""\s*("[^"]*"|'[^']*'|[A-Za-z0-9_-]+)\s*[.=]""")
_ERROR_LINE = re.compile(r"\s*\(at (?:line (\d+), column \d+|end of document)\)")
_LARGEST_BYTES = 4_000_000
_BUFFERED = 1 << 16
LOCK_SECONDS = 30.0
_LOCK_LOOK_SECONDS = 0.02
"""Bytes that are read at once, and can be looked at before they are taken."""
_DEEPEST = 50
_DEEP = re.compile(
    rf"""(?<![\w\\-])(?:(?:[\w-]++|"(?:[^"\\\n]|\\.)*+"|'[^'\n]*+')[ \t]*+\.[ \t]*+){{{_DEEPEST}}}"""
)
"""A dotted name longer than any key of dbatk; a parser takes minutes and gigabytes for one that fills a file."""
_NO_SUCH_KEY = "no key of dbatk has more than three"
_LONGEST_SENTENCE = 400
_MOST_KNOWN = 60
_SECRET_KEY = re.compile(r"(?:[a-z_]*_)?(?:pass|password|passwd|passphrase|pwd|secret|token)", re.IGNORECASE)
_SECRET_TEXT = re.compile(
    r"(?:password|passwd|pwd)\s*[=:]\s*[^\s,;]|\bidentified\s+by\s+\S|://[^\s/@:]{0,200}+:[^\s@]{0,2000}+@"
    r"|^--?(?:password|passwd|pwd)$",
    re.IGNORECASE,
)
HOW_TO_REFER = (
    "use a reference in a target profile: `dbatk target add NAME URL --password-env VARIABLE`, "
    "`--password-keyring`, `--password-command` or `--wallet`"
)


@dataclass(frozen=True, slots=True)
class TomlDocument:
    """A parsed TOML file: where it came from, its text and its content."""

    path: str
    text: str
    data: Mapping[str, object]

    def place(self, table: str, key: str | None = None, number: int = 0) -> str:
        """Return `file:line` of a table, or of a key in it; the file alone when it cannot be found.

        Args:
            table: the header as written, such as `experiment` or `targets.dwh`; empty for the top.
            key: a key of that table.
            number: which of several `[[table]]` is meant, from 0.
        """
        line = _find(self.text, table, key, number) or _find(self.text, table, None, number)
        return f"{self.path}:{line}" if line else self.path

    def error(
        self, sentence: str, *, table: str, key: str | None = None, number: int = 0,
        hint: str | None = None, code: str = "TK-0106",
    ) -> ToolkitError:  # fmt: skip
        """Return an error that begins with the place; a value that fills pages is cut."""
        if len(sentence) > _LONGEST_SENTENCE:
            sentence = f"{sentence[: _LONGEST_SENTENCE // 2]} ... {sentence[-_LONGEST_SENTENCE // 4 :]}"
        return ToolkitError(f"{self.place(table, key, number)}: {sentence}", code=code, hint=hint)

    def refuse_other_tables(self, known: Sequence[str], hint: str | None = None) -> None:
        """Refuse what stands at the top and is none of these tables.

        Args:
            known: names of tables; a key before the first table is said to belong below the first of them.
            hint: what to write instead of another table; the nearest known name where none is given.

        Raises:
            ToolkitError: TK-0106.
        """
        for name, value in self.data.items():
            if name in known:
                continue
            if isinstance(value, Mapping | list):
                raise self.error(f"unknown table `{name}`", table=name, hint=hint or did_you_mean(name, known))
            below = f"write it below `[{known[0]}]`"
            raise self.error(f"`{name}` stands before the first table", table="", key=name, hint=hint or below)


def read_document(path: Path) -> TomlDocument:
    """Read a TOML file.

    Raises:
        ToolkitError: TK-0106 when it is missing, unreadable, too large, not UTF-8 or not TOML, with the line.
    """
    return parse_document(read_utf8(path), str(path))


def open_file(path: Path, flags: int = 0) -> BufferedReader:
    """Open a file to read it, never waiting: a named pipe may have no writer, a device no end.

    What a shell has opened itself (`<(...)`, /dev/stdin) is read from a pipe too.

    Args:
        path: the file.
        flags: more for `os.open`, such as `O_NOFOLLOW`.

    Raises:
        OSError: it cannot be opened, or is no regular file.
    """
    return BufferedReader(FileIO(_handle(path, os.O_RDONLY | flags)), _BUFFERED)


def open_below(folder: int, path: PurePath) -> BufferedReader:
    """Open a file below a folder that is open, following no link on the way to it.

    Args:
        folder: the handle of the folder.
        path: the file, relative to it.

    Raises:
        OSError: as `open_file`; also for a link, or a name that leads out of the folder.
    """
    if path.is_absolute() or ".." in path.parts:
        raise OSError(errno.EINVAL, "it is outside of the folder")
    flags = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
    handle = os.dup(folder)
    try:
        for name in path.parts[:-1]:
            outer, handle = handle, os.open(name, flags, dir_fd=handle)
            os.close(outer)
        return BufferedReader(FileIO(_handle(Path(path.name), os.O_RDONLY | os.O_NOFOLLOW, handle)), _BUFFERED)
    finally:
        os.close(handle)


def lock_file(handle: int) -> None:
    """Lock an open file for this process alone, waiting for another's lock, which may never end: it may be frozen.

    Raises:
        OSError: another process held it for all of `LOCK_SECONDS`.
    """
    until = time.monotonic() + LOCK_SECONDS
    while True:
        try:
            return fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() >= until:
                problem = f"another process has had it locked for {LOCK_SECONDS:g} s"
                raise OSError(errno.ETIMEDOUT, problem) from None
            time.sleep(_LOCK_LOOK_SECONDS)


def open_to_write(path: Path, flags: int) -> int:
    """Open a file to write to it, never waiting for a reader: a named pipe or a device is refused.

    What a shell has opened itself (`>(...)`, /dev/stdout) is written to, and so is /dev/null.

    Args:
        path: the file.
        flags: more for `os.open`, such as `O_APPEND`; a file that is made is its owner's only.

    Raises:
        OSError: it cannot be opened, or is no regular file.
    """
    return _handle(path, os.O_WRONLY | flags)


def _handle(path: Path, flags: int, folder: int | None = None) -> int:
    handle = os.open(path, flags | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC, 0o600, dir_fd=folder)
    mode, writes = os.fstat(handle).st_mode, bool(flags & os.O_WRONLY)
    passed = str(path) in _PASSED or str(path.parent) in {"/dev/fd", "/proc/self/fd"}
    if stat.S_ISREG(mode) or (passed and (writes or stat.S_ISFIFO(mode))):
        os.set_blocking(handle, True)
        return handle
    os.close(handle)
    if stat.S_ISDIR(mode):
        raise IsADirectoryError(errno.EISDIR, "it is a folder")
    raise OSError(errno.EINVAL, "it is a pipe or a device, not a file")


_PASSED = frozenset({"/dev/stdin", "/dev/stdout", "/dev/stderr", "/dev/null"})


def unreadable(path: Path, error: OSError, hint: str = "", *, code: str = "TK-0106") -> ToolkitError:
    """Return the error of a file that was named and cannot be opened, in the same words in every command."""
    reason = (error.strerror or str(error) or "unknown reason").lower()
    return ToolkitError(
        f"`{path}` cannot be read: {reason}", code=code, hint=hint or "check the path and its permissions"
    )


def read_utf8(path: Path, largest: int = _LARGEST_BYTES) -> str:
    """Read a text that a person wrote; a device that never ends, or a dump, is no such text.

    Args:
        path: the file.
        largest: bytes that it may have.

    Raises:
        ToolkitError: TK-0106 when it is missing, unreadable, too large or not UTF-8.
    """
    try:
        with open_file(path) as file:
            content = file.read(largest + 1)
        if len(content) > largest:
            raise ToolkitError(f"`{path}` is too large", code="TK-0106", hint="check the path")
        text = content.decode("utf-8-sig")
    except OSError as error:
        raise unreadable(path, error) from None
    except UnicodeDecodeError:
        raise ToolkitError(f"`{path}` is not UTF-8 text", code="TK-0106", hint="save it as UTF-8") from None
    return text.replace("\r\n", "\n").replace("\r", "\n")


def parse_document(text: str, path: str) -> TomlDocument:
    """Parse the text of a TOML file.

    Raises:
        ToolkitError: TK-0106 with the line of the syntax error.
    """
    import tomllib  # who only opens a file does without

    if nested := _DEEP.search(text):
        at = text.count("\n", 0, nested.start()) + 1
        raise ToolkitError(f"{path}:{at}: a name of more than {_DEEPEST} parts", code="TK-0106", hint=_NO_SUCH_KEY)
    try:
        return TomlDocument(path, text, tomllib.loads(text))
    except (RecursionError, ValueError) as error:
        reason = _reason(error, told=isinstance(error, tomllib.TOMLDecodeError))
        found = _ERROR_LINE.search(reason)
        line = (found[1] or text.count("\n") + 1) if found else None
        sentence = _ERROR_LINE.sub("", reason)
        sentence = sentence[:1].lower() + sentence[1:]
        raise ToolkitError(
            f"{path}:{line}: {sentence}" if line else f"{path}: {sentence}",
            code="TK-0106",
            hint="fix the TOML of that line: strings stand in quotes, lists in brackets",
        ) from None


def _reason(error: Exception, *, told: bool) -> str:
    if isinstance(error, RecursionError):
        return "it is nested too deeply"
    if told:
        return str(error)
    # int() takes 4,300 digits at most, and its error is the one that tomllib passes on
    return "a number in it has too many digits"


def check_no_secret(document: TomlDocument, *, skip: frozenset[str] = frozenset({"query"})) -> None:
    """Refuse a file that holds a password in clear text; the message never shows it.

    Args:
        document: any JSON document of dbatk.
        skip: keys that are not looked into (a query may well compare a column called password).

    Raises:
        ToolkitError: TK-0108 with file and line.
    """
    for table, key, value in _texts(document.data, "", "", skip):
        if _SECRET_KEY.fullmatch(key) or _SECRET_TEXT.search(value):
            raise document.error(
                f"`{key}` contains a secret in clear text",
                table=table, key=key, code="TK-0108", hint=HOW_TO_REFER,
            )  # fmt: skip


def holds_secret(text: str) -> bool:
    """Tell whether a text shows a password, as far as its looks tell."""
    return _SECRET_TEXT.search(text) is not None


def _texts(data: object, table: str, key: str, skip: frozenset[str]) -> Iterator[tuple[str, str, str]]:
    """Yield table, key and text of every text in a document; a list's texts bear the key of the list."""
    if isinstance(data, Mapping):
        inner = f"{table}.{key}".strip(".")
        for name, value in data.items():
            if name not in skip:
                yield from _texts(value, inner, name, skip)
    elif isinstance(data, list):
        for one in data:
            yield from _texts(one, table, key, skip)
    elif isinstance(data, str):
        yield table, key, data


def nearest(word: str, known: Iterable[str]) -> str | None:
    """Return the known word most like the one given, or None when none is near."""
    choices = list(known)
    folded = {choice.lower().replace("-", "_"): choice for choice in reversed(choices)}
    matches = difflib.get_close_matches(word.lower().replace("-", "_"), folded, n=1, cutoff=0.6)
    return folded[matches[0]] if matches else None


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """Return a hint with the nearest known word, or all known words, if they are few enough to be taken in."""
    choices = list(known)
    found = nearest(word, choices)
    if found:
        return f"did you mean `{found}`?"
    if len(choices) > _MOST_KNOWN:
        return f"none of the {len(choices):,} valid names is spelled like it"
    return "valid names: " + ", ".join(f"`{choice}`" for choice in choices)


def _find(text: str, table: str, key: str | None, number: int) -> int | None:
    current, seen = "", 0
    for line, content in _plain_lines(text):
        header = _HEADER.match(content)
        if header:
            current = _bare(header[2])
            seen += current == table
            if current == table and key is None and seen == number + 1:
                return line
        elif key is not None and current == table and (not table or seen == number + 1):
            found = _KEY.match(content)
            if found and _bare(found[1]) == key:
                return line
    return None


def _bare(name: str) -> str:
    return ".".join(part.strip().strip("\"'") for part in name.split("."))


def _plain_lines(text: str) -> Iterator[tuple[int, str]]:
    """Yield the numbered lines that do not begin inside a multi-line string."""
    inside = ""
    for line, content in enumerate(text.splitlines(), 1):
        if not inside:
            yield line, content
        for quote in re.findall(r"\"\"\"|'''", content):
            if not inside:
                inside = quote
            elif inside == quote:
                inside = ""
