"""HammerDB's log of a timed run (TPROC-C): judged by new orders a minute (NOPM).

Each `TEST RESULT : System achieved 8043 NOPM from 16365 Oracle TPM` is a trial; releases before 4.0 wrote
`System achieved 16365 Oracle TPM at 8043 NOPM`. Lines may begin with `Vuser 1:` and with a time. A run of which a
virtual user ended as failed is failed, whatever its result: it was not of as many users as it says. Times of
TPROC-H are not read. https://www.hammerdb.com/docs/
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise

from toolkit.model.records import Metric
from toolkit.model.words import Outcome
from toolkit.readers.trials.model import ForeignTrial, LineOfFile, TrialFiles, refuse
from toolkit.readers.trials.outputs import ForeignResult, first_of, over_settings, target_of

KIND = "log of HammerDB"
_RESULT = re.compile(
    r"TEST RESULT : System achieved (?:(?P<nopm>\d{1,12}) NOPM from (?P<tpm>\d{1,12}) (?P<dbms>[\w ]{1,40}?) TPM"
    r"|(?P<old_tpm>\d{1,12}) (?P<old_dbms>[\w ]{1,40}?) TPM at (?P<old_nopm>\d{1,12}) NOPM)"
)
_VUSER = re.compile(r"\bVuser \d+:")
_BEGIN = re.compile(r"Beginning rampup time|Virtual Users Created|Vuser 1:RUNNING")
_TIMED = re.compile(r"Beginning rampup time")
"""A schema that is deleted afterwards begins virtual users, too, and no ramp-up."""
_FAILED = re.compile(r"\bVuser \d+:FINISHED FAILED")
_SETTINGS = {
    "virtual_users": re.compile(r"\b(\d+) Active Virtual Users configured"),
    "rampup_minutes": re.compile(r"Beginning rampup time of (\d+) minutes"),
    "duration_minutes": re.compile(r"Timing test period of (\d+) in minutes"),
    "dbms_version": re.compile(r"\bDBVersion:([\w.\- ]{1,40})$"),
    "hammerdb": re.compile(r"^HammerDB CLI v([\w.]{1,20})"),
}


def is_hammerdb(text: str) -> bool:
    """Whether a text is a log of HammerDB, with a result or without."""
    return _RESULT.search(text) is not None or _VUSER.search(text) is not None


def read_hammerdb(files: Sequence[tuple[str, str]]) -> TrialFiles:
    """Read logs of HammerDB, by the names of their files; a log may hold several results.

    Raises:
        ToolkitError: TK-0117.
    """
    outputs = [each for name, text in files for each in _outputs(name, text.splitlines())]
    return over_settings(KIND, outputs, better={"nopm": "higher"})


def _outputs(name: str, lines: Sequence[str]) -> Iterator[ForeignResult]:
    """Yield each result with the lines of its run: from the one that begins it to the one that begins the next."""
    results = [number for number, line in enumerate(lines) if _RESULT.search(line)]
    if not results:
        refuse(
            f"`{name}`, line {len(lines)}: this log of HammerDB ends without a result",
            "give the log of a timed run that has ended (`TEST RESULT : System achieved ...`)",
        )
    if (begun := next((n for n in range(results[-1], len(lines)) if _TIMED.search(lines[n])), None)) is not None:
        refuse(
            f"`{name}`, line {begun + 1}: the run of HammerDB that begins here has no result",
            "give the log of runs that have ended, or take out the lines of this one",
        )
    edges = [0]
    for result, following in pairwise(results):
        begins = (number for number in range(result + 1, following) if _BEGIN.search(lines[number]))
        edges.append(next(begins, result + 1))
    edges.append(len(lines))
    kept: dict[str, str] = {}
    for number, result in enumerate(results):
        own = lines[edges[number] : edges[number + 1]]
        found = {word: first_of(own, pattern) for word, pattern in _SETTINGS.items()}
        kept |= {word: text for word, text in found.items() if text}  # said once for all runs of a script
        yield _output(dict(kept), own, LineOfFile(name, result + 1), lines[result])


def _output(settings: dict[str, str], lines: Sequence[str], place: LineOfFile, line: str) -> ForeignResult:
    found = _RESULT.search(line)
    assert found is not None
    nopm, tpm, dbms = (found[word] or found[f"old_{word}"] for word in ("nopm", "tpm", "dbms"))
    settings["dbms"] = dbms
    target = target_of(dbms)
    failed = sum(1 for each in lines if _FAILED.search(each))
    if failed or int(nopm) == 0:
        reason = f"{failed} virtual users ended as failed" if failed else "no order was processed"
        return ForeignResult(
            settings, ForeignTrial((), place, outcome=Outcome.FAILED, reason=reason, target=target)
        )
    metrics = (
        Metric("nopm", float(nopm), "1/min", "HammerDB"),
        Metric("tpm", float(tpm), "1/min", "HammerDB"),
    )
    return ForeignResult(settings, ForeignTrial((), place, metrics=metrics, target=target))
