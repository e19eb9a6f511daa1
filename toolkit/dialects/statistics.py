"""What an engine says about gathering statistics of live objects: what it depends on, and that none has moved.

A measurement on live objects must leave the statistics that plans are made from as they were. An engine that can
keep new ones apart says how (`isolate`), and proves afterwards from the catalogue that nothing moved (`proof`,
`proven`). The implementation of an engine without all this is no `LiveStatistics`.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from toolkit.dialects.implementations import Implementation, Implementations, Options
from toolkit.dialects.work import Call, Work
from toolkit.model.facts import Facts, Query, Release
from toolkit.model.steps import ObjectRef
from toolkit.model.values import QualifiedName, Row
from toolkit.model.words import OperationName


@dataclass(frozen=True, slots=True)
class Proof:
    """Whether statistics are as they should be after a run.

    Attributes:
        good: nothing moved; of a job: everything is newer than its beginning.
        sentence: what was looked at and found.
        details: what moved, or is not newer, and why.
        mend: what takes back what moved, to be run by hand: whose work it undoes nobody but the user knows.
    """

    good: bool
    sentence: str
    details: tuple[str, ...] = ()
    mend: tuple[Call, ...] = ()


class LiveStatistics(Implementation):
    """An engine's implementation of gathering that leaves statistics of live objects as they were.

    Works are those of one cell.
    """

    @abstractmethod
    def reads(
        self,
        schemas: Sequence[str],
        table: QualifiedName | None,
        release: Release,
        *,
        partition: str | None,
        on_live: bool,
        by_part: bool,
    ) -> tuple[Query, ...]:
        """Say what must be known: preferences, locks, the present state; `on_live` where published ones must stay.

        `by_part` where partitioned tables are to be gathered part by part.
        """

    @abstractmethod
    def isolate(self, works: Sequence[Work], kept: ObjectRef, mark: str, facts: Facts) -> tuple[Call, ...]:
        """Keep new statistics apart from those that plans are made from, each change with its undo.

        Args:
            works: on live objects.
            kept: the table created by dbatk for a copy of the current statistics.
            mark: its comment.
            facts: as `reads` asked.
        """

    @abstractmethod
    def end_isolation(self, works: Sequence[Work], facts: Facts) -> tuple[Call, ...]:
        """Put back what `isolate` changed, for a script; a run does it from its journal."""

    @abstractmethod
    def counts(self, work: Work, facts: Facts) -> tuple[Call, ...]:
        """Ask after the clock what was gathered; rows kept under `counted...` and `objects...`.

        Columns of `counted`: metric_name, metric_value, metric_unit; of `objects`: label, elapsed_seconds,
        object_type, status.
        """

    @abstractmethod
    def preview(self, work: Work, facts: Facts) -> tuple[Call, ...]:
        """Ask what would be gathered, gathering nothing (column `report_text`), where that can be asked."""

    @abstractmethod
    def proof(self, works: Sequence[Work]) -> tuple[Call, ...]:
        """Ask, when all is done, for the state of the statistics."""

    @abstractmethod
    def proven(
        self, works: Sequence[Work], facts: Facts, answers: Mapping[str, tuple[Row, ...]], kept: ObjectRef | None
    ) -> Proof:
        """Compare that state with the recorded one; `facts` are those of the run's very beginning."""


def live_statistics_of(work: Implementations, operation: OperationName) -> LiveStatistics | None:
    """Return an engine's ways around the gathering of statistics; None where it has none."""
    found = work.of(operation)
    return found if isinstance(found, LiveStatistics) else None


class StoredStatistics(Implementation):
    """An engine's implementation of publishing statistics that it stores beside those in force."""

    @abstractmethod
    def stored_reads(self, schema: str | None, table: str | None, options: Options) -> tuple[Query, ...]:
        """Ask which tables of a schema, or whether the one table, have such statistics."""

    @abstractmethod
    def whole(self, options: Options) -> bool:
        """Tell whether schemas are worked on as a whole, since what is stored of which table is not known."""

    @abstractmethod
    def stored(self, schema: str | None, options: Options, facts: Facts) -> Mapping[str, str | None]:
        """Return these tables by name, each with the reason why it cannot be worked on, or None.

        Raises:
            ToolkitError: TK-0112 when the catalogue was not read, TK-0304 when it may not be read or cannot tell.
        """

    @abstractmethod
    def none_stored(self, options: Options) -> str:
        """Say what a table or schema has where nothing was found: the rest of a sentence."""


def stored_statistics_of(work: Implementations, operation: OperationName) -> StoredStatistics | None:
    """Return an engine's ways to publish stored statistics; None where it has none."""
    found = work.of(operation)
    return found if isinstance(found, StoredStatistics) else None
