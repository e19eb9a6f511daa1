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
from toolkit.model.steps import ObjectRef, Place, PlaceKind, Takes
from toolkit.model.values import QualifiedName
from toolkit.model.words import Keep, ObjectKind, ProbeKind
from toolkit.units import parse_duration


class OracleBackups(Backups):
    """A backup is known by its tag; a trial's tag stands in the names of its pieces too."""

    def reads(self, options: Options, facts: Facts) -> tuple[Query, ...]:
        if options.get("scope") != "archivelog" or service_of(facts).code:
            return known.reads(facts)
        since, until = (minutes(options, name) for name in ("logs_since", "logs_until"))
        return (*known.reads(facts), known.read_logs(since, until))

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

    def takes(self, work: Work, facts: Facts) -> tuple[Takes, ...]:
        """Say what the pieces take: the folders take turns; of tape nothing is known, nor need be."""
        order = order_of(work)
        if not order.writes or order.device != "DISK":
            return ()
        size = known.needed_bytes(order, facts)
        why = "" if size is not None else "the data files were not read"
        if service_of(facts).code:
            return (Takes(size, Place(PlaceKind.FOLDER, "", service_of(facts).words), unknown=why),)
        if order.places:
            each = None if size is None else size / len(order.places)
            return tuple(Takes(each, Place(PlaceKind.FOLDER, path), unknown=why) for path in order.places)
        if order.formats:
            return (Takes(size, Place(PlaceKind.FOLDER, "", "--format"), unknown=why),)
        area = str(facts.value(known.AREA, "place") or "")
        return (Takes(size, Place(PlaceKind.RECOVERY_AREA, area), unknown=why),)


def minutes(options: Options, name: str) -> int | None:
    """Return a duration among options in whole minutes; None where none was given."""
    given = options.get(name)
    return None if given is None else max(1, round(parse_duration(str(given)) / 60))


def _places(options: Options) -> tuple[str, ...]:
    given = options.get("destination")
    return given if isinstance(given, tuple) else () if given is None else (str(given),)
