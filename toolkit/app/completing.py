"""What a shell may complete besides words of the command line: profiles, runs, and names of a database.

Nothing is asked of a person, nothing is made, and nothing is waited for longer than a key press bears: what cannot
be had is no completion. Names of a database are kept for a while, for nobody else to read.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import subprocess
import sys
import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from toolkit.config.paths import home_based
from toolkit.errors import ToolkitError
from toolkit.model.protocols import DatabaseError
from toolkit.model.values import QualifiedName, Scalar

if TYPE_CHECKING:
    from toolkit.dialects.base import Dialect
    from toolkit.store import Store

LIMIT_SECONDS = 0.5
"""How long a database may take to answer."""
_KEPT_SECONDS, _REFUSED_SECONDS = 600.0, 12 * 3600.0
_MOST = 2000
_FAILURES = (ToolkitError, DatabaseError, OSError, ValueError)


def profiles() -> list[str]:
    """Return the names of the profiles."""
    from toolkit.config.profiles import load_profiles

    return list(load_profiles())


def runs(store: str | None, most: int = 200) -> list[str]:
    """Return `last`, and the labels and ids of the newest runs; nothing where there is no store.

    Args:
        store: its address as given, None for the usual one.
        most: how many runs are looked at.
    """
    with _opened(store) as opened:
        heads = opened.list_runs(most) if opened is not None else []
    found = ["last"] if heads else []
    return [*found, *dict.fromkeys(name for head in heads for name in (head.label, head.run) if name)]


def labels(store: str | None, most: int = 200) -> list[str]:
    """Return the labels of the newest runs.

    Args:
        store: as in `runs`.
        most: how many runs are looked at.
    """
    with _opened(store) as opened:
        heads = opened.list_runs(most) if opened is not None else []
    return list(dict.fromkeys(head.label for head in heads if head.label))


def snapshot_labels(store: str | None, most: int = 200) -> list[str]:
    """Return the labels of the newest snapshots.

    Args:
        store: as in `runs`.
        most: how many snapshots are looked at.
    """
    with _opened(store) as opened:
        found = opened.snapshots(limit=most) if opened is not None else []
    return list(dict.fromkeys(one.label for one in found))


def metrics(store: str | None) -> list[str]:
    """Return the names of the metrics that the newest run has."""
    from toolkit.analysis.metrics import metrics_by_cell
    from toolkit.app.results import find_run

    with _opened(store) as opened:
        run = find_run(opened, "last") if opened is not None else None
    by_cell = metrics_by_cell(run) if run is not None else {}
    return list(dict.fromkeys(one.name for found in by_cell.values() for one in found))


def plan_runs(store: str | None, most: int = 200) -> list[str]:
    """Return `last`, and the names of plans and ids of the newest plan runs.

    Args:
        store: as in `runs`.
        most: how many plan runs are looked at.
    """
    with _opened(store) as opened:
        found = opened.plan_runs(limit=most, with_steps=False) if opened is not None else []
    names = [*dict.fromkeys(one.plan for one in found), *(one.plan_run for one in found)]
    return ["last", *names] if names else []


def plan_names(store: str | None, most: int = 200) -> list[str]:
    """Return the names of the plans of the newest plan runs.

    Args:
        store: as in `runs`.
        most: how many plan runs are looked at.
    """
    with _opened(store) as opened:
        found = opened.plan_runs(limit=most, with_steps=False) if opened is not None else []
    return list(dict.fromkeys(one.plan for one in found))


def scheduled() -> list[str]:
    """Return the names of what systemd and cron run."""
    from toolkit.app.scheduling import Crontab, Units

    return list(dict.fromkeys(one.name for one in (*Units().list(), *Crontab().list())))


def steps(store: str | None, plan: str | None) -> list[str]:
    """Return the names of the steps of a plan's runs, or of all plans."""
    with _opened(store) as opened:
        return opened.step_names(plan) if opened is not None else []


def cells(store: str | None, run: str) -> list[str]:
    """Return the configurations of a run, `RUN/degree=4`."""
    from toolkit.app.results import find_run

    with _opened(store) as opened:
        trials = find_run(opened, run, samples=False).trials if opened is not None else ()
    return list(dict.fromkeys(f"{run}/{trial.cell}" for trial in trials))


@contextlib.contextmanager
def _opened(location: str | None) -> Iterator[Store | None]:
    """Open the store if it is a file of this version: a key press neither makes one nor brings one up to date."""
    from toolkit.store import open_store
    from toolkit.store.location import find_place
    from toolkit.store.opening import is_current

    place = find_place(location)
    if place.path is None or not is_current(place.path):
        yield None
        return
    with open_store(location, busy_seconds=LIMIT_SECONDS) as opened:
        yield opened


