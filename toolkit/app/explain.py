"""Explains error codes: our own, and those of the engines' catalogues."""

from __future__ import annotations

import re
from dataclasses import dataclass

from toolkit.dialects.base import GoesOn
from toolkit.dialects.registry import dialect_of
from toolkit.documents import nearest
from toolkit.errors import CATALOGUE, ToolkitError
from toolkit.model.words import EngineName

_GOES_ON = {
    GoesOn.TRIAL: "it may pass: the same trial may be tried again",
    GoesOn.RUN: "the trial fails, others may do",
    GoesOn.NOTHING: "every trial would fail alike until it is mended",
}
_ORACLE = re.compile(r"([A-Z]{2,4})-?0*(\d{1,5})")


@dataclass(frozen=True, slots=True)
class Explanation:
    """What a code means, why it comes, and what to do."""

    code: str
    title: str
    cause: str
    action: str


def explain(code: str) -> Explanation:
    """Explain a code of ours (`TK-0104`) or of a database (`ORA-1652`, an SQLSTATE).

    Raises:
        ToolkitError: TK-0101 when nobody knows it.
    """
    wanted = code.strip().upper()
    entry = CATALOGUE.get(wanted)
    if entry is not None:
        cause = f"{entry.cause} (exit status {int(entry.exit_code)})"
        return Explanation(entry.code, entry.title, cause, entry.action)
    for engine in EngineName:
        for spelling in dict.fromkeys((_padded(wanted), wanted, code.strip())):
            advice = dialect_of(engine).explain(spelling, "")
            if advice is not None:
                cause = f"{advice.meaning} ({_GOES_ON[advice.goes_on]})"
                return Explanation(advice.code, f"an error of {engine}", cause, advice.advice)
    near = nearest(wanted, CATALOGUE)
    raise ToolkitError(
        f"the code `{code[:40]}` is not known",
        code="TK-0101",
        hint=f"did you mean `{near}`?" if near else "look in the manual of the database",
    )


def _padded(code: str) -> str:
    """Spell an Oracle code with five digits: `ORA-1652` is `ORA-01652`."""
    match = _ORACLE.fullmatch(code)
    return f"{match[1]}-{int(match[2]):05d}" if match else code
