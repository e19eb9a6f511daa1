"""The grammar of a log: codes, verbs, words of other languages where structure does not decide, shapes of lines.

Sources: logs of 10.2 to 23ai in public repositories (English, Chinese, Japanese, German, Spanish); Oracle Database
Error Messages, chapter RMAN. Codes never change their meaning between languages.

A shape is what a line looks like, whatever its digits are: found once for each shape, not for each line. No
pattern that is asked for it names a digit, so lines that differ only in digits have the same parts at the same
places. A log has few shapes: its messages, with the names of its channels and files.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import NamedTuple

from toolkit.readers.rman.stamps import DATE

CHANNEL_WORDS = frozenset(
    {
        "channel",
        "canal",
        "canale",
        "kanal",
        "kanał",
        "kanál",
        "kanava",
        "csatorna",
        "канал",
        "通道",
        "チャネル",
        "채널",
    }
)
BEGIN_WORDS = re.compile(
    r"\bstarting|启动|啟動|开始|開始し|起動|が開始|gestartet|begonnen|empezando|iniciando|inicio|d[ée]marr|d[ée]but|lancement"
    r"|avvio|inizio|запуск|начал|начин|시작|başla|rozpocz",
    re.IGNORECASE,
)
END_WORDS = re.compile(
    r"\bfinished|完成|完了|終了|beendet|abgeschlossen|terminad|finaliza|termin[ée]|achev|\bfin de|complet|termina"
    r"|conclu[íi]d|encerrad|заверш|законч|оконч|완료|종료|bitti|tamam|zakończ",
    re.IGNORECASE,
)
COMPRESSED = re.compile(r"compress|comprim|komprim|压缩|壓縮|圧縮|сжат|압축|sıkıştır|skompresowan", re.IGNORECASE)
WARNING_WORDS = re.compile(
    r"warning|警告|warnung|advertencia|aviso|avertissement|attention|avvertenza|предупрежд|внимание|경고|uyarı"
    r"|ostrzeżenie",
    re.IGNORECASE,
)
STANDBY = re.compile(r"standby|备用|スタンバイ|резервн|en espera|en attente", re.IGNORECASE)

COMMANDS = frozenset(
    {
        "Control File and SPFILE Autobackup", "implicit crosscheck backup", "implicit crosscheck copy",
        "Duplicate Db", "Duplicate PDB", "block recover", "blockrecover", "backup", "restore", "recover",
        "validate", "convert", "flashback", "transport", "repair", "copy", "duplicate",
    }
)  # fmt: skip
"""Commands as they stand between `Starting` and `at`, in every language."""
_LONGEST_FIRST = "|".join(
    f"{one[0]}(?<![A-Za-z_]{one[0]}){one[1:]}" for one in sorted(COMMANDS, key=len, reverse=True)
)
OPERATION = re.compile(rf"({_LONGEST_FIRST})(?![A-Za-z_])")
"""What stands before a name is looked at behind its first letter, so that `re` seeks that letter first."""
AUTOBACKUP = "Control File and SPFILE Autobackup"
READING_OPS = frozenset({"restore", "recover", "validate"})
CHANNELS_WORK = frozenset({"backup", "restore", "recover", "validate", "copy", "convert"})
"""Commands whose work channels share."""
RUNS_WORK = frozenset(
    {"run", "backup", "restore", "recover", "validate", "duplicate", "copy", "convert", "execute", "blockrecover"}
)
"""Commands whose answer shows a `Starting ... at`."""
CLOSING = frozenset({"exit", "quit", "exit;", "quit;", "**end-of-file**"})

STACK_BEGINS = 569
RULERS = frozenset({571, 569})
FRAMES = frozenset({558, 601, 1007, 1008, 3002, 3009, 3008, 3014, 3015, 5501, 6026, 10035, 12010, 12012})
"""Codes that say where an error happened; the cause stands near the end of the stack and is none of these."""
HARD = frozenset({554, 555, 556, 557, 558, 559, 600, 601, 3002, 3008, 3014, 3015, 3099})
"""Codes that end a command wherever they stand; RMAN-03009 alone need not: another channel may take over."""
CHANNEL_FAILED = 3009
INFORMS = frozenset({*range(3023, 3024), 3090, 3091, 6005, 6006, 6007, 6008, 6009, 6010, 6011, 572})
"""Messages without a fault that have a number when `rman msgno` numbers every line."""
REASONS = frozenset({7517, 7518})
"""Why a file was not cataloged: printed with a number by every client, and no fault."""
BEGINS_OP, ENDS_OP = 3090, 3091
BEGINS_SET = frozenset({8008, 8009, 8046, 8047, 8048})
WARNS = frozenset({8120, 8137, 8138, 8139, 8591, 8058, 8060, 8064, 8066, 8512, 8515})
"""Of the 08000s these are warnings; the others only inform."""

BANNER = re.compile(
    r"(?:Recovery Manager|恢复管理器|恢復管理程式|復元管理|Менеджер восстановления|복구 관리자)\s*[:：]\s*"
    r"(?:Release|Version|Versi[oó]n|リリース|版本)\s+(\d+(?:\.\d+)+)"
)
GOODBYE = re.compile(
    r"\s*(?:RMAN-\d{5}:\s*)?(?:Recovery Manager|恢复管理器|恢復管理程式|Менеджер восстановления|복구 관리자)"
    r"[^:：=(（]{0,40}$"
)
PATCH_LEVEL = re.compile(r"(?:Version|Versi[oó]n|バージョン|版本)\s+(\d+(?:\.\d+){3,5})\s*$")
CONNECTED = re.compile(
    r"[:：]\s*([A-Za-z][\w$#.:-]{0,60}?)\s*[(（]\s*(?:DBID\s*=\s*(\d{1,12})|[^()（）]{3,40}[)）]\s*$)"
)
SET_DBID = re.compile(r"\bset\s+dbid\s*=?\s*(\d{6,12})", re.IGNORECASE)
AUXILIARY = re.compile(r"auxiliary|auxiliar|補助|辅助|вспомогат|Hilfs|Auxiliary", re.IGNORECASE)

CODE = re.compile(r"(RMAN|ORA|PLS|TNS|LRM|SBT|KBHS)-(\d{3,5})\s?[:：]\s*(.*)", re.DOTALL)
STARTUP_FAILED = re.compile(r"startup failed: (ORA-\d{5}): (.*)")
FAILED_CHANNEL = re.compile(r"([A-Za-z_][A-Za-z0-9_$#]*)")
FAILURE = re.compile(r"failure of ([A-Za-z ]{1,40}) command on ([A-Za-z_][\w$#]*) channel at\b")
"""RMAN-03009 in English; the time behind it has one form, whatever the format of dates."""
SID = re.compile(r"(.{0,20}?)\s?([A-Za-z_][A-Za-z0-9_$#]*)\s?[:：]\s+(?:SID|sid)\s?=", re.DOTALL)
ANY_CHANNEL = re.compile(r"([^\s\d:：=/\\|>]{2,10}?)\s?([A-Za-z_][A-Za-z0-9_$#]*)\s?[:：]\s+(\S.*)", re.DOTALL)
AUTOMATIC = re.compile(r"(ORA_(?<![A-Za-z0-9_]ORA_)(?:AUX_|MAINT_)?(?:DISK|SBT_TAPE|SBT)_\d{1,4})\s*$")
HANDLE = re.compile(r"=\s*(.*?),?\s+([^\s=]+)=\s*(\S.*?),?(?:\s+([^\s=]+)=\s*(.*))?$", re.DOTALL)
INPUT_FILE = re.compile(r"=\s?0*(\d{1,6})[,\s]+[^\s=]+\s?=\s?(\S.*)$", re.DOTALL)
INPUT_LOG = re.compile(
    r"=\s?(\d{1,5})[,\s]+[^\s=]+\s?=\s?(\d{1,12})[,\s]+[^\s=]+\s?=\s?\d{1,12}[,\s]+[^\s=]+\s?=\s?\d{1,12}\s*$"
)
NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_$#]*$")
ELAPSED = re.compile(r"[:：]\s*(\d{2,5})\s?:\s?(\d\d)\s?:\s?(\d\d)\s*[^\w\s]?\s*$")
NUMBER = re.compile(r"\d+")
OMF = re.compile(
    r"[/\\]([^/\\]{1,30})[/\\](?:autobackup|backupset|archivelog)[/\\]\d{4}_\d\d_\d\d[/\\]o1_mf_", re.IGNORECASE
)
FORMAT_F = re.compile(r"(?:^|[/\\=\s])c-(\d{6,12})-\d{8}-[0-9a-f]{2}", re.IGNORECASE)
DECORATED = re.compile(
    r"[^A-Za-z]*(?:[A-Za-z0-9 ,:.+/_\[\]()-]{1,60}(?:\]:?|\||:|>|\))\s)?"
    r"(?=channel \S+: |(?:Starting|Finished) [A-Za-z ]{4,40} at |piece handle=|input (?:datafile|archive)"
    r"|output file ?name="
    r"|allocated channel: |RMAN-\d{5}: |connected to target database|Recovery Manager: Release)"
)
PURE_PREFIX = re.compile(
    r"(?:[^A-Za-z]|\b(?:T|Z|INFO|DEBUG|WARN|ERROR|AM|PM|UTC|CET|[A-Z][a-z]{2})\b)*(?=(?:RMAN|ORA)-\d{5}: )"
)
CONTINUES = re.compile(
    r"(?:handle|tag|comment|name|file name|file number|number|fno|RECID|STAMP|recid|stamp|thread|sequence)="
)
CORRUPT_ROW = re.compile(r"(\d{1,6})\s+FAILED\s+\d+\s+\d+\s+\d+\s+\d+\s*$")


# -- shapes of lines --------------------------------------------------------------------------------------------
_MOST = 2000
_LONGEST_OPERATION = 200
_LONGEST_STAMP = 60
_LONGEST_HEAD = 160
_DIGITS = bytes(48 if 49 <= byte <= 57 else byte for byte in range(256))

Span = tuple[int, int]


class DateClause(NamedTuple):
    """A date in a text, and what the words around it say of it."""

    date: Span
    number: Span | None
    begins: bool
    ends: bool


class ChannelText(NamedTuple):
    """What stands behind a channel's name: a piece with its date, a time that elapsed, a handle, or words."""

    piece: DateClause | None = None
    elapsed: tuple[Span, Span, Span] | None = None
    keyed: bool = False
    handle: Span | None = None


