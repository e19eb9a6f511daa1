"""Names that stand for other names: the same for the same name as long as the salt is the same.

A pseudonym tells what it stands for and nothing else: `host_4821057390`. Its digits are a keyed hash
(HMAC-SHA-256) of the name without regard to case, so that nobody without the salt can find the name by trying
likely ones.
"""

from __future__ import annotations

import hashlib
import hmac
import re
import secrets

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
        """Return a sentence of ours, each name between its back-ticks replaced."""
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
