"""What pgbench prints at its end: one trial each, judged by its transactions a second.

Output in English is read. What varies between the outputs are the factors, the rest is the environment. The times
of single statements (`-r`) are not read; `--log` files are a kind of their own (`pgbench_log`).
https://www.postgresql.org/docs/current/pgbench.html
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from toolkit.model.records import Metric
from toolkit.model.words import Outcome
from toolkit.readers.trials.model import ForeignTrial, LineOfFile, TrialFiles, refuse
from toolkit.readers.trials.outputs import ForeignResult, over_settings, parts_of

KIND = "output of pgbench"
_BEGIN = re.compile("transaction type: ")
_VERSION = re.compile(r"pgbench \((?P<version>\d[^\n]{0,100})\)")
"""What a run of pgbench from 15 on says first; `pgbench --version` says `(PostgreSQL)`."""
_SETTINGS = {
    "clients": "number of clients", "threads": "number of threads", "scale": "scaling factor",
    "script": "transaction type", "query_mode": "query mode", "duration": "duration",
    "transactions_per_client": "number of transactions per client",
}  # fmt: skip
"""Settings by what pgbench calls them."""
_ABORTED = "Run was aborted"
_NUMBER = r"(?P<value>\d{1,15}(?:\.\d{1,15})?)"
_TPS = re.compile(rf"tps = {_NUMBER} \((?:without initial|excluding|including re)\w*[^\n]*\)")
_LATENCY = re.compile(rf"latency (?P<what>average|stddev)(?: from [^=]*)? ?[=:] {_NUMBER} ms")
_FAILED = re.compile(rf"number of failed transactions: {_NUMBER}\b")


def is_pgbench(text: str) -> bool:
    """Whether a text holds the end of an output of pgbench."""
    return any(_BEGIN.match(line) for line in text.splitlines())


def read_pgbench(files: Sequence[tuple[str, str]]) -> TrialFiles:
    """Read outputs of pgbench, by the names of their files; a file may hold several, one after the other.

    Raises:
        ToolkitError: TK-0117.
    """
    for name, text in files:
        _check_ends(name, text)
    outputs = [
        ForeignResult(_settings(lines, place), _trial(lines, place))
        for name, text in files
        for place, lines in parts_of(name, text, _BEGIN)
    ]
    versions = dict.fromkeys(found["version"] for _, text in files for found in _VERSION.finditer(text))
    environment = {"pgbench": "; ".join(versions)} if versions else {}
    return over_settings(KIND, outputs, better={"tps": "higher"}, environment=environment)


def _check_ends(name: str, text: str) -> None:
    """Refuse a file in which a run begins that does not come to its result."""
    begun = None
    for number, line in enumerate([*text.splitlines(), "pgbench (0)"], 1):
        if _VERSION.match(line):
            if begun is not None:
                place = LineOfFile(name, begun)
                refuse(
                    f"{place}: the output of pgbench that begins here is cut off: it has no result",
                    "give it whole",
                )
            begun = number
        elif _BEGIN.match(line):
            begun = None


def _settings(lines: Sequence[str], place: LineOfFile) -> dict[str, str]:
    found = dict(line.split(": ", 1) for line in lines if ": " in line)
    settings = {name: found[words].strip() for name, words in _SETTINGS.items() if words in found}
    if "clients" not in settings:
        refuse(f"{place}: this output of pgbench has no number of clients", "give the output whole, in English")
    return settings


def _trial(lines: Sequence[str], place: LineOfFile) -> ForeignTrial:
    rates = [float(found["value"]) for line in lines if (found := _TPS.match(line))]
    operation, target = "command", "postgresql"
    aborted = any(_ABORTED in line for line in lines)
    if not rates and not aborted:
        refuse(f"{place}: this output of pgbench does not say how many transactions a second", "give it whole")
    if aborted or rates[0] <= 0:
        reason = "the run was aborted" if aborted else "no transaction was processed"
        return ForeignTrial((), place, outcome=Outcome.FAILED, reason=reason, operation=operation, target=target)
    metrics = [Metric("tps", rates[0], "1/s", "pgbench")]
    for line in lines:
        if found := _LATENCY.match(line):
            metrics.append(Metric(f"latency_{found['what']}_ms", float(found["value"]), "ms", "pgbench"))
        if found := _FAILED.match(line):
            metrics.append(Metric("failed_transactions", float(found["value"]), "transactions", "pgbench"))
    return ForeignTrial((), place, metrics=tuple(metrics), operation=operation, target=target)
