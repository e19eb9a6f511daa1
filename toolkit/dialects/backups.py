"""How an engine's databases are backed up, and what backups into a folder of this host have in common."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import replace

from toolkit.dialects.answers import TrialFindings
from toolkit.dialects.implementations import Implementation, Implementations, Options
from toolkit.dialects.work import Call, Work
from toolkit.errors import ToolkitError
from toolkit.model.facts import Facts, Probe, Query
from toolkit.model.protocols import DatabaseError
from toolkit.model.records import Metric
from toolkit.model.steps import FolderAct, ObjectRef, Place, PlaceKind, Takes, content_of, path_of
from toolkit.model.values import QualifiedName
from toolkit.model.words import Effect, Keep, Mode, ObjectKind, OperationName, ProbeKind, Role, StepKind


class Backups(Implementation):
    """An engine's implementation of backups: besides how one is spelled, what it is and where it goes."""

    @abstractmethod
    def reads(self, options: Options, facts: Facts) -> tuple[Query, ...]:
        """Say what must be read of the database before planning."""

    @abstractmethod
    def object(self, options: Options, name: str, *, measuring: bool) -> ObjectRef:
        """Name the backup of a trial, or of a job.

        Args:
            options: with the levels of the cell.
            name: generated, and used by nothing else.
            measuring: whether it is a trial's.
        """

    @abstractmethod
    def label(self, work: Work) -> str:
        """Return how people call the backup: the path or tag under which it stays, or what is measured."""

    @abstractmethod
    def refuse(self, work: Work, facts: Facts) -> None:
        """Refuse what cannot be right, before anything is written.

        Raises:
            ToolkitError: TK-0102, TK-0107, TK-0204, TK-0205 or TK-0305.
        """

    @abstractmethod
    def refuse_keeping(self, keep: Keep) -> None:
        """Refuse `--keep` where a measured backup would count among the real ones.

        Raises:
            ToolkitError: TK-0107.
        """

    @abstractmethod
    def drops(self, work: Work) -> bool:
        """Tell whether a trial makes something that its end removes; validating makes nothing."""

    @abstractmethod
    def takes(self, work: Work, facts: Facts) -> tuple[Takes, ...]:
        """Say how big the backup is about, and where it goes; nothing where nothing is written."""

    reads_back = False
    """Whether a program of the engine reads a backup again; where none does, that it is complete is the proof."""
    clone_differs_in: tuple[tuple[str, str, str], ...] = ()
    """In what a clone differs from its original, which has the same identity: title, catalogue file, column."""


def backups_of(work: Implementations, operation: OperationName) -> Backups:
    """Return how an engine backs up.

    Raises:
        ToolkitError: TK-0304 where it does not, with the sentence.
    """
    found = work.of(operation)
    if isinstance(found, Backups):
        return found
    raise work.refusal(operation)


# -- a backup in a folder of this host ----------------------------------------------------------------------------
def destination(options: Options) -> str | None:
    """Return the one folder that was named; None when none was."""
    given = options.get("destination")
    paths = given if isinstance(given, tuple) else () if given is None else (str(given),)
    return paths[0] if paths else None


def folder_of(options: Options, name: str) -> ObjectRef:
    """Refer to a folder of dbatk in the destination: a job's too, until its backup is complete and moved out."""
    parent = destination(options) or "/"
    return ObjectRef(ObjectKind.BACKUP, QualifiedName(name, parent), scratch=True)


def final_path(work: Work) -> str:
    """Return where the backup of a job stays: under its tag, else under the name of its run at any attempt."""
    run = work.object.name.name.removeprefix("dbatk_").rpartition("_")[0]
    tag = work.option("tag")
    return f"{(work.object.name.schema or '').rstrip('/')}/{tag if tag is not None else f'backup_{run}'}"


