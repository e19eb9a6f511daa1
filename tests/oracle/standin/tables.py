"""Tables as loads see them: their constraints, partitions and special columns, and what is added to a copy.

`VIEWS` as in `readings`: no rows unless a scenario's `views` has some. What is added to a copy is checked for its
table and remembered by the statement alone; a column that is added holds no values.
"""

from __future__ import annotations

import re

import sqlglot
from sqlglot import exp

VIEWS = {
    "ALL_CONSTRAINTS": "OWNER CONSTRAINT_NAME CONSTRAINT_TYPE TABLE_NAME SEARCH_CONDITION R_OWNER "
    "R_CONSTRAINT_NAME DELETE_RULE STATUS DEFERRABLE DEFERRED VALIDATED INDEX_OWNER INDEX_NAME",
    "ALL_CONS_COLUMNS": "OWNER CONSTRAINT_NAME TABLE_NAME COLUMN_NAME POSITION:n",
    "ALL_PART_TABLES": "OWNER TABLE_NAME PARTITIONING_TYPE SUBPARTITIONING_TYPE PARTITION_COUNT:n INTERVAL "
    "AUTOLIST REF_PTN_CONSTRAINT_NAME",
    "ALL_PART_KEY_COLUMNS": "OWNER NAME OBJECT_TYPE COLUMN_NAME COLUMN_POSITION:n",
    "ALL_TAB_IDENTITY_COLS": "OWNER TABLE_NAME COLUMN_NAME GENERATION_TYPE SEQUENCE_NAME",
    "ALL_TAB_COLS": "OWNER TABLE_NAME COLUMN_NAME DATA_TYPE NULLABLE COLUMN_ID:n INTERNAL_COLUMN_ID:n "
    "HIDDEN_COLUMN VIRTUAL_COLUMN USER_GENERATED IDENTITY_COLUMN DEFAULT_ON_NULL AVG_COL_LEN:n DATA_TYPE_OWNER "
    "DEFAULT_LENGTH:n DATA_DEFAULT "
    "DATA_LENGTH:n CHAR_LENGTH:n CHAR_USED DATA_PRECISION:n DATA_SCALE:n",
    "DBA_USERS": "USERNAME ACCOUNT_STATUS DEFAULT_TABLESPACE TEMPORARY_TABLESPACE CREATED:d",
    "DBA_TEMP_FILES": "FILE_NAME TABLESPACE_NAME BYTES:n STATUS AUTOEXTENSIBLE MAXBYTES:n",
}

_NAME = r'(?:"[^"]+"\.)?"[^"]+"'
FORMS: tuple[tuple[str, str], ...] = (
    ("truncate", rf"TRUNCATE\s+TABLE\s+(?P<name>{_NAME})"),
    ("add_constraint", rf"ALTER\s+TABLE\s+(?P<name>{_NAME})\s+ADD\s+(?:CHECK|PRIMARY\s+KEY|UNIQUE)\s*\(.*"),
    ("add_columns", rf"ALTER\s+TABLE\s+(?P<name>{_NAME})\s+ADD\s*\((?P<added>.*)\)"),
    ("set_defaults", rf"ALTER\s+TABLE\s+(?P<name>{_NAME})\s+MODIFY\s*\(.*\)"),
)


def added_columns(text: str) -> list[str]:
    """Return the names of columns that an ALTER TABLE adds, each with what it generates."""
    return re.findall(r'"([^"]+)"\s+(?:NUMBER\s+)?GENERATED\s+ALWAYS', text)


def rewritten(node: exp.Expression) -> exp.Expression:
    """Turn what loads read into what DuckDB reads: a sample of rows or blocks, a LONG that becomes a LOB."""
    if isinstance(node, exp.Anonymous) and node.name.upper() == "TO_LOB":
        return node.expressions[0]
    if isinstance(node, exp.TableSample):
        method = "system" if str(node.args.get("method") or "").upper() == "BLOCK" else "bernoulli"
        percent, seed = node.args["percent"], node.args.get("seed") or exp.Literal.number(1)
        sample = f"SELECT 1 FROM t TABLESAMPLE {method} ({percent}%) REPEATABLE ({seed})"
        made = sqlglot.parse_one(sample, read="duckdb").find(exp.TableSample)
        assert made is not None
        return made
    return node
