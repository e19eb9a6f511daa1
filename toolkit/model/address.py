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

    def same_database(self, other: Address) -> bool:
        """Tell whether two addresses are of one database, as far as it can be told without connecting."""
        ports = {self.port, other.port} - {None}  # without one it may be any
        return self._place == other._place and len(ports) < 2

    @property
    def _place(self) -> tuple[str, ...]:
        if engine(self.engine).embedded or not self.host:
            return self.engine, self.database
        named = self.database or dict(self.parameters).get("service_name", "")
        # Oracle: `service:dedicated/instance`
        database = named.split("/")[0].split(":")[0] if engine(self.engine).service_names else named
        return self.engine, self.host.lower(), database.lower()

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
