"""Environments as documents, and the differences of two or more."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.for_each import for_each
from toolkit.errors import ToolkitError
from toolkit.model.environment import (
    Environment,
    EnvironmentValue,
    differences,
    environment_document,
    environment_of_document,
)

_SCALARS = st.none() | st.text(max_size=5) | st.integers() | st.floats(allow_nan=False) | st.booleans()
_NAMES = st.sampled_from(["setting.a", "setting.b", "disk.sda.x", "host.kernel"])
_VALUES = st.builds(
    EnvironmentValue,
    _NAMES,
    _SCALARS,
    st.sampled_from(["", "8kB", "ms"]),
    _SCALARS,
    st.none() | st.text(max_size=5),
)
ENVIRONMENTS = st.lists(_VALUES, unique_by=lambda value: value.name, max_size=4).map(
    lambda v: Environment(tuple(v))
)


def of(**values: str | int | None) -> Environment:
    return Environment(tuple(EnvironmentValue(name.replace("__", "."), value) for name, value in values.items()))


@given(ENVIRONMENTS)
def test_an_environment_survives_its_document(environment: Environment) -> None:
    document = json.loads(json.dumps(environment_document(environment)))
    assert environment_of_document(document, "file") == environment
    assert differences((environment, environment)) == ()


@given(ENVIRONMENTS, ENVIRONMENTS)
def test_differences_are_the_same_from_either_side(a: Environment, b: Environment) -> None:
    there = {one.name: one.sides for one in differences((a, b))}
    back = {one.name: one.sides[::-1] for one in differences((b, a))}
    assert there == back
    assert all(one != other for one, other in there.values())


def test_a_group_that_one_side_could_not_read_is_no_difference() -> None:
    here = of(setting__a="1", disk__sda__scheduler="none")
    elsewhere = of(setting__a="2")
    assert [one.name for one in differences((here, elsewhere))] == ["setting.a"]


def test_what_somebody_set_comes_first() -> None:
    before = of(setting__a="1", setting__z="1")
    now = Environment((EnvironmentValue("setting.a", "2"), EnvironmentValue("setting.z", "2", origin="user")))
    assert [one.name for one in differences((before, now))] == ["setting.z", "setting.a"]


def test_a_database_that_grew_a_little_is_of_the_same_size() -> None:
    assert differences((of(size__database_bytes="1000"), of(size__database_bytes="1099"))) == ()
    assert len(differences((of(size__database_bytes="1000"), of(size__database_bytes="1101")))) == 1
    assert len(differences((of(size__database_bytes=None), of(size__database_bytes="1101")))) == 1


@for_each(
    ("document", "said"),
    [
        ([], "is not an environment"),
        ({"format": "other"}, "is not an environment"),
        ({"format": "dbatk-environment", "version": 2}, "later version"),
        ({"format": "dbatk-environment", "version": 1, "values": {}}, "damaged"),
        ({"format": "dbatk-environment", "version": 1, "values": [{"name": 1, "value": 2}]}, "damaged"),
        ({"format": "dbatk-environment", "version": 1, "values": [{"name": "a", "value": [1]}]}, "damaged"),
    ],
)
def test_what_is_no_environment_is_refused_in_a_sentence(document: object, said: str) -> None:
    with pytest.raises(ToolkitError, match=said) as refused:
        environment_of_document(document, "some.json")
    assert refused.value.code == "TK-0106"
