"""Whether a log came to its end: sessions, prompts, and commands that were given and never answered."""

from __future__ import annotations

import re

from toolkit.readers.rman import words

_NUMBERED_PROMPTS = re.compile(r"(?:(?:RMAN>|\d{1,4}>)\s*)+")
_VERB = re.compile(r"[A-Za-z*@][\w*-]*")


class RmanSessions:
    """The sessions of a log, one after another.

    A session has ended when RMAN said good-bye, or when somebody typed commands and the prompt came back with
    nothing open. Commands from a file or from standard input are not echoed after the prompt, so a prompt alone
    proves nothing. Notes that show one command and its answer have neither: there the answer is the end.
    """

    def __init__(self) -> None:
        self.missing: list[str] = []
        self.banners = 0
        self.connected = False
        self.open_operations = 0
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
        self.banners += 1
        self._begin()
        self._greeted = True

    def goodbye(self) -> None:
        """A client ended in good order."""
        if self.open_operations:
            self.missing.append("an operation began and its end is not in the log")
        self.open_operations = 0
        self._begin()
        self._active = False
        self._ended = True

    def prompt(self, line: str) -> None:
        """A prompt, with or without a command typed after it."""
        typed = line[_matched(line) :].strip()
        self._prompt_is_back = not typed or typed.lower() in words.CLOSING
        if typed and not self._prompt_is_back:
            self._typed = True
            verb = _VERB.match(typed)
            said = verb[0].lower() if verb else ""
            if said in words.RUNS_WORK:
                self._asked = said

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
        self._prompt_is_back = False
        self.open_operations += 1

    def finished(self) -> None:
        """An operation ended."""
        if self._ended:
            self._begin()
        self._active = self._worked = True
        self.open_operations = max(0, self.open_operations - 1)

    def aborted(self) -> None:
        """A stack of errors ended whatever was open."""
        self.open_operations = 0
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

    @property
    def _silent(self) -> bool:
        """Whether a client began and nobody typed anything: it works from a file, and must say good-bye."""
        return self._greeted and not self._typed

    def _leave(self, what: str) -> None:
        real = bool(self.banners) or self.connected
        if self.open_operations:
            self.missing.append("an operation began and its end is not in the log")
        elif self._ended or not (self._active or self._asked or (real and (what == "the log" or self._silent))):
            return
        elif real and not (self._typed and self._prompt_is_back and self._asked is None):
            self.missing.append(f"the end of {what} is missing: RMAN does not say that it is complete")
        elif not real and not (self._typed and self._worked):
            self.missing.append("neither the beginning nor the end of the session is there")


def _matched(line: str) -> int:
    found = _NUMBERED_PROMPTS.match(line)
    return found.end() if found else 0
