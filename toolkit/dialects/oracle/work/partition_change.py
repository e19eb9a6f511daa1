"""ALTER TABLE MERGE PARTITIONS and COALESCE PARTITION, and what all changes of partitions share.

Sources: SQL Language Reference, ALTER TABLE, alter_table_partitioning; VLDB and Partitioning Guide, "Maintenance
Operations Supported on Partitions" (which kinds of partitioning have which; reference partitions cascade),
"Merging Multiple Partitions" (12.1; neighbours in ascending order); Database Error Messages: ORA-14274 to 14276.
"""

# ruff: noqa: ARG002 (every operation answers with the same arguments)

from __future__ import annotations

from collections.abc import Iterator, Sequence

from toolkit.dialects.indexes import IndexPart
from toolkit.dialects.oracle import space, spelling
from toolkit.dialects.oracle.catalog import fact_about
from toolkit.dialects.oracle.names import parse_name
from toolkit.dialects.oracle.options import option_is_off
from toolkit.dialects.oracle.releases import Feature, has
from toolkit.dialects.oracle.session import lock_wait_seconds
from toolkit.dialects.oracle.work import partition_drop
from toolkit.dialects.oracle.work.base import segment_bytes, tablespace
from toolkit.dialects.oracle.work.indexes import no
from toolkit.dialects.work import Call, ContextValue, Work
from toolkit.model.experiment import OptionValue
from toolkit.model.facts import Facts
from toolkit.model.steps import Takes, Until
from toolkit.model.values import Row, Support
from toolkit.model.words import Effect, Mode, Role, StepKind

PARTITIONS, MOVABLE = partition_drop.PARTITIONS, "movable"
FILES = (MOVABLE, "partitions", PARTITIONS, partition_drop.REFERRING, partition_drop.REFERRING_ELSEWHERE)
Ways = Sequence[str]


