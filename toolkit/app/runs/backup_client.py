"""Proves, before a backup or a dump is begun, that its program is there.

Of RMAN also that it reaches this very database, and can read every script.
"""

from __future__ import annotations

import platform
from collections.abc import Iterable

from toolkit.dialects.oracle.backup import client
from toolkit.dialects.oracle.datapump import client as datapump_client
from toolkit.dialects.registry import dialect_of
from toolkit.errors import ToolkitError
from toolkit.executors import Script, Sessions, refused
from toolkit.model.engines import engine
from toolkit.model.experiment import Experiment
from toolkit.model.facts import Facts
from toolkit.model.operations import declaration
from toolkit.model.protocols import DatabaseError
from toolkit.model.steps import Step
from toolkit.model.words import Role, StepKind
from toolkit.runner import PlanningContext
from toolkit.targets.base import Target

_LIMIT_SECONDS = 60.0


def check(planning: PlanningContext, sessions: Sessions, target: Target) -> None:
    """Refuse a run whose client is missing, has no way in, reaches another database, or finds a script wrong.

    Raises:
        ToolkitError: TK-0206, TK-0201, TK-0203, TK-0304 or TK-0305; nothing was begun.
    """
    experiment, facts = planning.experiment, planning.facts
    _check_data_pump(planning, target)
    if not declaration(experiment.operation).backs_up or not engine(facts.engine).rman:
        return
    texts = dict.fromkeys(step.text for script in planning.scripts for step in _rman_steps(script))
    if not texts:
        return
    client.refuse_missing(facts)
    _refuse_elsewhere(experiment, facts, target)
    for text in texts:
        _check_syntax(sessions, facts, text)
    _check_database(sessions, facts)


def _check_data_pump(planning: PlanningContext, target: Target) -> None:
    items = (item for script in planning.scripts if script.stages for item in script.stages.timed.items)
    steps = (step for item in items for step in item.steps if step.kind is StepKind.PARAMETERS)
    for program in dict.fromkeys(step.argv[0] for step in steps):
        datapump_client.refuse_missing(program, planning.facts)
        logon = target.programs_access("").logon
        if logon is not None:
            logon()


def _refuse_elsewhere(experiment: Experiment, facts: Facts, target: Target) -> None:
    """Refuse a folder of this host where the database runs on another: its channels write there, not here.

    By the operating system RMAN reaches an instance of this host only, whatever the host calls itself.

    Raises:
        ToolkitError: TK-0305.
    """
    destination = experiment.options.get("destination")
    there, here = str(facts.value(client.INSTANCE, "host_name") or ""), platform.node()
    if destination is None or not there or there.partition(".")[0].lower() == here.partition(".")[0].lower():
        return
    if "@" in target.programs_access("").opening:
        place = destination[0] if isinstance(destination, tuple) and destination else destination
        raise ToolkitError(
            f"`{place}` is a folder on this host (`{here}`), but RMAN's channels write on `{there}`, where the "
            "database runs",
            code="TK-0305",
            hint="run dbatk on the database server, or take the scripts there with `dbatk export`",
        )


def _rman_steps(script: Script) -> Iterable[Step]:
    if script.stages is None:
        return ()
    timed = (step for item in script.stages.timed.items for step in item.steps)
    return [step for step in (*timed, *script.stages.conclude) if step.kind is StepKind.RMAN]


def _check_syntax(sessions: Sessions, facts: Facts, text: str) -> None:
    """Let the client look at a script; it connects to nothing for that."""
    step = Step(
        "oracle/checksyntax", text, kind=StepKind.RMAN, session=Role.CONTROL, argv=client.check_arguments(facts),
        environment=client.environment(), limit_seconds=_LIMIT_SECONDS,
    )  # fmt: skip
    try:
        sessions.run(step)
    except DatabaseError as error:
        first = text.strip().splitlines()[0]
        raise refused(
            dialect_of(facts.engine), error, f"this release of RMAN cannot read dbatk's script (`{first} ...`)"
        ) from None


def _check_database(sessions: Sessions, facts: Facts) -> None:
    """Connect and leave: with OS authentication RMAN uses the instance of ORACLE_SID, which may be another one."""
    step = Step(
        "oracle/connect", "", kind=StepKind.RMAN, session=Role.CONTROL, argv=client.arguments(),
        environment=client.environment(), access=(client.CONNECTS,), limit_seconds=_LIMIT_SECONDS,
    )  # fmt: skip
    try:
        answer = sessions.run(step)
    except DatabaseError as error:
        raise ToolkitError(
            f"RMAN cannot connect: {error.sentence}",
            code="TK-0201",
            hint="set ORACLE_SID and be a member of OSDBA or OSBACKUPDBA, or set in the profile's options: "
            '`rman_connect = "/@alias as sysbackup"`',
            database_code=error.code,
        ) from None
    from toolkit.readers.rman.log import read_log

    found, expected = read_log(line.text for line in answer.lines).dbid, facts.value("doctor_database", "dbid")
    if found is None:
        raise ToolkitError(
            "RMAN did not report which database it is connected to", code="TK-0201", hint="run it by hand to check"
        )
    if expected is not None and int(float(expected)) != found:
        raise ToolkitError(
            f"RMAN connects to another database (DBID {found}) than this target (DBID {int(float(expected))})",
            code="TK-0304",
            hint="set ORACLE_SID to the instance of the target, or give `rman_connect` in the profile's options",
        )