class Command(NamedTuple):
    """The name of a command and the clause that says it begins or ends."""

    op: str
    clause: DateClause


class Shape:
    """The parts of a line. `word` and `name` are of what stands before a colon, `rest` is what follows it."""

    # a word that a pattern cannot do without is sought before it: most lines have none, and many shapes are new
    __slots__ = (
        "_saying", "automatic", "bare", "coded", "command", "english", "head", "keyed", "last", "name", "prompted",
        "rest", "sid", "word",
    )  # fmt: skip

    def __init__(self, line: str) -> None:
        self.word, self.name, self.rest = "", (0, 0), 0
        self.english = self.sid = self.bare = False
        if ":" in line or "：" in line:
            self._colon(line)
        self.head = len(line) <= _LONGEST_HEAD and _is_head(line)
        self.automatic = "ORA_" in line and AUTOMATIC.search(line) is not None
        self.keyed = "=" in line
        self.command = None if self.keyed or len(line) >= _LONGEST_OPERATION else command_of(line)
        self.prompted = line.startswith(("SQL>", "SQL >")) or (">" in line[:6] and line[0].isdigit())
        self.coded = ("-" in line[3:5] and CODE.match(line) is not None) or line.startswith("startup failed")
        self.last = ("FAILED" in line and CORRUPT_ROW.match(line) is not None) or (
            _may_have_prefix(line) and prefix_of(line) is not None
        )
        self._saying: ChannelText | None = None

    def saying(self, rest: str) -> ChannelText:
        """Return what the rest of a line of this shape says of a channel."""
        if self._saying is None:
            self._saying = _saying_of(rest)
        return self._saying

    def _colon(self, line: str) -> None:
        found = ANY_CHANNEL.match(line)
        if found is None:
            return
        self.word, self.name, self.rest = found[1].strip().lower(), found.span(2), found.start(3)
        self.english = found[1] == "channel"
        self.sid = found[3][:3].upper() == "SID"
        self.bare = NAME.match(found[3]) is not None


