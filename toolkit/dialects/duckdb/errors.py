"""What DuckDB's errors mean to a DBA; the code is the name of the driver's exception."""

from __future__ import annotations

from toolkit.dialects.answers import Continuation, ErrorAdvice

ERRORS: dict[str, ErrorAdvice] = {
    advice.code: advice
    for advice in (
        ErrorAdvice("CatalogException", "an object is missing, or already there",
                    "check the name and the schema", Continuation.NOTHING),
        ErrorAdvice("BinderException", "a column or function is not known",
                    "check the names in the query", Continuation.NOTHING),
        ErrorAdvice("ParserException", "the statement cannot be read",
                    "check the query's syntax", Continuation.NOTHING),
        ErrorAdvice("ConversionException", "a value does not fit its type",
                    "cast it in the query", Continuation.NOTHING),
        ErrorAdvice("ConstraintException", "rows break a key or a check",
                    "load a table without it, or --bare", Continuation.NOTHING),
        ErrorAdvice("OutOfMemoryException", "the memory limit was reached",
                    "raise memory_limit, lower the degree, or give a temp_directory"),
        ErrorAdvice("InterruptException", "the statement was cancelled", "run it again"),
        ErrorAdvice("IOException", "the file cannot be read or written",
                    "look for a full disk, a missing folder, or another process that holds the file"),
        ErrorAdvice("TransactionException", "another transaction is in the way", "run it again",
                    Continuation.TRIAL),
        ErrorAdvice("InvalidInputException", "a setting or argument is refused", "see the message"),
        ErrorAdvice("PermissionException", "the setting is locked or not allowed",
                    "see lock_configuration", Continuation.NOTHING),
        ErrorAdvice("DependencyException", "another object depends on this one", "drop the other object first"),
        ErrorAdvice("HTTPException", "a remote file could not be read", "check the address and the network"),
        ErrorAdvice("FatalException", "the database was invalidated by an earlier error",
                    "open it again; `dbatk runs resume`"),
    )
}  # fmt: skip
