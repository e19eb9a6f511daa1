"""What differs between Oracle releases and editions, as data with its source; nothing else asks for a version.

Sources are documentation pages: SQL Language Reference (SQLRF), Database Reference (REFRN), Licensing Information
(DBLIC), VLDB and Partitioning Guide (VLDBG). 26ai calls itself 23.26, so release numbers compare as they are.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum

from toolkit.model.facts import Facts, Release
from toolkit.model.values import Row


class Feature(StrEnum):
    """What a release can or cannot."""

    THIN_DRIVER = "thin-driver"
    LONG_NAMES = "long-names"
    STORE_WORDS = "row-store-compress"
    ONLINE_STATISTICS = "online-statistics"
    IGNORE_PARALLEL_HINTS = "optimizer-ignore-parallel-hints"
    INDEX_ADVANCED_LOW = "index-compress-advanced-low"
    INDEX_ADVANCED_HIGH = "index-compress-advanced-high"
    BITMAP_ONLINE = "bitmap-index-online"
    TWIN_INDEXES = "several-indexes-on-one-set-of-columns"
    ONLINE_PARTITION_MOVE = "move-partition-online"
    ONLINE_TABLE_MOVE = "move-table-online"
    PARALLEL_DML_HINT = "enable-parallel-dml-hint"
    INVISIBLE_COLUMNS = "invisible-and-identity-columns"
    AUTOMATIC_LIST = "automatic-list-partitions"
    SERVERS_WORDING = "v$pq_sesstat-servers"
    PARALLEL_LOB_DDL = "parallel-ddl-with-securefiles"
    LARGE_HISTOGRAMS = "histograms-of-2048-buckets"
    STATISTICS_TASKS = "dba_optstat_operation_tasks"
    STATISTICS_REPORTS = "dbms_stats.report_gather"
    PDB_SNAPSHOTS = "awr-snapshots-of-a-pluggable-database"
    PLUGGABLE = "pluggable-databases"
    SECTIONED_LEVELS = "multisection-incremental-backups"
    DEFERRED_INDEX_CLEANUP = "asynchronous-global-index-maintenance"
    RANGE_SECTION_DROP = "drop-the-last-partition-of-the-range-section"
    MANY_PARTITIONS = "many-partitions-in-one-statement"
    ONLINE_PARTITION_SPLIT = "online-partition-split"
    FIELD_NAMES = "external-tables-pass-over-headers"
    OUT_OF_PLACE_REFRESH = "out-of-place-refresh"
    REDEFINITION_WAIT = "redefinition-with-a-limit-of-its-wait"


@dataclass(frozen=True, slots=True)
class Since:
    """The first release that has a feature, where that is written, and the first that has it no more."""

    number: tuple[int, ...]
    source: str
    until: tuple[int, ...] = ()


FEATURES: dict[Feature, Since] = {
    Feature.THIN_DRIVER: Since((12, 1), "python-oracledb, appendix A: DPY-3010 before 12.1"),
    Feature.LONG_NAMES: Since((12, 2), "SQLRF 12.2, Database Object Naming Rules: 128 bytes"),
    Feature.STORE_WORDS: Since(
        (12, 1), "SQLRF 12.1, table_compression: ROW STORE COMPRESS, COLUMN STORE COMPRESS"
    ),
    Feature.ONLINE_STATISTICS: Since((12, 1), "SQL Tuning Guide 12.1: hint NO_GATHER_OPTIMIZER_STATISTICS"),
    Feature.IGNORE_PARALLEL_HINTS: Since((18,), "REFRN 18: OPTIMIZER_IGNORE_PARALLEL_HINTS"),
    Feature.INDEX_ADVANCED_LOW: Since((12, 1, 0, 2), "SQLRF 12.1.0.2: COMPRESS ADVANCED LOW"),
    Feature.INDEX_ADVANCED_HIGH: Since((12, 2), "SQLRF 12.2: COMPRESS ADVANCED HIGH"),
    Feature.BITMAP_ONLINE: Since((12, 1), "ORA-08108 before; not found in writing, so the cautious reading"),
    Feature.ONLINE_PARTITION_MOVE: Since((12, 1), "SQLRF 12.1, move_table_partition: ONLINE"),
    Feature.ONLINE_TABLE_MOVE: Since((12, 2), "SQLRF 12.2, move_table_clause: ONLINE, UPDATE INDEXES"),
    Feature.TWIN_INDEXES: Since((12, 1), "SQLRF 12.1, CREATE INDEX: the same columns, another kind, one visible"),
    Feature.LARGE_HISTOGRAMS: Since((12, 1), "PL/SQL Packages 12.1, DBMS_STATS: SIZE to 2048, before to 254"),
    Feature.STATISTICS_TASKS: Since((12, 1), "REFRN 12.1: DBA_OPTSTAT_OPERATION_TASKS, STATUS of the operations"),
    Feature.STATISTICS_REPORTS: Since((12, 1), "PL/SQL Packages 12.1: DBMS_STATS.REPORT_GATHER_SCHEMA_STATS"),
    Feature.PLUGGABLE: Since((12, 1), "RMAN Reference 12.1, dbObject: PLUGGABLE DATABASE; REFRN 12.1: V$PDBS"),
    Feature.SECTIONED_LEVELS: Since((12, 1), "BRADV 12.1, multisection incremental backups: COMPATIBLE 12.0.0"),
    Feature.DEFERRED_INDEX_CLEANUP: Since(
        (12, 1), "VLDBG 12.1, asynchronous global index maintenance: DROP, TRUNCATE"
    ),
    Feature.OUT_OF_PLACE_REFRESH: Since((12, 1), "PL/SQL Packages 12.1, DBMS_MVIEW.REFRESH: out_of_place"),
    Feature.REDEFINITION_WAIT: Since(
        (12, 1), "PL/SQL Packages 12.1, DBMS_REDEFINITION: dml_lock_timeout, copy_vpd_opt"
    ),
    Feature.FIELD_NAMES: Since((12, 1), "Database Utilities 12.1, ORACLE_LOADER: FIELD NAMES"),
    Feature.MANY_PARTITIONS: Since((12, 1), "VLDBG 12.1, Merging Multiple Partitions"),
    Feature.ONLINE_PARTITION_SPLIT: Since((12, 2), "SQLRF 12.2, split_table_partition: ONLINE"),
    Feature.RANGE_SECTION_DROP: Since((12, 2), "ORA-14758 before (My Oracle Support 1590833.1)"),
    Feature.PARALLEL_DML_HINT: Since((12, 1), "VLDBG 12.1, Enable Parallel DML Mode: ENABLE_PARALLEL_DML"),
    Feature.INVISIBLE_COLUMNS: Since((12, 1), "SQLRF 12.1, CREATE TABLE: INVISIBLE, identity_clause"),
    Feature.AUTOMATIC_LIST: Since((12, 2), "SQLRF 12.2, list_partitions: AUTOMATIC"),
    Feature.PARALLEL_LOB_DDL: Since(
        (21,),
        "VLDBG 21, parallel DDL: allowed with SecureFiles LOBs in a table that is not partitioned; 12.1: none",
    ),
    Feature.PDB_SNAPSHOTS: Since((12, 2), "Multitenant Administrator's Guide 12.2: AWR in a pluggable database"),
    Feature.SERVERS_WORDING: Since((23, 26), "REFRN 26ai, V$PQ_SESSTAT: `Servers` and `Server Sets`"),
}


@dataclass(frozen=True, slots=True)
class Edition:
    """What an edition may do (DBLIC, table of features; VLDBG on parallel execution).

    `parallel` False: every statement is serial whatever was asked. `enterprise` True: online index builds, bitmap
    indexes and table compression are there; None: V$OPTION alone can tell.
    """

    code: str
    words: str
    parallel: bool
    enterprise: bool | None


EDITIONS: dict[str, Edition] = {
    edition.code: edition
    for edition in (
        Edition("ee", "Enterprise Edition", parallel=True, enterprise=True),
        Edition("se2", "Standard Edition 2", parallel=False, enterprise=False),
        Edition("se", "Standard Edition", parallel=False, enterprise=False),
        Edition("xe", "Express Edition", parallel=False, enterprise=None),
        Edition("free", "Free", parallel=False, enterprise=None),
    )
}

_UNKNOWN = Edition("", "an unknown edition", parallel=True, enterprise=None)

# How a banner of V$VERSION shows the edition; the first that fits wins. A banner of 11.2 and 12.1 Standard
# Edition names no edition at all.
_BANNERS: tuple[tuple[str, str], ...] = (
    (r"\bExpress Edition\b", "xe"),
    (r"\bFree\b", "free"),
    (r"\bEnterprise Edition\b|\bEE\b", "ee"),
    (r"\bStandard Edition 2\b", "se2"),
    (r"\bStandard Edition\b|Oracle Database .*Release (?:11|12)\.", "se"),
)

RELEASES: dict[str, tuple[int, ...]] = {
    "11.2": (11, 2, 0, 4),
    "12.1": (12, 1, 0, 2),
    "12.2": (12, 2, 0, 1),
    "18": (18, 0),
    "19": (19, 0),
    "21": (21, 0),
    "23": (23, 0),
    "26": (23, 26),
}

# Schemas of the database software, for releases and grants that do not show it (DBA_USERS.ORACLE_MAINTAINED is
# there from 12.1). Source: Database Security Guide, predefined administrative and non-administrative accounts.
MAINTAINED_SCHEMAS = frozenset(
    {"ANONYMOUS", "APPQOSSYS", "AUDSYS", "CTXSYS", "DBSFWUSER", "DBSNMP", "DGPDB_INT", "DIP", "DVF",
     "DVSYS", "EXFSYS", "GGSHAREDCAP", "GGSYS", "GSMADMIN_INTERNAL", "GSMCATUSER", "GSMUSER", "LBACSYS",
     "MDDATA", "MDSYS", "MGMT_VIEW", "OJVMSYS", "OLAPSYS", "ORACLE_OCM", "ORDDATA", "ORDPLUGINS", "ORDSYS",
     "OUTLN", "OWBSYS", "REMOTE_SCHEDULER_AGENT", "SI_INFORMTN_SCHEMA", "SPATIAL_CSW_ADMIN_USR",
     "SPATIAL_WFS_ADMIN_USR", "SYS", "SYS$UMF", "SYSBACKUP", "SYSDG", "SYSKM", "SYSMAN", "SYSRAC",
     "SYSTEM", "VECSYS", "WMSYS", "XDB", "XS$NULL"}
)  # fmt: skip


def has(release: Release, feature: Feature) -> bool:
    """Tell whether a release has a feature; an unknown release has them all."""
    since = FEATURES[feature]
    if not release.number:
        return True
    return release.number >= since.number and not (since.until and release.number >= since.until)


def edition_of(facts: Facts) -> Edition:
    """Return the edition a target runs, or one that forbids nothing when it is not known."""
    return EDITIONS.get(facts.release.edition, _UNKNOWN)


def name_limit(release: Release | None) -> int:
    """Return the longest name in bytes; an unknown release is taken for a new one."""
    return 128 if release is None or has(release, Feature.LONG_NAMES) else 30


def read_release(server: Row) -> Release:
    """Read number and edition from the banner of V$VERSION (column `version_text`)."""
    banner = str(server.get("version_text") or "").strip()
    found = re.search(r"(?:Release|Version)\s+(\d+(?:\.\d+)+)", banner) or re.search(r"(\d+(?:\.\d+)+)", banner)
    number = tuple(int(part) for part in found[1].split(".")) if found else ()
    return Release(number, _edition_code(banner, str(server.get("edition") or "")), banner)


def _edition_code(banner: str, edition: str) -> str:
    if edition.lower() in EDITIONS:
        return edition.lower()
    return next((code for pattern, code in _BANNERS if re.search(pattern, banner)), "")
