"""What a report of a cluster details of its global cache, its locks and its interconnect."""

from __future__ import annotations

from toolkit.readers.awr.fields import Field, SectionSpec
from toolkit.readers.awr.forms import FieldKind
from toolkit.readers.awr.tables import snake

_T, _N, _MS = FieldKind.TEXT, FieldKind.IDENTIFIER, FieldKind.MILLISECONDS
_MEASURE = Field("name", "|statistic|name", FieldKind.MEASURE)
_LABEL, _VALUE = Field("name", "|statistic|name", FieldKind.LABEL), Field("value", "value")
_INST = Field("inst_num", "i#", FieldKind.ANY)
_BLOCK_CLASS = Field("block_class", "block class", _T)
_TO = Field("to_instance", "instance# dest", FieldKind.ANY)
_FROM = Field("from_instance", "inst no|src inst#|instance# src", FieldKind.ANY)
_RATES = (
    Field("total", "total"), Field("per_second", "per second"), Field("per_txn", "per trans|per transaction"),
)  # fmt: skip


def _named(heading: str) -> tuple[str, FieldKind]:
    return snake(heading), FieldKind.ANY


def _below(heading: str) -> tuple[str, FieldKind]:
    """Name a share by the time it is below: `% <100us` is `pct_below_100us`."""
    _, sign, limit = heading.partition("<")
    return (f"pct_below_{limit.strip()}", FieldKind.SHARE) if sign else _named(heading)


def _by_instance(name: str, words: str) -> SectionSpec:
    return SectionSpec(name, (_INST,), ("inst_num",), words=words, rest=_named)


def _ping(unit: str, words: str) -> SectionSpec:
    """Declare the pings of the interconnect: notes of 11g say milliseconds, those of 12c on microseconds.

    Their deviations are printed in another unit than the averages by some releases, and are as printed.
    """
    sizes = (("500b", "500b ping count|500 bytes ping count", "avg latency 500b msg|500 bytes avg time us",
              "stddev 500b msg|500 bytes std dev"),
             ("8k", "8k ping count|8 kbytes ping count", "avg latency 8k msg|8 kbytes avg time us",
              "stddev 8k msg|8 kbytes std dev"))  # fmt: skip
    return SectionSpec(
        "interconnect_ping",
        (
            Field("from_instance", "instance# src", FieldKind.ANY),
            Field("to_instance", "target instance|instance# target", FieldKind.ANY),
            *(
                field
                for size, count, average, deviation in sizes
                for field in (Field(f"pings_{size}", count), Field(f"avg_{size}_ms", average, _MS, unit),
                              Field(f"stddev_{size}", deviation))
            ),
        ),
        ("to_instance",),
        words=words,
        rest=_named,
    )  # fmt: skip


_BLOCKS = tuple(
    Field(f"{kind}_{name}", headings.replace("@", kind))
    for kind in ("cr", "current")
    for name, headings in (
        ("blocks", "@ blocks received|@ immed blks received|immediate @ blocks received"),
        ("pct_immediate", "@ % immed|@ blocks %immed"), ("pct_busy", "@ % busy|@ blocks %busy"),
        ("pct_congested", "@ % congst|@ blocks %cngst"),
        ("pct_2_hop", "@ % 2hop|immediate @ blocks %2 hop"), ("pct_3_hop", "@ % 3hop|immediate @ blocks %3 hop"),
    )
)  # fmt: skip
_TIMES = tuple(
    Field(f"{kind}_{name}_ms", "|".join(f"{before}{kind} avg time {unit} {after}" for before, after in printed
                                        for unit in ("us", "ms")), _MS)
    for kind in ("cr", "current")
    for name, printed in (
        ("all", (("", "all"), ("immed ", "total"))), ("immediate", (("", "immed"),)), ("busy", (("", "busy"),)),
        ("congested", (("", "congst"), ("", "cngst"))), ("2_hop", (("", "2hop"), ("immed ", "2 hop"))),
        ("3_hop", (("", "3hop"), ("immed ", "3 hop"))),
    )
)  # fmt: skip
_LOST = (Field("blocks_lost", "blocks lost|lost blocks count"), Field("lost_ms", "lost blocks time us", _MS))

