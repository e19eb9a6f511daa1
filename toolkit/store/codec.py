"""An experiment as JSON text: what the `run` table keeps of what the user wrote.

`format` counts the versions of this text. A reader ignores keys it does not know (a newer version may add some)
and takes the default for keys that are missing (an older one lacked them); only a greater `format` is refused.

| format | what changed |
| --- | --- |
| 1 | first |
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, fields
from typing import cast

from toolkit.errors import ToolkitError
from toolkit.model.experiment import Experiment, OptionValue
from toolkit.model.operations import operations
from toolkit.model.values import Cell, CommandFactor, Factor, Level
from toolkit.model.words import Keep, Mode

FORMAT = 1
_Object = Mapping[str, object]


def experiment_to_json(experiment: Experiment) -> str:
    """Return the experiment as one line of JSON, ASCII only."""
    return json.dumps({"format": FORMAT} | _plain(experiment))


def experiment_from_json(text: str) -> Experiment:
    """Return the experiment that `experiment_to_json` wrote, in this or another version.

    Raises:
        ToolkitError: TK-0403 when a newer version wrote it in words not known here, TK-0402 when it is damaged.
    """
    try:
        document = _object(json.loads(text))
        written = document.get("format", FORMAT)
    except (ValueError, TypeError) as error:
        raise _damaged() from error
    if not isinstance(written, int) or written > FORMAT:
        raise _newer(f"format {written}")
    return _experiment(document)


def _plain(experiment: Experiment) -> dict[str, object]:
    plain = {name.name: getattr(experiment, name.name) for name in fields(experiment)}
    return plain | {
        "options": dict(experiment.options),
        "factors": [_plain_factor(factor) for factor in experiment.factors],
        "only": [list(map(list, cell.levels)) for cell in experiment.only],
    }


def _plain_factor(factor: Factor) -> dict[str, object]:
    command = None if factor.command is None else asdict(factor.command)
    return {"name": factor.name, "levels": list(factor.levels), "unit": factor.unit, "command": command} | (
        {"setting": True} if factor.setting else {}
    )


def _experiment(document: _Object) -> Experiment:
    known = {name.name: document[name.name] for name in fields(Experiment) if name.name in document}
    try:
        read = known | {
            "options": {key: _option(value) for key, value in _object(document["options"]).items()},
            "factors": tuple(_factor(_object(each)) for each in _list(document["factors"])),
            "only": tuple(_cell(_list(each)) for each in _list(document.get("only", []))),
            "guards": tuple(map(str, _list(document.get("guards", [])))),
        }
        return Experiment(**(read | _words(document)))  # type: ignore[arg-type]
    except (KeyError, TypeError) as error:
        raise _damaged() from error


def _words(document: _Object) -> dict[str, object]:
    operation = str(document["operation"])
    if operation not in operations():
        raise _newer(f"`{operation}` is not an operation")
    try:
        return {
            "operation": operation,
            "mode": Mode(str(document["mode"])),
            "keep": Keep(str(document.get("keep", Keep.NONE))),
        }
    except ValueError as error:
        raise _newer(str(error)) from error


def _factor(document: _Object) -> Factor:
    command = document.get("command")
    return Factor(
        name=str(document["name"]),
        levels=cast("tuple[Level, ...]", tuple(_list(document["levels"]))),
        unit=cast("str | None", document.get("unit")),
        command=None if command is None else _command(_object(command)),
        setting=bool(document.get("setting")),
    )


def _cell(levels: list[object]) -> Cell:
    pairs = (_list(pair) for pair in levels)
    return Cell(tuple((str(name), cast("Level", level)) for name, level in pairs))


def _command(document: _Object) -> CommandFactor:
    known = {name.name: document[name.name] for name in fields(CommandFactor) if name.name in document}
    return CommandFactor(
        **{key: tuple(value) if isinstance(value, list) else value for key, value in known.items()}  # type: ignore[arg-type]
    )


def _option(value: object) -> OptionValue:
    return cast("OptionValue", tuple(value) if isinstance(value, list) else value)


def _object(value: object) -> _Object:
    if not isinstance(value, dict):
        raise TypeError(f"an object was expected, not {type(value).__name__}")
    return value


def _list(value: object) -> list[object]:
    if not isinstance(value, list):
        raise TypeError(f"a list was expected, not {type(value).__name__}")
    return value


def _newer(what: str) -> ToolkitError:
    return ToolkitError(f"the experiment of a stored run has an unknown format: {what}", code="TK-0403")


def _damaged() -> ToolkitError:
    return ToolkitError("the experiment of a stored run is damaged", code="TK-0402")
