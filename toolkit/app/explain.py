"""Explains error codes: our own, and those of the engines' catalogues."""

from __future__ import annotations

import re
from dataclasses import dataclass

from toolkit import __version__
from toolkit.dialects.answers import Continuation
from toolkit.dialects.registry import dialect_of
from toolkit.documents import nearest
from toolkit.errors import CATALOGUE, ToolkitError
from toolkit.model.engines import engines

_GOES_ON = {
    Continuation.TRIAL: "the error may be temporary: the same trial may be retried",
    Continuation.RUN: "the trial fails, others may succeed",
    Continuation.NOTHING: "every trial would fail alike until it is fixed",
}
_OURS = "TK-"
_ORACLE = re.compile(r"(?:(ORA|TNS|UDE|UDI|RMAN|PLS|DPY|DPI)[- ]?)?0*(\d{1,5})")
"""A number alone is one of Oracle's, as DBAs say them."""
_CLIENTS = ("UDE-", "UDI-")
"""expdp and impdp."""
_PASSED_ON = re.compile(r"TNS-|UD[EI]-(?!000)")
"""Codes with the number of the database's: a listener's, and those of Data Pump's clients beyond their own few, as
in `UDE-31623: operation generated ORACLE error 31623`."""


@dataclass(frozen=True, slots=True)
class Explanation:
    """What a code means, why it comes, and what to do."""

    code: str
    title: str
    cause: str
    action: str


def explain(code: str) -> Explanation:
    """Explain a code of dbatk (`TK-0104`) or of a database (`ORA-1652`, an SQLSTATE).

    Raises:
        ToolkitError: TK-0101 when nobody knows it.
    """
    wanted = code.strip().upper()
    entry = CATALOGUE.get(wanted)
    if entry is not None:
        cause = f"{entry.cause} (exit status {int(entry.exit_code)})"
        return Explanation(entry.code, entry.title, cause, entry.action)
    for engine, declared in engines().items():
        padded = _padded(wanted)
        for spelling in dict.fromkeys((padded, _PASSED_ON.sub("ORA-", padded), wanted, code.strip())):
            advice = dialect_of(engine).explain(spelling, "")
            if advice is not None:
                cause = f"{advice.meaning} ({_GOES_ON[advice.goes_on]})"
                return Explanation(advice.code, f"an error of {declared.title}", cause, advice.advice)
    if match := _ORACLE.fullmatch(wanted):
        known = _padded(wanted)
        asked = f"`{wanted}` (read as {known})" if match[1] is None else f"`{known}`"
        of_client = known.startswith(_CLIENTS)
        raise ToolkitError(
            f"{asked} is not a code that dbatk explains: it covers only errors of its own work",
            code="TK-0101",
            hint="the client of Data Pump prints the code of the database (ORA-) on the same or the next line: "
            "give that one" if of_client
            else f"Oracle explains it at https://docs.oracle.com/error-help/db/{known.lower()}/",
        )  # fmt: skip
    near = nearest(wanted, CATALOGUE)
    if near is None and wanted.startswith(_OURS):
        raise ToolkitError(
            f"dbatk {__version__} has no error `{code[:40]}`",
            code="TK-0101",
            hint=f"its codes are {min(CATALOGUE)} to {max(CATALOGUE)}",
        )
    raise ToolkitError(
        f"unknown code `{code[:40]}`",
        code="TK-0101",
        hint=f"did you mean `{near}`?" if near else "see the database's manual",
    )


def _padded(code: str) -> str:
    """Spell an Oracle code as it is printed: `ORA-1652` and `1652` are `ORA-01652`, `DPY-4011` has four digits."""
    match = _ORACLE.fullmatch(code)
    if match is None:
        return code
    prefix = match[1] or "ORA"
    return f"{prefix}-{int(match[2]):0{4 if prefix in _FOUR_DIGITS else 5}d}"


_FOUR_DIGITS = frozenset({"DPY", "DPI"})
