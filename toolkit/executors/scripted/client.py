"""How a statement is written for SQL*Plus, and which texts it would take for something else.

SQL*Plus reads lines, not statements (User's Guide and Reference, "Running SQL Commands" and "SQL*Plus Command
Summary"): a line that ends in `;` or is only `/` ends the statement even inside quotes, one that ends in `-` goes
on in the next, one that opens with `@` or `#` is a command of its own. A text with such a line is refused.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from toolkit import resources
from toolkit.design.lexis import TokenKind, tokens
from toolkit.dialects.base import Dialect
from toolkit.dialects.work import Call, ContextValue
from toolkit.errors import ToolkitError
from toolkit.model.bundle import ERROR_STATUS, MARK
from toolkit.model.facts import Facts
from toolkit.model.steps import Step
from toolkit.model.values import Scalar
from toolkit.model.words import StepKind
from toolkit.rendering import render_call, step_of

# -- columns of a query -------------------------------------------------------------------------------------------
_QUALIFIED = 2
"""Words of a column and the alias before it."""


def columns_of(query: str) -> tuple[str, ...]:
    """Return the names of a query's columns, in capitals: each is named by `AS`, or is a column of a table.

    Args:
        query: one SELECT; of a WITH the last, of a UNION the first counts.

    Raises:
        ValueError: it names none: a fault of dbatk.
    """
    found: list[str] = []
    item: list[str] = []
    reading = False
    for word in _outermost(query):
        if word == "SELECT":
            if found:
                break
            reading, item = True, []
        elif word in {",", "FROM"} and reading:
            found += _name(item)
            item = []
            reading = word == ","
        elif reading:
            item.append(word)
    if not found:
        msg = f"a query names no column: {query[:60]}"
        raise ValueError(msg)
    return tuple(found)


def _name(item: Sequence[str]) -> Iterator[str]:
    """Yield the name of one column: what follows AS, or a column of a table under its own name."""
    words = [word for word in item if word != "DISTINCT"]
    if "AS" in words[:-1]:
        yield words[words.index("AS") + 1].strip('"')
    elif 1 <= len(words) <= _QUALIFIED:
        yield words[-1].strip('"')


def _outermost(query: str) -> Iterator[str]:
    """Yield the words and commas that stand in no parentheses."""
    for token in tokens(query):
        if token.depth == 0 and (token.word or token.sign == ","):
            yield token.text
        elif token.depth == 0 and token.kind is TokenKind.NAME:
            yield f'"{token.text}"'


_LONGEST_LINE = 2499
"""Bytes of an input line that 11.2 takes (SP2-0027); later clients take 4,999."""
_STOP = f"WHENEVER SQLERROR EXIT {ERROR_STATUS} ROLLBACK"
_GO_ON = "WHENEVER SQLERROR CONTINUE NONE"


class Scribe:
    """Writes the lines of one script: of one session of one trial."""

    def __init__(self, dialect: Dialect, run: str, trial: int, session: int = 0) -> None:
        self._dialect = dialect
        self._head = f"{MARK}|{run}|{trial}|{session}"
        self._stopping = False
        self._item = 0
        self.lines: list[str] = []

    # -- the client's own commands ------------------------------------------------------------------------------
    def open(self, title: str, action: str | None, run: str, language: Iterable[tuple[str, str]]) -> None:
        """Begin a script: settings, the session's language, and what V$SESSION shows of it."""
        self.lines += [comment(title), *resources.template_text("bundle/settings.txt").split("\n")[:-1]]
        self.lines.append(_GO_ON)
        for name, text in language:
            self.call(Call("session_set", {"name": name, "word": None, "number": None, "text": text}))
        if action is not None:
            self.call(Call("bundle_tag", {"action": action, "run": run}, kind=StepKind.BLOCK))

    def say(self, event: str, *fields: object) -> None:
        """Let the client itself say where it is."""
        self.lines.append("PROMPT " + "|".join([self._head, event, *map(str, fields)]))

    def stop_on_error(self) -> None:
        """Let an error end the client: nothing is timed that was not prepared."""
        self._stopping = True
        self.lines.append(_STOP)

    def go_on(self) -> None:
        """Let an error be reported, and go on."""
        self._stopping = False
        self.lines.append(_GO_ON)

    def item(self, number: int) -> None:
        """Say which item begins."""
        self._item = number
        self.say("item", number)

    # -- statements ---------------------------------------------------------------------------------------------
    def mark(self, event: str) -> None:
        """Let the server say that it came here, and when."""
        self.call(Call("bundle_mark", {"mark": f"{self._head}|{event}|"}))

    def steps(self, steps: Iterable[Step]) -> None:
        """Write steps in order; the rows of those that are kept go to the spool."""
        for step in steps:
            self.step(step)

    def step(self, step: Step, *, bound: bool = False) -> None:
        """Write one step; `bound` when its variables have their values already."""
        if not bound:
            self._binds(step)
        if step.tolerates:
            self.say("may-fail", ",".join(sorted(step.tolerates)))
            if self._stopping:
                self.lines += [_GO_ON, *self._spelled(step), _STOP]
                self.say("may-fail")
                return
        self.lines += self._spelled(step)
        if step.tolerates:
            self.say("may-fail")

    def timed(self, steps: Iterable[Step]) -> None:
        """Write steps on the clock: the client times each and tells the rows it touched."""
        steps = tuple(steps)
        for step in steps:
            self._binds(step)
        self.lines += ["SET FEEDBACK ON", "SET TIMING ON"]
        for step in steps:
            self.lines += self._worked(step)
        self.lines += ["SET TIMING OFF", "SET FEEDBACK OFF"]

    def _worked(self, step: Step) -> list[str]:
        if is_loader(step):
            return [self._loader(step)]
        return [self._data_pump(step)] if step.kind is StepKind.PARAMETERS else written(step.text, step.kind)

    def _data_pump(self, step: Step) -> str:
        """Let the client call expdp or impdp, with what `datapump.sh` is to know of the step."""
        called = " ".join(f"'{word}'" for word in (self._head, self._item, step.argv[0]))
        unknown = f"TK-0203|how {step.argv[0]} ended is not known, for what called it was ended"
        return f"HOST sh datapump.sh {called} || echo '{self._head}|told|{unknown}'"

    def _loader(self, step: Step) -> str:
        """Let the client call SQL*Loader, with what `load.sh` is to know of the step."""
        assert step.transfer is not None
        again = step.object is not None and step.object.scratch
        words = (self._head, self._item, step.transfer.max_rejects, "again" if again else "once")
        called = " ".join(f"'{word}'" for word in words)
        unknown = "TK-0209|how SQL*Loader ended is not known, for what called it was ended"
        return f"HOST sh load.sh {called} || echo '{self._head}|told|{unknown}'"

    def rows(self, key: str, query: str, binds: Iterable[tuple[str, Scalar]] = ()) -> None:
        """Write a read whose rows go to the spool under a key."""
        for name, value in binds:
            self._bind(name, value)
        self.lines += self._read(key, query)

    def call(self, call: Call) -> None:
        """Write a call of the dialect."""
        self.step(step_of(self._dialect, call))

    def _spelled(self, step: Step) -> list[str]:
        if step.keep_as is not None:
            return self._read(step.keep_as, step.text)
        return written(step.text, step.kind)

    def _read(self, key: str, query: str) -> list[str]:
        columns = columns_of(query)
        values: dict[str, ContextValue] = {"mark": f"{self._head}|row|{key}|", "columns": columns, "query": query}
        self.say("rows", key, *columns)
        line = self.lines.pop()
        return [line, *written(render_call(self._dialect, Call("bundle_rows", values)))]

    def _binds(self, step: Step) -> None:
        for name, value in step.binds.items():
            self._bind(name, value)

    def _bind(self, name: str, value: Scalar) -> None:
        kind = "NUMBER" if isinstance(value, int | float) else "VARCHAR2(4000)"
        self.lines.append(f"VARIABLE {name} {kind}")
        call = Call("bundle_bind", {"name": name.upper(), "value": value}, kind=StepKind.BLOCK)
        self.call(call)

    def text(self) -> str:
        """Return the script."""
        return "\n".join(self.lines) + "\n"


