"""A client that speaks enough of SQL*Plus (or SQLcl) to run a bundle against the Oracle stand-in. Test only.

It reads commands from standard input and from scripts, keeps statements until `;` or `/`, prints rows, errors and
`Elapsed` as the real one does, and knows nothing of bundles. Environment: `STUB_STYLE` (`sqlplus`, `sqlcl`),
`STUB_WALLET` (user and password behind `/@alias`), `STUB_LOG` (a file that gets a line for every statement).
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import oracledb

SQLCL = os.environ.get("STUB_STYLE") == "sqlcl"
VERSION = (
    "SQLcl: Release 24.1.0.0 Production Build: 24.1.0" if SQLCL else "SQL*Plus: Release 19.0.0.0.0 - Production"
)
_CONNECT = re.compile(
    r'CONNECT\s+(?:(?P<user>[^/"\s]+)/"(?P<password>[^"]*)"(?:@(?P<at>\S+))?|/(?:@(?P<wallet>\S+))?)\s*', re.I
)
_LITERAL = re.compile(r"'((?:[^']|'')*)'")


class Client:
    """One run of the client."""

    def __init__(self) -> None:
        self.connection: oracledb.Connection | None = None
        self.settings = {"TIMING": "OFF", "FEEDBACK": "6", "DEFINE": "ON", "SQLBLANKLINES": "OFF", "HEADING": "ON"}
        self.on_error: int | None = None
        self.variables: dict[str, object] = {}
        self.spool: list[str] | None = None
        self.spool_name = ""
        self.buffer: list[str] = []

    # -- reading ------------------------------------------------------------------------------------------------
    def run(self, lines: Iterator[str]) -> None:
        for raw in lines:
            line = raw.rstrip("\n")
            if self.buffer:
                self.more(line)
            elif line.strip():
                self.command(line)

    def more(self, line: str) -> None:
        if line.strip() == "/":
            self.send()
        elif not line.strip() and self.settings["SQLBLANKLINES"] == "OFF":
            self.buffer = []
        elif not self.block() and line.rstrip().endswith(";"):
            self.buffer.append(line.rstrip()[:-1])
            self.send()
        else:
            self.buffer.append(line)

    def block(self) -> bool:
        return self.buffer[0].lstrip().upper().startswith(("BEGIN", "DECLARE"))

    def command(self, line: str) -> None:
        word, _, rest = line.strip().partition(" ")
        word = word.upper()
        if line.startswith("@"):
            with Path(line[1:].strip()).open(encoding="utf-8") as file:
                self.run(iter(file))
        elif word == "EXIT":
            self.leave(0)
        elif word == "SET":
            name, _, value = rest.partition(" ")
            self.settings[name.upper()] = value.upper()
        elif word == "PROMPT":
            self.print(rest)
        elif word == "SPOOL":
            self.spool_to(rest.strip())
        elif word == "VARIABLE":
            self.variables[rest.split()[0].lower()] = None
        elif word == "WHENEVER":
            exits = re.search(r"SQLERROR EXIT (\d+)", rest, re.I)
            self.on_error = int(exits[1]) if exits else None
        elif word == "HOST":
            sys.stdout.flush()
            subprocess.run(["sh", "-c", rest], stdin=subprocess.DEVNULL, check=False)
        elif word == "CONNECT":
            self.connect(line.strip())
        elif word not in {"--", "REM"} and not word.startswith("--"):
            self.begin(line)

    def begin(self, line: str) -> None:
        if line.rstrip().endswith(";") and not line.upper().startswith(("BEGIN", "DECLARE")):
            self.buffer = [line.rstrip()[:-1]]
            self.send()
        else:
            self.buffer = [line]

    # -- talking ------------------------------------------------------------------------------------------------
    def print(self, text: str) -> None:
        sys.stdout.write(text + "\n")
        if self.spool is not None:
            self.spool.append(text)

    def spool_to(self, name: str) -> None:
        if name.upper() != "OFF":
            self.spool, self.spool_name = [], name
        elif self.spool is not None:
            Path(self.spool_name).write_text("\n".join(self.spool) + "\n", encoding="utf-8")
            self.spool = None

    def connect(self, line: str) -> None:
        match = _CONNECT.fullmatch(line)
        assert match is not None, "a CONNECT of a form not known"
        user, password, at = match["user"], match["password"], match["at"] or match["wallet"]
        if user is None:
            user, _, password = os.environ.get("STUB_WALLET", "nobody/").partition("/")
        try:
            self.connection = oracledb.connect(user=user, password=password, dsn=str(at or "").removeprefix("//"))
        except oracledb.Error as error:
            self.print(f"ERROR:\n{_shown(error)}\n")

    def send(self) -> None:
        text, self.buffer = "\n".join(self.buffer).strip("\n"), []
        if self.connection is None:
            self.print("SP2-0640: Not connected")
            return
        log = os.environ.get("STUB_LOG")
        if log:
            with Path(log).open("a", encoding="utf-8") as file:
                file.write(text.replace("\n", " ") + "\n")
        begun = time.perf_counter()
        try:
            done = self.execute(self.connection, text)
        except oracledb.Error as error:
            self.fail(error)
            return
        if done and self.settings["FEEDBACK"] == "ON":
            self.print(f"\n{done}\n")
        if self.settings["TIMING"] == "ON":
            spent = time.perf_counter() - begun
            self.print(f"Elapsed: 00:00:{spent:06.3f}" if SQLCL else f"Elapsed: 00:00:{spent:05.2f}")

    def fail(self, error: oracledb.Error) -> None:
        shown = _shown(error)
        if SQLCL:
            self.print(f"\nError starting at line : 1 in command -\nError report -\n{shown}\n*Cause:    of it")
        else:
            self.print(f"ERROR at line 1:\n{shown}\n\n")
        if error.args[0].is_session_dead or error.args[0].full_code in {"DPY-4011", "DPY-1001"}:
            self.connection = None
        elif self.on_error is not None:
            self.leave(self.on_error)

    def execute(self, connection: oracledb.Connection, text: str) -> str:
        if text.upper().startswith(("BEGIN", "DECLARE")):
            return self.execute_block(connection, text)
        if re.match(r"ALTER SESSION SET NLS_(LANGUAGE|TERRITORY)\b", text):
            return "Session altered."  # of the client's own; the stand-in speaks one language
        cursor = connection.cursor()
        binds = {name: self.variables[name.lower()] for name in _binds(text)}
        cursor.execute(text, binds)
        if cursor.description is None:
            return _feedback(text, cursor.rowcount)
        for row in cursor.fetchall():
            self.print("\t".join("" if value is None else str(value) for value in row).rstrip())
        return ""

    def execute_block(self, connection: oracledb.Connection, text: str) -> str:
        given = re.fullmatch(r"BEGIN\s+:(\w+) := (.*);\s+END;", text, re.S)
        if given is not None:
            self.variables[given[1].lower()] = _value(given[2])
        elif "SET_IDENTIFIER" in text:
            module, action, run = (each.replace("''", "'") for each in _LITERAL.findall(text))
            connection.module, connection.action, connection.client_identifier = module, action, run
        else:
            connection.cursor().execute(text)
        return "PL/SQL procedure successfully completed."

    def leave(self, status: int) -> None:
        if self.connection is not None:
            try:
                self.connection.commit() if status == 0 else self.connection.rollback()
                self.connection.close()
            except oracledb.Error:
                pass
        sys.stdout.flush()
        sys.exit(status)


def _binds(text: str) -> list[str]:
    bare = re.sub(r"'(?:[^']|'')*'|\"[^\"]*\"|--[^\n]*", "", text)
    return list(dict.fromkeys(re.findall(r":([A-Za-z]\w*)", bare)))


def _value(literal: str) -> object:
    if literal == "NULL":
        return None
    match = _LITERAL.fullmatch(literal)
    return match[1].replace("''", "'") if match else float(literal)


def _feedback(text: str, rows: int) -> str:
    word = text.lstrip().split()[0].upper()
    if word == "INSERT":
        return f"{rows:,} rows inserted." if SQLCL else f"{rows} rows created."
    return {"CREATE": "Table created.", "DROP": "Table dropped.", "COMMIT": "Commit complete."}.get(word, "Done.")


def _shown(error: oracledb.Error) -> str:
    lines = [line for line in str(error.args[0].message).split("\n") if not line.startswith("Help:")]
    if error.args[0].full_code == "DPY-4011":
        lines = ["ORA-03113: end-of-file on communication channel", "Process ID: 4711"]
    return "\n".join(lines)


def main() -> None:
    if sys.argv[1:] == ["-V"]:
        print(f"\n{VERSION}\nVersion 19.3.0.0.0\n")
        return
    assert sys.argv[1:] == ["-S", "/nolog"], sys.argv
    client = Client()
    client.run(iter(sys.stdin.readline, ""))
    client.leave(0)


if __name__ == "__main__":
    main()
