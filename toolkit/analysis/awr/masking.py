"""Reports and intervals without names: pseudonyms for hosts, databases, schemas, objects and literals."""

from __future__ import annotations

import hashlib
import hmac
import re
import secrets
from collections.abc import Mapping
from dataclasses import replace

from toolkit.analysis.awr.details import DETAILS
from toolkit.model.interval import Interval, Listing, Origin, Segment, Statement
from toolkit.readers.awr.details import WORDS_OF_ORACLE
from toolkit.units import counted

_DIGITS = 10
_NAMED = re.compile(r"`([^`]+)`")
_TOKEN = re.compile(
    r"""(?P<hint>/\*\+) | (?P<comment>/\*.*?(?:\*/|$)|--[^\n]*) | (?P<end>\*/)
      | (?P<quoting>[nN]?[qQ]'(?:\[.*?\]'|\{.*?\}'|<.*?>'|\(.*?\)'|(?P<mark>\S).*?(?P=mark)'|.*$))
      | (?P<literal>[nN]?'(?:[^']|'')*(?:'|$)) | "(?P<quoted>[^"]*)(?:"|$)
      | (?P<number>\d[\w.]*) | (?P<word>[^\W\d][\w$#]*) | (?P<other>.)""",
    re.VERBOSE | re.DOTALL,
)
_WORDS = frozenset(re.findall(r"\w+", """
abs add all alter analyze and any append array as asc at avg be begin between binary block body boolean both
bulk by byte cache call case cast ceil char chr cluster coalesce collect column comment commit compress concat
conflict connect constraint count create cross cube current cursor cycle data database date day dbms decimal
declare decode default delete dense_rank desc direct distinct do drop each else elsif end escape exception
excluded exclusive execute exists exit explain extract fetch first flashback float floor following for forall
force foreign from full function global goto grant group grouping hash having hour if ignore ilike immediate in
increment index inner insert instr integer intersect interval into is isolation join key lag last lateral lead
leading left length level like limit listagg lnnvl local lock log long loop lower lpad ltrim map matched max
merge min minus minute mod mode month natural new next no nocache nocycle nologging not nothing nowait null
nulls number nvl nvl2 of off offset old on online only open option or order out outer over package parallel
partition percent pivot pls_integer preceding prior procedure raise range rank raw read rebuild recursive ref
references regexp_like regexp_replace regexp_substr release rename replace return returning reverse revoke right
role rollback rollup round row row_number rowid rownum rows rpad rtrim savepoint second select sequence
serializable session set share sign size skip some sql start storage subpartition substr sum synonym sysdate
system systimestamp table tablespace temporary then timestamp to to_char to_date to_number to_timestamp trailing
transaction translate trigger trim trunc truncate type unbounded union unique unpivot until update upper
use_hash use_merge use_nl user using vacuum validate values varchar varchar2 view wait when whenever where while
with within work write xmltype year
"""))  # fmt: skip
"""Words of SQL and its functions, which are nobody's names."""
_RESERVED = frozenset(re.findall(r"\w+", """
all and any as asc between by case create delete desc distinct drop else end exists for from grant group having in
insert into is like not null of on or order select set table then to union update values when where with
"""))  # fmt: skip
"""Words that no name can be unless it is quoted."""
_UNAVAILABLE = "** SQL Text Not Available **"


class Pseudonyms:
    """Gives names their pseudonyms, and remembers them.

    Args:
        salt: The key; a random one, which is kept nowhere, unless given.
    """

    def __init__(self, salt: str | None = None) -> None:
        self._key = (salt or secrets.token_hex(16)).encode()
        self._known: dict[str, str] = {}
        self._used: set[str] = set()

    def name(self, name: str, kind: str = "name") -> str:
        """Return the pseudonym of a name; the kind of its first use stays with it."""
        plain = name.strip().casefold()
        if not plain:
            return name
        if plain not in self._known:
            self._known[plain] = self._made(plain, kind)
        return self._known[plain]

    def _made(self, plain: str, kind: str) -> str:
        for attempt in range(1000):
            digest = hmac.new(self._key, f"{attempt}:{plain}".encode("utf-8", "surrogatepass"), hashlib.sha256)
            made = f"{kind}_{int.from_bytes(digest.digest()[:8]) % 10**_DIGITS:0{_DIGITS}d}"
            if made not in self._used:
                self._used.add(made)
                return made
        raise AssertionError("a thousand hashes were all taken")

    def number(self, value: int) -> int:
        """Return a number that stands for another, such as the id of a database."""
        return int(self.name(str(value), "id").rpartition("_")[2])

    def sentence(self, text: str) -> str:
        """Return a sentence written by dbatk with each name between back-ticks replaced."""
        return _NAMED.sub(lambda match: f"`{self.name(match[1])}`", text)

    def sql(self, text: str) -> str:
        """Return a statement with its words only: every name, literal and comment replaced.

        Numbers of one digit stay: they say nothing of the data. A literal that is cut off is one to the end.
        """
        if text.strip() == _UNAVAILABLE:
            return text
        return "".join(self._token(match) for match in _TOKEN.finditer(text))

    def _token(self, match: re.Match[str]) -> str:
        kind, found = match.lastgroup, match[0]
        if kind == "comment":
            return "/* comment */ "
        if kind in {"literal", "quoting", "mark"}:
            return f"'{self.name(found, 'literal')}'"
        if kind == "quoted":
            return f'"{self.name(match["quoted"])}"'
        if kind == "number":
            return found if len(found) == 1 else self.name(found, "literal")
        if kind == "word":
            # a table may be called `data`: what is known for a name is one here too
            own = found.lower() in _WORDS and (found.lower() in _RESERVED or found.casefold() not in self._known)
            return found if own else self.name(found)
        return found if found.isascii() or found.isspace() else "?"


