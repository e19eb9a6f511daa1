"""BenchBox's result file: each execution of a query is a trial, its warm-ups are warm-ups.

Schema 2 is read, the only one whose queries are told one by one at the top of the file; other schemas are refused.
What varies between several files (platform, its version, scale) is a factor beside the query.
https://github.com/BenchBox-dev/BenchBox
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from toolkit.model.records import Metric
from toolkit.model.words import Outcome
from toolkit.readers.trials.model import ForeignTrial, LineOfFile, TrialFiles, refuse
from toolkit.readers.trials.outputs import (
    ForeignResult,
    instant_of,
    listed,
    number_of,
    over_settings,
    seconds_of,
    target_of,
    text_of,
    told_of,
)

KIND = "result of BenchBox"
_SCHEMA = "2"
_SETTINGS = {
    "benchmark": ("benchmark", "name"), "scale": ("benchmark", "scale_factor"), "platform": ("platform", "name"),
    "platform_version": ("platform", "version"), "driver_version": ("platform", "driver_version_actual"),
}  # fmt: skip
_HOST = {
    "os": ("environment", "os"), "cpu": ("environment", "cpu_model"), "cores": ("environment", "cpu_count"),
    "memory_gb": ("environment", "memory_gb"), "python": ("environment", "python"),
}  # fmt: skip
_OUTCOMES = {"SUCCESS": Outcome.OK, "SKIPPED": Outcome.SKIPPED}
_NOTE = (
    "queries ran one after the other and each in a row of iterations: drift of the host falls on single queries"
)


def is_benchbox(document: object) -> bool:
    """Whether a JSON document is a result of BenchBox, of any schema."""
    return (
        isinstance(document, dict)
        and ("result_schema_version" in document or "version" in document)
        and all(isinstance(document.get(part), dict) for part in ("benchmark", "platform"))
    )


def read_benchbox(documents: Sequence[tuple[str, Mapping[str, object]]]) -> TrialFiles:
    """Read results of BenchBox, by the names of their files.

    Raises:
        ToolkitError: TK-0117.
    """
    outputs = [each for name, document in documents for each in _outputs(name, document)]
    environment = told_of([document for _, document in documents], _HOST)
    return over_settings(KIND, outputs, environment=environment, notes=(_NOTE,))


def _outputs(name: str, document: Mapping[str, object]) -> Iterator[ForeignResult]:
    schema = text_of(document, "result_schema_version") or text_of(document, "version")
    if schema.partition(".")[0] != _SCHEMA:
        refuse(
            f"`{name}` has schema {schema[:20] or 'unknown'} of BenchBox, and schema {_SCHEMA} is read",
            "export it again",
        )
    settings = {word: text_of(document, *path) for word, path in _SETTINGS.items()}
    settings["platform"] = settings["platform"] or text_of(document, "platform", "driver_package")
    queries = listed(document, "queries")
    if not queries:
        refuse(f"`{name}` holds no queries", "give the result of a run that has ended")
    for number, query in enumerate(queries, 1):
        place = LineOfFile(name, number, "query")
        if not text_of(query, "id"):
            refuse(f"{place} has no `id`", "give the file as BenchBox wrote it")
        own = {
            "query": text_of(query, "id"),
            "stream": text_of(query, "stream"),
            "test": text_of(query, "test_type"),
        }
        yield ForeignResult(settings | own, _trial(query, place, document))


def _trial(query: object, place: LineOfFile, document: Mapping[str, object]) -> ForeignTrial:
    target = target_of(text_of(document, "platform", "name") or text_of(document, "platform", "driver_package"))
    repeat = 0 if text_of(query, "run_type") == "warmup" else None
    began = instant_of(text_of(document, "run", "timestamp"))
    outcome = _OUTCOMES.get(text_of(query, "status"), Outcome.FAILED)
    if outcome is not Outcome.OK:
        status = "".join(char for char in text_of(query, "status") if char.isalnum())[:20] or "unknown"
        reason = f"its status is {status}"
        return ForeignTrial((), place, repeat, outcome=outcome, reason=reason, began_at=began, target=target)
    milliseconds = number_of(query, "ms")
    rows = number_of(query, "rows")
    return ForeignTrial(
        (), place, repeat, began_at=began, target=target,
        elapsed_seconds=seconds_of(None if milliseconds is None else milliseconds / 1000, place),
        metrics=() if rows is None else (Metric("rows", rows, "rows", "BenchBox"),),
    )  # fmt: skip
