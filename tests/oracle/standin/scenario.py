"""What a stand-in pretends to be, and what goes wrong in it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from tests.oracle.standin import privileges

_BANNERS = {
    "ee": "Oracle Database 19c Enterprise Edition Release 19.0.0.0.0 - Production",
    "se2": "Oracle Database 19c Standard Edition 2 Release 19.0.0.0.0 - Production",
    "free": "Oracle Database 23ai Free Release 23.0.0.0.0 - Develop, Learn, and Run for Free",
    "26": "Oracle AI Database 26ai Enterprise Edition Release 23.26.0.0.0 - Production",
}
ViewRow = Mapping[str, object]


@dataclass(frozen=True)
class Scenario:
    """A stand-in's edition, limits and faults.

    `fail` raises an ORA- number when a statement of that kind comes (`ctas`, `insert`, `index_build`,
    `index_rebuild`, `stats`, `commit`, `drop`), the first `fail_times` times or always (0); several numbers
    are a stack, the outermost first. `lose` drops the connection in the middle of one. `delay_seconds` slows timed
    statements down, those with `delay_text` if given. `denied` views answer `denied_code`, `parameters_refused`
    ORA-65040.

    `privileges` and `grants` (of tables of others) are the user's: what he sees of others and may do to them
    follows from them (`privileges`).

    `partitioned` adds partitioned tables with local indexes (SALES, TRADES with subpartitions).

    The pool of `max_servers` parallel servers is shared with other sessions, which use `busy_servers` of it.
    `groups` are the consumer groups that the user may switch to, each with the degree limit of its directive.

    What differs between releases and services is data: `banner_text` and `number_text` (`12.1.0.2.0`),
    `parameters` laid over V$PARAMETER, `options` over V$OPTION, `context` over USERENV, `lacking` views
    (`V$PDBS`), columns (`V$DATABASE.CDB`) and USERENV keys (`USERENV.CON_NAME`), and `views`: rows that stand in
    a view instead of its own, `beside`: rows that stand there with them. With `idle_time` a session that is idle
    while another one does timed work passes the limit of its profile. Of several `instances` a V$ view
    shows one; `State.lands_on` says where the next session lands. `tests.oracle.standin.scenarios` has the
    ones everybody needs.
    """

    edition: str = "ee"
    max_servers: int = 80
    busy_servers: int = 0
    groups: Mapping[str, int | None] = field(default_factory=lambda: {"DEFAULT_CONSUMER_GROUP": None})
    denied: frozenset[str] = frozenset()
    parameters_refused: frozenset[str] = frozenset()
    fail: Mapping[str, int | tuple[int, ...]] = field(default_factory=dict)
    fail_times: int = 0
    lose: str | None = None
    delay_seconds: float = 0.0
    delay_text: str | None = None
    rows: int = 2000
    partitioned: bool = False
    user: str = "DBATK"
    password: str = "tiger"
    service: str = "FREEPDB1"
    denied_code: int = 942
    commit_outcome: bool = False
    """Whether the service has Transaction Guard."""
    banner_text: str = ""
    number_text: str = ""
    parameters: Mapping[str, str] = field(default_factory=dict)
    granules: Mapping[str, int] = field(default_factory=dict)
    """By parameter: what the instance rounds its size up to, in bytes, as it does for parts of the SGA."""
    options: Mapping[str, str] = field(default_factory=dict)
    context: Mapping[str, str | None] = field(default_factory=dict)
    lacking: frozenset[str] = frozenset()
    views: Mapping[str, Sequence[ViewRow]] = field(default_factory=dict)
    beside: Mapping[str, Sequence[ViewRow]] = field(default_factory=dict)
    privileges: Sequence[str] = privileges.PRIVILEGES
    grants: Mapping[tuple[str, str], frozenset[str]] = field(default_factory=lambda: privileges.GRANTS)
    instances: int = 1
    idle_time: bool = False
    limit: int = 2396
    """What a session is told that `idle_time` has ended: 2399 where it was CONNECT_TIME."""
    logon: int = 0
    """The ORA- number that answers every logon; 0 for none."""
    failed_logins: int = 0
    """The limit of the profile, after which the account is locked (FAILED_LOGIN_ATTEMPTS); 0 for none."""
    sessions_per_user: int = 0
    """The limit of the profile (ORA-02391); 0 for none."""
    disks: str = "plain"
    """Under the tablespaces: `plain`, `zfs` (which takes hybrid columnar compression, too) or `exadata`."""
    tablespaces: Mapping[str, int] = field(default_factory=lambda: {"USERS": 40 * 2**30})
    """Permanent tablespaces, each with its free bytes beside what its files may grow by."""
    managed_by_lists: frozenset[str] = frozenset()
    """Tablespaces with SEGMENT SPACE MANAGEMENT MANUAL."""
    quotas: Mapping[tuple[str, str], int] = field(default_factory=lambda: {("DBATK", "USERS"): 50 * 2**30})
    """By schema and tablespace, in bytes; -1 is no limit."""
    unlimited: Sequence[str] = ("APP",)
    """Schemas that hold UNLIMITED TABLESPACE."""
    defaults: Mapping[str, str] = field(default_factory=dict)
    """Default tablespaces of schemas that have another than USERS."""
    recovery_area: int = 400 * 2**30
    """Bytes that the recovery area may take; archived logs go there."""

    @property
    def banner(self) -> str:
        return self.banner_text or _BANNERS[self.edition]

    @property
    def parallel(self) -> bool:
        return self.edition in ("ee", "26")

    @property
    def number(self) -> tuple[int, int]:
        if self.number_text:
            major, minor = self.number_text.split(".")[:2]
            return int(major), int(minor)
        return {"free": (23, 0), "26": (23, 26)}.get(self.edition, (19, 0))
