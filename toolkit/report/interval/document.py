"""A comparison of two intervals as a JSON document."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime

from toolkit.analysis.awr import findings, sentences
from toolkit.analysis.awr.causes import Cause
from toolkit.analysis.awr.changes import Amount, Change
from toolkit.analysis.awr.details import GAUGES, DetailChange
from toolkit.analysis.awr.diff import InputOutputChange, IntervalDiff, StatementChange, WaitChange
from toolkit.model.interval import Origin

FORMAT = "dbatk-intervals-1"


def diff_document(diff: IntervalDiff) -> dict[str, object]:
    """Return everything that was compared.

    A side is its total over the interval and its rate per second; where the source does not list a row, `total`
    is null and `at_most_per_second` says how large it can be, or is null too when nothing is known.
    """
    return {"format": FORMAT, "swapped": diff.swapped, **_whole(diff)}


def _whole(diff: IntervalDiff) -> dict[str, object]:
    document: dict[str, object] = {
        "before": _origin(diff.before.origin),
        "after": _origin(diff.after.origin),
        "headline": findings.headline(diff),
        "measures": list(findings.measures(diff)),
        "doubts": [{"kind": one.kind, "sentence": one.sentence} for one in diff.doubts],
        "load_factor": diff.factor,
        "to_account_for_active_sessions": diff.whole,
        "db_time": _change(diff.db_time),
        "db_time_per_transaction_s": None if diff.per_transaction is None else _change(diff.per_transaction),
        "db_time_per_execution_s": None if diff.per_execution is None else _change(diff.per_execution),
        "causes": [_cause(one, diff) for one in diff.causes],
        "load_profile": _named(diff.load),
        "time_model": _named(diff.time_model),
        "wait_classes": [_wait(one) for one in diff.classes],
        "wait_events": [_wait(one) for one in diff.waits],
        "background_events": [_wait(one) for one in diff.background],
        "io_functions": [_io(one) for one in diff.functions],
        "io_file_types": [_io(one) for one in diff.file_types],
        "host_cpu": _named(diff.host_cpu),
        "memory_bytes": _named(diff.memory),
        "ratios_pct": _named(diff.ratios),
        "statements": [_statement(one) for one in diff.statements],
        "segments": {measure: _named(changes) for measure, changes in diff.segments.items()},
        "details": {name: [_detail(one) for one in rows] for name, rows in diff.details.items()},
        "advice": {
            name: {"before": diff.before.advice.get(name, ()), "after": diff.after.advice.get(name, ())}
            for name in dict.fromkeys([*diff.before.advice, *diff.after.advice])
        },
        "statistics": _named(diff.counters),
        "parameters": _parameters(diff.parameters),
        "parameters_changed_within": {
            "before": _parameters(diff.before.all_changes),
            "after": _parameters(diff.after.all_changes),
        },
        "instances": [_whole(one) for one in diff.instances],
        "unmatched_instances": list(diff.unmatched_instances),
    }
    return document


def _origin(origin: Origin) -> dict[str, object]:
    found: dict[str, object] = {}
    for name in Origin.__dataclass_fields__:
        value = getattr(origin, name)
        found[name] = value.isoformat() if isinstance(value, datetime) else value
    return found


def _amount(amount: Amount) -> dict[str, object]:
    return {"total": amount.total, "per_second": amount.rate, "at_most_per_second": amount.most_rate}


def _change(change: Change) -> dict[str, object]:
    return {
        "before": _amount(change.before),
        "after": _amount(change.after),
        "change_per_second": change.delta,
        "at_least": change.bounded,
        "ratio": change.ratio,
        "presence": change.presence,
    }


def _gauge(change: Change) -> dict[str, object]:
    return {"before": change.before.rate, "after": change.after.rate, "ratio": change.ratio}


def _named(changes: tuple[Change, ...]) -> list[dict[str, object]]:
    return [{"name": one.key, **_change(one)} for one in changes]


def _cause(cause: Cause, diff: IntervalDiff) -> dict[str, object]:
    return {
        "kind": cause.kind,
        "name": cause.key,
        "part": cause.part,
        "active_sessions": cause.impact,
        "events": list(cause.events),
        "statements": [one.key for one in cause.statements],
        "name_of_waits": sentences.name_of_waits(cause) or None,
        "sentence": sentences.cause_sentence(cause, diff),
        "evidence": sentences.evidence(cause),
    }


def _wait(one: WaitChange) -> dict[str, object]:
    return {
        "name": one.key,
        "wait_class": one.wait_class,
        "seconds": _change(one.seconds),
        "waits": _change(one.waits),
        "average_wait_s": _gauge(one.latency),
    }


def _io(one: InputOutputChange) -> dict[str, object]:
    return {
        "name": one.key,
        "read_bytes": _change(one.read_bytes),
        "write_bytes": _change(one.write_bytes),
        "requests": _change(one.requests),
        "average_wait_s": _gauge(one.latency),
    }


def _statement(one: StatementChange) -> dict[str, object]:
    measures = {name: _change(change) for name, change in one.measures.items()}
    each = {name: _gauge(one.each(name)) for name in one.measures if name != "executions"}
    return {
        "sql_id": one.key,
        "text": one.text,
        "module": one.module,
        "plan_before": one.plans[0],
        "plan_after": one.plans[1],
        "plan_changed": one.plan_changed,
        **measures,
        "per_execution": each,
    }


def _detail(one: DetailChange) -> dict[str, object]:
    measures = {name: _gauge(each) if name in GAUGES else _change(each) for name, each in one.measures.items()}
    return {"name": one.key, **measures}


def _parameters(found: Mapping[str, tuple[str | None, str | None]]) -> dict[str, dict[str, str | None]]:
    return {name: {"before": before, "after": after} for name, (before, after) in found.items()}
