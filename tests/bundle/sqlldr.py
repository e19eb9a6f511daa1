"""A client that speaks enough of SQL*Loader to run a bundle against the Oracle stand-in. Test only.

It knows the clauses of the manual that are used here and refuses every other line. Environment: `STUB_LOG` (a file
that gets a line for each call), `STUB_SLOW` (a file: it waits while it is there).
"""

from __future__ import annotations

import csv
import os
import re
import sys
import time
from pathlib import Path

import oracledb

_OPTION = re.compile(r"(\w+)=(\([^)]*\)|[^,\s()]+)")
_FIELDS = re.compile(
    r"FIELDS (?P<csv>CSV WITH EMBEDDED )?TERMINATED BY '(?P<by>[^']+)'"
    r"( OPTIONALLY ENCLOSED BY '(?P<quote>[^']+)')?"
)
_FIELD = re.compile(
    r'  "(?P<name>[^"]+)" (?:CHAR\(\d+\)|(?P<kind>DATE|TIMESTAMP) "(?P<mask>[^"]+)")'
    r"(?: NULLIF \"[^\"]+\" = '(?P<null>[^']*)')?,?"
)
_LOG = """
SQL*Loader: Release 19.0.0.0.0 - Production on Thu Nov 26 10:11:12 2026
Version 19.3.0.0.0

Control File:   {control}
Data File:      {file}

Path used:      {path}

{rejects}
Table {table}:
  {loaded} Row{s} successfully loaded.
  {rejected} Rows not loaded due to data errors.
  0 Rows not loaded because all WHEN clauses were failed.
  {discarded} Rows not loaded because all fields were null.

Total logical records skipped:          {skipped}
Total logical records read:             {read}
Total logical records rejected:         {rejected}
Total logical records discarded:        {discarded}

Run began on Thu Nov 26 10:11:12 2026
Run ended on Thu Nov 26 10:11:13 2026

Elapsed time was:     00:00:00.70
CPU time was:         00:00:00.02
"""


def _parts(text: str) -> tuple[dict[str, str], str, str, dict[str, str | None], list[dict[str, str | None]]]:
    """Read a control file, line by line as the manual orders them."""
    lines = text.rstrip("\n").split("\n")
    assert re.fullmatch(r"OPTIONS \((.*)\)", lines[0]), lines[0]
    options = dict(_OPTION.findall(lines[0].removeprefix("OPTIONS ")))
    assert lines[1] in ("LOAD DATA", "UNRECOVERABLE LOAD DATA")
    assert re.fullmatch(r"CHARACTERSET [A-Z0-9]+", lines[2])
    file = re.fullmatch(r"INFILE '([^']+)'", lines[3])
    assert file and lines[4:6] == ["APPEND", "PRESERVE BLANKS"], lines
    table = re.fullmatch(r"INTO TABLE ((?:\"[^\"]+\"\.)?\"[^\"]+\")", lines[6])
    fields = _FIELDS.fullmatch(lines[7])
    assert table and fields and lines[8:10] == ["TRAILING NULLCOLS", "("] and lines[-1] == ")", lines
    columns = [found.groupdict() for line in lines[10:-1] if (found := _FIELD.fullmatch(line))]
    assert len(columns) == len(lines) - 11, lines
    return options, file[1], table[1], fields.groupdict(), columns


def main() -> None:
    given = dict(each.split("=", 1) for each in sys.argv[1:])
    assert set(given) == {"USERID", "CONTROL", "LOG", "BAD", "DISCARD"}, given
    user, _, at = given["USERID"].partition("@")
    password = "" if given["USERID"].startswith("/") else sys.stdin.readline().rstrip("\n")
    if given["USERID"].startswith("/"):
        user, _, password = os.environ["STUB_WALLET"].partition("/")
    options, file, table, how, columns = _parts(Path(given["CONTROL"]).read_text("utf-8"))
    if log := os.environ.get("STUB_LOG"):
        with Path(log).open("a", encoding="utf-8") as told:
            told.write(f"sqlldr {Path(given['CONTROL']).name} {sorted(options.items())}\n")
    try:
        connection = oracledb.connect(user=user, password=password, dsn=at.removeprefix("//"))
    except oracledb.Error as error:
        text = f"SQL*Loader-704: Internal error: ulconnect: OCISessionBegin [-1]\n{error.args[0].message}\n"
        Path(given["LOG"]).write_text(text, "utf-8")
        sys.exit(text and 1)
    slow = os.environ.get("STUB_SLOW")
    while slow and Path(slow).exists():
        time.sleep(0.05)
    sys.exit(_load(connection, given, options, (file, table, how, columns)))


def _load(connection, given, options, control) -> int:  # type: ignore[no-untyped-def]
    file, table, how, columns = control
    with Path(file).open(newline="", encoding="utf-8") as text:
        rows = list(csv.reader(text, delimiter=how["by"], **({"quotechar": how["quote"]} if how["quote"] else {})))
    skip, most = int(options.get("SKIP", 0)), int(options["ERRORS"])
    names, marks = (
        ", ".join(f'"{each["name"]}"' for each in columns),
        ", ".join(
            f"TO_{each['kind']}(:b{n}, '{each['mask']}')" if each["kind"] else f":b{n}"
            for n, each in enumerate(columns, 1)
        ),
    )
    loaded, discarded, rejects, bad = 0, 0, [], []
    cursor = connection.cursor()
    for number, row in enumerate(rows[skip:], 1):
        values = [None if text in ("", each["null"]) else text for text, each in zip(row, columns, strict=False)]
        values += [None] * (len(columns) - len(values))
        if not any(value is not None for value in values):
            discarded += 1
            continue
        try:
            cursor.execute(f"INSERT INTO {table} ({names}) VALUES ({marks})", values)
            connection.commit()
            loaded += 1
        except oracledb.Error as error:
            why = str(error.args[0].message).split("\n")[0]
            rejects.append(
                f"Record {number}: Rejected - Error on table {table}, column {columns[0]['name']}.\n{why}\n"
            )
            bad.append(row)
            if len(rejects) > most:
                rejects.append("\nMAXIMUM ERROR COUNT EXCEEDED - Above statistics reflect partial run.\n")
                break
    connection.close()
    if bad:
        with Path(given["BAD"]).open("w", newline="", encoding="utf-8") as kept:
            csv.writer(kept).writerows(bad)
    Path(given["LOG"]).write_text(_LOG.format(
        control=given["CONTROL"], file=file, path="Direct" if "DIRECT" in options else "Conventional",
        rejects="\n".join(rejects), table=table, loaded=loaded, s="" if loaded == 1 else "s", rejected=len(bad),
        discarded=discarded, skipped=skip, read=loaded + discarded + len(bad),
    ), "utf-8")  # fmt: skip
    return 2 if bad or discarded else 0


if __name__ == "__main__":
    main()
