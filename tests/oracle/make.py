"""Works, facts and sessions for the tests of Oracle."""

from __future__ import annotations

import csv
import json
import os
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

import pytest

from tests.oracle.standin import Standin
from toolkit.dialects.indexes import IndexPart
from toolkit.dialects.oracle.dialect import DIALECT
from toolkit.dialects.work import Call, Chunk, Work
from toolkit.model.address import Address
from toolkit.model.experiment import OptionValue
from toolkit.model.facts import Facts
from toolkit.model.operations import operations
from toolkit.model.steps import ObjectRef, Step
from toolkit.model.transfers import CsvStyle, FileFormat, FilePart, Transfer
from toolkit.model.values import QualifiedName, Row
from toolkit.model.words import Mode, ObjectKind, OperationName, Role
from toolkit.rendering import step_of
from toolkit.targets.base import Access, SessionTag
from toolkit.targets.oracle import OracleConnection, OracleTarget

RUN = "20261121-051342-ab3f"
SOURCE = QualifiedName("GTEST", "DBATK")
OURS = ObjectRef(ObjectKind.TABLE, QualifiedName("DBATK_261121051342AB3F_1", "DBATK"), scratch=True)
INDEX = ObjectRef(
    ObjectKind.INDEX, QualifiedName("DBATK_261121051342AB3F_2", "DBATK"), scratch=True, table=OURS.name
)
BACKUP = ObjectRef(ObjectKind.BACKUP, QualifiedName("DBATK_261121051342AB3F_3"), scratch=True)
_TABLES = (ObjectKind.TABLE, ObjectKind.INDEX)
ON_TABLES = tuple(
    name
    for name, declared in operations().items()
    if declared.object in _TABLES and name in DIALECT.work and not declared.once
)
"""Operations that statements do here, and that can be measured; backups and commands are programs."""
SCHEMA = ObjectRef(ObjectKind.STATISTICS, QualifiedName("APP"))
EVERY_RELEASE = tuple(
    f"{release}-{edition}"
    for release in ("11.2", "12.1", "12.2", "18", "19", "21", "23", "26")
    for edition in ("ee", "se2", "xe", "free")
)

_PLAIN: dict[OperationName, Work] = {
    "ctas": Work("ctas", Mode.MEASUREMENT, OURS, {}, source=SOURCE, mark="created by dbatk"),
    "insert": Work("insert", Mode.MEASUREMENT, OURS, {}, source=SOURCE, columns=("ID", "IDNAME", "AMOUNT")),
    "load": Work(
        "load",
        Mode.MEASUREMENT,
        OURS,
        {},
        notes=replace(OURS, name=QualifiedName("DBATK_NOTES", "DBATK")),
        label="lines.csv",
        transfer=Transfer(FilePart("lines.csv", FileFormat.CSV), CsvStyle(), ("ID", "IDNAME"), OURS.name),
    ),
    "index-build": Work("index-build", Mode.MEASUREMENT, INDEX, {}, columns=("IDNAME", "ID")),
    "index-rebuild": Work("index-rebuild", Mode.MEASUREMENT, INDEX, {}),
    "stats-gather": Work("stats-gather", Mode.MEASUREMENT, OURS, {}),
    "datapump-export": Work(
        "datapump-export",
        Mode.MEASUREMENT,
        ObjectRef(ObjectKind.DUMP, QualifiedName("DBATK_1_1", "DUMPS")),
        {"schema": ("APP",)},
    ),
    "datapump-import": Work(
        "datapump-import",
        Mode.MEASUREMENT,
        ObjectRef(ObjectKind.DUMP, QualifiedName("DBATK_1_1", "DUMPS")),
        {"dump_files": ("APP_%U.dmp",)},
        source=SOURCE,
        tables=(QualifiedName("DBATK_1_1T", "APP"),),
    ),
    "stats-export": Work(
        "stats-export", Mode.JOB, ObjectRef(ObjectKind.TABLE, QualifiedName("KEPT", "DBATK")), {}
    ),
    "stats-extend": Work("stats-extend", Mode.MEASUREMENT, OURS, {"columns": ("IDNAME", "ID")}, source=SOURCE),
    "stats-publish": Work("stats-publish", Mode.JOB, ObjectRef(ObjectKind.TABLE, SOURCE), {}),
    "partition-drop": Work(
        "partition-drop", Mode.JOB, ObjectRef(ObjectKind.TABLE, SOURCE), {"keep_rows": "2 years"}
    ),
    "partition-exchange": Work(
        "partition-exchange",
        Mode.JOB,
        ObjectRef(ObjectKind.TABLE, SOURCE),
        {"partition": "P1", "with_table": "GTEST_NEW"},
    ),
    "partition-split": Work(
        "partition-split",
        Mode.JOB,
        ObjectRef(ObjectKind.TABLE, SOURCE),
        {"partition": "PMAX", "at": "2026-12-01", "new_names": ("P2026_11", "PMAX")},
    ),
    "partition-merge": Work(
        "partition-merge",
        Mode.JOB,
        ObjectRef(ObjectKind.TABLE, SOURCE),
        {"merged": ("P1", "P2"), "new_name": "P12"},
    ),
    "partition-coalesce": Work("partition-coalesce", Mode.JOB, ObjectRef(ObjectKind.TABLE, SOURCE), {}),
    "table-shrink": Work("table-shrink", Mode.JOB, ObjectRef(ObjectKind.TABLE, SOURCE), {}),
    "mview-refresh": Work("mview-refresh", Mode.JOB, ObjectRef(ObjectKind.TABLE, SOURCE), {"method": "complete"}),
    "constraint-validate": Work(
        "constraint-validate",
        Mode.JOB,
        ObjectRef(ObjectKind.TABLE, SOURCE),
        {},
        part=IndexPart("GTEST_FK", "constraint"),
    ),
    "table-move": Work("table-move", Mode.MEASUREMENT, OURS, {}, source=SOURCE),
    "purge": Work(
        "purge", Mode.JOB, ObjectRef(ObjectKind.TABLE, SOURCE), {}, chunks=(Chunk(rows=1),), label="all"
    ),
    "backup": Work("backup", Mode.MEASUREMENT, BACKUP, {}, mark="created by dbatk"),
}


