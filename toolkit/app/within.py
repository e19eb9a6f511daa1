"""What an approval means for a run: that there is one, and that no object is touched but those its file names."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from toolkit.app.approvals import Approvals, TargetPolicy
from toolkit.dialects.base import Dialect
from toolkit.errors import ToolkitError
from toolkit.executors import Script
from toolkit.model.experiment import Experiment
from toolkit.model.facts import Facts
from toolkit.model.steps import ObjectRef, Step
from toolkit.model.values import QualifiedName
from toolkit.model.words import Effect, ObjectKind
from toolkit.runner import spec_of

_OBJECTS = frozenset({ObjectKind.TABLE, ObjectKind.INDEX, ObjectKind.STATISTICS})
"""Kinds with a schema and a name; settings, folders and backups are named by the file itself."""


def check_approved(policy: TargetPolicy, approvals: Approvals) -> None:
    """Refuse what nobody approved on a target whose profile asks for it.

    Raises:
        ToolkitError: TK-0313.
    """
    if policy.approved_only and approvals.approval is None:
        raise ToolkitError(
            f"only approved work may run on `{policy.profile_name}`",
            code="TK-0313",
            hint="write a file (`--save-as FILE`), let `dbatk plan approve FILE` approve it, "
            "then `dbatk run FILE --approved-only`",
        )


def check_within(scripts: Iterable[Script], experiment: Experiment, dialect: Dialect, facts: Facts) -> None:
    """Refuse to touch a table or index that is not ours and not one that the file names, itself or by its schema.

    Raises:
        ToolkitError: TK-0313.
    """
    spec = spec_of(experiment)
    here = str(facts.value("server", "current_schema", "") or "") or None
    schemas = {dialect.parse_name(text, facts.release).name for text in spec.names("schema")}
    named = {
        QualifiedName(name.name, name.schema or here)
        for name in (dialect.parse_name(text, facts.release) for text in _named(experiment))
    }
    for step in _steps(scripts):
        touched = step.object
        if touched is not None and not _is_within(touched, schemas, named):
            raise ToolkitError(
                f"it would touch {touched.kind} `{touched.name}`, which the approved file does not name",
                code="TK-0313",
                hint="check the catalogue: only names and schemas in the file are approved",
            )


def _named(experiment: Experiment) -> Iterator[str]:
    for option in ("table", "index", "name"):
        if experiment.options.get(option) is not None:
            yield str(experiment.options[option])


def _steps(scripts: Iterable[Script]) -> Iterator[Step]:
    for script in scripts:
        stages = script.stages
        if stages is None:
            continue
        timed = (step for item in stages.timed.items for step in item.steps)
        for step in (*stages.setup, *stages.prepare, *timed, *stages.conclude, *stages.cleanup):
            if step.effect not in (Effect.READS, Effect.COMMITS):
                yield step


def _is_within(touched: ObjectRef, schemas: set[str], named: set[QualifiedName]) -> bool:
    if touched.scratch or touched.kind not in _OBJECTS:
        return True
    of = (touched.name, *((touched.table,) if touched.table is not None else ()))
    return any(name in named or name.schema in schemas for name in of)
