"""The sessions of a log: whether each came to its end, of which client and database, and with which errors."""

from __future__ import annotations

import re
from collections import Counter

from toolkit.readers.rman import grammar
from toolkit.readers.rman.model import RmanMessage

_NUMBERED_PROMPTS = re.compile(r"(?:(?:RMAN>|\d{1,4}>)\s*)+")
_VERB = re.compile(r"[A-Za-z*@][\w*-]*")


class RmanSessions:
    """The sessions of a log, one after another.

    A session has ended when RMAN exited, or when somebody typed commands and the prompt came back with
    nothing open. Commands from a file or from standard input are not echoed after the prompt, so a prompt alone
    proves nothing. Notes that show one command and its answer have neither: there the answer is the end.
    """

    def __init__(self) -> None:
        self.missing: list[str] = []
        self.excerpt: list[str] = []
        self.notes: list[str] = []
        """What is missing around a command and its answer, which are whole."""
        self.typed = False
        """Whether somebody typed commands, in any of the sessions."""
        self.has_banner = False
        self.connected = False
        self.open_operations = 0
        self.open_list = False
        """Whether CROSSCHECK, DELETE or CATALOG told of an object, and not yet that it was the last one."""
        self.ended_lists = 0
        """How many of these ended."""
        self._active = False
        self._ended = False
        self._typed = False
        self._prompt_is_back = False
        self._asked: str | None = None
        self._worked = False
        self._greeted = False

    def banner(self) -> None:
        """A client begins."""
        self._leave("the session before it")
        self.has_banner = True
        self._begin()
        self._greeted = True

    def goodbye(self) -> None:
        """A client ended in good order."""
        if self.open_operations:
            self.missing.append("an operation started, but its end is not in the log")
        self._begin()
        self._active = False
        self._ended = True

    def prompt(self, line: str) -> None:
        """A prompt, with or without a command typed after it."""
        typed = line[_matched(line) :].strip()
        self.open_list = False
        self._prompt_is_back = not typed or typed.lower() in grammar.CLOSING
        if typed and not self._prompt_is_back:
            self._typed = self.typed = True
            verb = _VERB.match(typed)
            word = verb[0].lower() if verb else ""
            if word in grammar.RUNS_WORK:
                self._asked = word

    def more(self, line: str) -> None:
        """A further line of a command."""
        typed = line[_matched(line) :].strip()
        if self._prompt_is_back and typed:
            self._prompt_is_back = False
            self._typed = True

    def began(self) -> None:
        """An operation begins."""
        if self._ended:
            self._begin()
        self._active = self._worked = True
        self._asked = None
        self._prompt_is_back = self.open_list = False
        self.open_operations += 1

    def finished(self) -> None:
        """An operation ended."""
        if self._ended:
            self._begin()
        self._active = self._worked = True
        self.open_list = False
        self.open_operations = max(0, self.open_operations - 1)

    def told(self, what: str) -> None:
        """A command told of an object (`deleted backup piece`), or of all (`deleted objects`), which ends it."""
        ends = what in grammar.END_OF_LIST
        if self._ended or not (ends or what.startswith(("crosschecked ", "deleted ", "cataloging "))):
            return
        self._active = self._worked = True
        self.open_list = not ends
        self.ended_lists += ends and not self.open_operations

    def aborted(self) -> None:
        """A stack of errors ended whatever was open."""
        self.open_operations = 0
        self.open_list = False
        self._asked = None
        self._active = True

    def end(self) -> None:
        """The log is over."""
        if not self._ended:
            self._leave("the log")

    def _begin(self) -> None:
        self._active = self._ended = self._typed = self._prompt_is_back = self._worked = False
        self._greeted = False
        self._asked = None
        self.open_operations = 0
        self.open_list = False

    @property
    def _silent(self) -> bool:
        """Whether a client began and nobody typed anything: it works from a file, and must say good-bye."""
        return self._greeted and not self._typed

    def _leave(self, what: str) -> None:
        real = self.has_banner or self.connected
        if self.open_operations:
            self.missing.append("an operation started, but its end is not in the log")
        elif self.open_list:
            self.missing.append(
                "objects were crosschecked, deleted or cataloged, but the end of that is not in the log"
            )
        elif self._ended or not (self._active or self._asked or (real and (what == "the log" or self._silent))):
            return
        elif real and not (self._typed and self._prompt_is_back and self._asked is None):
            self.excerpt.append(f"the end of {what} is missing: the log does not show that RMAN completed")
        elif not real:
            whole = self._typed and self._worked
            (self.notes if whole else self.excerpt).append(
                "neither the start nor the end of the session is in the log"
            )


