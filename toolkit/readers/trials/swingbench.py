"""Swingbench's results file (`charbench -r results.xml`): judged by its average transactions a second.

Response times of the single transactions are left out: the file does not say their unit.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from xml.etree import ElementTree

from toolkit.model.records import Metric
from toolkit.model.words import Outcome
from toolkit.readers.trials.model import ForeignTrial, LineOfFile, TrialFiles, refuse
from toolkit.readers.trials.outputs import ForeignResult, over_settings, text_of, told_of

KIND = "results of Swingbench"
_NUMBER = re.compile(r"\d{1,15}(?:\.\d{1,15})?", re.ASCII)
_SETTINGS = {"users": "NumberOfUsers", "benchmark": "BenchmarkName"}
_TOLD = {"time_of_run": ("TimeOfRun",), "run_time": ("TotalRunTime",)}
_METRICS = {
    "failed_transactions": ("TotalFailedTransactions", "transactions"),
    "completed_transactions": ("TotalCompletedTransactions", "transactions"),
}


def is_xml(text: str) -> bool:
    """Whether a text begins as XML does, and not as a page."""
    begin = text.lstrip()[:20].lower()
    return begin.startswith("<") and not begin.startswith(("<!doctype html", "<html"))


def read_swingbench(files: Sequence[tuple[str, str]]) -> TrialFiles:
    """Read results files of Swingbench, by their names; one file is one trial.

    Raises:
        ToolkitError: TK-0117.
    """
    found = [(LineOfFile(name, 1), _elements(name, text)) for name, text in files]
    outputs = [
        ForeignResult(
            {name: text_of(elements, element) for name, element in _SETTINGS.items()}, _trial(elements, place)
        )
        for place, elements in found
    ]
    environment = told_of([elements for _, elements in found], _TOLD)
    return over_settings(KIND, outputs, better={"tps": "higher"}, environment=environment)


def _elements(name: str, text: str) -> dict[str, str]:
    """Return the texts of a results file by their elements, without namespace; of several the first."""
    if "<!DOCTYPE" in text or "<!ENTITY" in text:
        refuse(f"`{name}` declares entities, which no results file of Swingbench does", "give it unchanged")
    try:
        root = ElementTree.fromstring(text.lstrip())  # noqa: S314 - without entities, as checked above
    except (ElementTree.ParseError, ValueError) as error:
        line = error.position[0] if isinstance(error, ElementTree.ParseError) else 1
        refuse(
            f"`{name}`, line {line}: this is not XML, or it is cut off", "give the file that `charbench -r` wrote"
        )
    if root.tag.rpartition("}")[2] != "Results":
        refuse(
            f"`{name}`, line 1: this XML is not a results file of Swingbench",
            "give what `charbench -r FILE` wrote",
        )
    elements: dict[str, str] = {}
    for each in root.iter():
        elements.setdefault(each.tag.rpartition("}")[2], (each.text or "").strip())
    return elements


def _trial(elements: Mapping[str, str], place: LineOfFile) -> ForeignTrial:
    rate = elements.get("AverageTransactionsPerSecond", "")
    if not _NUMBER.fullmatch(rate):
        refuse(
            f"`{place.file}` does not say how many transactions a second there were",
            "give the file of a run that has ended",
        )
    if float(rate) == 0:
        reason = "no transaction was processed"
        return ForeignTrial((), place, outcome=Outcome.FAILED, reason=reason, target="oracle")
    others = tuple(
        Metric(name, float(elements[element]), unit, "Swingbench")
        for name, (element, unit) in _METRICS.items()
        if _NUMBER.fullmatch(elements.get(element, ""))
    )
    return ForeignTrial(
        (), place, metrics=(Metric("tps", float(rate), "1/s", "Swingbench"), *others), target="oracle"
    )
