"""What the names of a statement are: a user's objects, or Oracle's own by way of synonyms, views and programs.

The catalogue is asked for many names at once (`sql/oracle/name_leads_to.sql`), from name to name, each once, so
that a circle ends. An object of a user's is what its owner made of it, whatever it is called: its query or source
is read too. An object of Oracle's is judged by the lists; one that they do not know is unseen. What came out is
kept as rows among the facts.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Protocol

from toolkit.dialects.oracle.licences import dictionary
from toolkit.dialects.oracle.licences.lists import programs
from toolkit.dialects.oracle.licences.look import LicenceFindings, Use, look, uses_of
from toolkit.dialects.oracle.releases import MAINTAINED_SCHEMAS
from toolkit.model.values import Row

MOST_NAMES, MOST_SCHEMAS = 20, 5
"""How many names and schemas one read of the catalogue takes."""
_MOST_READS = 100
_PROGRAMS = frozenset(["FUNCTION", "PROCEDURE", "PACKAGE", "TYPE"])
_DATA = frozenset(["TABLE", "VIEW", "MATERIALIZED VIEW"])
_ON_DDL, _ON_DDL_UNSEEN = "DDL TRIGGER", "DDL TRIGGERS NOT SHOWN"
"""Kinds of `name_leads_to.sql` that stand for no name that was asked for."""
_UNSEEN, _CHILD = "NOT SHOWN", "CHILD"
"""Kinds of `name_triggers.sql` that are no trigger."""
_Name = tuple[str | None, str]


class NameLookup(Protocol):
    """Answers about names; a schema of None is the current one, and PUBLIC."""

    def leads_to(self, names: tuple[str, ...], schemas: tuple[str, ...]) -> tuple[Row, ...]:
        """Return the rows of `name_leads_to.sql` for these names."""

    def text_of(self, owner: str, name: str, *, view: bool) -> tuple[Row, ...]:
        """Return the rows of `name_view_text.sql` or `name_source.sql`."""

    def triggers_of(self, owner: str, name: str) -> tuple[Row, ...]:
        """Return the rows of `name_triggers.sql` for a table or view that is written."""


def follow(
    names: Iterable[tuple[str, ...]],
    catalogue: NameLookup,
    written: Iterable[tuple[str, ...]] = (),
    *,
    deletes: bool = False,
    fires_ddl: bool = False,
) -> tuple[Row, ...]:
    """Return what was found behind names, as rows for `findings` and `own_names`.

    Args:
        names: as parts, as `look` finds them.
        catalogue: what is asked.
        written: the names of what is written: its triggers are followed, too.
        deletes: whether rows may be deleted: the tables that this changes by their foreign keys are followed, too.
        fires_ddl: whether DDL is sent, which fires triggers of the database and of the session's schema.
    """
    paths = tuple(dict.fromkeys(names))
    written_names = {candidate for path in written for candidate in _candidates(path)}
    search = _Search(catalogue, written_names, deletes, fires_ddl)
    search.run((candidate, "") for path in paths for candidate in _candidates(path))
    rows = [*search.rows]
    rows += [_row("own", json.dumps(path)) for path in paths if any(one in search.own for one in _meant(path))]
    return tuple({tuple(row.values()): row for row in rows}.values())


def findings(rows: Iterable[Row]) -> LicenceFindings:
    """Return the uses behind the names, and what stays unseen."""
    uses: list[Use] = []
    notes: list[str] = []
    unseen: list[str] = []
    for row in rows:
        thing = str(row["thing"])
        if row["finding"] == "use":
            uses.append(Use(str(row["licence"]), thing, str(row["by"])))
        elif row["finding"] == "note":
            notes.append(thing)
        elif row["finding"] == "unseen":
            unseen.append(thing)
    return LicenceFindings() + LicenceFindings(tuple(uses), tuple(notes), tuple(unseen))


def own_names(rows: Iterable[Row]) -> frozenset[tuple[str, ...]]:
    """Return the names that are objects of a user's."""
    return frozenset(tuple(json.loads(str(row["thing"]))) for row in rows if row["finding"] == "own")


def _row(finding: str, thing: str, licence: str = "", by: str = "") -> Row:
    return {"finding": finding, "thing": thing, "licence": licence, "by": by}


def _candidates(path: tuple[str, ...]) -> Iterator[_Name]:
    """Read a path both ways: an object of the current schema (and its column), or a schema and its object."""
    yield None, path[0]
    if len(path) > 1:
        yield path[0], path[1]


def _meant(path: tuple[str, ...]) -> Iterator[_Name]:
    """Yield the readings by which the path as a whole is an object of a user's."""
    yield None, path[0]
    if len(path) > 1 and path[0] not in MAINTAINED_SCHEMAS:
        yield path[0], path[1]