# -- documents and intervals ------------------------------------------------------------------------------------
_KINDS = {
    "db_name": "db", "unique_name": "db", "dbid": "id", "instance": "instance", "host": "host", "file": "report",
    "container_name": "container", "pdb": "container", "pdb_name": "container", "owner": "schema",
    "object": "object", "object_name": "object", "subobject": "part", "tablespace": "tablespace",
    "module": "module", "sql_module": "module", "service_name": "service", "user_name": "user",
}  # fmt: skip
_IDS = ("dbid", "container_dbid", "obj_number", "dataobj_number", "con_dbid")
_SQL = ("text", "sql_text")
_STAYS = frozenset({
    "kind", "format", "scope", "role", "edition", "version", "platform", "startup_time", "begin_snap_time",
    "end_snap_time", "sql_id", "old_hash_value", "event", "wait_class", "name", "type", "obj_type", "plan_hash",
    "plan_hash_value",
}) | WORDS_OF_ORACLE  # fmt: skip
_PLAIN = re.compile(
    r"[-+]?[\d.,]+\s*[KMGTP]?B?|true|false|none|all|auto|manual|enable[d]?|disable[d]?|typical|basic|exact|force|similar"
    r"|on|off|yes|no|setall|asynch|directio|default|defer|immediate|once|text|binary|os|db|xml|extended|dedicated|shared"
    r"|all_rows|first_rows(_\d+)?|choose|adaptive|\d+(\.\d+)+|\d+\s?(kB|MB|GB|TB|ms|s|min|h|d)",
    re.IGNORECASE,
)
"""Values of parameters that are no names: numbers, sizes, releases, switches."""
_PARAMETER = re.compile(r"[a-z_][a-z0-9_$#.]*", re.IGNORECASE)
_TIMES = re.compile(r"\d{4}-\d\d-\d\dT[\d:.+-]+|[\d.,]+\s*(%|[kmgtp]?b?|[mun]?s|min)?", re.IGNORECASE)


def mask_report(report: Mapping[str, object], names: Pseudonyms) -> dict[str, object]:
    """Return the document of a report without names; tables that are no known section are left out."""
    known = [key for key in report if key in _KINDS or key in {"instances", "segments"}]
    # names are learnt before the statements are read, in which they may look like words of SQL
    order = [*known, *(key for key in report if key not in known and key != "tables")]
    found = {key: _section(key, report[key], names) for key in order}
    masked = {key: found[key] for key in report if key in found}
    left_out = report.get("tables")
    masked["tables"] = []
    warnings = report.get("warnings")
    sentences = [_warning(str(one), names) for one in warnings] if isinstance(warnings, list) else []
    if isinstance(left_out, list) and left_out:
        sentences.append(
            f"{counted(len(left_out), 'table')} outside the known sections omitted: names may be in there"
        )
    masked["warnings"] = sentences
    return masked


def _section(key: str, value: object, names: Pseudonyms) -> object:
    if key in {"init_parameters", "init_parameters_changed"} and isinstance(value, Mapping):
        return {_parameter(str(name), names): _setting(one, names) for name, one in value.items()}
    section, by, _ = key.partition("_by_container")
    if by and isinstance(value, Mapping):
        return {
            names.name(str(container), "container"): _section(section, settings, names)
            for container, settings in value.items()
        }
    if key == "sql_text" and isinstance(value, Mapping):
        return {str(name): names.sql(str(one)) if one is not None else None for name, one in value.items()}
    return _value(key, value, names)


