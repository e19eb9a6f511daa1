"""A server that speaks Oracle's wire protocol, with DuckDB behind it: for tests without an Oracle database.

`running_standin` gives host, port and the statements it received, in order; python-oracledb really connects to it.
Catalogue queries are executed, never recognised: each view is a table with its real column names.
"""

from tests.oracle.standin.scenario import Scenario
from tests.oracle.standin.server import Standin, running_standin

__all__ = ["Scenario", "Standin", "running_standin"]