def _matched(line: str) -> int:
    found = _NUMBERED_PROMPTS.match(line)
    return found.end() if found else 0


# -- client and database ----------------------------------------------------------------------------------------
_ENOUGH = 200
"""Names of files that are looked at: those after them tell nothing new."""


class Identity:
    """The first target that was connected, else what handles and commands tell."""

    def __init__(self) -> None:
        self.release: str | None = None
        self.patch_level: str | None = None
        self._target: tuple[str, int | None] | None = None
        self._auxiliary: tuple[str, int | None] | None = None
        self._set_dbid: int | None = None
        self._dbid_in_names: int | None = None
        self._looked = 0
        self._folders: Counter[str] = Counter()

    def connected(self, line: str) -> bool:
        """Read `connected to target database: NAME (DBID=n)` in any language."""
        found = grammar.CONNECTED.search(line)
        if found is None:
            return False
        name, dbid = found[1].partition(":")[0], int(found[2]) if found[2] else None
        if grammar.AUXILIARY.search(line[: found.start()]):
            self._auxiliary = self._auxiliary or (name, dbid)
        elif self._target is None or (self._target[1] is None and dbid is not None):
            self._target = (name, dbid)
        return True

    def command(self, line: str) -> None:
        """Learn from a command that was typed."""
        found = grammar.SET_DBID.search(line)
        if found:
            self._set_dbid = self._set_dbid or int(found[1])

    def file(self, name: str) -> None:
        """Learn from the name of a piece."""
        if self._looked >= _ENOUGH:
            return
        self._looked += 1
        found = grammar.OMF.search(name)
        if found:
            self._folders[found[1]] += 1
        if self._dbid_in_names is None:
            match = grammar.FORMAT_F.search(name)
            self._dbid_in_names = int(match[1]) if match else None

    @property
    def version(self) -> str | None:
        """The release of the client, and its patch level where that is another."""
        if self.release is None or self.patch_level in {None, self.release}:
            return self.release
        return f"{self.release} ({self.patch_level})"

    @property
    def database(self) -> tuple[str | None, str | None]:
        """The name of the database and where it is from."""
        if self._target:
            return self._target[0], "connected"
        if self._auxiliary:
            return self._auxiliary[0], "auxiliary"
        if self._folders:
            return self._folders.most_common(1)[0][0], "file names"
        return None, None

    @property
    def dbid(self) -> int | None:
        """The DBID."""
        database = (self._target or self._auxiliary or ("", None))[1]
        return database if database is not None else self._set_dbid or self._dbid_in_names


# -- errors and warnings ----------------------------------------------------------------------------------------
_LONGEST = 2000