GLOBAL_CACHE = (
    SectionSpec("gc_load", (_LABEL, *_RATES), ("name", "per_second", "per_txn"),
                words="global cache load profile"),
    SectionSpec("gc_efficiency", (_LABEL, Field("pct", "value")), (), words="global cache efficiency percentages",
                labels=True),
    SectionSpec("gc_workload", (_MEASURE, _VALUE), (), words="enqueue services workload characteristics",
                labels=True),
    SectionSpec("gc_messaging", (_MEASURE, _VALUE), (), words="enqueue services messaging statistics",
                labels=True),
    SectionSpec("global_messages", (_LABEL, *_RATES), ("name", "total", "per_second"),
                words="^global messaging statistics", rest=_named),
    SectionSpec("gc_cr_server", (_LABEL, *_RATES), ("name", "total"), words="^global cr serve"),
    SectionSpec("gc_current_server", (_LABEL, *_RATES), ("name", "total"), words="^global current serve",
                rest=_below),
    SectionSpec("gc_transfers", (_TO, _FROM, _BLOCK_CLASS, *_BLOCKS, *_TIMES),
                ("from_instance", "block_class", "cr_pct_busy")),
    SectionSpec("gc_transfer_times", (_TO, _FROM, _BLOCK_CLASS, *_TIMES),
                ("from_instance", "block_class", "cr_busy_ms")),
    SectionSpec("gc_immediate_transfers", (_TO, _FROM, _BLOCK_CLASS, *_LOST, *_BLOCKS, *_TIMES),
                ("from_instance", "block_class", "cr_pct_2_hop")),
    SectionSpec("gc_immediate_times", (_FROM, _BLOCK_CLASS, *_LOST, *_TIMES),
                ("from_instance", "block_class", "cr_2_hop_ms"), rest=_named),
    SectionSpec("gc_remastering", (_LABEL, Field("total", "total"), Field("per_operation", "per remaster op"),
                                   Field("begin", "begin snap"), Field("end", "end snap")),
                ("name", "total", "per_operation")),
    _ping("ms", r"^interconnect ping latency stats\b"),
    _ping("us", "ping (latency )?stat"),
    SectionSpec("interconnect_clients", (Field("client", "used by", _T),
                                         Field("sent_mb_per_s", "send mbytes sec"),
                                         Field("received_mb_per_s", "receive mbytes sec")),
                ("client", "sent_mb_per_s")),
    SectionSpec("interconnect_devices", (_INST, Field("device", "device name|interface name", _N)), ("device",),
                words="interconnect device statistics", rest=_named),
    _by_instance("gc_rates_by_instance", r"sysstat and global messaging per sec"),
    _by_instance("gc_rates_per_txn_by_instance", r"sysstat and global messaging per tx"),
    _by_instance("gc_totals_by_instance", r"sysstat and global messaging rac"),
    _by_instance("gc_efficiency_by_instance", "global cache efficiency percentages"),
    _by_instance("gc_latency_by_instance", "global latency characteristics"),
    _by_instance("gc_messaging_by_instance", "^global messaging statistics"),
    _by_instance("gc_cr_server_by_instance", "^global cr serve"),
    SectionSpec("gc_current_server_by_instance", (_INST,), ("inst_num",), words="^global current serve",
                rest=_below),
    _by_instance("gc_remastering_by_instance", "dynamic remastering statistics"),
    _by_instance("interconnect_rates_by_instance", "interconnect client statistics per second"),
    _by_instance("interconnect_totals_by_instance", "interconnect client statistics"),
)  # fmt: skip
"""Of a report of one instance first, then of one of the whole cluster."""
