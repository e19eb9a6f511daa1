"""ORA- errors as the stand-in raises them."""

from __future__ import annotations

from seerdb.server.backend import BackendError

_TEXTS = {
    28: "your session has been killed",
    30: "User session ID does not exist.",
    31: "session marked for kill",
    54: "resource busy and acquire with NOWAIT specified or timeout expired",
    900: "invalid SQL statement",
    904: "invalid identifier",
    922: "missing or invalid option",
    942: "table or view does not exist",
    997: "illegal use of LONG datatype",
    2391: "exceeded simultaneous SESSIONS_PER_USER limit",
    2449: "unique/primary keys in table referenced by foreign keys",
    10631: "SHRINK clause should not be specified for this object",
    10635: "Invalid segment or tablespace type",
    10636: "ROW MOVEMENT is not enabled",
    12003: "materialized view does not exist",
    12004: "REFRESH FAST cannot be used for materialized view",
    23538: "cannot explicitly refresh a NEVER REFRESH materialized view",
    32355: "out-of-place refresh cannot be used in atomic mode",
    12081: "update operation not allowed on table",
    38301: "can not perform DDL/DML over objects in Recycle Bin",
    955: "name is already used by an existing object",
    1013: "user requested cancel of current operation",
    2396: "exceeded maximum idle time, please connect again",
    2399: "exceeded maximum connect time, you are being logged off",
    1031: "insufficient privileges",
    1403: "no data found",
    1422: "exact fetch returns more than requested number of rows",
    1408: "such column list already indexed",
    1418: "specified index does not exist",
    1453: "SET TRANSACTION must be first statement of transaction",
    1400: "cannot insert NULL",
    1452: "cannot CREATE UNIQUE INDEX; duplicate keys found",
    1555: 'snapshot too old: rollback segment number 9 with name "_SYSSMU9$" too small',
    959: "tablespace does not exist",
    1536: "space quota exceeded for tablespace",
    1950: "no privileges on tablespace",
    1652: "unable to extend temp segment by 128 in tablespace TEMP",
    14016: "underlying table of a LOCAL partitioned index must be partitioned",
    14024: "number of partitions of LOCAL index must equal that of the underlying table",
    29368: "consumer group does not exist",
    29396: "cannot switch group to OTHER_GROUPS",
    14908: "cannot invoke get LTXID outcome while a transaction is open",
    14913: "invalid logical transaction ID detected",
    14401: "inserted partition key is outside specified partition",
    14086: "a partitioned index may not be rebuilt as a whole",
    14083: "cannot drop the only partition of a partitioned table",
    14095: "ALTER TABLE EXCHANGE requires a non-partitioned, non-clustered table",
    14097: "column type or size mismatch in ALTER TABLE EXCHANGE PARTITION",
    14098: "index mismatch for tables in ALTER TABLE EXCHANGE PARTITION",
    14099: "all rows in table do not qualify for specified partition",
    14012: "resulting partition name conflicts with that of an existing partition",
    14274: "partitions being merged are not adjacent",
    14285: "cannot COALESCE the only partition of this hash partitioned table or index",
    14259: "table is not partitioned by Hash method",
    14511: "cannot perform operation on a partitioned object",
    14189: "this physical attribute may not be specified for an index subpartition",
    14287: "cannot REBUILD a partition of a Composite Range partitioned index",
    25122: "Only LOCAL bitmap indexes are permitted on partitioned tables",
    29871: "invalid alter option for a domain index",
    1722: "invalid number",
    2003: "invalid USERENV parameter",
    2248: "invalid option for ALTER SESSION",
    96: "invalid value for parameter",
    2095: "specified initialization parameter cannot be modified",
    439: "feature not enabled: Online Index Build",
    6550: "PLS-00306: wrong number or types of arguments in call",
    2149: "Specified partition does not exist",
    8104: "this index object is being online built or rebuilt",
    12514: "listener does not currently know of service requested in connect descriptor",
    12801: "error signaled in parallel query server P001",
    12827: "insufficient parallel query workers available",
    12838: "cannot read/modify an object after modifying it in parallel",
    12841: "cannot alter the session parallel DML state within a transaction",
    13516: "AWR Operation failed: AWR not initialized",
    20019: "Invalid snap_id",
    20000: "Unable to analyze TABLE, insufficient privileges or does not exist",
    27457: "an argument of the job has no value",
    27475: "the job does not exist",
    27477: "the job already exists",
    27486: "insufficient privileges",
    65040: "operation not allowed from within a pluggable database",
}


def stack(numbers: tuple[int, ...]) -> BackendError:
    """Make a stack of errors as Oracle sends it: the outermost first, each on a line of its own."""
    first, *others = (ora(number) for number in numbers)
    lines = [
        str(first),
        *(f"ORA-{number:05d}: {error}" for number, error in zip(numbers[1:], others, strict=True)),
    ]
    return BackendError("\n".join(lines), ora_code=numbers[0])


def ora(number: int, detail: str = "", said: str | None = None) -> BackendError:
    """Make an ORA- error; its text says what Oracle's does, or what a block `said`, `detail` what was met."""
    text = said or _TEXTS.get(number, "error raised by the scenario")
    return BackendError(f"{text}{': ' + detail if detail else ''}", ora_code=number)
