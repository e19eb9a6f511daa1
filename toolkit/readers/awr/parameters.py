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
        parameters = found.setdefault(row.get("pdb"), {})
        parameters[parameter] = _both(parameters.get(parameter), begin)
        if row.get("end"):
            changed[parameter] = {"begin": begin, "end": row["end"]}


def parameters_in(found: Mapping[Scalar, Mapping[str, Scalar]], container: Scalar) -> dict[str, object]:
    """Return the parameters that hold in a container, and those of every container that is named.

    Args:
        found: Parameters by the container they are set in; None for what is inherited or has no container.
        container: The container a report is of, None for the root or a database without containers.
    """
    order = [container, None, _ROOT] if container else [_ROOT, None]
    others = [name for name in found if name not in order]
    return {
        "init_parameters": {
            name: value
            for place in reversed([*order, *others])
            for name, value in found.get(place, {}).items()
        },
        "init_parameters_by_container": {str(name): values for name, values in found.items() if name is not None},
    }  # fmt: skip


_ROOT = "CDB$ROOT"


def _both(known: Scalar, more: Scalar) -> Scalar:
    """Return a value that is printed whole in one table and in parts in another."""
    if not known or not more:
        return known or more
    parts, others = str(known).split(", "), str(more).split(", ")
    if set(parts) <= set(others):
        return more
    return known if set(others) <= set(parts) else f"{known}, {more}"
