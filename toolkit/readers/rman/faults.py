"""Coded messages of a log: which are errors, which warn, which only inform, and what caused a stack."""

from __future__ import annotations

from toolkit.readers.rman import words
from toolkit.readers.rman.model import RmanMessage

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
        self.stacks = 0
        self.numbered = False
        self.in_stack = False
        self._stack: list[RmanMessage] = []
        self._before: str = ""

    def informs(self, family: str, number: int, text: str) -> bool:
        """Whether a code is no fault but the number of an ordinary message."""
        if family != "RMAN" or self.in_stack or number in words.RULERS:
            return False
        if number in words.REASONS:
            return True
        if number in words.INFORMS or (8000 <= number < 9000 and number not in words.WARNS):
            if not words.WARNING_WORDS.search(text):
                self.numbered = True
                return True
            return False
        if not self.numbered or number in words.HARD or number == words.CHANNEL_FAILED:
            return False
        return not words.WARNING_WORDS.search(text) and number not in words.WARNS and not _stands_for_error(number)

    def add(self, family: str, digits: str, text: str, line: int) -> None:
        """Keep a code that is a fault."""
        number = int(digits)
        if family == "RMAN" and number in words.RULERS:
            if number == words.STACK_BEGINS:
                self._close()
                self.in_stack = True
                self.stacks += 1
            return
        message = RmanMessage(f"{family}-{digits}", text.strip()[:_LONGEST], line)
        if self.in_stack or self._is_error(family, number, text):
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

    def _is_error(self, family: str, number: int, text: str) -> bool:
        if family != "RMAN":
            return self._before == "error" or (family == "ORA" and self._before != "warning")
        if words.WARNING_WORDS.search(text) or number in words.WARNS:
            return False
        hard = number in words.HARD or number == words.CHANNEL_FAILED or _stands_for_error(number)
        if hard and number != words.CHANNEL_FAILED and self._before != "error":
            self.stacks += 1
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
        if (family != "RMAN" or int(digits) not in words.FRAMES) and not _is_consequence(one):
            return one
    return stack[0]


def _is_consequence(message: RmanMessage) -> bool:
    """ORA-17629 and ORA-27040 only repeat, in general words, what the line above them says by name."""
    return message.code in {"ORA-17629", "ORA-27040", "ORA-27037", "ORA-19600", "ORA-06512", "ORA-01110"}
