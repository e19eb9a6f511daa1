"""The grammar of a log as data: codes, verbs, and the few words of other languages that structure cannot tell.

Sources: logs of 10.2 to 23ai in public repositories (English, Chinese, Japanese, German, Spanish); Oracle Database
Error Messages, chapter RMAN. Codes never change their meaning between languages.
"""

from __future__ import annotations

import re

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
_LONGEST_FIRST = "|".join(sorted(COMMANDS, key=len, reverse=True))
OPERATION = re.compile(rf"(?<![A-Za-z_])({_LONGEST_FIRST})(?![A-Za-z_])")
AUTOBACKUP = "Control File and SPFILE Autobackup"
READING_OPS = frozenset({"restore", "recover", "validate"})
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
    r"[^:：=]{0,40}$"
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
SID = re.compile(r"(.{0,20}?)\s?([A-Za-z_][A-Za-z0-9_$#]*)\s?[:：]\s+(?:SID|sid)\s?=", re.DOTALL)
ANY_CHANNEL = re.compile(r"([^\s\d:：=/\\|>]{2,10}?)\s?([A-Za-z_][A-Za-z0-9_$#]*)\s?[:：]\s+(\S.*)", re.DOTALL)
AUTOMATIC = re.compile(r"(?<![A-Za-z0-9_])(ORA_(?:AUX_|MAINT_)?(?:DISK|SBT_TAPE|SBT)_\d{1,4})\s*$")
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