def folder_probes(options: Options) -> tuple[Probe, ...]:
    """Ask about the destination, and whether the tag's folder is there already."""
    parent = destination(options)
    if parent is None:
        return ()
    tag = options.get("tag")
    probes = [Probe("destination", ProbeKind.FOLDER, (parent,))]
    if tag is not None:
        probes.append(Probe("final", ProbeKind.FOLDER, (f"{parent.rstrip('/')}/{tag}",)))
    return tuple(probes)


def refuse_folder(work: Work, facts: Facts) -> None:
    """Refuse a destination that cannot take a backup.

    Raises:
        ToolkitError: TK-0102, TK-0107, TK-0204, TK-0205 or TK-0305, each with what to do.
    """
    given = work.option("destination")
    if given is None:
        raise ToolkitError(
            "a backup needs a destination folder", code="TK-0107", hint="give `--destination FOLDER` on this host"
        )
    if isinstance(given, tuple) and len(given) != 1:
        raise ToolkitError(
            f"{len(given)} destinations were given, but this backup uses one folder",
            code="TK-0107",
            hint="give one `--destination`; paths must not contain commas",
        )
    _refuse_tag(work)
    if work.option("keep_for") is not None and work.mode is Mode.MEASUREMENT:
        raise ToolkitError(
            "`--keep-for` is for a job, whose backup is kept; those of a measurement are not",
            code="TK-0107",
            hint="omit it",
        )
    if "destination" in facts.answers:
        _refuse_place(facts)


def _refuse_tag(work: Work) -> None:
    tag = work.option("tag")
    if tag is None:
        return
    if work.mode is Mode.MEASUREMENT:
        raise ToolkitError(
            "`--tag` is for a backup that is kept; those of a measurement are not",
            code="TK-0107",
            hint="omit it",
        )
    if "/" in str(tag) or str(tag) in {".", ".."} or str(tag).lower().startswith("dbatk_"):
        raise ToolkitError(
            f"`{tag}` cannot be the name of a backup's folder",
            code="TK-0104",
            hint="give a name without `/` that does not start with `dbatk_`",
        )


def _refuse_place(facts: Facts) -> None:
    place = facts.first("destination")
    path = place.get("path")
    if place.get("is_there") != "yes":
        hint = "create it first; dbatk creates a subfolder in it"
        raise ToolkitError(f"there is no folder `{path}` on this host", code="TK-0204", hint=hint)
    if place.get("is_folder") != "yes":
        raise ToolkitError(f"`{path}` is not a folder", code="TK-0204", hint="give a folder")
    if not str(path).startswith("/"):
        raise ToolkitError(
            f"`{path}` is relative to the current folder", code="TK-0102", hint="give the full path"
        )
    if place.get("is_writable") != "yes":
        raise ToolkitError(
            f"`{path}` is not writable for this user", code="TK-0305", hint="change its owner or permissions"
        )
    final = facts.first("final")
    if final.get("is_there") == "yes":
        raise ToolkitError(
            f"`{final.get('path')}` already exists",
            code="TK-0205",
            hint="choose another `--tag`; dbatk never replaces a backup",
        )


def takes_of_folder(size: float | None, work: Work) -> tuple[Takes, ...]:
    """Say what a backup of this many bytes takes of the destination."""
    why = "" if size is not None else "the size of the database is not known"
    return (Takes(size, Place(PlaceKind.FOLDER, destination(work.options) or "/"), unknown=why),)


def make(ref: ObjectRef, mark: str) -> Call:
    """Make a folder with the mark of the run."""
    return _call(FolderAct.MAKE, ref, (mark,), Effect.CREATES)


def look(ref: ObjectRef) -> Call:
    """Ask what proves which folder this is (columns as of `Dialect.identity`)."""
    return _call(FolderAct.LOOK, ref, (), Effect.READS)


def listing(ref: ObjectRef) -> Call:
    """Ask what is in a backup: a digest of its files and their sizes (`listing`), and how many they are."""
    return _call(FolderAct.LIST, ref, (), Effect.READS)


def take_back(ref: ObjectRef, final: str, identity: str) -> Call:
    """Move a backup from where it stays into a folder of dbatk, to be removed with it.

    Args:
        ref: the folder of dbatk.
        final: where the backup stays.
        identity: of the folder there, as `look` returned it; another one is kept.
    """
    return _call(FolderAct.TAKE_BACK, ref, (final, identity), Effect.CHANGES)