def names(target: str, what: str, *, schema: str | None = None, table: str | None = None) -> list[str]:
    """Return names of a database, from the last look or by asking it for at most half a second.

    They are spelled as they are typed: in double quotes where the database would take them for others without.

    Args:
        target: a profile or URL.
        what: `tables`, `indexes`, `columns`, `schemas` or `settings`.
        schema: in which they are, as it was typed; None for that of the session.
        table: whose columns, as it was typed.
    """
    key = hashlib.sha256(json.dumps([target, what, schema, table]).encode()).hexdigest()
    kept = _kept(key)
    if kept is None and not _refused(target) and _keep(key, ()):
        _ask(json.dumps([key, target, what, schema, table]))
        kept = _kept(key)
    return kept or []


def _ask(question: str) -> None:
    """Ask in a process of its own, which imports nothing from the folder that is worked in.

    What comes too late serves the next time.
    """
    asking = subprocess.Popen(
        [sys.executable, "-P", "-m", "toolkit.app.completing"],
        stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True,
    )  # fmt: skip
    assert asking.stdin is not None
    with asking.stdin as pipe:
        pipe.write(question.encode())
    with contextlib.suppress(subprocess.TimeoutExpired):
        asking.wait(LIMIT_SECONDS)
    asking.returncode = 0  # it is nobody's business here any more


def main() -> None:
    """Answer the question on standard input into the file of what is known."""
    key, target, what, schema, table = json.load(sys.stdin)
    try:
        _keep(key, _asked(target, what, schema, table))
    except _FAILURES:
        if not _is_file(target):
            _keep(_refusal(target), ())


def _is_file(target: str) -> bool:
    """Whether a target is a file, which nobody logs in to."""
    from toolkit.app.targets import find_target
    from toolkit.model.engines import engine

    try:
        return engine(find_target(target).target.engine).embedded
    except _FAILURES:
        return False


def _refusal(target: str) -> str:
    return f"refused {hashlib.sha256(target.encode()).hexdigest()}"


def _refused(target: str) -> bool:
    """Whether a target refused lately: an account is not to be locked by somebody who presses a key."""
    return _kept(_refusal(target)) is not None


_FILES = {
    "tables": ("schema_tables", "table_name"), "indexes": ("schema_indexes", "index_name"),
    "columns": ("columns", "column_name"), "schemas": ("schemas", "schema_name"),
    "settings": ("setting_names", "name"),
}  # fmt: skip


def _asked(target: str, what: str, schema: str | None, table: str | None) -> list[str]:
    from toolkit.app.targets import find_target
    from toolkit.dialects.registry import dialect_of
    from toolkit.executors import Sessions
    from toolkit.executors.reading import read_facts
    from toolkit.model.facts import Query
    from toolkit.model.words import Role

    reached = find_target(target).target
    dialect = dialect_of(reached.engine)
    try:
        within = dialect.parse_name(table or f"{schema or 'session'}.any")
    except ToolkitError:
        return []
    sessions = Sessions(reached, "dbatk completion", read_only=True)
    try:
        control = sessions.get(Role.CONTROL)
        facts = read_facts(control, dialect, [Query("server", "server")])
        here = facts.value("server", "current_schema")
        known = here if within.schema is None or not (schema or table) else within.schema
        binds: dict[str, dict[str, Scalar]] = {
            "columns": {"schema": known, "name": within.name}, "schemas": {}, "settings": {},
        }  # fmt: skip
        file, column = _FILES[what]
        asked = Query(what, file, binds.get(what, {"schema": known}))
        facts = read_facts(control, dialect, [asked], facts)
    finally:
        sessions.close()
    found = [str(row[column]) for row in facts.rows(what)][:_MOST]
    return found if what == "settings" else [spelled for name in found for spelled in _spelled(name, dialect)]


def _spelled(name: str, dialect: Dialect) -> Iterator[str]:
    """Yield how a name of the catalogue is typed; nothing for one that cannot be."""
    with contextlib.suppress(ToolkitError):
        if dialect.parse_name(name) == QualifiedName(name):
            yield name
            return
    with contextlib.suppress(ToolkitError):
        yield dialect.quote(name)


# -- what was asked before --------------------------------------------------------------------------------------
def _file() -> Path:
    import platformdirs

    return home_based(lambda: platformdirs.user_cache_dir("dbatk", appauthor=False)) / "completion.json"


def _read() -> dict[str, tuple[float, list[str]]]:
    try:
        found = json.loads(_file().read_text(encoding="utf-8"))
        return {str(key): (float(at), [str(name) for name in known]) for key, (at, known) in found.items()}
    except (*_FAILURES, TypeError, AttributeError):
        return {}


def _kept(key: str) -> list[str] | None:
    at, known = _read().get(key, (0.0, []))
    return known if 0 <= time.time() - at < _lifetime(key) else None


def _lifetime(key: str) -> float:
    return _REFUSED_SECONDS if key.startswith("refused ") else _KEPT_SECONDS


def _keep(key: str, found: Iterable[str]) -> bool:
    """Note what is known; return whether that could be written, for without a note nothing is asked."""
    from toolkit.config.paths import replace_file

    now = time.time()
    fresh = {one: each for one, each in _read().items() if 0 <= now - each[0] < _lifetime(one)}
    try:
        _file().parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        replace_file(_file(), json.dumps({**fresh, key: (now, list(found))}))
    except _FAILURES:
        return False
    return True


if __name__ == "__main__":
    main()
