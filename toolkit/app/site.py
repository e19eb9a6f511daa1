"""Writes all runs as a small static site; what did not change since is not written again."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from toolkit.app.files import write_file
from toolkit.app.results import find_run, listed_runs
from toolkit.errors import ToolkitError
from toolkit.model.operations import JudgedBy
from toolkit.model.records import RunHead
from toolkit.report.site import SiteEntry, histories_of, history_page, index_page, site_page
from toolkit.store import Store

_FORMAT = "dbatk-site-2"
_LIST = "site.json"
_RUN = re.compile(r"[0-9A-Za-z][0-9A-Za-z-]{0,63}")
_ENTRIES = frozenset(SiteEntry.__dataclass_fields__)


@dataclass(frozen=True, slots=True)
class SiteWritten:
    """What was done in the folder."""

    folder: Path
    runs: int
    written: int
    removed: int
    unreadable: tuple[str, ...] = ()
    """Why runs could not be read; they are not listed."""

    @property
    def unchanged(self) -> int:
        return self.runs - self.written


@dataclass(frozen=True, slots=True)
class _Page:
    """A page that stands in the folder: from which state of its run it was made, and its entry."""

    made_from: str
    entry: SiteEntry


def write_site(store: Store, folder: Path, tell: Callable[[str], None]) -> SiteWritten:
    """Write the pages of all runs into a folder, and remove those of runs that are stored no more.

    A page is as readable as the folder is.

    Raises:
        ToolkitError: TK-0405 for a folder that is not empty and not a site of this store.
    """
    pages = _begun(folder, store.origin)
    heads = listed_runs(store, None)
    kept = {head.run: pages[head.run] for head in heads if head.run in pages}
    gone = [run for run in pages if run not in kept]
    changed = [head for head in heads if not _stands(folder, head, kept)]
    unreadable: list[str] = []
    try:
        for at, head in enumerate(changed):
            if at and at % 500 == 0:
                tell(f"{at:,} of {len(changed):,} pages")
            kept.pop(head.run, None)
            try:
                text, entry = site_page(find_run(store, head.run, samples=True))
            except ToolkitError as error:
                unreadable.append(f"run {head.run}: {error.sentence}")
                continue
            _write(_page_of(folder, head.run), text)
            kept[head.run] = _Page(_state(head), entry)
        for run in gone:
            _page_of(folder, run).unlink(missing_ok=True)
        _write_index(folder, [kept[head.run].entry for head in heads if head.run in kept])
    finally:
        document = {run: {"made_from": page.made_from, **asdict(page.entry)} for run, page in kept.items()}
        _write(folder / _LIST, json.dumps({"format": _FORMAT, "store": store.origin, "runs": document}) + "\n")
    return SiteWritten(folder, len(kept), len(changed) - len(unreadable), len(gone), tuple(unreadable))


def _write_index(folder: Path, entries: Sequence[SiteEntry]) -> None:
    histories = histories_of(entries)
    if histories:
        _write(folder / "history.html", history_page(histories))
    else:
        (folder / "history.html").unlink(missing_ok=True)
    _write(folder / "index.html", index_page(entries, histories=bool(histories)))


def _page_of(folder: Path, run: str) -> Path:
    return folder / "runs" / f"{run}.html"


def _write(path: Path, text: str) -> None:
    write_file(path, text, path.parent.stat().st_mode & 0o666)


def _stands(folder: Path, head: RunHead, pages: dict[str, _Page]) -> bool:
    page = pages.get(head.run)
    return page is not None and page.made_from == _state(head) and _page_of(folder, head.run).exists()


def _state(head: RunHead) -> str:
    """Return what changes whenever the page of a run would: its head, and the program that wrote the page."""
    from toolkit import __version__

    return hashlib.sha256(repr((__version__, head)).encode("utf-8", "backslashreplace")).hexdigest()[:16]


def _begun(folder: Path, origin: str) -> dict[str, _Page]:
    """Make the folder, or return the pages that stand in it.

    Raises:
        ToolkitError: TK-0405 for a folder that is of something else, or cannot be made.
    """
    try:
        if folder.exists() and any(folder.iterdir()):
            return _read_list(folder, origin)
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        (folder / "runs").mkdir(mode=folder.stat().st_mode & 0o777)
    except OSError as error:
        raise ToolkitError(
            f"`{folder}` cannot be written: {(error.strerror or 'unknown reason').lower()}",
            code="TK-0405",
            hint="name a folder that is new, empty, or was written by `dbatk report --all`",
        ) from None
    return {}


def _read_list(folder: Path, origin: str) -> dict[str, _Page]:
    try:
        document = json.loads((folder / _LIST).read_text(encoding="utf-8"))
        runs = document["runs"].items()
        if document["format"] == _FORMAT and (document["store"] == origin or not runs):
            return {run: _page(run, one) for run, one in runs if _RUN.fullmatch(run)}
        why = "holds the runs of another store"
    except (FileNotFoundError, ValueError, KeyError, TypeError, AttributeError):
        why = "is not empty, and was not written by `dbatk report --all`"
    raise ToolkitError(f"`{folder}` {why}", code="TK-0405", hint="name a new or empty folder for `--out`")


def _page(run: str, one: dict[str, object]) -> _Page:
    values = {name: one[name] for name in _ENTRIES}
    medians = tuple((str(name), float(value)) for name, value in values.pop("medians"))  # type: ignore[attr-defined]
    judged = JudgedBy(**values.pop("judged_by"))  # type: ignore[arg-type]
    entry = SiteEntry(**{**values, "run": run}, medians=medians, judged_by=judged)  # type: ignore[arg-type]
    return _Page(str(one["made_from"]), entry)