def _value(key: str, value: object, names: Pseudonyms) -> object:
    if isinstance(value, Mapping):
        return {str(name): _value(str(name), one, names) for name, one in value.items()}
    if isinstance(value, list | tuple):
        return [_value(key, one, names) for one in value]
    if isinstance(value, int) and not isinstance(value, bool) and key in _IDS:
        return names.number(value)
    return _text(key, value, names) if isinstance(value, str) else value


def _text(key: str, value: str, names: Pseudonyms) -> str:
    if key in _SQL:
        return names.sql(value)
    if key in _STAYS or (key not in _KINDS and _TIMES.fullmatch(value)):
        return value
    return names.name(value, _KINDS.get(key, "name"))


def _parameter(name: str, names: Pseudonyms) -> str:
    return name if _PARAMETER.fullmatch(name) else names.name(name, "parameter")


def _setting(value: object, names: Pseudonyms) -> object:
    if isinstance(value, Mapping):
        return {str(side): _setting(one, names) for side, one in value.items()}
    return _spelled(value, names) if isinstance(value, str) else value


def _spelled(value: str | None, names: Pseudonyms) -> str | None:
    if value is None or not value.strip() or _PLAIN.fullmatch(value.strip()):
        return value
    return names.name(value, "value")


_OWN = re.compile(r"^(the report is cut off|the report has no|the header is incomplete)\b[\w ,:;]*")


def _warning(text: str, names: Pseudonyms) -> str:
    """Return the part of a warning that dbatk wrote: it may quote a section or a value of the report."""
    return text if _OWN.fullmatch(text) else names.sentence(_QUOTED.sub(r"`\1`", text))


_QUOTED = re.compile(r"[\"“]([^\"”]+)[\"”]")


_PRIVATE = {one.section: one.private for one in DETAILS if one.private}


def mask_interval(interval: Interval, names: Pseudonyms) -> Interval:
    """Return an interval without names."""
    statements = interval.statements
    # names are learnt before the statements are read, in which they may look like words of SQL
    origin = mask_origin(interval.origin, names)
    segments = {measure: _segments(listing, names) for measure, listing in interval.segments.items()}
    settings, changes = interval.container_parameters, interval.container_changes
    return replace(
        interval,
        origin=origin,
        statements=replace(statements, rows={key: _statement(one, names) for key, one in statements.rows.items()}),
        segments=segments,
        parameters=_parameters(interval.parameters, names),
        changed_parameters=_changes(interval.changed_parameters, names),
        container_parameters={
            names.name(one, "container"): _parameters(values, names) for one, values in settings.items()
        },
        container_changes={names.name(one, "container"): _changes(both, names) for one, both in changes.items()},
        details={
            name: {names.name(key, _PRIVATE[name]): row for key, row in rows.items()} if name in _PRIVATE else rows
            for name, rows in interval.details.items()
        },
        indexes={},
        instances=tuple(mask_interval(one, names) for one in interval.instances),
        warnings=tuple(_warning(one, names) for one in interval.warnings),
    )


def _parameters(values: Mapping[str, str | None], names: Pseudonyms) -> dict[str, str | None]:
    return {_parameter(name, names): _spelled(value, names) for name, value in values.items()}


def _changes(
    changes: Mapping[str, tuple[str | None, str | None]], names: Pseudonyms
) -> dict[str, tuple[str | None, str | None]]:
    return {
        _parameter(name, names): (_spelled(begin, names), _spelled(end, names))
        for name, (begin, end) in changes.items()
    }


def mask_origin(origin: Origin, names: Pseudonyms) -> Origin:
    """Return who was watched, without names."""

    def masked(value: str | None, kind: str) -> str | None:
        return None if value is None else names.name(value, kind)

    dbid = origin.dbid
    return replace(
        origin,
        name=names.name(origin.name, "report"),
        database=masked(origin.database, "db"),
        dbid=None if dbid is None else names.number(dbid) if isinstance(dbid, int) else names.name(dbid, "id"),
        instance=masked(origin.instance, "instance"),
        host=masked(origin.host, "host"),
        container=masked(origin.container, "container"),
    )


def _statement(one: Statement, names: Pseudonyms) -> Statement:
    return replace(
        one,
        text=None if one.text is None else names.sql(one.text),
        module=None if one.module is None else names.name(one.module, "module"),
    )


def _segments(listing: Listing[Segment], names: Pseudonyms) -> Listing[Segment]:
    rows = {}
    for one in listing.rows.values():
        made = replace(
            one,
            owner=None if one.owner is None else names.name(one.owner, "schema"),
            name=None if one.name is None else names.name(one.name, "object"),
            part=None if one.part is None else names.name(one.part, "part"),
        )
        rows[made.key] = made
    return replace(listing, rows=rows)
