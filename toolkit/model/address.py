"""Where a database is: what a target URL says, without secrets."""

from __future__ import annotations

from dataclasses import dataclass

from toolkit.model.engines import engine
from toolkit.model.words import EngineName


@dataclass(frozen=True, slots=True)
class Address:
    """Where a database is, without secrets; what a target URL says.

    `database` is the PostgreSQL database, the Oracle *service name* or alias, the DuckDB file (empty: in memory).
    """

    engine: EngineName
    database: str
    user: str | None = None
    host: str | None = None
    port: int | None = None
    parameters: tuple[tuple[str, str], ...] = ()

    @property
    def display(self) -> str:
        """The URL again, fit to be shown: it never held a password."""
        declared = engine(self.engine)
        if declared.embedded:
            return f"{self.engine}:///{self.database}"
        at = f"{self.user}@" if self.user else ""
        port = f":{self.port}" if self.port else ""
        alias = declared.service_names and not self.host
        path = self.database if alias else f"/{self.database}"
        return f"{self.engine}://{at}{self.host or ''}{port}{path}"
