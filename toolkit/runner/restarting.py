"""Settings that need a restart: the server is started again, and one that does not come up is put back.

The journal has, before anything is changed, what stood in the server's file of settings, so that the former value
can be restored without a connection, too: the file is written while the server is down, as its manual allows, and
the server is started with it.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable, Mapping

from toolkit.dialects.base import Dialect
from toolkit.dialects.settings import UP, SystemChange
from toolkit.errors import ToolkitError
from toolkit.executors import Sessions
from toolkit.executors.restart import put_line, start_again, until_it_answers
from toolkit.model.protocols import DatabaseError
from toolkit.model.records import JournalEntry
from toolkit.model.steps import Step
from toolkit.model.values import Scalar
from toolkit.model.words import Effect, Role, StepKind
from toolkit.rendering import step_of
from toolkit.targets.base import UnheardError

ANSWERS_SECONDS = 120.0
"""How long a server that was started may replay its log before it answers."""
_UNDER_WAY_SECONDS = 10.0
"""How long a restart under way is waited for where nothing is heard of the server; one that says it does not let
anybody in yet is up, and is waited for as one that was started."""


def proof_of(change: SystemChange, name: str, dialect: Dialect) -> dict[str, Scalar]:
    """Return what the journal keeps of a change that takes effect at a restart."""
    if change.offline is not None and change.up is not None:
        offline, up = (step_of(dialect, call).text for call in (change.offline, change.up))
        return {"restart": True, "sysdba": True, "offline": offline, "up": up}
    return {"restart": True, "file": change.file, "line": name, "was": change.written}


def restart(sessions: Sessions) -> None:
    """Start the server again and wait until it answers.

    Raises:
        ToolkitError: TK-0203, TK-0207 or TK-0202 where it does not come up.
    """
    sessions.close()
    start_again(sessions.restart)
    _until_it_answers(sessions, ANSWERS_SECONDS)


def _until_it_answers(sessions: Sessions, seconds: float) -> None:
    until_it_answers(lambda: _asked(sessions), threading.Event().wait, seconds)


def _asked(sessions: Sessions) -> str | None:
    try:
        sessions.get(Role.CONTROL)
    except (DatabaseError, ToolkitError) as error:
        if isinstance(error, ToolkitError) and error.code == "TK-0302":
            raise
        return error.sentence
    return None


def back_without_connection(sessions: Sessions, proofs: Iterable[Mapping[str, Scalar]]) -> None:
    """Restore the settings of a server that does not come up, in its file, and start it with them.

    Args:
        sessions: of the run.
        proofs: what the journal keeps of each, by `proof_of`.

    Raises:
        ToolkitError: TK-0405, TK-0203, TK-0207, TK-0202.
    """
    for proof in reversed(list(proofs)):  # the first copy of a file with several settings is that of the user
        if "offline" in proof:
            _by_sysdba(sessions, str(proof["offline"]))
            continue
        was = proof.get("was")
        put_line(str(proof["file"]), str(proof["line"]), None if was is None else str(was))
    restart(sessions)


def _by_sysdba(sessions: Sessions, text: str) -> None:
    try:
        sessions.run(Step("offline", text, StepKind.SYSDBA, effect=Effect.DROPS))
    except DatabaseError as error:
        raise ToolkitError(
            f"the server is down, and what was set could not be put back: {error.sentence}; as SYSDBA, run: "
            f"{text.splitlines()[-1]}; and start the server",
            code="TK-0203",
            hint="then `dbatk clean`",
        ) from None


def after_undo(sessions: Sessions, entry: JournalEntry) -> None:
    """Start the server again where only that brings the former value back.

    Raises:
        ToolkitError: TK-0203 where no command is allowed for that, or the server does not come up.
    """
    if not entry.proof.get("restart"):
        return
    if not sessions.restart:
        raise ToolkitError(
            "the former value is set, and holds once the server is started again",
            code="TK-0203",
            hint="`restart = [...]` in the target's profile",
        )
    try:
        restart(sessions)
    except ToolkitError as error:
        raise ToolkitError(error.sentence, code="TK-0203", hint=error.hint) from None


def bring_back(sessions: Sessions, entries: Iterable[JournalEntry]) -> bool:
    """Before an undo, see that a server answers whose restart was cut off; tell whether its file was needed.

    Args:
        sessions: of the undo.
        entries: of the runs that are undone.

    Raises:
        ToolkitError: where it cannot be brought back.
    """
    open_ones = [entry for entry in entries if entry.proof.get("restart")]
    if not open_ones or not sessions.restart:
        return False
    try:
        _until_it_answers(sessions, _UNDER_WAY_SECONDS)
    except ToolkitError as error:
        asking = {str(entry.proof["up"]) for entry in open_ones if "up" in entry.proof}
        if not asking and _is_heard(sessions):
            _wait_for_what_refuses(sessions)
            return False
        _refuse_what_is_up(sessions, asking, error)
        back_without_connection(sessions, (entry.proof for entry in open_ones))
        return True
    return False


def _is_heard(sessions: Sessions) -> bool:
    """Tell whether a server says anything, if only that it refuses."""
    try:
        sessions.get(Role.CONTROL)
    except (UnheardError, DatabaseError):
        return False
    except ToolkitError:
        pass
    return True


def _wait_for_what_refuses(sessions: Sessions) -> None:
    """Wait for a server that refuses, as one does that replays its log; it is neither stopped nor started.

    Raises:
        ToolkitError: TK-0202.
    """
    try:
        _until_it_answers(sessions, ANSWERS_SECONDS)
    except ToolkitError as error:
        raise ToolkitError(
            f"the server, or what is before it, answers, but does not let dbatk in: {error.sentence}; it was "
            "neither stopped nor started", code="TK-0202",
            hint="see its log, and the account and password of the target; then `dbatk clean`",
        ) from None  # fmt: skip


def _refuse_what_is_up(sessions: Sessions, asking: Iterable[str], why: ToolkitError) -> None:
    """Leave a server alone that is up and lets only this user not in: others may be at work on it.

    Raises:
        ToolkitError: TK-0202; also where nobody can say whether it is up.
    """
    for text in asking:
        try:
            lines = sessions.run(Step("up", text, StepKind.SYSDBA)).lines
        except DatabaseError as error:
            raise ToolkitError(
                f"{why.sentence}; whether it is up cannot be seen: {error.sentence}", code="TK-0202",
                hint="see that `sysdba` of the target's profile can connect, then `dbatk clean`",
            ) from None  # fmt: skip
        if any(line.text.startswith(UP) for line in lines):
            raise ToolkitError(
                f"the server is up, but does not let dbatk in: {why.sentence}", code="TK-0202",
                hint="see its listener, and the account and password of the target; then `dbatk clean`",
            )  # fmt: skip
