"""CREATE INDEX and REINDEX, also CONCURRENTLY."""

# ruff: noqa: ARG002 (every implementation answers with the same arguments)

from __future__ import annotations

from collections.abc import Iterator, Mapping

from toolkit.dialects import sizes
from toolkit.dialects.answers import Granted
from toolkit.dialects.implementations import Kept
from toolkit.dialects.indexes import IndexKey
from toolkit.dialects.postgresql import granted, index_methods, space, support, workers
from toolkit.dialects.postgresql.names import quote
from toolkit.dialects.postgresql.objects import comment, index_row, marked, name_binds, users_index
from toolkit.dialects.postgresql.work.base import INDEX_DEGREE, InSession, Values, change, on_table, tablespace
from toolkit.dialects.work import Call, Work
from toolkit.errors import ToolkitError
from toolkit.model.facts import Facts
from toolkit.model.steps import ObjectRef, Takes, Until
from toolkit.model.values import QualifiedName, Row, Scalar, Support
from toolkit.model.words import Effect, Mode, ObjectKind, Role

_ENTRY_A_ROW = frozenset({"btree", "hash", "gist", "spgist", None})


class _OnIndex(InSession):
    """An index that is built or rebuilt."""

    def table(self, work: Work, facts: Facts) -> Row:
        """Return what the catalogue says of its table, as `relation` answers."""
        return facts.first("target")

    def judge(self, work: Work, facts: Facts) -> Support | None:
        found = support.index_options(work) or workers.judge_memory(work, "maintenance_work_mem")
        if found is not None or work.option(workers.ATTRIBUTE) is None:
            return found
        return workers.judge_workers(work, facts, self.table(work, facts), copied=_copied(work))

    def setup(self, work: Work, facts: Facts) -> tuple[Call, ...]:
        if work.option(workers.ATTRIBUTE) is None:
            return ()
        return workers.set_workers(work, self.table(work, facts), indexed_table(work), copied=_copied(work))

    def settings(self, work: Work) -> dict[str, Scalar]:
        settings: dict[str, Scalar] = {INDEX_DEGREE: work.degree - 1}
        # the server says at DEBUG1, and nowhere else, how many workers a build asks for; a job that asks for none
        # need not hear so of each index, but all levels of a measurement are treated alike
        if work.degree > 1 or work.mode is Mode.MEASUREMENT:
            settings["client_min_messages"] = "debug1"
        return settings | workers.memory(work, "maintenance_work_mem")

    def plan(self, work: Work, facts: Facts) -> tuple[Call, ...]:
        if work.degree < 2:
            return ()
        binds = name_binds(indexed_table(work))
        return (Call("maintenance_plan", session=Role.WORKER, file=True, binds=binds, keep_as="plan"),)

    def granted(self, work: Work, kept: Kept, peaks: Mapping[str, float], notices: tuple[str, ...]) -> Granted:
        if work.degree <= 1:
            return Granted(1, f"{INDEX_DEGREE} = 0")
        return granted.of_build(work, kept, peaks, notices)

    def remarks(self, work: Work, facts: Facts) -> tuple[str, ...]:
        return tuple(self._remarks(work, facts))

    def _remarks(self, work: Work, facts: Facts) -> Iterator[str]:
        yield from on_table(work, facts)
        if work.degree > 1 and (limit := workers.memory_cap(work, facts, self.table(work, facts))) is not None:
            yield limit
        if work.option(workers.ATTRIBUTE) is not None:
            yield from workers.set_for_the_run(work, self.table(work, facts), copied=_copied(work))


class CreateIndex(_OnIndex):
    """CREATE INDEX, also CONCURRENTLY."""

    def remarks(self, work: Work, facts: Facts) -> tuple[str, ...]:
        serial = index_methods.serial_build(work, facts)
        caps = [serial] if serial else workers.size_cap(work, facts, self.table(work, facts))
        return (*super().remarks(work, facts), *caps)

    def judge(self, work: Work, facts: Facts) -> Support | None:
        if (found := index_methods.judge(work, facts)) is not None:
            return found
        found = super().judge(work, facts)
        live = work.mode is Mode.MEASUREMENT and not _copied(work)
        if found is None and live and not work.option("online"):
            return support.refused(
                "PostgreSQL has no invisible index: a build on the live table blocks its writers; "
                "measure on the copy, or with --online"
            )
        return found

    def timed(self, work: Work, facts: Facts) -> tuple[Call, ...]:
        parameters = index_methods.parameters(work)
        where = work.option("where")  # checked before
        values: Values = {
            "index": QualifiedName(work.object.name.name),
            "table": indexed_table(work),
            "method": index_methods.method(work),
            "keys": ", ".join(_key(key) for key in work.keys) or ", ".join(map(quote, work.columns)),
            "include": work.include,
            "unique": bool(work.option("unique")),
            "online": bool(work.option("online")),
            "storage": tuple(parameters),
            "settings": tuple(parameters.values()),
            "tablespace": tablespace(work),
            "where": None if where is None else str(where),
        }
        build = Call(
            "index_build", values, session=Role.WORKER, effect=Effect.CREATES, object=work.object,
            definition=_definition(work),
        )  # fmt: skip
        if work.option("online"):  # CONCURRENTLY refuses to run in a transaction
            return (build, *comment(work.object, work.mark, Role.WORKER))
        return marked(build, work.mark)

    def takes(self, work: Work, facts: Facts) -> tuple[Takes, ...]:
        texts = tuple(key.text for key in work.keys) or work.columns
        size, why = sizes.built_bytes(texts, facts), ""
        if work.option("where") is not None:
            size, why = None, "--where decides how many rows have an entry"
        elif index_methods.method(work) not in _ENTRY_A_ROW:
            size, why = None, f"a {index_methods.method(work)} index does not have an entry for each row"
        elif size is None:
            why = f"the size of `{indexed_table(work)}` is not known"
        sort = space.sorting(None if size is None else sizes.SORTED * size, facts, why)
        return (Takes(size, space.new(tablespace(work), facts), unknown=why), sort)

    def settle(self, work: Work, facts: Facts) -> tuple[Call, ...]:
        """Drop the invalid index that a failed CONCURRENTLY build leaves behind."""
        if not work.option("online") or work.object.kind is not ObjectKind.INDEX:
            return ()
        return (_drop_invalid(work.object),)


