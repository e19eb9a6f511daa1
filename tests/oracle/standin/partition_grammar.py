"""The forms of statements that exchange, split, merge and coalesce partitions."""

from __future__ import annotations

from tests.oracle.standin.index_grammar import IDENTIFIER, NAME, PARALLEL

_PARALLEL = rf"(?:\s+(?P<parallel>{PARALLEL}))?"
_ALTER = rf"ALTER\s+TABLE\s+(?P<name>{NAME})\s+"
_UPDATE = r"(?P<update>\s+UPDATE\s+INDEXES)?"

FORMS: tuple[tuple[str, str], ...] = (
    (
        "partition_exchange",
        rf"{_ALTER}EXCHANGE\s+(?P<level>PARTITION|SUBPARTITION)\s+(?P<part>{IDENTIFIER})\s+WITH\s+TABLE\s+(?P<other>{NAME})"
        rf"\s+(?P<indexes>INCLUDING|EXCLUDING)\s+INDEXES\s+(?P<validation>WITH|WITHOUT)\s+VALIDATION"
        rf"(?P<update>\s+UPDATE\s+GLOBAL\s+INDEXES)?{_PARALLEL}",
    ),
    (
        "partition_split",
        rf"{_ALTER}SPLIT\s+PARTITION\s+(?P<part>{IDENTIFIER})\s+(?P<how>AT|VALUES)\s+\((?P<values>.*?)\)"
        rf"\s+INTO\s+\((?P<into>PARTITION.*?)\){_UPDATE}{_PARALLEL}(?P<online>\s+ONLINE)?",
    ),
    (
        "partition_merge",
        rf"{_ALTER}MERGE\s+PARTITIONS\s+(?P<parts>{IDENTIFIER}(?:,\s*{IDENTIFIER})+)\s+INTO\s+PARTITION\s+(?P<into>{IDENTIFIER})"
        rf"(?:\s+TABLESPACE\s+(?P<tablespace>{IDENTIFIER}))?{_UPDATE}{_PARALLEL}",
    ),
    ("partition_coalesce", rf"{_ALTER}COALESCE\s+PARTITION{_UPDATE}{_PARALLEL}"),
)
