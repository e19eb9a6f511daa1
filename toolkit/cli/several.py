"""`-t a,b`: one measurement on several targets, in turns."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from toolkit.cli.parameters import Arguments
from toolkit.errors import ToolkitError

if TYPE_CHECKING:
    from toolkit.app.runs.execute import Guarding
    from toolkit.app.targets import ResolvedTarget
    from toolkit.model.experiment import Experiment
    from toolkit.model.protocols import Event, Events
    from toolkit.runner import Stop


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
    from toolkit.app.runs.several_targets import as_one_run, check_several, run_in_turns
    from toolkit.cli.launch import reach, show_result
    from toolkit.cli.listening import listening
    from toolkit.runner import Stop
    from toolkit.store import open_store

    if arguments.flag("dry_run"):
        raise ToolkitError(
            "a script is that of one target", code="TK-0107", hint=f"`--dry-run` with `-t {names[0]}`"
        )
    resolved = {name: reach(name) for name in names}
    try:
        targets = [each.target for each in resolved.values()]
        experiment = check_several(experiment, names, targets)
        with open_store(arguments.text("store")) as store, listening(arguments) as events:
            sides = {name: _Side(name, each, events, arguments, file) for name, each in resolved.items()}
            runs = run_in_turns(experiment, sides, Stop())
            run = as_one_run(experiment, runs, store, ",".join(names))
            return show_result(store, run, arguments)
    finally:
        for each in resolved.values():
            each.target.close()


@dataclass(frozen=True, slots=True)
class _Side:
    """Runs an experiment on one of the targets, in a thread of its own; what happens is told with its name."""

    name: str
    resolved: ResolvedTarget
    events: Events
    arguments: Arguments
    file: Path | None

    def __call__(
        self, own: Experiment, stop: Stop, in_turns: Callable[[Guarding], Guarding], ready: Callable[[], None]
    ) -> str:
        from toolkit.app.maintenance.run_guards import guarding
        from toolkit.app.runs.execute import start
        from toolkit.app.targets import fitted
        from toolkit.cli.approving import checked_experiment
        from toolkit.store import open_store

        own = fitted(own, self.resolved)
        with (
            open_store(self.arguments.text("store")) as store,
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
                guarding=in_turns(guarding(self.resolved, self)),
                ready=ready,
            )

    def emit(self, event: Event) -> None:
        """Pass an event on with the name of the target."""
        self.events.emit(replace(event, text=f"{self.name}: {event.text}"))
