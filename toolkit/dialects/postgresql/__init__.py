"""PostgreSQL 14 to 18."""

from toolkit.dialects.postgresql.dialect import DIALECT

__all__ = ["DIALECT"]
