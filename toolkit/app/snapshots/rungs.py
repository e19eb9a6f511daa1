"""The ladder of snapshots: which rung a run or `snapshot take` stands on, and why."""

from __future__ import annotations

from toolkit.analysis.metrics import RUNG
from toolkit.dialects.base import Dialect
from toolkit.dialects.oracle import ladder
from toolkit.dialects.repositories import Rung
from toolkit.errors import ToolkitError
from toolkit.executors import Sessions, read_facts
from toolkit.model.facts import Facts, Query
from toolkit.model.protocols import Event, Events
from toolkit.model.values import Scalar
from toolkit.model.words import EngineName, Role
from toolkit.snapshots.brackets import BracketProvider, Repositories
from toolkit.store import Store

AUTO = "auto"
REPOSITORIES = frozenset({ladder.AWR.provider, ladder.STATSPACK.provider})
_PACK = frozenset({"pack_access"})


def rung_of(
    wanted: str, dialect: Dialect, facts: Facts, sessions: Sessions, declared: frozenset[str], *,
    reading: bool = False,
) -> Rung:  # fmt: skip
    """Return the rung that is taken of a database.

    Args:
        wanted: `auto`, or the name of a rung.
        dialect: of the target.
        facts: with what is read before every run.
        sessions: asked for what only some rungs need.
        declared: licences that the profile declares and that hold today.
        reading: snapshots are read, none is taken: a standby will do.

    Raises:
        ToolkitError: TK-0303 for a pack that nobody declared, TK-0304 for what cannot be had here.
    """
    if dialect.engine is not EngineName.ORACLE:
        if wanted in REPOSITORIES:
            raise ToolkitError(
                f"{dialect.engine.value} has no {wanted} snapshots",
                code="TK-0304",
                hint="leave it out: its own counters are read",
            )
        return Rung(wanted, "what the engine counts itself", choice=False)
    ground = _with_ground(wanted, facts, dialect, sessions, declared)
    return ladder.choose(wanted, ground, declared, reading=reading)


def _with_ground(
    wanted: str, facts: Facts, dialect: Dialect, sessions: Sessions, declared: frozenset[str]
) -> Facts:
    """Read what the ladder stands on and the facts lack, so that nobody pays for a rung that is out of reach."""
    control = sessions.get(Role.CONTROL)
    wished = set(ladder.FILES) if declared or wanted in REPOSITORIES else set(ladder.FILES) - _PACK
    missing = [file for file in ladder.FILES if file in wished and file not in {*facts.answers, *facts.refused}]
    facts = read_facts(control, dialect, [Query(file, file, optional=True) for file in missing], facts)
    if any(row.get("schema_mark") == "PERFSTAT" for row in facts.rows("doctor_marks")):
        query = Query(ladder.STATSPACK_FILE, ladder.STATSPACK_FILE, optional=True)
        facts = read_facts(control, dialect, [query], facts)
    return facts


def declared_in(facts: Facts) -> frozenset[str]:
    """Return the licences that stand among the facts of a run."""
    return frozenset(str(row.get("licence")) for row in facts.rows("licences"))


def bracket_of(rung: Rung, dialect: Dialect, sessions: Sessions, run: str) -> BracketProvider | None:
    """Return what takes snapshots of a repository around trials and the run; None for rungs without one."""
    if rung.repository is None:
        return None
    return BracketProvider(Repositories(rung.repository, dialect, sessions.run, run))


def keep_rung(store: Store, run: str, rung: Rung | None, events: Events) -> None:
    """Keep with a run which snapshots it has and why, and say it where there was a choice."""
    if rung is None or not rung.choice:
        return
    told: dict[str, Scalar] = {RUNG: rung.provider, "snapshot_reason": rung.why}
    store.set_environment(run, {**store.load_run(run).environment, **told})
    events.emit(Event("mode", f"snapshots by {rung.provider} ({rung.why})", told))
