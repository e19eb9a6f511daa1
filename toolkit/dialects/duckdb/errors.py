"""What DuckDB's errors mean to a DBA; the code is the name of the driver's exception."""

from __future__ import annotations

from toolkit.dialects.answers import Continuation, ErrorAdvice

ERRORS: dict[str, ErrorAdvice] = {
    advice.code: advice
    for advice in (
        ErrorAdvice("CatalogException", "an object is missing or already exists",
                    "check the name and the schema", Continuation.NOTHING),
        ErrorAdvice("BinderException", "a column or function is unknown",
                    "check the names in the query", Continuation.NOTHING),
        ErrorAdvice("ParserException", "the statement has a syntax error",
                    "check the query's syntax", Continuation.NOTHING),
        ErrorAdvice("ConversionException", "a value does not fit its type",
                    "cast it in the query", Continuation.NOTHING),
        ErrorAdvice("ConstraintException", "rows violate a key or check constraint",
                    "load into a table without it, or use --bare", Continuation.NOTHING),
        ErrorAdvice("OutOfMemoryException", "the memory limit was reached",
                    "raise memory_limit, lower the degree, or set temp_directory"),
        ErrorAdvice("InterruptException", "the statement was cancelled", "run it again"),
        ErrorAdvice("IOException", "the file cannot be read or written",
                    "check for a full disk, a missing folder, or another process using the file"),
        ErrorAdvice("TransactionException", "a conflict with another transaction", "run it again",
                    Continuation.TRIAL),
        ErrorAdvice("InvalidInputException", "a setting or argument was rejected", "see the message"),
        ErrorAdvice("PermissionException", "the setting is locked or not allowed",
                    "see lock_configuration", Continuation.NOTHING),
        ErrorAdvice("DependencyException", "another object depends on this one", "drop the other object first"),
        ErrorAdvice("HTTPException", "a remote file could not be read", "check the address and the network"),
        ErrorAdvice("FatalException", "the database was invalidated by an earlier error",
                    "open it again; `dbatk runs resume`"),
    )
}  # fmt: skip