def work(
    operation: OperationName,
    degree: int | str = 1,
    mode: Mode = Mode.MEASUREMENT,
    query: str | None = None,
    ref: ObjectRef | None = None,
    **options: OptionValue,
) -> Work:
    """Make a work of an operation, its options laid over a plain one; `degree` may be a word."""
    plain = _PLAIN[operation]
    chosen: dict[str, OptionValue] = {**options, "degree": degree}
    made = replace(plain, mode=mode, options=chosen, degree=degree if isinstance(degree, int) else 0)
    made = replace(made, query=query, source=None) if query else made
    return replace(made, object=ref) if ref else made


def assumed(release: str = "19-ee", **answers: tuple[Row, ...]) -> Facts:
    """Return assumed facts with some answers of the catalogue beside them."""
    facts = DIALECT.assume(release)
    return replace(facts, answers={**facts.answers, **answers})


def texts(calls: Iterable[Call]) -> list[str]:
    """Render calls into statements, each on one line."""
    return [" ".join(step.text.split()) for step in steps(calls)]


def steps(calls: Iterable[Call]) -> list[Step]:
    """Render calls into steps."""
    return [step_of(DIALECT, call) for call in calls]


def target(standin: Standin, **access: object) -> OracleTarget:
    """Return a target for a stand-in."""
    address = Address("oracle", standin.engine.scenario.service, "dbatk", standin.host, standin.port)
    return OracleTarget(Access(address, lambda: standin.password, **access))  # type: ignore[arg-type]


def connect(standin: Standin, role: Role = Role.CONTROL) -> OracleConnection:
    """Open a session of the run."""
    return target(standin).connect(role, SessionTag(RUN, "test"))


def realdata(name: str) -> Path:
    """Return a file of the collected documentation, or skip with a sentence (fail where it is required)."""
    folder = os.environ.get("DBATK_REALDATA")
    path = Path(folder) / name if folder else None
    if path is not None and path.exists():
        return path
    missing("realdata", "DBATK_REALDATA names no folder with Oracle's documented names")
    raise AssertionError


def missing(what: str, sentence: str) -> None:
    """Skip because a part is not there, or fail where DBATK_REQUIRE lists it."""
    if what in os.environ.get("DBATK_REQUIRE", "").split(","):
        pytest.fail(f"{sentence}, but it is required here")
    pytest.skip(sentence)


def documented_columns() -> dict[str, set[str]]:
    """Return the columns of each documented view of 19c."""
    columns: dict[str, set[str]] = {}
    with realdata("dict/oracle_19c_docs_view_columns.csv").open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            columns.setdefault(row["view"], set()).add(row["column"])
    return columns


def documented_parameters() -> dict[str, set[str]]:
    """Return the parameters of each documented package subprogram of 19c, in lower case."""
    listed = json.loads(realdata("dict/oracle_19c_docs_plsql_subprograms.json").read_text(encoding="utf-8"))
    found: dict[str, set[str]] = {}
    for entry in listed:
        found.setdefault(entry["name"], set()).update(part["name"].lower() for part in entry["parameters"])
    return found
