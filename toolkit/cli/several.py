"""`-t a,b`: one measurement on several targets, in turns."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from toolkit.cli.parameters import Arguments
from toolkit.errors import ToolkitError

if TYPE_CHECKING:
    from toolkit.app.runs.execute import Guarding
    from toolkit.app.runs.joint import Joint
    from toolkit.app.runs.several_targets import Ready
    from toolkit.app.targets import ResolvedTarget
    from toolkit.model.experiment import Experiment
    from toolkit.model.protocols import Event, Events
    from toolkit.runner import Stop
    from toolkit.store import Store


def targets_named(text: str) -> tuple[str, ...]:
    """Return the targets that `-t` names; a comma within a URL or a path is part of it."""
    if "," not in text:
        return (text,)
    from toolkit.app.runs.several_targets import names_of
    from toolkit.config.profiles import load_profiles

    return names_of(text, load_profiles)


def launch_on_several(
    experiment: Experiment, names: tuple[str, ...], arguments: Arguments, file: Path | None
) -> int:
    """Run an experiment on several targets in turns, and show what came out as one run."""
    from toolkit.app.runs.several_targets import check_several, new_joint
    from toolkit.cli.launch import reach
    from toolkit.store import open_store

    if arguments.flag("dry_run"):
        raise ToolkitError(
            "a script is that of one target", code="TK-0107", hint=f"`--dry-run` with `-t {names[0]}`"
        )
    resolved = {name: reach(name) for name in names}
    try:
        targets = [each.target for each in resolved.values()]
        experiment = check_several(experiment, names, targets)
        with open_store(arguments.text("store"), at_once=False) as store:
            return _run(new_joint(experiment, names), {}, store, resolved, arguments, file)
    finally:
        for each in resolved.values():
            each.target.close()


def resume_on_several(joint: Joint, store: Store, arguments: Arguments) -> int:
    """Go on with a measurement on several targets: on each with what is missing, again in turns."""
    from toolkit.app.runs.joint import parts_of
    from toolkit.cli.launch import reach

    if "target" in arguments:
        raise ToolkitError(
            "this run is part of a measurement on several targets, which are resumed together",
            code="TK-0107",
            hint="omit `-t`; the targets are " + " and ".join(f"`{name}`" for name in joint.names),
        )
    resolved = {name: reach(name) for name in joint.names}
    try:
        return _run(joint, parts_of(store, joint), store, resolved, arguments, None)
    finally:
        for each in resolved.values():
            each.target.close()


def _run(
    joint: Joint,
    begun: Mapping[str, str],
    store: Store,
    resolved: Mapping[str, ResolvedTarget],
    arguments: Arguments,
    file: Path | None,
) -> int:
    from toolkit.app.runs.several_targets import as_one_run, run_in_turns
    from toolkit.cli.launch import show_result
    from toolkit.cli.listening import listening
    from toolkit.runner import Stop

    with listening(arguments) as events:
        sides = {
            name: _Side(name, each, events, arguments, file, joint, begun.get(name))
            for name, each in resolved.items()
        }
        runs = run_in_turns(joint.experiment, sides, Stop())
    return show_result(store, as_one_run(joint, runs, store), arguments, file)


@dataclass(frozen=True, slots=True)
class _Side:
    """Runs an experiment on one of the targets, in a thread of its own; what happens is told with its name.

    What was `begun` there already is resumed.
    """

    name: str
    resolved: ResolvedTarget
    events: Events
    arguments: Arguments
    file: Path | None
    joint: Joint
    begun: str | None

    def __call__(self, own: Experiment, stop: Stop, in_turns: Callable[[Guarding], Guarding], ready: Ready) -> str:
        from toolkit.app.maintenance.run_guards import guarding
        from toolkit.app.runs.execute import start
        from toolkit.app.runs.joint import keeping_joint
        from toolkit.app.targets import fitted
        from toolkit.cli.approving import checked_experiment
        from toolkit.store import open_store

        if self.begun is not None:
            return self._resume(self.begun, stop, in_turns, ready)
        own = fitted(own, self.resolved)
        with (
            open_store(self.arguments.text("store"), at_once=False) as store,
            checked_experiment(self.file, own, self.resolved, store, self.arguments) as approvals,
        ):
            return start(
                own,
                self.resolved.target,
                store=store,
                approvals=approvals,
                events=self,
                policy=self.resolved.policy,
                stop=stop,
                guarding=keeping_joint(store, self.joint, self.name, in_turns(guarding(self.resolved, self))),
                ready=ready,
            )

    def _resume(self, run: str, stop: Stop, in_turns: Callable[[Guarding], Guarding], ready: Ready) -> str:
        from toolkit.app.maintenance.run_guards import guarding
        from toolkit.app.runs.execute import resume
        from toolkit.app.runs.joint import has_ended
        from toolkit.cli.approving import checked_resume
        from toolkit.store import open_store

        ready(frozenset())
        with open_store(self.arguments.text("store"), at_once=False) as store:
            if has_ended(store, run) and not self.arguments.flag("retry_failed"):
                return run
            experiment = store.load_head(run).experiment
            with checked_resume(experiment, self.resolved, store, self.arguments) as approvals:
                return resume(
                    run,
                    self.resolved.target,
                    store=store,
                    approvals=approvals,
                    events=self,
                    policy=self.resolved.policy,
                    stop=stop,
                    retry_failed=self.arguments.flag("retry_failed"),
                    guarding=in_turns(guarding(self.resolved, self)),
                )

    def emit(self, event: Event) -> None:
        """Pass an event on with the name of the target."""
        self.events.emit(replace(event, text=f"{self.name}: {event.text}"))
