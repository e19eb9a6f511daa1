"""What a user may call a run."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.store.make import RUN, head
from toolkit.errors import ToolkitError
from toolkit.store import open_store, schema
from toolkit.store.runs import run_row
from toolkit.store.store import Store

OLD, NEW = "20261120-051342-0001", "20261121-051399-ab40"


@pytest.fixture
def three(store: Store) -> Store:
    store.create_run(head(OLD, later=-86400, label="nightly"))
    store.create_run(head(NEW, later=9, label="morning"))
    return store


@pytest.mark.parametrize("run", ["../../victim/nightly", "/etc/x", "..", "", "a\nb", "x" * 200])
def test_a_run_whose_id_no_dbatk_made_names_no_file(store: Store, run: str) -> None:
    """Files are named after runs: an undo script, a page of a site."""
    with pytest.raises(ToolkitError, match="no id of a run") as caught:
        store.create_run(head(run))
    assert caught.value.code == "TK-0402" and len(store.list_runs()) == 1
    with store._database.write("x") as connection:
        connection.execute(schema.run.insert().values(run_row(head(run))))
    for read in (store.list_runs, lambda: store.load_head(run), lambda: store.load_run(run)):
        with pytest.raises(ToolkitError, match="no id of a run"):
            read()


@pytest.mark.parametrize(
    ("ref", "run"),
    [
        (RUN, RUN),
        ("20261120", OLD),
        ("20261121-05134", RUN),
        ("20261121-051342-ab3f", RUN),
        ("last", NEW),
        ("morning", NEW),
        ("nightly", RUN),
    ],
)
def test_a_run_is_found_by_id_beginning_last_and_label(three: Store, ref: str, run: str) -> None:
    assert three.resolve(ref) == run


def test_a_beginning_of_several_runs_is_refused_and_they_are_named(three: Store) -> None:
    with pytest.raises(ToolkitError, match="several runs begin with `20261121`") as caught:
        three.resolve("20261121")
    assert caught.value.code == "TK-0109"
    assert RUN in caught.value.hint
    assert NEW in caught.value.hint
    assert OLD not in caught.value.hint


def test_the_nearest_names_are_suggested(three: Store) -> None:
    with pytest.raises(ToolkitError, match="`mornig`") as caught:
        three.resolve("mornig")
    assert caught.value.code == "TK-0109"
    assert "`morning`" in caught.value.hint


def test_another_run_of_the_same_day_is_no_suggestion(three: Store) -> None:
    with pytest.raises(ToolkitError, match="no run is named") as gone:
        three.resolve("20261121-093000-77aa")
    assert "did you mean" not in gone.value.hint
    with pytest.raises(ToolkitError, match="no run is named") as mistyped:
        three.resolve("20261121-051342-ab3e")
    assert f"did you mean `{RUN}`" in mistyped.value.hint


@pytest.mark.parametrize("ref", ["", "%", "2026112_", "zzz", "'", "20261121%", "\x7f", "20261121-051342-ab3f "])
def test_what_is_no_name_of_a_run_finds_none(three: Store, ref: str) -> None:
    with pytest.raises(ToolkitError) as caught:
        three.resolve(ref)
    assert caught.value.code == "TK-0109"


def test_a_run_further_back_than_there_are_runs_is_told_how_many_there_are(three: Store) -> None:
    with pytest.raises(ToolkitError, match="only 3 runs are stored"):
        three.resolve("last~9")
    with pytest.raises(ToolkitError, match="only one run is named `morning`"):
        three.resolve("morning~1")


def test_last_of_an_empty_store_says_so(another: Store) -> None:
    with pytest.raises(ToolkitError, match="no run is stored yet"):
        another.resolve("last")


def test_the_command_to_go_on_names_the_store_unless_a_shell_has_it_anyway(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with open_store(tmp_path / "my store.sqlite") as store:
        assert store.resume_command(RUN) == f"dbatk runs resume {RUN} --store '{store.place}'"
        monkeypatch.setenv("DBATK_STORE", store.place)
        assert store.resume_command(RUN) == f"dbatk runs resume {RUN}"
