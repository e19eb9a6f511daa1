"""What is read of an engine besides its work: by snapshots, and for the guards of a plan.

A guard without a file is read from the host where that is possible (space, load), or the engine has no such thing.
Where a guard has several files, the next one is read when the one before is refused.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from toolkit.dialects.work import Call
from toolkit.model.facts import Facts
from toolkit.model.plan import Guard


@dataclass(frozen=True, slots=True)
class StateRead:
    """One read of a snapshot.

    Attributes:
        section: where its rows are kept; several reads of plain counters may fill one.
        call: the statement.
        keys: columns that tell rows apart.
        counters: columns that only grow, with their unit.
        gauges: columns that are what they are at the instant, with their unit.
        words: columns of text.
        since: names of the identity: when one of them is another later, the counters began anew.
        most: how many rows the statement gives at most, None where it gives all.
        plain: the rows are metric_name, metric_value, metric_unit and metric_kind, as around a trial.
        identity: the one row tells which database this is.
    """

    section: str
    call: Call
    keys: tuple[str, ...] = ()
    counters: Mapping[str, str] = field(default_factory=dict)
    gauges: Mapping[str, str] = field(default_factory=dict)
    words: tuple[str, ...] = ()
    since: tuple[str, ...] = ()
    most: int | None = None
    plain: bool = False
    identity: bool = False


@dataclass(frozen=True, slots=True)
class States:
    """What a snapshot reads of an engine.

    Attributes:
        provider: the name of this snapshot source.
        files: catalogue files read first, each optional, key = file name.
        reads: the reads in their order: who it is first.
        hints: what a snapshot of this database cannot tell, and what would mend it.
        watch: a file that tells what sessions wait for at an instant (event, wait_class, sessions), where the
            server does not count it itself.
    """

    provider: str
    files: tuple[str, ...]
    reads: Callable[[Facts], tuple[StateRead, ...]]
    hints: Callable[[Facts], tuple[str, ...]] = lambda _: ()
    watch: str | None = None


_RELEASE = re.compile(r"_\d+\Z")


def plain_read(file: str, since: tuple[str, ...] = ()) -> StateRead:
    """Return the read of counters as they are read around a trial; files of all releases fill one section."""
    section = _RELEASE.sub("", file.removeprefix("snapshot_").removeprefix("state_"))
    return StateRead(section, Call(file, file=True), since=since, plain=True)


def identity_read() -> StateRead:
    """Return the read that tells which database this is, since when it counts, and what time it is there."""
    return StateRead("identity", Call("state_identity", file=True), identity=True)


GUARD_COLUMNS: Mapping[Guard, tuple[str, ...]] = {
    # :ours -> how many sessions of others are at work; `hidden_sessions` are those whose state is not shown
    Guard.ACTIVE_SESSIONS: ("active_sessions", "hidden_sessions"),
    # no binds -> each standby; `lag_seconds` null and a `problem` where it is not known
    Guard.LAG: ("standby_name", "lag_seconds", "problem"),
    # :places -> each of those tablespaces
    Guard.TABLESPACE: ("place", "free_byte_count"),
    # no binds -> where sessions of this user sort; no row where there is no such place
    Guard.TEMP: ("place", "free_byte_count"),
    Guard.RECOVERY_AREA: ("place", "free_byte_count"),
    # no binds -> of the host, null where it does not tell
    Guard.LOAD: ("load_average", "cpu_count"),
    # no binds -> who waits for a lock behind whom; names are those of the sessions, dbatk's are run ids
    Guard.LOCK_WAITERS: ("waiter", "waiter_name", "waited_seconds", "blocker", "blocker_name"),
}
"""Lists of :ours, :places, :schemas and :tablespaces stand between bars: `|a|b|`.

The file `guard_places` (:schemas, :tablespaces) is read once for where the plan's objects go: place_kind
(`tablespace`, `temp`, `recovery_area`), place and path, a folder or file on the server's host, null where the
server itself tells free space."""


@dataclass(frozen=True, slots=True)
class GuardFiles:
    """Which files an engine has; `lacks` says of a guard what the engine has not."""

    files: Mapping[Guard, tuple[str, ...]] = field(default_factory=dict)
    lacks: Mapping[Guard, str] = field(default_factory=dict)