def _definition(work: Work) -> tuple[tuple[str, str], ...]:
    """Return what the catalogue says of the index (see definition_index.sql)."""
    columns = [key.column for key in work.keys] or list(work.columns)
    placed = [("key", column or "(expression)") for column in columns]
    placed += [("include", column) for column in work.include]
    return (
        ("table", str(indexed_table(work))),
        ("kind", "UNIQUE" if work.option("unique") else "NORMAL"),
        *((name, f"{place} {column}") for place, (name, column) in enumerate(placed, 1)),
    )


class Reindex(_OnIndex):
    """REINDEX, also CONCURRENTLY."""

    def table(self, work: Work, facts: Facts) -> Row:
        return workers.table_of_index(work, facts)

    def judge(self, work: Work, facts: Facts) -> Support | None:
        if work.option("pctfree") is not None:
            return support.refused("REINDEX has no fillfactor; run ALTER INDEX ... SET (fillfactor = ...) first")
        return super().judge(work, facts)

    def takes(self, work: Work, facts: Facts) -> tuple[Takes, ...]:
        name, row = users_index(work), index_row(work, facts)
        size = sizes.rebuilt_bytes(work, row)
        why = "" if size is not None else f"the size of `{name}` is not known"
        sort = space.sorting(None if size is None else sizes.SORTED * size, facts, why)
        asked = tablespace(work)
        if asked is not None:
            place = space.new(asked, facts)
            twice = (Takes(size, place, Until.STEP, why),) if work.object.scratch else ()
            return (Takes(size, place, unknown=why), *twice, sort)
        place = space.new(None, facts) if work.object.scratch else space.own(row.get("tablespace"), facts)
        return (Takes(size, place, Until.STEP, why), sort)

    def timed(self, work: Work, facts: Facts) -> tuple[Call, ...]:
        values: Values = {
            "index": work.object.name,
            "online": bool(work.option("online")),
            "tablespace": tablespace(work),
        }
        return (change("index_rebuild", values, work, undo=_leftovers(work)),)


def _copied(work: Work) -> bool:
    """Tell whether an index is built on a copy of the user's table."""
    return work.mode is Mode.MEASUREMENT and not work.option("on_live_objects")


def indexed_table(work: Work) -> QualifiedName:
    """Return the table of an index work.

    Raises:
        ToolkitError: TK-0901 when the operation named none.
    """
    table = work.object.table or (work.index.table if work.index else None)
    if table is None:
        raise ToolkitError(f"the table of index `{work.object.name}` was not given", code="TK-0901")
    return table


def _key(key: IndexKey) -> str:
    """Spell a part of a key: an expression stands in brackets, what refines it after them."""
    return f"{key.text if key.column is not None else f'({key.text})'}{key.ending}"


def _leftovers(work: Work) -> tuple[Call, ...]:
    """Drop the invalid index that a REINDEX CONCURRENTLY leaves when it fails or is cancelled.

    It builds under the name `<index>_ccnew`, and calls the former index `<index>_ccold` until that is dropped.
    Where that name is in use, it has a number at its end; a long name loses whole characters for it. When the
    table had such an invalid index before, nothing is dropped. Source: PostgreSQL manual, REINDEX, "Rebuilding
    Indexes Concurrently".
    """
    if not work.option("online") or work.index is None or work.index.leftover:
        return ()
    name = work.object.name
    values: Values = {"name": name.name, "table_text": _spelled(indexed_table(work))}
    twin = ObjectRef(ObjectKind.INDEX, QualifiedName(f"{name.name}_ccnew", name.schema))
    return (Call("drop_rebuild_leftovers", values, effect=Effect.DROPS, object=twin),)


def _spelled(name: QualifiedName) -> str:
    return ".".join(quote(part) for part in (name.schema, name.name) if part)


def _drop_invalid(index: ObjectRef) -> Call:
    text = _spelled(index.name)
    values: Values = {"name_text": text, "drop_text": f"DROP INDEX {text}"}
    return Call("drop_invalid_index", values, effect=Effect.DROPS, object=index)