class Shapes:
    """The shapes of a log that were met last."""

    def __init__(self) -> None:
        self._known: dict[bytes, Shape] = {}

    def __call__(self, line: str) -> Shape:
        """Return the shape of a line, which is not empty."""
        key = line.encode("utf-8", "surrogatepass").translate(_DIGITS)
        shape = self._known.get(key)
        if shape is None:
            if len(self._known) >= _MOST:
                self._known.clear()
            shape = self._known[key] = Shape(line)
        return shape


def is_command(op: str, stamp: str) -> bool:
    """Whether RMAN speaks, and not a script around it that begins at some hour."""
    return op in COMMANDS and len(stamp) < _LONGEST_STAMP and NUMBER.search(stamp) is not None


def command_of(line: str) -> Command | None:
    """Return the command of which a line says that it begins or ends."""
    name = OPERATION.search(line)
    date = DATE.search(line) if name is not None else None
    return None if name is None or date is None else Command(name[1], _clause(line, date.span()))


def prefix_of(line: str) -> re.Match[str] | None:
    """Return what stands before a message: a time, a host's name or another tool's mark."""
    found = DECORATED.match(line) or PURE_PREFIX.match(line)
    return found if found is not None and found.end() else None


def _clause(text: str, date: Span) -> DateClause:
    begin, end = date
    outside = f"{text[:begin]} {text[end:]}"
    number = NUMBER.search(outside)
    moved = end - begin - 1 if number is not None and number.start() > begin else 0
    return DateClause(
        date,
        None if number is None else (number.start() + moved, number.end() + moved),
        BEGIN_WORDS.search(outside) is not None,
        END_WORDS.search(outside) is not None,
    )