class Faults:
    """Errors and warnings in the order of the log.

    With `rman msgno` every message has a number, so a code alone is no fault; `numbered` is learnt from the first
    code that can only inform. Outside of a stack RMAN prints a code without MSGNO for a warning, or for a channel
    that failed while the others go on.
    """

    def __init__(self) -> None:
        self.errors: list[RmanMessage] = []
        self.warnings: list[RmanMessage] = []
        self.causes: list[RmanMessage] = []
        self.stacked: list[int] = []
        """The lines at which a command failed: where its stack of errors begins."""
        self.numbered = False
        self.in_stack = False
        self._stack: list[RmanMessage] = []
        self._before: str = ""

    @property
    def stacks(self) -> int:
        """How many commands failed."""
        return len(self.stacked)

    def informs(self, family: str, number: int, text: str) -> bool:
        """Whether a code is no fault but the number of an ordinary message."""
        if family != "RMAN" or self.in_stack or number in grammar.RULERS:
            return False
        if number in grammar.REASONS:
            return True
        if number in grammar.INFORMS or (8000 <= number < 9000 and number not in grammar.WARNS):
            if not grammar.WARNING_WORDS.search(text):
                self.numbered = True
                return True
            return False
        if not self.numbered or number in grammar.HARD or number == grammar.CHANNEL_FAILED:
            return False
        return (
            not grammar.WARNING_WORDS.search(text)
            and number not in grammar.WARNS
            and not _stands_for_error(number)
        )

    def add(self, family: str, digits: str, text: str, line: int) -> None:
        """Keep a code that is a fault."""
        number = int(digits)
        if family == "RMAN" and number in grammar.RULERS:
            if number == grammar.STACK_BEGINS:
                self._close()
                self.in_stack = True
                self.stacked.append(line)
            return
        message = RmanMessage(f"{family}-{digits}", text.strip()[:_LONGEST], line)
        if self.in_stack or self._is_error(family, number, text, line):
            self.errors.append(message)
            self._stack.append(message)
            self._before = "error"
        else:
            self.warn(message)

    def warn(self, message: RmanMessage) -> None:
        """Keep a warning."""
        self.warnings.append(message)
        self._before = "warning"

    def lengthen(self, text: str) -> None:
        """Add the rest of a message that was wrapped."""
        kept = self.errors if self._before == "error" else self.warnings
        if kept and len(kept[-1].text) < _LONGEST:
            kept[-1] = kept[-1]._replace(text=f"{kept[-1].text} {text}")
            if self._before == "error" and self._stack:
                self._stack[-1] = kept[-1]

    def quiet(self) -> None:
        """End what belongs together: an ordinary message came between."""
        self.in_stack = False
        self._before = ""
        self._close()

    def _is_error(self, family: str, number: int, text: str, line: int) -> bool:
        if family != "RMAN":
            return self._before == "error" or (family == "ORA" and self._before != "warning")
        if grammar.WARNING_WORDS.search(text) or number in grammar.WARNS:
            return False
        hard = number in grammar.HARD or number == grammar.CHANNEL_FAILED or _stands_for_error(number)
        if hard and number != grammar.CHANNEL_FAILED and self._before != "error":
            self.stacked.append(line)
        return hard or self._before == "error"

    def _close(self) -> None:
        if self._stack:
            self.causes.append(cause_of(self._stack))
            self._stack = []


def _stands_for_error(number: int) -> bool:
    """Syntax (01000s), connecting (04000s) and the engine itself (10000s, 12000s) never only warn."""
    return 1000 <= number < 2000 or 4000 <= number < 5000 or 20000 <= number < 21000


def cause_of(stack: list[RmanMessage]) -> RmanMessage:
    """Return the message of a stack that says why: the last that is no frame, else the first.

    An ORA- code inside the text of another is its own line's cause, so the line stands for it.
    """
    if stack[0].code == "RMAN-00558":
        return next((one for one in stack if one.code == "RMAN-01009"), stack[-1])
    for one in reversed(stack):
        family, _, digits = one.code.partition("-")
        if (family != "RMAN" or int(digits) not in grammar.FRAMES) and not _is_consequence(one):
            return one
    return stack[0]


def _is_consequence(message: RmanMessage) -> bool:
    """ORA-17629 and ORA-27040 only repeat, in general words, what the line above them says by name."""
    return message.code in {"ORA-17629", "ORA-27040", "ORA-27037", "ORA-19600", "ORA-06512", "ORA-01110"}