class PartitionChange:
    """What every change of partitions answers; `verb` is the participle in its sentences."""

    verb = ""
    ways: Ways = ()
    """The kinds of partitioning that have it."""

    def prepare(self, work: Work, facts: Facts) -> tuple[Call, ...]:
        return ()

    def settle(self, work: Work, facts: Facts) -> tuple[Call, ...]:
        """Leave the attributes of the table as they are: the clause of a degree is one of the statement."""
        return ()

    def evidence(self, work: Work, facts: Facts) -> tuple[Call, ...]:
        return (segment_bytes(work.object, facts),)

    def timed(self, work: Work, facts: Facts) -> tuple[Call, ...]:
        raise NotImplementedError

    def sources(self, work: Work, facts: Facts) -> tuple[Row, ...]:
        """Return the partitions whose rows are written anew; empty where they are not known."""
        return ()

    def parts_of(self, work: Work, facts: Facts) -> tuple[IndexPart, ...]:
        """Return the one partition that it is about; none where it is about the table."""
        return ()

    def ended_before(self, work: Work, begun: Facts, now: Facts) -> bool:
        raise NotImplementedError

    def takes(self, work: Work, facts: Facts) -> tuple[Takes, ...]:
        """Say what the new segments take beside the old ones."""
        rows = self.sources(work, facts)
        sizes = [row.get("byte_count") for row in rows]
        known = bool(sizes) and all(isinstance(size, int | float) for size in sizes)
        total = sum(float(size or 0) for size in sizes) if known else None
        place = tablespace(work) or fact_about(facts, work.object.name, "tablespace_name")
        place = place or next((row.get("tablespace_name") for row in facts.rows("partitions")), None)
        return tuple(space.takes(
            total, None if place is None else str(place), work.object.name.schema, facts, until=Until.STEP,
            unknown="" if known else f"the sizes of the partitions of `{work.object.name}` are not known",
        ))  # fmt: skip

    # -- what stands in the way -----------------------------------------------------------------------------------
    def judge(self, work: Work, facts: Facts) -> Support | None:
        if work.mode is Mode.MEASUREMENT:
            return no(
                f"partitions are {self.verb} once: nothing is left to measure; omit --repeat, give one level"
            )
        if facts.assumed and not facts.rows(PARTITIONS):
            return self.judge_options(work, facts)
        why = next(self._hindrances(work, facts), None)
        if why is not None:
            return no(f"the partitions of `{work.object.name}` are not {self.verb}: {why}")
        return self.judge_options(work, facts) or self.judge_partitions(work, facts)

    def judge_options(self, work: Work, facts: Facts) -> Support | None:
        """Say what of the options this release does not have."""
        return None

    def judge_partitions(self, work: Work, facts: Facts) -> Support | None:
        """Say what of the partitions stands in the way."""
        return None

    def _hindrances(self, work: Work, facts: Facts) -> Iterator[str]:
        table, row = work.object.name, facts.first(PARTITIONS)

        def said(column: str) -> str:
            return str(fact_about(facts, table, column) or "").strip().upper()

        if (refused := facts.refused.get(PARTITIONS) or facts.refused.get(MOVABLE)) is not None:
            yield f"they cannot be read ({refused})"
        if said("partitioned") != "YES" or not row:
            yield "it has none"
        if option_is_off(facts, "Partitioning"):
            yield "V$OPTION says that Partitioning is not part of this installation"
        if said("iot_type"):
            yield "it is index-organized; do it by hand"
        if said("nested") == "YES":
            yield "it is the storage of a nested table, whose parent decides on its partitions"
        if said("domain_index_count") not in ("", "0", "0.0"):
            yield "it has a domain index, whose own indextype decides what becomes of it"
        how = str(row.get("partitioning_type") or "").strip().upper()
        if how not in self.ways:
            has_it = " or ".join(way.lower() for way in self.ways)
            yield f"it is partitioned by {how.lower()}, and only {has_it} partitions are {self.verb}"
        child = next((row for row in facts.rows(partition_drop.REFERRING) if row.get("partitions") == "yes"), None)
        if child is not None:
            name = f"`{child['referring_schema']}.{child['referring_table']}`"
            yield f"{name} is partitioned by its reference to it, and its partitions would be {self.verb}, too"

    # -- what to know before --------------------------------------------------------------------------------------
    def remarks(self, work: Work, facts: Facts) -> Iterator[str]:
        """Say what is locked, for how long, and that nothing takes it back by itself."""
        wait = lock_wait_seconds(work.options)
        if work.option("online"):
            yield (
                "locks: changes of the partition go on; the statement waits for open transactions when it begins "
                "and before it ends"
            )
        else:
            yield (
                f"locks: nobody can change rows of the partitions that are {self.verb} until they are written; "
                f"the statement waits up to {wait} s for open transactions (--lock-wait), and changes that come "
                "later queue behind it; queries and other partitions go on"
            )
        yield (
            "UPDATE INDEXES: local indexes of the new partitions are built, and entries of global ones changed, "
            "within the statement; the new partitions have no statistics before they are gathered"
        )
        if fact_about(facts, work.object.name, "subpartitioning_type") not in (None, "NONE"):
            yield "subpartitions of the new partitions are those of the table's template, or one for all rows"
        yield "a failure or a kill leaves the partitions as they were; there is no undo afterwards"


def bound_of(row: Row) -> str:
    return str(row.get("high_value") or "").strip()


def names_of(option: OptionValue | None) -> tuple[str, ...]:
    """Return names as the catalogue spells them."""
    texts = option if isinstance(option, tuple) else (str(option),)
    return tuple(parse_name(str(text)).name for text in texts)


def parallel(work: Work) -> str | None:
    return None if spelling.is_serial(work) else spelling.parallel_clause(work)


def change(template: str, values: dict[str, ContextValue], work: Work) -> Call:
    return Call(
        template, {"table": work.object.name, "parallel": parallel(work), **values}, session=Role.WORKER,
        effect=Effect.CHANGES, object=work.object,
    )  # fmt: skip


def check(template: str, values: dict[str, ContextValue], work: Work) -> Call:
    """Look right before the statement whether the table is still as it was read."""
    name = work.object.name
    binds: dict[str, ContextValue] = {"schema": name.schema, "name": name.name, **values}
    return Call(template, binds, StepKind.BLOCK, session=Role.WORKER, object=work.object)


