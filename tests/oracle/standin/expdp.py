"""expdp as far as dbatk calls it, on the stand-in; `impdp` beside it is the same program for imports. Test only.

It takes a logon and a parameter file, asks for the password on its standard input, refuses whatever the manual
does not have, and runs the job by DBMS_DATAPUMP. Environment: `STUB_LOG` (a file that gets a line for each call),
`STUB_WALLET` (user/password@address of `/` and `/@alias`), `STUB_STATUS` (ends so before anything is done).
"""

from __future__ import annotations

import os
import re
import sys
from pathlib import Path

import oracledb

from toolkit.dialects.oracle.dialect import DIALECT
from toolkit.dialects.work import Call, ContextValue
from toolkit.model.words import StepKind
from toolkit.rendering import render_call

_NAME, _QUOTED = r"[A-Z][A-Z0-9_$]*", r"\"[^\"%']+\""
_FILE = r"[A-Za-z0-9_%.$#+-]+"
_KNOWN = {
    "DIRECTORY": _NAME, "DUMPFILE": rf"{_FILE}(?:,{_FILE})*", "LOGFILE": _FILE, "JOB_NAME": _NAME,
    "SCHEMAS": rf"{_NAME}(?:,{_NAME})*|'{_QUOTED}'", "TABLES": rf"{_NAME}\.{_NAME}|'{_QUOTED}\.{_QUOTED}'",
    "PARALLEL": r"[1-9]\d*", "METRICS": "YES", "COMPRESSION": "NONE|METADATA_ONLY|DATA_ONLY|ALL",
    "CONTENT": "ALL|DATA_ONLY|METADATA_ONLY",
}  # fmt: skip
_OF_IMPORT = {
    "TABLE_EXISTS_ACTION": "SKIP|APPEND|TRUNCATE|REPLACE", "REMAP_SCHEMA": rf"{_NAME}:{_NAME}",
    "REMAP_TABLE": rf"{_NAME}\.{_NAME}:{_NAME}", "EXCLUDE": _NAME,
}  # fmt: skip


class _RefusedError(Exception):
    """What a parameter is refused with."""


def _read(text: str, program: str) -> dict[str, list[str]]:
    known = {**_KNOWN, **(_OF_IMPORT if program == "impdp" else {})}
    found: dict[str, list[str]] = {}
    for line in text.splitlines():
        name, _, value = line.partition("=")
        if name not in known:
            raise _RefusedError(f"LRM-00101: unknown parameter name '{name}'")
        if not re.fullmatch(known[name], value) or (name in found and name != "EXCLUDE"):
            raise _RefusedError(f"UDE-00014: invalid value for parameter, '{name.lower()}'.")
        found.setdefault(name, []).append(value)
    return found


def _names(value: str) -> list[str]:
    return [part.strip("\"'") for part in re.split(r"[.,]", value)]


def _job(given: dict[str, list[str]], program: str) -> str:
    """Return the block of the package for the same job."""
    one = {name: values[0] for name, values in given.items()}
    table = _names(one["TABLES"]) if "TABLES" in one else None
    schemas = [table[0]] if table else _names(one["SCHEMAS"])
    remap, renamed = (one.get(name, ":").split(":") for name in ("REMAP_SCHEMA", "REMAP_TABLE"))
    values: dict[str, ContextValue] = {
        "operation": "EXPORT" if program == "expdp" else "IMPORT", "mode": "TABLE" if table else "SCHEMA",
        "job": one["JOB_NAME"], "directory": one["DIRECTORY"], "log": one["LOGFILE"],
        "files": tuple(one["DUMPFILE"].split(",")), "schemas": ",".join(f"'{name}'" for name in schemas),
        "tables": f"'{table[1]}'" if table else None, "degree": int(one.get("PARALLEL", "1")),
        "metrics": "METRICS" in one, "compression": one.get("COMPRESSION"),
        "content": one["CONTENT"].lower() if "CONTENT" in one else None,
        "if_exists": one.get("TABLE_EXISTS_ACTION"), "old_schema": remap[0] or None,
        "new_schema": remap[1] or None, "old_table": renamed[0].rpartition(".")[2] or None,
        "new_table": renamed[1] or None,
        "excluded": ",".join(f"'{kind}'" for kind in given.get("EXCLUDE", ())) or None,
    }  # fmt: skip
    return render_call(DIALECT, Call("datapump_job", values, kind=StepKind.BLOCK))


def _done(logon: str, given: dict[str, list[str]], program: str) -> int:
    user, _, at = logon.partition("@")
    password = "" if user == "/" else sys.stdin.readline().rstrip("\n")
    if user == "/":
        who, _, at = os.environ["STUB_WALLET"].rpartition("@")
        user, _, password = who.partition("/")
    try:
        with oracledb.connect(user=user, password=password, dsn=at.removeprefix("//")) as connection:
            cursor = connection.cursor()
            cursor.execute(_job(given, program))
            where = [given["DIRECTORY"][0], given["LOGFILE"][0]]
            cursor.execute("SELECT TO_CLOB(BFILENAME(:directory, :file)) AS log_text FROM dual", where)
            (written,) = cursor.fetchone()
            text = written.read() if hasattr(written, "read") else str(written)
    except oracledb.Error as error:
        letter = "E" if program == "expdp" else "I"
        print(f"UD{letter}-{error.args[0].code:05}: operation generated ORACLE error {error.args[0].code}")
        print(error.args[0].message)
        return 1
    print(text)
    return 5 if "ORA-" in text else 0


def main(program: str = "expdp") -> None:
    """Do what the arguments say."""
    banner = "Export" if program == "expdp" else "Import"
    print(f"{banner}: Release 19.0.0.0.0 - Production on Sun Nov 29 10:00:00 2026\n", flush=True)
    if sys.argv[1:] == ["HELP=YES"]:
        return
    logon, file = sys.argv[1:]
    assert file.startswith("PARFILE=") and "/" not in logon.partition("@")[0].removeprefix("/"), sys.argv
    path = Path(file.removeprefix("PARFILE="))
    text = path.read_text("utf-8")
    if log := os.environ.get("STUB_LOG"):
        mode = path.stat().st_mode & 0o777
        with Path(log).open("a", encoding="utf-8") as told:
            told.write(f"{program} {logon} {mode:o} {os.environ.get('NLS_LANG')} {text.splitlines()}\n")
    if status := os.environ.get("STUB_STATUS"):
        sys.exit(int(status))
    try:
        given = _read(text, program)
    except _RefusedError as refused:
        print(refused)
        sys.exit(1)
    sys.exit(_done(logon, given, program))


if __name__ == "__main__":
    main()