@dataclass(slots=True)
class _Search:
    """One walk from names to what they lead to."""

    catalogue: NameLookup
    written: set[_Name] = field(default_factory=set)
    deletes: bool = False
    """Whether rows of what is written may be deleted."""
    fires_ddl: bool = False
    """Whether triggers on DDL are still to be followed: each answer shows all of them."""
    rows: list[Row] = field(default_factory=list)
    own: set[_Name] = field(default_factory=set)
    _seen: set[_Name] = field(default_factory=set)
    _fired: set[tuple[_Name, bool]] = field(default_factory=set)
    """Tables whose triggers were read, each with whether rows were deleted then."""
    _waiting: list[tuple[_Name, str]] = field(default_factory=list)
    _reads: int = 0

    def run(self, names: Iterable[tuple[_Name, str]]) -> None:
        for name, by in names:
            self._add(name, by)
        while self._waiting or self.fires_ddl:
            if self._reads >= _MOST_READS:
                (_, left), _by = self._waiting[0]
                more = f"more than {MOST_NAMES * _MOST_READS} names: `{left}` and later ones were not looked up"
                self.rows.append(_row("unseen", more))
                return
            batch = self._batch()
            self._reads += 1
            wanted = tuple(dict.fromkeys(name for (_, name), _by in batch))
            schemas = tuple(dict.fromkeys(schema for (schema, _), _by in batch if schema is not None))
            rows = self.catalogue.leads_to(wanted, schemas)
            self._take_ddl_triggers(rows)
            rows = tuple(row for row in rows if row["kind"] not in (_ON_DDL, _ON_DDL_UNSEEN))
            for (schema, object_name), by in batch:
                self._take(schema, object_name, by, _meant_by(schema, object_name, rows))

    def _add(self, name: _Name, by: str) -> None:
        if name not in self._seen:
            self._seen.add(name)
            self._waiting.append((name, by))

    def _batch(self) -> list[tuple[_Name, str]]:
        batch: list[tuple[_Name, str]] = []
        names: set[str] = set()
        schemas: set[str] = set()
        while self._waiting:
            (schema, name), _ = self._waiting[0]
            more = {schema} if schema is not None else set()
            if len(names | {name}) > MOST_NAMES or len(schemas | more) > MOST_SCHEMAS:
                break
            names.add(name)
            schemas |= more
            batch.append(self._waiting.pop(0))
        return batch

    def _take(self, schema: str | None, name: str, by: str, rows: list[Row]) -> None:
        if not rows:
            return
        owner = str(rows[0]["owner"])
        shown = f"{owner}.{name}"
        way = f"{by} > {shown}" if by else shown
        kinds = {str(row["kind"]) for row in rows}
        if owner in MAINTAINED_SCHEMAS:
            self._judge(owner, name, kinds, way)
            return
        if kinds - {"SYNONYM"} and owner != "PUBLIC":
            self.own.add((schema, name))
        for row in rows:
            if row["link"] is not None:
                self.rows.append(_row("unseen", f"`{way}` leads to another database (`@{row['link']}`)"))
            elif row["referenced_name"] is not None:
                reached = str(row["referenced_owner"] or owner), str(row["referenced_name"])
                if (schema, name) in self.written and ("VIEW" in kinds or row["kind"] == "SYNONYM"):
                    self.written.add(reached)
                    if reached in self._seen:
                        self._read_triggers(*reached, way)
                self._reached(*reached, way)
        if (schema, name) in self.written and kinds & _DATA:
            self._read_triggers(owner, name, way)
        if "VIEW" in kinds:
            self._read_view(owner, name, way)
        elif kinds & _PROGRAMS:
            self._read_program(owner, name, kinds, way)

    def _reached(self, owner: str, name: str, way: str) -> None:
        """Note an object that a name leads to; of Oracle's own those on a list need no further read."""
        known = uses_of(name)
        if owner in MAINTAINED_SCHEMAS and (known.uses or dictionary.is_known_free(name)):
            self._judge(owner, name, set(), f"{way} > {owner}.{name}")
        else:
            self._add((owner, name), way)

    def _judge(self, owner: str, name: str, kinds: set[str], way: str) -> None:
        """Judge an object of Oracle's; what is named directly was judged where it stands."""
        if ">" not in way:
            return
        by = way.rpartition(" > ")[0]
        meant = uses_of(name)
        self.rows += [_row("use", use.thing, use.licence, f"through {by}") for use in meant.uses]
        self.rows += [_row("note", note) for note in meant.notes]
        self.rows += [_row("unseen", f"{sentence} (through {by})") for sentence in meant.unseen]
        if meant.uses or meant.unseen:
            return
        if programs().may_run_text(name):
            self.rows.append(_row("unseen", f"`{by}` calls {name}, which may run a text that nobody sees"))
        elif kinds & _DATA and not dictionary.is_known_free(name):
            self.rows.append(
                _row("unseen", f"`{owner}.{name}`, read through {by}, is on no list of Oracle's objects")
            )

    def _read_view(self, owner: str, name: str, way: str) -> None:
        """Read the query of a view for what its dependencies do not tell: hints, dynamic text, links."""
        self._reads += 1
        found = look(_joined(self.catalogue.text_of(owner, name, view=True)))
        self._add_hidden(found, way, (use for use in found.uses if use.thing.startswith("hint ")))

    def _read_program(self, owner: str, name: str, kinds: set[str], way: str) -> None:
        """Read the source of a program: its static names are among the dependencies, its texts are not."""
        self._reads += 1
        rows = self.catalogue.text_of(owner, name, view=False)
        body = "PACKAGE BODY" if "PACKAGE" in kinds else ""
        if "TYPE" not in kinds and (not rows or (body and all(row["kind"] != body for row in rows))):
            self.rows.append(_row("unseen", f"the source of `{way}` cannot be read"))
        text = _joined(rows)
        found = look(f"CREATE {text}")
        self._add_hidden(found, way, found.uses)
        self._writes(found, owner, way)
        if "SQL_MACRO" in text.upper():
            self.rows.append(_row("unseen", f"`{way}` is a SQL macro: the text that it returns cannot be seen"))

    def _read_triggers(self, owner: str, name: str, way: str) -> None:
        """Follow what a change fires: what is not shown is on the bill, what cannot be read is unseen."""
        waiting = [((owner, name), way)]
        while waiting:
            (owner, name), way = waiting.pop()
            if ((owner, name), self.deletes) in self._fired or self._reads >= _MOST_READS:
                continue
            self._fired.add(((owner, name), self.deletes))
            self._reads += 1
            for row in self.catalogue.triggers_of(owner, name):
                found = str(row["owner"]), str(row["name"])
                if row["kind"] == _UNSEEN:
                    self.rows.append(
                        _row("note", f"triggers of `{way}`, if there are any, are not shown to this user")
                    )
                elif row["kind"] != _CHILD:
                    self._read_trigger(found, way)
                elif self.deletes:
                    waiting.append((found, f"{way} > rows of {'.'.join(found)}"))

    def _take_ddl_triggers(self, rows: Iterable[Row]) -> None:
        """Follow what DDL fires, but for the triggers that Oracle's own schemas bring."""
        found = [row for row in rows if row["kind"] in (_ON_DDL, _ON_DDL_UNSEEN)] if self.fires_ddl else []
        self.fires_ddl = False
        for row in found:
            if row["kind"] == _ON_DDL_UNSEEN:
                note = "triggers on DDL of the database, if there are any, are not shown to this user"
                self.rows.append(_row("note", note))
            elif row["owner"] not in MAINTAINED_SCHEMAS:
                self._reads += 1
                self._read_trigger((str(row["owner"]), str(row["name"])), "DDL")

    def _read_trigger(self, trigger: tuple[str, str], way: str) -> None:
        fired = f"{way} > trigger {'.'.join(trigger)}"
        text = _joined(self._source(*trigger))
        if not text:
            self.rows.append(_row("unseen", f"the text of `{fired}` cannot be read"))
            return
        found = look(f"CREATE {text}")
        self._add_hidden(found, fired, found.uses)
        self._add(trigger, f"{way} > trigger")
        self._writes(found, trigger[0], fired)

    def _writes(self, found: LicenceFindings, owner: str, way: str) -> None:
        """Follow what a program writes, too: it fires triggers of its own."""
        self.deletes = self.deletes or found.deletes
        for path in found.written:
            target = (path[0], path[1]) if len(path) > 1 else (owner, path[0])
            self.written.add(target)
            if target in self._seen:
                self._read_triggers(*target, way)
            else:
                self._add(target, way)

    def _source(self, owner: str, name: str) -> tuple[Row, ...]:
        return tuple(row for row in self.catalogue.text_of(owner, name, view=False) if row["kind"] == "TRIGGER")

    def _add_hidden(self, found: LicenceFindings, way: str, uses: Iterable[Use]) -> None:
        self.rows += [_row("use", use.thing, use.licence, f"through {way}") for use in uses]
        self.rows += [_row("unseen", f"{sentence} (in {way})") for sentence in found.unseen]


def _joined(rows: Iterable[Mapping[str, object]]) -> str:
    return "".join(str(row["text"] or "") for row in rows)


def _meant_by(schema: str | None, name: str, rows: Iterable[Row]) -> list[Row]:
    """Return the rows of the object that a name means: without a schema one's own, else the public synonym."""
    named = [row for row in rows if row["name"] == name]
    if schema is not None:
        return [row for row in named if row["owner"] == schema]
    current = [row for row in named if row["is_current"]]
    return current or [row for row in named if row["owner"] == "PUBLIC"]
