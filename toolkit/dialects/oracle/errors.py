"""The error catalogue: what a code of Oracle, its driver or RMAN means to a DBA here, and what to do about it.

Message texts change between releases, so only codes are matched. One row names several codes that share a cause.
Sources: Database Error Messages, and the error references of python-oracledb and RMAN.
"""

from __future__ import annotations

import re

from toolkit.dialects.base import ErrorAdvice

PASSING, DOWNGRADE = "passing", "downgrade"

# (codes, meaning, advice, flags)
_ROWS: tuple[tuple[str, str, str, frozenset[str]], ...] = tuple(
    (codes, meaning, advice, frozenset(flags))
    for codes, meaning, advice, *flags in (
        # the driver and the way in
        (
            "DPY-3010",
            "the thin driver needs server 12.1 or later",
            "set `thick = yes` in the profile, with Oracle Client 19",
        ),
        (
            "DPI-1047 DPI-1072",
            "the Oracle Client library is not there or too old",
            "set `lib_dir` to Client 19 or later, or leave `thick` out",
        ),
        ("DPY-2019", "thick mode was asked for after a thin connection", "run the two targets in two commands"),
        (
            "DPY-3001",
            "the server wants a feature of thick mode (native network encryption, bequeath)",
            "set `thick = yes`, or use TLS; give host, port and service",
        ),
        (
            "DPY-3015",
            "the account has a password verifier of 10g only",
            "reset the password, or set `thick = yes`",
        ),
        (
            "DPY-3022",
            "a named time zone cannot be read in thin mode",
            "report it: the query should have cast the value",
        ),
        (
            "DPY-4000 DPY-4027 DPY-4026 ORA-12154",
            "the alias of the database is not found",
            "give host, port and service name, or set `config_dir` to the folder of tnsnames.ora",
        ),
        (
            "DPY-6005 ORA-12541 ORA-12545 ORA-12543 ORA-12170 ORA-12535",
            "nobody listens at this host and port",
            "check host, port and firewall; is the listener up?",
        ),
        (
            "DPY-6001 ORA-12514 ORA-12521",
            "the listener does not know this service",
            "see `lsnrctl status`; a closed pluggable database has no service",
        ),
        (
            "DPY-6003 ORA-12505",
            "the listener does not know this SID",
            "use the service name: `oracle://user@host:1521/service`",
        ),
        (
            "DPY-6000 ORA-12516 ORA-12520",
            "the listener refused the connection",
            "see the listener's log; too many sessions?",
            PASSING,
        ),
        ("DPY-4005 ORA-24457 ORA-24459 ORA-24496", "the connection pool is exhausted", "ask for less concurrency"),
        (
            "DPY-4011 DPI-1080 DPI-1010 DPY-1001 ORA-03113 ORA-03114 ORA-03135 ORA-01012 ORA-00028 ORA-02396 "
            "ORA-12537 ORA-12547 ORA-12570",
            "the session was lost or killed",
            "see the alert log; look for leftovers with `dbatk clean`",
            PASSING,
        ),
        (
            "DPY-4024 DPI-1067",
            "the time limit of the statement passed",
            "raise --time-limit; the statement was cancelled",
        ),
        (
            "DPY-2018",
            "a wallet file is missing",
            "thin mode needs ewallet.pem, thick mode cwallet.sso, in `wallet_location`",
        ),
        (
            "DPY-3029",
            "a network value has illegal characters",
            "remove quotes and commas from user, host and service",
        ),
        ("DPY-4001", "no password was given", "refer to one in the profile: env, keyring, command or wallet"),
        ("DPY-4010 ORA-01008", "a bind variable has no value", "report it"),
        (
            "ORA-01017",
            "user or password is wrong",
            "check both; the account's case and an old password verifier matter too",
        ),
        ("ORA-28000", "the account is locked", "ALTER USER ... ACCOUNT UNLOCK by a DBA"),
        ("ORA-28001 ORA-28002", "the password has expired or is about to", "change the password"),
        ("ORA-28009", "SYS connects AS SYSDBA only", "use an account of your own"),
        ("ORA-01045", "the user lacks CREATE SESSION", "GRANT CREATE SESSION TO the user"),
        (
            "ORA-01033 ORA-01034 ORA-01090 ORA-01109 ORA-27101",
            "the database is starting, stopping, down or not open",
            "open the database or the pluggable database",
            PASSING,
        ),
        (
            "ORA-00018 ORA-00020",
            "no session or process is left",
            "less concurrency, or raise PROCESSES and SESSIONS",
            PASSING,
        ),
        ("ORA-02391", "the profile allows no more sessions", "less concurrency, or another profile"),
        ("ORA-02392 ORA-02394", "a limit of the user's profile was passed", "use another profile"),
        # the statement
        ("ORA-01013", "the statement was cancelled", "partial objects are removed by the clean-up"),
        ("ORA-00942", "the object is not there or not granted", "GRANT SELECT on it; for a V$ view on SYS.V_$..."),
        ("ORA-02019", "the database link is not known", "name objects of this database only"),
        ("ORA-01031", "a privilege is missing", "see the header `Needs` of the statement"),
        ("ORA-00955", "the name is already used", "choose another name; nothing is replaced"),
        ("ORA-01408", "the same columns are already indexed", "drop that index yourself, or choose other columns"),
        ("ORA-01418", "there is no such index", "check the name"),
        ("ORA-01430", "the column is already there", "choose another name"),
        ("ORA-00904 ORA-00918", "a column name is wrong or ambiguous", "check the columns of the query"),
        (
            "ORA-00933 ORA-03048 ORA-00900 ORA-00901 ORA-00902 ORA-00903 ORA-00905 ORA-00906 ORA-00907",
            "the statement has a wrong syntax",
            "check the query; it ends without a semicolon",
        ),
        ("ORA-00972", "a name is too long for this release", "shorten it: 30 bytes before 12.2, 128 from there"),
        ("ORA-00998", "an expression of the query has no name", "give it an alias"),
        ("ORA-00054", "the object is in use by another session", "another time, or a longer wait", PASSING),
        ("ORA-04021 ORA-04020", "a dictionary lock could not be had", "another time", PASSING),
        ("ORA-00060", "a deadlock was resolved by ending this statement", "another time", PASSING),
        ("ORA-00001", "a unique key is violated", "look for duplicates in the source"),
        ("ORA-01452", "duplicate keys forbid a unique index", "look for duplicates in the table"),
        (
            "ORA-01722 ORA-01858 ORA-01861",
            "a value of the query cannot be converted",
            "check the query's expressions",
        ),
        # parallel execution
        ("ORA-12801", "a parallel server met an error", "the next error of the stack says which"),
        (
            "ORA-12800 ORA-12804 ORA-12805 ORA-12853",
            "the server is too busy for parallel work, or a parallel server died",
            "a lower degree; see the alert log",
            PASSING,
        ),
        (
            "ORA-12827",
            "fewer parallel servers are free than the degree needs",
            "a lower degree, or wait until others are done",
            PASSING,
            DOWNGRADE,
        ),
        (
            "ORA-12838 ORA-12839 ORA-12840",
            "the table was read or changed after a direct load without COMMIT",
            "COMMIT first",
        ),
        ("ORA-12841", "parallel DML cannot be switched inside a transaction", "COMMIT or ROLLBACK first"),
        (
            "ORA-12842",
            "a table changed its definition during the parallel statement",
            "another time, without DDL beside it",
            PASSING,
        ),
        ("ORA-12850", "a GV$ view needs a parallel server on every instance", "query V$ of one instance", PASSING),
        ("ORA-30037", "parallel DML after other DML on the same object", "COMMIT in between"),
        (
            "ORA-00439",
            "the feature is not part of this edition",
            "work serially and offline, or use Enterprise Edition",
        ),
        # what cannot be copied or loaded
        (
            "ORA-00997",
            "a LONG column cannot be selected into a table",
            "leave the column out, or TO_LOB it in a query of your own",
        ),
        ("ORA-54013", "a virtual column takes no value", "leave the column out"),
        ("ORA-32795", "an identity column GENERATED ALWAYS takes no value", "leave the column out"),
        ("ORA-28081", "a redacted column is copied", "EXEMPT REDACTION POLICY, or leave the column out"),
        ("ORA-01450", "the index key is too long", "build offline, or in a tablespace of a larger block size"),
        ("ORA-25193 ORA-25194", "this index cannot be compressed so", "leave the compression out"),
        ("ORA-64307", "hybrid columnar compression needs Exadata or similar storage", "another compression"),
        ("ORA-14086", "a partitioned index is rebuilt partition by partition", "name its partitions"),
        ("ORA-14016", "a local index needs a partitioned table", "leave LOCAL out"),
        ("ORA-14104 ORA-14112", "RECOVERABLE and UNRECOVERABLE are not possible here", "use LOGGING or NOLOGGING"),
        ("ORA-01502", "an index is unusable", "rebuild it"),
        (
            "ORA-08104 ORA-08106",
            "an online rebuild of this index is under way or was broken off",
            "wait for SMON, or DBMS_REPAIR.ONLINE_INDEX_CLEAN",
        ),
        # space and memory
        ("ORA-01536", "the quota of the tablespace is used up", "ALTER USER ... QUOTA"),
        ("ORA-01950", "the user has no quota on the tablespace", "ALTER USER ... QUOTA"),
        (
            "ORA-01652",
            "no space is left for a temporary segment; in a CREATE TABLE it may be the target's tablespace",
            "add space, or a lower degree",
        ),
        ("ORA-01653 ORA-01654 ORA-01658 ORA-01659 ORA-01688 ORA-01683", "the tablespace is full", "add space"),
        ("ORA-30036 ORA-01650", "the undo tablespace is full", "add undo space"),
        (
            "ORA-01555",
            "the query was too long for the undo that is kept",
            "more undo retention, or a shorter statement",
            PASSING,
        ),
        ("ORA-30032", "a suspended statement waited too long for space", "add space"),
        ("ORA-04036", "the instance's PGA limit is reached", "a lower degree", PASSING),
        (
            "ORA-04030 ORA-04031",
            "memory is exhausted",
            "a lower degree; see the size of the shared and large pool",
            PASSING,
        ),
        ("ORA-00040 ORA-56735", "a limit of the resource manager ended the call", "another consumer group"),
        (
            "ORA-26040 ORA-01578",
            "a block that was loaded with NOLOGGING cannot be read",
            "back up after NOLOGGING work",
        ),
        # statistics
        (
            "ORA-20000",
            "the schema or table is not there, or ANALYZE ANY is missing",
            "check the name; GRANT ANALYZE ANY",
        ),
        ("ORA-20001", "a parameter of DBMS_STATS is wrong", "check the options"),
        (
            "ORA-20005 ORA-38029",
            "the statistics are locked",
            "they stay as they are; unlock them yourself if need be",
        ),
        ("ORA-20002", "the statistics table is of an older release", "DBMS_STATS.UPGRADE_STAT_TABLE"),
        (
            "ORA-20006",
            "the statistics history does not reach back so far",
            "restore from an exported statistics table",
        ),
        ("ORA-27486 ORA-27475", "CREATE JOB is missing, or there is no such job", "GRANT CREATE JOB"),
        ("ORA-44001 ORA-44002 ORA-44003 ORA-44004", "a name is refused by DBMS_ASSERT", "check the name"),
        # AWR, containers, grants
        ("ORA-13516 ORA-13509 ORA-13541 ORA-13562", "AWR is not available", "use the licence-free snapshots"),
        (
            "ORA-56708 ORA-56706 ORA-56707 ORA-56709 ORA-56710 ORA-56711 ORA-56712 ORA-56713 ORA-56714",
            "I/O calibration is not possible now",
            "asynchronous I/O is needed; in a container database from the root only",
        ),
        ("ORA-65096", "a name in the root needs the common prefix", "connect to the pluggable database"),
        (
            "ORA-65040 ORA-65049",
            "this is not allowed in this container",
            "connect to the service of the pluggable database",
        ),
        ("ORA-65054", "the pluggable database cannot be opened in this mode", "open it READ WRITE"),
        (
            "ORA-16000 ORA-25153",
            "the database is open read only or has no temporary space",
            "connect to the primary",
        ),
        ("ORA-02030", "only the V_$ object can be granted, not its synonym", "GRANT SELECT ON SYS.V_$..."),
        ("ORA-02003", "this release does not know a USERENV key", "nothing: the value stays unknown"),
        ("ORA-02248", "this release does not know a session parameter", "nothing: the setting is left alone"),
        # backup
        (
            "ORA-00245",
            "the snapshot control file is not on shared storage",
            "CONFIGURE SNAPSHOT CONTROLFILE by the DBA",
        ),
        ("ORA-19809 ORA-19804 ORA-19815", "the recovery area is full", "write outside of it"),
        (
            "ORA-19504 ORA-27040 ORA-19502 ORA-27072",
            "the server cannot create or write a backup piece",
            "check folder, permission and space on the server",
        ),
        (
            "ORA-19625 ORA-19755 ORA-19554",
            "a file or the media library cannot be used",
            "check the files and PARMS",
        ),
        ("RMAN-00554", "RMAN could not begin", "see the lines that follow"),
        (
            "RMAN-00558 RMAN-00559 RMAN-01008 RMAN-01009",
            "RMAN could not read the command file",
            "report it with the command file",
        ),
        ("RMAN-00571 RMAN-00569", "the frame of an error stack", "see the lines inside"),
        ("RMAN-03002 RMAN-03009", "an RMAN command failed", "the last line of the stack is usually the cause"),
        (
            "RMAN-04004 RMAN-04005 RMAN-04006",
            "RMAN cannot reach the target, catalog or auxiliary",
            "see the ORA- code beside it",
        ),
        ("RMAN-05604", "SECTION SIZE does not go with USING COPY", "leave one out"),
        ("RMAN-06000 RMAN-06438", "RMAN's packages do not fit the database", "check ORACLE_HOME"),
        ("RMAN-06004", "the recovery catalog has an error", "run with NOCATALOG"),
        (
            "RMAN-06023 RMAN-06026 RMAN-06054 RMAN-06059",
            "a backup or log that is needed is not there",
            "RESTORE VALIDATE needs a backup",
        ),
        ("RMAN-06149", "an open database in NOARCHIVELOG cannot be backed up", "mount it, or use VALIDATE"),
        (
            "RMAN-06207 RMAN-06208 RMAN-06214",
            "some pieces could not be deleted",
            "list them; a crosscheck is the DBA's",
        ),
        ("RMAN-06908 RMAN-06909", "this edition uses one channel only", "count it as one channel"),
        (
            "RMAN-08137 RMAN-08120 RMAN-08138",
            "an archived log is still needed and was kept",
            "nothing: no logs are deleted here",
        ),
        (
            "RMAN-12001 RMAN-10008 RMAN-10032",
            "a channel could not be opened",
            "check the connect string and the media library",
        ),
    )
)

