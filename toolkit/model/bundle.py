"""A bundle: the scripts of a run for a server where Python may not run, and what its output says.

Every line of a spool that is meant for us opens with `DBATK|<run>|<trial>|<session>|<event>`. Trial 0 is what
surrounds the trials (check, setup, cleanup), session 0 what has no number.

| event | fields | written by |
| --- | --- | --- |
| `clock` | instant | the server |
| `rows` | key, column names | the client: what the next `row` lines hold |
| `row` | key, instant, values | the server |
| `stage` | prepare, begin, snapshot, timed, evidence, restore, conclude | the client |
| `may-fail` | codes that are no failure of the next statement | the client |
| `item` | number of the item that begins, from 1 | the client |
| `loaded` | item, exit status or `unknown`, bytes of the file | `load.sh`: how SQL*Loader ended |
| `ran` | item, exit status | `datapump.sh`: how expdp or impdp ended |
| `told` | code, sentence | `load.sh`, `datapump.sh`: why a file was not loaded, a job not done |
| `end` | instant | the server: the trial, setup or cleanup came to its end |
| `cleaned` | instant | the server: what an attempt left was put back |
| `failed`, `interrupted` | | the driver: how an attempt without an end ended |
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

BUNDLE_FORMAT = 1
MANIFEST, PLAN, SUMS, DRIVER, SPOOLS = "MANIFEST.json", "PLAN", "SHA256SUMS", "run.sh", "spool"
LOADER, DATA_PUMP = "load.sh", "datapump.sh"
MARK = "DBATK"
ERROR_STATUS = 7
"""Exit status of the client when a statement of the preparation was refused: the attempt failed, and is final."""


@dataclass(frozen=True, slots=True)
class BundleItem:
    """One object of a trial: its label, and the session that works on it, from 1."""

    label: str
    session: int


@dataclass(frozen=True, slots=True)
class BundleTrial:
    """A trial as a bundle holds it; `refused` says why a cell cannot be had: it has no script then."""

    number: int
    cell: Mapping[str, object]
    repeat: int
    sessions: int = 1
    items: tuple[BundleItem, ...] = ()
    refused: str | None = None


@dataclass(frozen=True, slots=True)
class Manifest:
    """What a bundle is of. `experiment` and `facts` are texts in their own formats.

    Attributes:
        declared: the paid options that the target's profile declared when the bundle was made.
        bill: the licence bill of materials (`toolkit.model.bill`), as text.
        files: the SHA-256 of every file, by its path in the bundle.
    """

    run: str
    seed: int
    engine: str
    created_at: str
    tool_version: str
    target_name: str
    experiment: str
    facts: str
    assumed: bool
    bill: str = ""
    declared: tuple[str, ...] = ()
    trials: tuple[BundleTrial, ...] = ()
    files: Mapping[str, str] = field(default_factory=dict)


def script_name(trial: int, part: str = "") -> str:
    """Name the script of a trial, or of one part of it: `t0003`, `t0003-s2`."""
    return f"t{trial:04d}" + (f"-{part}" if part else "")
