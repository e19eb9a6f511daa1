"""RMAN's answers to what the neutral backup asks of every engine."""

from __future__ import annotations

from toolkit.dialects.backups import Backups
from toolkit.dialects.implementations import Options
from toolkit.dialects.oracle.backup import client
from toolkit.dialects.oracle.backup import facts as known
from toolkit.dialects.oracle.backup.order import BackupAction, act_of, order_of
from toolkit.dialects.oracle.backup.script import is_asm
from toolkit.dialects.oracle.places import service_of
from toolkit.dialects.work import Work
from toolkit.errors import ToolkitError
from toolkit.model.facts import Facts, Probe, Query
from toolkit.model.steps import ObjectRef
from toolkit.model.values import QualifiedName
from toolkit.model.words import Keep, ObjectKind, ProbeKind


class OracleBackups(Backups):
    """A backup is known by its tag; a trial's tag stands in the names of its pieces too."""

    def reads(self, options: Options, facts: Facts) -> tuple[Query, ...]:
        del options
        return known.reads(facts)

    def probes(self, options: Options, facts: Facts) -> tuple[Probe, ...]:
        """Ask for the client and the folders; on a managed service there is neither."""
        if service_of(facts).code:
            return ()
        places = _places(options)
        folders = (
            Probe(known.place_key(number), ProbeKind.FOLDER, (place,))
            for number, place in enumerate(places)
            if not is_asm(place)
        )
        return (*client.probes(), *folders)

    def object(self, options: Options, name: str, *, measuring: bool) -> ObjectRef:
        if not measuring:
            return ObjectRef(ObjectKind.BACKUP, QualifiedName(str(options.get("tag") or name).upper()))
        places = ",".join(place for place in _places(options) if not is_asm(place))
        return ObjectRef(ObjectKind.BACKUP, QualifiedName(name, places or None), scratch=True)

    def label(self, work: Work) -> str:
        order = order_of(work)
        of = f" {', '.join(order.names)}" if order.names else ""
        return f"{order.act} {order.what.value.lower()}{of}"

    def refuse(self, work: Work, facts: Facts) -> None:
        del facts
        if work.option("bin_dir") is not None:
            raise ToolkitError(
                "`--bin-dir` is for one command, but a cleanup after a crash must also find rman",
                code="TK-0107",
                hint="set ORACLE_HOME, or `bin_dir` in the target's profile",
            )

    def refuse_keeping(self, keep: Keep) -> None:
        raise ToolkitError(
            f"`--keep {keep}` would leave a measured backup among yours, where it counts for the retention policy",
            code="TK-0107",
            hint="measure without `--keep`; then make the backup as a job, with the best configuration and your "
            "own tag",
        )

    def drops(self, work: Work) -> bool:
        return act_of(work) is BackupAction.WRITE

    def needed_bytes(self, work: Work, facts: Facts) -> float | None:
        order = order_of(work)
        return known.needed_bytes(order, facts) if order.writes else None

    def free_bytes(self, work: Work, facts: Facts) -> float | None:
        """Return what is free where the pieces go: the folders take turns, so the smallest counts for each."""
        order = order_of(work)
        if not order.writes:
            return None
        if not order.places:
            return _free_in_area(facts) if order.device == "DISK" and not order.formats else None
        keys = map(known.place_key, range(len(order.places)))
        free = [facts.value(key, "free_byte_count") for key in keys]
        told = [float(size) for size in free if isinstance(size, int | float)]
        return min(told) * len(told) if len(told) == len(order.places) else None


def _places(options: Options) -> tuple[str, ...]:
    given = options.get("destination")
    return given if isinstance(given, tuple) else () if given is None else (str(given),)


def _free_in_area(facts: Facts) -> float | None:
    """Return what the recovery area has left, with what Oracle may delete there by itself."""
    row = facts.first(known.AREA)
    if not row.get("place"):
        return None
    limit, used, back = (float(row.get(key) or 0) for key in ("limit_bytes", "used_bytes", "reclaimable_bytes"))
    return max(0.0, limit - used + back)