def _saying_of(rest: str) -> ChannelText:
    keyed = "=" in rest
    date = DATE.search(rest)
    if date is not None and not keyed:
        return ChannelText(piece=_clause(rest, date.span()))
    elapsed = ELAPSED.search(rest) if date is None else None
    if elapsed is not None:
        return ChannelText(elapsed=(elapsed.span(1), elapsed.span(2), elapsed.span(3)))
    handle = HANDLE.search(rest) if keyed else None
    return ChannelText(keyed=keyed, handle=None if handle is None else handle.span(1))


def _may_have_prefix(line: str) -> bool:
    """Whether a word stands in a line that every message has which is known behind a prefix.

    Nine words are sought in a fifth of the time in which `DECORATED` finds that there is none.
    """
    return (
        "channel" in line or "RMAN-" in line or " at " in line or "name=" in line or "handle=" in line
        or "input " in line or "ORA-" in line or "database" in line or "Manager" in line
    )  # fmt: skip


def _is_head(line: str) -> bool:
    if ("Manager" in line or not line.isascii()) and (BANNER.search(line) or GOODBYE.match(line)):
        return True
    if ("(" in line or "（" in line) and CONNECTED.search(line):
        return True
    return PATCH_LEVEL.match(line) is not None


# -- what is done without `Starting` and `Finished` -------------------------------------------------------------
CHANGES = re.compile(
    r"(?:un)?cataloged|cataloging (?:done|files)|crosscheck(?:ed|ing) |Crosschecked \d|Deleted \d"
    r"|deleted? (?!.*\?)"
    r"|recovery catalog (?:created|dropped|upgraded)|database (?:un)?registered"
    r"|database (?:mounted|opened|closed|dismounted)|(?:new|old) RMAN config|Statement processed"
    r"|validation (?:succeeded|failed) for archived log|(?:created|replaced) (?:global )?script"
    r"|Oracle instance (?:started|shut down)|datafile \d+ switched"
)
"""The first words of such messages in English (Backup and Recovery Reference: CROSSCHECK, DELETE, CATALOG ...)."""
CHANGES_BEGIN = (
    "crossc", "Crossc", "delete", "Delete", "catalo", "uncata", "recove", "databa", "new RM", "old RM", "Statem",
    "create", "replac", "Oracle", "datafi", "valida",
)  # fmt: skip
"""Their first six letters."""


