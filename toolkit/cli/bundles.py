"""`export` and `ingest`: a run on a server where Python may not run."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from toolkit.cli.output import out_json, say
from toolkit.cli.parameters import (
    NOT_PRODUCTION,
    OTHER_TARGET,
    OUTPUT,
    UNSEEN_OK,
    Arguments,
    add_command,
    argument,
    assume_option,
    option,
)
from toolkit.errors import ExitCode, ToolkitError
from toolkit.units import counted

if TYPE_CHECKING:
    from toolkit.app.bundles.export import Exported
    from toolkit.model.experiment import Experiment

_FILE = argument("file", "experiment file (TOML); `dbatk ctas ... --save-as FILE` writes one")
_OUT = option("out", "folder to write; must be new or empty (required)", metavar="DIR")
_UNCONNECTED = "`--assume 19-ee` (release and edition) or `--facts FILE` writes the scripts without connecting"
_ASSUME = assume_option("do not connect; assume this release")
_FACTS = option("facts", "do not connect; read the facts from a file", metavar="FILE")
_BUNDLE = argument("folder", "folder written by `dbatk export`, with its spool files", metavar="DIR")


def add_bundles(app: typer.Typer) -> None:
    """Add the commands."""
    json_and_debug = [one for one in OUTPUT if one.name != "store"]
    add_command(
        app,
        "export",
        _export,
        [
            _FILE,
            _OUT,
            OTHER_TARGET,
            option("label", "name of the run"),
            _ASSUME,
            _FACTS,
            NOT_PRODUCTION,
            UNSEEN_OK,
            *json_and_debug,
        ],
        "Write an experiment as SQL*Plus scripts with a driver script, for a server without Python.",
    )
    add_command(app, "ingest", _ingest, [_BUNDLE, *OUTPUT], "Import the output of a bundle as a run.")


def _export(arguments: Arguments) -> int:
    from toolkit.cli.files import read_experiment

    folder = arguments.text("out")
    if folder is None:
        raise ToolkitError("no folder was given", code="TK-0107", hint="add `--out DIR`")
    if "assume" in arguments and "facts" in arguments:
        raise ToolkitError(
            "`--assume` and `--facts` are mutually exclusive", code="TK-0107", hint="use only one of them"
        )
    exported = _write(read_experiment(arguments), arguments, Path(folder))
    for note in exported.notes:
        say(f"warning: {note}")
    if arguments.flag("json"):
        document = {"run": exported.run, "folder": str(exported.folder), "trials": exported.trials}
        out_json({**document, "warnings": list(exported.notes)})
    else:
        say(f"wrote {exported.folder}: run {exported.run}, {counted(exported.trials, 'trial')}")
        say(f"\nhint: read its README.txt, copy the folder to the server, and run `{exported.command}` there")
    return ExitCode.DONE


def _write(experiment: Experiment, arguments: Arguments, folder: Path) -> Exported:
    from toolkit.app.bundles.export import (
        address_of,
        assumed_known,
        export_bundle,
        given_known,
        limits_of,
        read_known,
    )
    from toolkit.app.targets import check_for_engine, find_target, fitted
    from toolkit.cli.launch import named_target, reach, read_text

    if "assume" not in arguments and "facts" not in arguments:
        resolved = reach(experiment.target)
        try:
            policy = limits_of(resolved, connected=True)
            experiment = fitted(experiment, resolved)
            known = read_known(experiment, resolved.target, policy)
        except ToolkitError as error:
            if error.code == "TK-0201":
                error.hint += f"; {_UNCONNECTED}"
            raise
        finally:
            resolved.target.close()
    else:
        resolved = find_target(named_target(experiment.target))
        policy = limits_of(resolved, connected=False)
        check_for_engine(experiment, resolved.target.engine)
        experiment = fitted(experiment, resolved)
        text = arguments.text("facts")
        engine = resolved.target.engine
        known = (
            assumed_known(engine, arguments.required("assume")) if text is None else given_known(read_text(text))
        )
    address = address_of(named_target(experiment.target))
    policy = replace(policy, unseen_ok=arguments.flag("unseen_ok"))
    safe = arguments.flag("not_production")
    return export_bundle(experiment, known, address, folder, policy=policy, not_production=safe)


def _ingest(arguments: Arguments) -> int:
    from toolkit.app.bundles.ingest import ingest_bundle
    from toolkit.cli.launch import show_result
    from toolkit.store import open_store

    with open_store(arguments.text("store"), at_once=False) as store:
        taken = ingest_bundle(Path(arguments.required("folder")), store)
        for sentence in taken.warnings:
            say(f"warning: {sentence}")
        if not arguments.flag("json"):
            say(f"run {taken.run}: {counted(taken.added, 'trial')} added, {taken.missing} not run yet\n")
        status = show_result(store, taken.run, arguments)
        return status or (ExitCode.INCOMPLETE if taken.left else ExitCode.DONE)