CATALOGUE: dict[str, ErrorAdvice] = {
    code: ErrorAdvice(code, meaning, advice, passing=PASSING in flags, downgrade=DOWNGRADE in flags)
    for codes, meaning, advice, flags in _ROWS
    for code in codes.split()
}

_CODE = re.compile(r"\b(?:ORA|DPY|DPI|RMAN|PLS|TNS)-\d{3,5}\b")
_HELP = re.compile(r"\s*^Help: https?://\S+\s*$", re.MULTILINE)
_FRAMES = frozenset(
    {"ORA-12801", "RMAN-00571", "RMAN-00569", "RMAN-03002", "RMAN-03009", "ORA-06512", "ORA-00604"}
)


def tidy_message(message: str) -> str:
    """Drop the line `Help: https://...` that the thin driver appends."""
    return _HELP.sub("", message).strip()


def cause_code(code: str, message: str) -> str:
    """Return the code that is the cause: a frame such as ORA-12801 points at the next code of the stack."""
    if code not in _FRAMES:
        return code
    return next((found for found in _CODE.findall(message) if found not in _FRAMES), code)


def explain(code: str, message: str) -> ErrorAdvice | None:
    """Look a code up; a frame of a stack is looked up by the cause inside it."""
    return CATALOGUE.get(cause_code(code, message)) or CATALOGUE.get(code)