class MergePartitions(PartitionChange):
    """ALTER TABLE MERGE PARTITIONS."""

    verb = "merged"
    ways = ("RANGE", "LIST")

    def sources(self, work: Work, facts: Facts) -> tuple[Row, ...]:
        names = names_of(work.option("merged"))
        return tuple(row for row in facts.rows(PARTITIONS) if row["part_name"] in names)

    def timed(self, work: Work, facts: Facts) -> tuple[Call, ...]:
        values: dict[str, ContextValue] = {
            "parts": names_of(work.option("merged")),
            "into": names_of(work.option("new_name"))[0],
            "tablespace": tablespace(work),
        }
        return (change("partition_merge", values, work),)

    def judge_options(self, work: Work, facts: Facts) -> Support | None:
        if len(names_of(work.option("merged"))) > 2 and not has(facts.release, Feature.MANY_PARTITIONS):
            return no("before 12.1 Oracle merges two partitions at once")
        return None

    def judge_partitions(self, work: Work, facts: Facts) -> Support | None:
        merged, (into,) = names_of(work.option("merged")), names_of(work.option("new_name"))
        every = [str(row["part_name"]) for row in facts.rows(PARTITIONS)]
        if lacks := next((name for name in merged if name not in every), None):
            return no(f"`{work.object.name}` has no partition `{lacks}`; it has {_listed(every)}")
        ranges = str(facts.first(PARTITIONS).get("partitioning_type")).strip() == "RANGE"
        at = every.index(merged[0])
        if ranges and tuple(every[at : at + len(merged)]) != merged:
            between = every[at : at + len(merged)]
            return no(
                f"ranges that are merged are neighbours, the lowest first (ORA-14274): after `{merged[0]}` come "
                f"{_listed(between[1:]) or 'none'}"
            )
        if into in every and into not in merged:
            return no(f"`{into}` is another partition of `{work.object.name}`; choose another name for --new-name")
        if ranges and into in merged[:-1]:
            return no(f"`{into}` is not the highest of the ranges, whose name alone stays (ORA-14275)")
        return None

    def ended_before(self, work: Work, begun: Facts, now: Facts) -> bool:
        """Tell whether the partition is there that they were to become, and none of those that were merged."""
        merged, (into,) = names_of(work.option("merged")), names_of(work.option("new_name"))
        were, are = (_names(facts) for facts in (begun, now))
        return set(merged) <= were and into in are and not (set(merged) - {into}) & are


class CoalescePartition(PartitionChange):
    """ALTER TABLE COALESCE PARTITION."""

    verb = "coalesced"
    ways = ("HASH",)

    def sources(self, work: Work, facts: Facts) -> tuple[Row, ...]:
        """Return the last partition: of ranges of hash values it is the one whose rows go into another."""
        return facts.rows(PARTITIONS)[-1:]

    def timed(self, work: Work, facts: Facts) -> tuple[Call, ...]:
        known = facts.rows(PARTITIONS)
        look = (check("partitions_as_read", {"partitions": len(known)}, work),) if known else ()
        return (*look, change("partition_coalesce", {}, work))

    def judge_partitions(self, work: Work, facts: Facts) -> Support | None:
        if len(facts.rows(PARTITIONS)) < 2:
            return no(f"`{work.object.name}` has one partition left (ORA-14285)")
        return None

    def ended_before(self, work: Work, begun: Facts, now: Facts) -> bool:
        were, are = (_names(facts) for facts in (begun, now))
        return len(are) == len(were) - 1

    def remarks(self, work: Work, facts: Facts) -> Iterator[str]:
        count = len(facts.rows(PARTITIONS))
        if count:
            yield f"{count - 1} of {count} partitions of `{work.object.name}` are left; the server chooses which"
        if count and (count - 1) & (count - 2):
            yield "with a number of partitions that is no power of 2 some are twice as large as others"
        yield from super().remarks(work, facts)


def _names(facts: Facts) -> set[str]:
    return {str(row["part_name"]) for row in facts.rows(PARTITIONS)}


def _listed(names: Sequence[str]) -> str:
    shown = ", ".join(f"`{name}`" for name in names[:12])
    return shown + (f" and {len(names) - 12} more" if len(names) > 12 else "")


def part_named(work: Work, facts: Facts) -> tuple[IndexPart, ...]:
    """Return the one partition that was asked for; all of them where none was."""
    asked = spelling.text_option(work, "partition")
    parts = tuple(IndexPart(str(row["part_name"]), "partition") for row in facts.rows(PARTITIONS))
    if asked is None:
        return parts
    name = parse_name(asked).name
    return tuple(part for part in parts if part.name == name)


MERGE, COALESCE = MergePartitions(), CoalescePartition()
