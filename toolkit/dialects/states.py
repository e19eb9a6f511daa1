"""What a snapshot reads of an engine: which statements, and what the columns of their rows are."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from toolkit.dialects.work import Call
from toolkit.model.facts import Facts


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
