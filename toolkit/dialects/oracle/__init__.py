"""Oracle 11.2 to 26ai: names, spellings, support, errors and the licence guard, without a connection."""

from toolkit.dialects.oracle.dialect import DIALECT, OracleDialect

__all__ = ["DIALECT", "OracleDialect"]
