"""Initialization parameters of a report, by the container they are set in."""

from __future__ import annotations

from collections.abc import Mapping

from toolkit.model.values import Scalar
from toolkit.readers.awr.tables import AwrTable


def keep_parameters(
    sections: dict[str, object], name: str, table: AwrTable, rows: list[dict[str, Scalar]]
) -> None:
    """Keep parameters by the container they are set in, none where the report knows no containers."""
    del table
    found, changed = sections.setdefault(name, {}), sections.setdefault(f"{name}_changed", {})
    assert isinstance(found, dict)
    assert isinstance(changed, dict)
    above: Scalar = None
    for row in rows:
        parameter = above = row["name"] or above
        begin = row["begin"]
        if not parameter or not (row["name"] or begin):
            continue
        container = row.get("pdb")
        parameters = found.setdefault(container, {})
        parameters[parameter] = _both(parameters.get(parameter), begin)
        if row.get("end"):
            changed.setdefault(container, {})[parameter] = {"begin": begin, "end": row["end"]}


def parameters_in(
    found: Mapping[Scalar, Mapping[str, object]], changed: Mapping[Scalar, Mapping[str, object]], container: Scalar
) -> dict[str, object]:
    """Return the parameters that hold in a container, and those of every container that is named.

    Another container's value holds only where nothing else is known: the report names one container alone.

    Args:
        found: Parameters by the container they are set in; None for what is inherited or has no container.
        changed: Begin and end of those that changed within the interval, by container as well.
        container: The container a report is of, None for the root or a database without containers.
    """
    own = [ROOT, None, container] if container else [None, ROOT]
    order = own if len(found) > 1 or any(place in found for place in own) else list(found)
    place_of = {name: place for place in order for name in found.get(place, {})}
    within = {name: place for name, place in place_of.items() if name in changed.get(place, {})}
    return {
        "init_parameters": {name: found[place][name] for name, place in place_of.items()},
        "init_parameters_changed": {name: changed[place][name] for name, place in within.items()},
        "init_parameters_by_container": _named(found),
        "init_parameters_changed_by_container": _named(changed),
    }


def _named(by: Mapping[Scalar, object]) -> dict[str, object]:
    return {str(container): values for container, values in by.items() if container is not None}


ROOT = "CDB$ROOT"


def _both(known: Scalar, more: Scalar) -> Scalar:
    """Return a value that is printed whole in one table and in parts in another."""
    if not known or not more:
        return known or more
    parts, others = str(known).split(", "), str(more).split(", ")
    if set(parts) <= set(others):
        return more
    return known if set(others) <= set(parts) else f"{known}, {more}"
