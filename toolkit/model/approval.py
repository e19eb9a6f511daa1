"""What somebody approved: a plan or experiment with its defaults, the files it uses, dbatk, and the databases."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from hashlib import sha256

from toolkit.model.values import Level

Value = Level | tuple[Level, ...]
"""What stands under a key of a plan; what is not set has no key."""


@dataclass(frozen=True, slots=True)
class Approved:
    """What is approved; everything that has a part in the hash.

    Names of our own objects, ids of runs, times and the seed are no part of it: they differ each time. Nor are the
    objects that a schema or a pattern of the plan stands for: they are what the catalogue says when the plan runs.

    Attributes:
        name: of the plan or the experiment.
        kind: `plan` or `experiment`.
        values: each key of the file with what it means, defaults filled in (`step copy retries`).
        databases: for each target what identifies the database (`name`, `DBID` ...).
        version: of dbatk.
        program: hash of dbatk's own files.
        files: hashes of the scripts and templates that it uses.
        other_files: hashes of the others of the same engines: one of them may be used when something goes wrong,
            and must be the same then.
    """

    name: str
    kind: str
    values: Mapping[str, Value]
    databases: Mapping[str, Mapping[str, str]]
    version: str
    program: str
    files: Mapping[str, str]
    other_files: Mapping[str, str]

    @property
    def hash(self) -> str:
        """The hash over everything; equal whatever the order of keys, comments and blanks of the file were."""
        text = json.dumps(asdict(self), sort_keys=True, separators=(",", ":"), ensure_ascii=True)
        return f"sha256:{sha256(text.encode()).hexdigest()}"


@dataclass(frozen=True, slots=True)
class Approval:
    """What was approved, by whom and when."""

    approved: Approved
    by: str
    user: str
    host: str
    at: str
    reason: str | None = None
    notes: tuple[str, ...] = field(default=())
    """What could not be looked at when it was approved."""
    hash: str = ""
    """As it stands in the file; must be that of what is approved."""
    signature: str | None = None

    @property
    def signed_text(self) -> str:
        """What a signature is made over: what was approved, and by whom."""
        parts = (self.hash, self.by, self.user, self.host, self.at, self.reason or "")
        return json.dumps(parts, ensure_ascii=True)