def measure(ref: ObjectRef) -> Call:
    """Ask how big the content is: `byte_count`, `file_count`."""
    return _call(FolderAct.MEASURE, ref, (), Effect.READS, keep_as="bytes")


def seal(ref: ObjectRef) -> Call:
    """Write the checksums of a backup's files beside them."""
    return replace(_call(FolderAct.SEAL, ref, (), Effect.CHANGES), argv=(FolderAct.SEAL.value, content_of(ref)))


def prove(ref: ObjectRef, path: str) -> Call:
    """Compare the files of a backup with the checksums that were written with it."""
    return replace(_call(FolderAct.PROVE, ref, (), Effect.READS), argv=(FolderAct.PROVE.value, path))


def publish(work: Work, *, verified_by: str | None = None) -> Call:
    """Move the complete backup of a job to where it stays.

    Args:
        work: the backup.
        verified_by: the program that has verified it by then.
    """
    parent, _, name = final_path(work).rpartition("/")
    final = ObjectRef(ObjectKind.BACKUP, QualifiedName(name, parent or "/"))
    call = _call(FolderAct.PUBLISH, work.object, (final_path(work),), Effect.CREATES)
    return replace(call, object=final, definition=() if verified_by is None else (("verified by", verified_by),))


def remove(ref: ObjectRef) -> tuple[Call, ...]:
    """Remove a folder made by dbatk with its contents."""
    return (_call(FolderAct.REMOVE, ref, (), Effect.DROPS),)


def _call(
    act: FolderAct, ref: ObjectRef, more: tuple[str, ...], effect: Effect, keep_as: str | None = None
) -> Call:
    from toolkit.dialects.work import Call

    path = content_of(ref) if act is FolderAct.MEASURE else path_of(ref)
    return Call(
        f"folder_{act}",
        kind=StepKind.FOLDER,
        session=Role.CONTROL,
        effect=effect,
        object=ref,
        argv=(act.value, path, *more),
        keep_as=keep_as,
    )


def volume(read: object, written: object, seconds: float, source: str) -> tuple[Metric, ...]:
    """Return what went in and out, how fast, and how much smaller it became; what is not known is left out."""
    sizes = {"bytes_read": read, "bytes_written": written}
    known = {name: float(size) for name, size in sizes.items() if isinstance(size, int | float) and size > 0}
    metrics = [Metric(name, size, "bytes", source) for name, size in known.items()]
    if seconds > 0:
        names = {"bytes_read": "read_rate", "bytes_written": "write_rate"}
        metrics += [Metric(names[name], size / seconds, "bytes/s", source) for name, size in known.items()]
    if len(known) == len(sizes):
        metrics.append(Metric("compression_ratio", known["bytes_read"] / known["bytes_written"], "ratio", source))
    return tuple(metrics)


def with_cpu(findings: TrialFindings, used: object, seconds: float) -> TrialFindings:
    """Add the CPU seconds that the program used on this host, and how many processors that was."""
    if not isinstance(used, int | float) or seconds <= 0:
        return findings
    metric = Metric("program_cpu_seconds", float(used), "seconds", "getrusage")
    return replace(findings, metrics=(*findings.metrics, metric), cpu_seconds=float(used))


# -- programs -----------------------------------------------------------------------------------------------------
def failed(name: str, status: int, lines: Sequence[str]) -> DatabaseError:
    """Return the error of a program that did not end well: its last words, and all of them as the message."""
    program = name.rpartition("/")[2]
    words = [line.strip() for line in lines if line.strip()]
    code = f"exit {status}" if status >= 0 else f"signal {-status}"
    if status < 0:
        headline = f"{program} was ended by signal {-status}"
    else:
        headline = words[-1] if words else f"{program} ended with status {status} and no output"
    return DatabaseError("\n".join(words) or headline, code=code, headline=headline)
