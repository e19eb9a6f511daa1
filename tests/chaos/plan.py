"""The plan that is tried: 50 steps in chains of five, over a PostgreSQL server and a DuckDB file, and backups.

`DBATK_CHAOS_CHAINS` is another number of chains on each; with 0 there are only the backups.
"""

from __future__ import annotations

import os
from dataclasses import dataclass

CHAINS = int(os.environ.get("DBATK_CHAOS_CHAINS", "5"))
ROWS, MORE = 150_000, 40_000
"""Rows of a table as it is made, and rows that are loaded into it afterwards: exactly once."""
SERVER, FILE = "pg", "duck"
LINKS = ("copy", "load", "build", "rebuild", "gather")
_HEAD = """[plan]
name = "{name}"
window = "22:00-06:00 UTC"
concurrency = 2
at_once = 2
max_degree = 4
"""
_STEP = """
[[step]]
name = "{target}-{link}-{chain}"
target = "{target}"
only_if = {{older_than = "366d"}}
on_failure = "{on_failure}"
retries = {retries}
{what}"""
_COPY = """operation = "ctas"
query = "SELECT id, md5(CAST(id AS varchar)) AS word FROM {schema}.source"
table = "{schema}.made_{chain}"
"""
_LOAD = """operation = "insert"
source = "{schema}.more"
table = "{schema}.made_{chain}"
"""
_BUILD = """operation = "index-build"
table = "{schema}.made_{chain}"
columns = "id"
index_name = "made_{chain}_ix"
"""
_REBUILD = """operation = "index-rebuild"
table = "{schema}.made_{chain}"
"""
_GATHER = """operation = "stats-gather"
table = "{schema}.made_{chain}"
"""
_BACKUP = """operation = "backup"
destination = "{folder}"
"""
_WHAT = dict(zip(LINKS, (_COPY, _LOAD, _BUILD, _REBUILD, _GATHER), strict=True))


@dataclass(frozen=True, slots=True)
class Chain:
    """A table and what is done with it, one after the other."""

    target: str
    number: int

    @property
    def table(self) -> str:
        return f"made_{self.number}"

    def step(self, link: str) -> str:
        return f"{self.target}-{link}-{self.number}"


def chains() -> list[Chain]:
    return [Chain(target, number) for target in (SERVER, FILE) for number in range(1, CHAINS + 1)]


def backups() -> list[str]:
    """The steps that back up a target, each into a folder of its own: two of the file, one of the server."""
    return [f"{FILE}-backup-1", f"{FILE}-backup-2", f"{SERVER}-backup-1"]


def plan_text(name: str, schemas: dict[str, str], folder: str) -> str:
    """Write the plan: each step when it was never done, after the one before it in its chain.

    Args:
        name: of the plan.
        schemas: of the tables, by target.
        folder: in which each backup has a folder of its own.
    """
    said = [_HEAD.format(name=name)]
    for chain in chains():
        for at, link in enumerate(LINKS):
            what = _WHAT[link].format(schema=schemas[chain.target], chain=chain.number)
            needs = f'needs = ["{chain.step(LINKS[at - 1])}"]\n' if at else ""
            policy = "undo" if chain.number == 1 else "continue"
            fields = {"target": chain.target, "link": link, "chain": chain.number, "retries": at % 3}
            said.append(_STEP.format(**fields, on_failure=policy, what=needs + what))
    for step in backups():
        target, link, number = step.split("-")
        more = 'checkpoint = "fast"\nfile_format = "tar"\n' if target == SERVER else ""
        fields = {"target": target, "link": link, "chain": number, "retries": 1, "on_failure": "continue"}
        said.append(_STEP.format(**fields, what=_BACKUP.format(folder=f"{folder}/{step}") + more))
    return "".join(said)