def is_loader(step: Step) -> bool:
    """Tell whether a step is done by SQL*Loader; its text is the control file."""
    return step.kind is StepKind.SCRIPT and step.transfer is not None


def session_language(facts: Facts) -> tuple[tuple[str, str], ...]:
    """Return what a session of python-oracledb has, and SQL*Plus would take from NLS_LANG: both must run alike.

    V$PARAMETER shows what was set; what it does not show has the default of the Database Reference.
    """
    known = {str(row.get("name", "")).upper(): row.get("value") for row in facts.rows("settings")}
    chosen = {name: str(known.get(name) or default) for name, default in _LANGUAGE.items()}
    chosen |= {name: str(known[name]) for name in _ONLY_WHEN_SET if known.get(name)}
    return tuple(chosen.items())


_LANGUAGE = {"NLS_LANGUAGE": "AMERICAN", "NLS_TERRITORY": "AMERICA", "NLS_NUMERIC_CHARACTERS": ".,"}
_ONLY_WHEN_SET = ("NLS_DATE_FORMAT", "NLS_SORT", "NLS_COMP", "NLS_LENGTH_SEMANTICS")


def comment(text: str) -> str:
    """Spell a comment line: no line end of a name ends it, no hyphen at its end goes on with the next."""
    return "-- " + " ".join(text.split()).rstrip("-")


def written(text: str, kind: StepKind = StepKind.SQL) -> list[str]:
    """Return the lines of a statement with the end that SQL*Plus needs.

    Raises:
        ToolkitError: TK-0105 for a text that SQL*Plus would not take as one statement.
    """
    refuse_unspellable(text, kind)
    if kind is StepKind.BLOCK:
        return [text, "/"]
    # after a comment the end stands on a line of its own, else it would be part of the comment
    return [text, ";"] if "--" in text.rsplit("\n", 1)[-1] else [f"{text};"]


def refuse_unspellable(text: str, kind: StepKind = StepKind.SQL) -> None:
    """Refuse a statement that SQL*Plus would cut or read otherwise.

    Raises:
        ToolkitError: TK-0105 naming the line and the rule.
    """
    for number, line in enumerate(text.split("\n"), 1):
        reason = _reason(line.rstrip(), kind)
        if reason is not None:
            raise ToolkitError(
                f"SQL*Plus cannot process line {number} of a statement: {reason}: `{line.strip()[:60]}`",
                code="TK-0105",
                hint="break the line elsewhere; this does not change the statement",
            )


def _reason(line: str, kind: StepKind) -> str | None:
    bare = line.strip()
    if bare in {"/", "."}:
        return f"`{bare}` on a line of its own ends a statement"
    if line.endswith("-"):
        return "a `-` at the end of a line joins it to the next"
    if line.endswith(";") and kind is not StepKind.BLOCK:
        return "a `;` at the end of a line ends the statement"
    if bare.startswith(("@", "#")):
        return f"`{bare[0]}` at the start of a line is a client command"
    if len(line.encode()) > _LONGEST_LINE:
        return f"it is longer than {_LONGEST_LINE} bytes"
    return None
