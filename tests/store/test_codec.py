"""An experiment survives its JSON, and JSON of other versions."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.for_each import for_each
from tests.store.make import experiment
from toolkit.errors import ToolkitError
from toolkit.model.experiment import Experiment
from toolkit.model.operations import operations
from toolkit.model.values import CommandFactor, Factor
from toolkit.model.words import Keep, Mode
from toolkit.store import experiment_from_json, experiment_to_json

seconds = st.none() | st.floats(0, 1e9)
words = st.tuples() | st.tuples(st.text()) | st.tuples(st.text(), st.text())
options = st.text() | st.integers() | st.floats(allow_nan=False) | st.booleans() | words
commands = st.builds(CommandFactor, read=words, apply=words, undo=words, read_sql=st.text(), apply_sql=st.text())
levels = st.text() | st.integers() | st.floats(allow_nan=False) | st.booleans()
factors = st.builds(Factor, st.text(), st.lists(levels).map(tuple), st.none() | st.text(), st.none() | commands)
experiments = st.builds(
    Experiment,
    target=st.text(),
    operation=st.sampled_from(list(operations())),
    options=st.dictionaries(st.text(), options, max_size=4),
    factors=st.lists(factors, max_size=3).map(tuple),
    mode=st.sampled_from(Mode),
    repeat=st.integers(1, 100),
    name=st.none() | st.text(),
    label=st.none() | st.text(),
    seed=st.integers(0, 2**63 - 1),
    keep=st.sampled_from(Keep),
    budget_seconds=seconds,
    time_limit_seconds=seconds,
)


@given(experiments)
def test_an_experiment_comes_back_as_it_was(written: Experiment) -> None:
    read = experiment_from_json(experiment_to_json(written))
    assert read == written
    # 4, 4.0 and True are equal in Python, and different levels of a factor
    assert repr(read) == repr(written)


def test_keys_of_a_newer_writer_are_ignored() -> None:
    document = json.loads(experiment_to_json(experiment()))
    document["colour"] = "blue"
    document["factors"][0]["weight"] = 3
    document["factors"][1]["command"]["timeout"] = 9
    assert experiment_from_json(json.dumps(document)) == experiment()


def test_keys_that_an_older_writer_lacked_take_their_default() -> None:
    document = json.loads(experiment_to_json(experiment()))
    del document["keep"], document["quiet_wait_seconds"], document["factors"][0]["unit"]
    assert experiment_from_json(json.dumps(document)) == experiment(keep=Keep.NONE)


@pytest.mark.parametrize(("key", "value"), [("format", 2), ("operation", "teleport"), ("mode", "dream")])
def test_words_of_a_newer_version_are_refused(key: str, value: object) -> None:
    document = json.loads(experiment_to_json(experiment())) | {key: value}
    with pytest.raises(ToolkitError) as caught:
        experiment_from_json(json.dumps(document))
    assert caught.value.code == "TK-0403"


@for_each("text", ["", "[]", "{}", "null", '{"target": "x"}', '{"factors": 3, "options": {}}'])
def test_a_damaged_experiment_is_refused(text: str) -> None:
    with pytest.raises(ToolkitError) as caught:
        experiment_from_json(text)
    assert caught.value.code in ("TK-0402", "TK-0403")


@for_each("key", ["target", "operation", "options", "factors", "mode"])
def test_an_experiment_without_a_needed_key_is_damaged(key: str) -> None:
    document = json.loads(experiment_to_json(experiment()))
    del document[key]
    with pytest.raises(ToolkitError) as caught:
        experiment_from_json(json.dumps(document))
    assert caught.value.code == "TK-0402"
