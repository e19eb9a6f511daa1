"""Fits an experiment to its target: the engine, and what the profile says."""

from __future__ import annotations

from dataclasses import replace

from toolkit.app.targets import ResolvedTarget
from toolkit.design.build import check_engine
from toolkit.design.user_sql import check_predicate, check_query
from toolkit.model.experiment import Experiment
from toolkit.model.words import EngineName


def fitted(experiment: Experiment, resolved: ResolvedTarget) -> Experiment:
    """Check an experiment against the engine, and fill in what the profile says.

    Raises:
        ToolkitError: TK-0304 for an option the engine does not have, TK-0105 for a query in another's quotes.
    """
    check_for_engine(experiment, resolved.target.engine)
    if experiment.work_schema is None and resolved.work_schema is not None:
        return replace(experiment, work_schema=resolved.work_schema)
    return experiment


def check_for_engine(experiment: Experiment, engine: EngineName) -> None:
    """Refuse options and quotes the engine does not have.

    Raises:
        ToolkitError: TK-0304, TK-0105.
    """
    check_engine(experiment, engine)
    if "query" in experiment.options:
        check_query(str(experiment.options["query"]), engine)
    if "where" in experiment.options:
        check_predicate(str(experiment.options["where"]), engine)