_CHANGED = re.compile(
    r"(crosschecked|deleted|uncataloged|cataloged) ([a-z][a-z ]*?)(?:\.\.\.)?\s*"
    r"(?:: found to be '([A-Z]+)'|$|:|\bRECID=)"
    r"|datafile \d+ (switched)|validation (succeeded|failed) for archived log"
    r"|Crosschecked (\d{1,9}) objects|Deleted (\d{1,9}) (?:[A-Z]+ )?objects"
)


END_OF_LIST = frozenset({"crosschecked objects", "deleted objects", "cataloged objects"})
"""What ends a command that tells of each object for itself: their number, or that it is done."""


_CATALOGING = {"cataloging files": ("cataloging files", 0), "cataloging done": ("cataloged objects", 0)}
"""What CATALOG prints around its objects, by its first 16 letters."""


@lru_cache(maxsize=500)
def change_of(line: str) -> tuple[str, int] | None:
    """Return what was done, and to how many: `deleted backup piece`, `crosschecked archived log: EXPIRED`.

    The name is empty for what is not counted; None where nothing was done.
    """
    if CHANGES.match(line) is None:
        return None
    found = _CHANGED.match(line)
    if found is None:
        return _CATALOGING.get(line[:16], ("", 1))
    verb, thing, status, switched, validated, total, gone = found.groups()
    if total or gone:
        return ("crosschecked objects", int(total)) if total else ("deleted objects", int(gone))
    if switched:
        return "switched data file", 1
    if validated:  # of CROSSCHECK ARCHIVELOG
        return f"crosschecked archived log: {'AVAILABLE' if validated == 'succeeded' else 'EXPIRED'}", 1
    return f"{verb} {thing}" + (f": {status}" if status else ""), 1


def handle_of(text: str) -> tuple[str | None, str | None, str | None]:
    """Return handle, tag and comment of `piece handle=... tag=... comment=...`; what is not there is None."""
    _, found, rest = text.partition("handle=")
    if not found:
        return None, None, None
    rest, has_comment, comment = rest.partition(" comment=")
    handle, has_tag, tag = rest.partition(" tag=")
    return (
        handle.strip() or None,
        tag.strip() or None if has_tag else None,
        comment.strip() if has_comment else None,
    )


def seconds_of(text: str) -> int | None:
    """Return the seconds of a line that ends with `hh:mm:ss`."""
    parts = text[text.rfind(" ") + 1 :].split(":")
    if (
        len(parts) != 3
        or len(parts[0]) < 2
        or not (parts[0].isdecimal() and parts[1].isdecimal() and parts[2].isdecimal())
    ):
        return None
    hours, minutes, rest = parts
    return int(hours[:6]) * 3600 + int(minutes) * 60 + int(rest)
