"""The advisories that a report prints a second time, `(for ADDM)`: sizes at both snapshots, and what was gained.

Their sizes are two, of the first and of the last snapshot, so they are sections of their own.
"""

from __future__ import annotations

from toolkit.readers.awr.fields import Field, SectionSpec
from toolkit.readers.awr.forms import FieldKind

_S, _T = FieldKind.SECONDS, FieldKind.TEXT


def _sizes(*headings: str) -> tuple[Field, ...]:
    """Declare a size at the first snapshot and at the last, by what stands behind or around `beg snap`."""
    return tuple(
        Field(f"{when}_size_mb", "|".join(heading.replace("@", printed) for heading in headings))
        for when, printed in (("begin", "beg snap"), ("end", "end snap"))
    )


ADDM_ADVICE = (
    SectionSpec(
        "addm_buffer_cache_advice",
        (
            Field("status", "on", _T), Field("block_size", "block size"), Field("size_factor", "size factr"),
            *_sizes("size for est m @"), Field("read_factor", "est physical read factor"),
            Field("physical_reads", "estimated physical reads"),
        ),
        ("block_size", "size_factor", "begin_size_mb"),
    ),
    SectionSpec(
        "addm_pga_advice",
        (
            Field("size_factor", "pga size factor"), Field("io_saved_pct", "i o saved percent"),
            *_sizes("@ pga size mb"), Field("processed_mb", "m bytes processed"),
            Field("extra_processed_mb", "extra m bytes processed"),
        ),
        ("size_factor", "begin_size_mb"),
    ),
    SectionSpec(
        "addm_shared_pool_advice",
        (
            Field("size_factor", "sp size factor"), Field("time_saved_s", "total time saved seconds", _S),
            Field("time_gained_pct", "factor time gained percent"), *_sizes("@ shared pool size mb"),
            Field("begin_library_cache_mb", "beg snap lib cache size mb"),
            Field("end_library_cache_mb", "end snap lib cache size mb"),
        ),
        ("size_factor", "begin_size_mb"),
    ),
    SectionSpec(
        "addm_sga_advice",
        (
            Field("size_factor", "sga size factor"), *_sizes("@ sga target size m"),
            Field("db_time_s", "est db time s", _S), Field("physical_reads", "est physical reads"),
        ),
        ("size_factor", "begin_size_mb"),
    ),
    SectionSpec(
        "addm_streams_pool_advice",
        (
            Field("size_factor", "size factor"), *_sizes("@ size for est mb"),
            Field("unspill_time_s", "est unspill time s", _S),
        ),
        ("size_factor", "begin_size_mb"),
    ),
)  # fmt: skip
