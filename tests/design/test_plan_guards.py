"""Guards in a plan file: limits, what a step lays over them, and what is refused with its line."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.for_each import for_each
from toolkit.design.file import dump_experiment, parse_experiment
from toolkit.design.guards import guards_of
from toolkit.design.plan_file import read_plan
from toolkit.documents import parse_document
from toolkit.errors import ToolkitError
from toolkit.model.plan import Guard, Guards, MaintenancePlan, OnBreach, Unreadable
from toolkit.store.codec import experiment_from_json, experiment_to_json

HEAD = '[plan]\nname = "n"\ntarget = "dwh"\n'
STEP = '[[step]]\noperation = "stats-gather"\ntable = "G"\n'
MOST = (
    '[plan.guards]\nmax_active_sessions = 40\nmax_lag = "30s"\nmin_free = {temp = "5GiB", tablespace = "10 GB"}\n'
    'max_load = 0.9\nmax_lock_waiters = 0\nmax_blocking = "20s"\non_breach = "stop"\nwait_at_most = 0\n'
    'every = "30s"\nlooks = 2\nunreadable = "stop"\n'
)


def read(guards: str, step: str = STEP) -> MaintenancePlan:
    return read_plan(parse_document(HEAD + guards + step, "n.toml"), Path())


def test_every_key_of_the_table_is_read() -> None:
    assert read(MOST).guards == Guards(
        {
            Guard.ACTIVE_SESSIONS: 40, Guard.LAG: 30.0, Guard.TEMP: 5 * 2.0**30, Guard.TABLESPACE: 10 * 2.0**30,
            Guard.LOAD: 0.9, Guard.LOCK_WAITERS: 0, Guard.BLOCKING: 20.0,
        },
        OnBreach.STOP, Unreadable.STOP, 0.0, 30.0, 2,
    )  # fmt: skip
    assert read("").guards == Guards() == read("").steps[0].guards


def test_one_size_is_asked_for_everywhere() -> None:
    places = {Guard.TABLESPACE, Guard.TEMP, Guard.RECOVERY_AREA}
    assert dict(read('[plan.guards]\nmin_free = "1GiB"\n').guards.limits) == dict.fromkeys(places, 2.0**30)


def test_a_step_lays_its_own_over_the_plans_or_has_none() -> None:
    step = STEP + 'guards = {max_load = 2, max_lag = false, min_free = {temp = false}, on_breach = "wait"}\n'
    own = read(MOST, step).steps[0].guards
    assert own.limits[Guard.LOAD] == 2 and own.limits[Guard.ACTIVE_SESSIONS] == 40
    assert not {Guard.LAG, Guard.TEMP} & set(own.limits) and Guard.TABLESPACE in own.limits
    assert (own.on_breach, own.looks, own.every_seconds) == (OnBreach.WAIT, 2, 30.0)
    assert read(MOST, STEP + "guards = false\n").steps[0].guards.limits == {}
    assert read("", STEP + "guards = {max_load = 1}\n").steps[0].guards.limits == {Guard.LOAD: 1}


@for_each(
    ("guards", "sentence"),
    [
        ("[plan.guards]\nmax_sessions = 4\n", "n.toml:5: unknown guard `max_sessions`"),
        ("[plan.guards]\nmax_lag = 30\n", "n.toml:5: `max_lag` must be a duration"),
        ('[plan.guards]\nmax_lag = "soon"\n', "n.toml:5: `soon` is not a duration"),
        ("[plan.guards]\nmax_load = 0\n", "n.toml:5: `max_load` must be a load per CPU"),
        ("[plan.guards]\nmax_load = true\n", "n.toml:5: `max_load` must be a load per CPU"),
        ("[plan.guards]\nmax_active_sessions = -1\n", "n.toml:5: `max_active_sessions` cannot be -1"),
        ("[plan.guards]\nmin_free = 10\n", "n.toml:5: `min_free` must be a size or a table of sizes"),
        ('[plan.guards]\nmin_free = {undo = "1GiB"}\n', "n.toml:5: `min_free` has no `undo`"),
        ('[plan.guards]\nmin_free = {temp = "much"}\n', "n.toml:5: `much` is not a size"),
        ('[plan.guards]\nmax_load = 1\non_breach = "kill"\n', "n.toml:6: `on_breach` cannot be `kill`"),
        ('[plan.guards]\nmax_load = 1\nevery = "1h"\n', "n.toml:6: `every` must be between 1s and 10m"),
        ("[plan.guards]\nmax_load = 1\nlooks = 0\n", "n.toml:6: `looks` cannot be 0"),
        ("[plan.guards]\nlooks = 3\n", "n.toml:4: no guard was given"),
        ("guards = 4\n", "n.toml:4: `guards` must be a table"),
    ],
)
def test_what_cannot_be_meant_is_refused_with_its_line(guards: str, sentence: str) -> None:
    with pytest.raises(ToolkitError) as caught:
        read(guards)
    assert caught.value.message == sentence
    assert caught.value.code in ("TK-0101", "TK-0102", "TK-0107") and caught.value.hint


def test_how_often_is_looked_is_the_plans_matter() -> None:
    with pytest.raises(ToolkitError, match="unknown guard `every`"):
        read(MOST, STEP + 'guards = {every = "5s"}\n')


@for_each(
    ("texts", "code"),
    [
        (["max_lag"], "TK-0102"), (["max_leg=30s"], "TK-0101"), (["max_lag=1s", "max-lag=2s"], "TK-0107"),
        (["min_free=1GiB", "min_free.temp=2GiB"], "TK-0107"), (["max_load=much"], "TK-0102"),
        (["on_breach=stop"], "TK-0107"),
    ],
)  # fmt: skip
def test_a_guard_that_is_typed_wrong_is_refused(texts: list[str], code: str) -> None:
    with pytest.raises(ToolkitError) as refused:
        guards_of(texts)
    assert refused.value.code == code


def test_guards_of_one_run_are_those_of_a_plan_typed_or_in_its_file() -> None:
    typed = ["max_active_sessions=40", "max-lag=30s", "min_free.temp=5GiB", "max_load=0.5", "looks=2"]
    table = '{max_active_sessions = 40, max_lag = "30s", min_free = {temp = "5GiB"}, max_load = 0.5, looks = 2}'
    text = f'[experiment]\ntarget = "erp"\noperation = "ctas"\nsource = "a"\ntable = "b"\nguards = {table}\n'
    experiment = parse_experiment(text)
    assert guards_of(experiment.guards) == guards_of(typed) == read(f"guards = {table}\n").guards
    assert parse_experiment(dump_experiment(experiment)) == experiment
    assert experiment_from_json(experiment_to_json(experiment)) == experiment
