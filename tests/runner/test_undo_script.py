"""The undo script is there before a change, says what is open, and is gone when nothing is."""

from __future__ import annotations

import json
import stat
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.runner.world import DIALECT, KEY, RUN, Thing, World, change, create, drop, index, table
from tests.store.make import head
from toolkit.errors import ToolkitError
from toolkit.model.protocols import Answer
from toolkit.model.steps import ObjectRef, Step
from toolkit.model.values import QualifiedName
from toolkit.model.words import Effect, ObjectKind, StepKind
from toolkit.runner import Changes, UndoScript
from toolkit.store import Store, open_store

NAME = f"DBATK_{KEY}_1"


@pytest.fixture
def kept(tmp_path: Path) -> Iterator[Store]:
    with open_store(tmp_path / "store.sqlite") as opened:
        opened.create_run(head(RUN))
        yield opened


class Watched(World):
    """A world that notes whether the undo script was there when a statement came."""

    path: Path
    there: tuple[bool, ...] = ()

    def run(self, step: Step, number: int = 0) -> Answer:
        if step.effect is not Effect.READS:
            self.there += (self.path.exists(),)
        return super().run(step, number)


def changes(world: World, kept: Store) -> tuple[Changes, Path, list[Path]]:
    told: list[Path] = []
    path = kept.undo_script(RUN)
    script = UndoScript(path, DIALECT, RUN, "dwh", told.append)
    return Changes(world, DIALECT, kept.journal(RUN), script=script), path, told  # type: ignore[arg-type]


def test_it_is_on_disk_before_the_first_change_and_gone_after_the_last(kept: Store) -> None:
    world = Watched()
    own, world.path, told = changes(world, kept)
    own.run([create(table())], 1)
    assert world.there == (True,)
    assert told == [world.path]
    assert stat.S_IMODE(world.path.stat().st_mode) == 0o600
    assert stat.S_IMODE(world.path.parent.stat().st_mode) == 0o700
    assert f'EXECUTE IMMEDIATE \'DROP TABLE "APP"."{NAME}" PURGE\'' in world.path.read_text()
    world.path.with_name(f".{world.path.name}.ab12").touch()
    own.run([drop(table())], 1)
    assert list(world.path.parent.iterdir()) == [], "nor what a kill left before it got its name"
    own.run([create(table(f"DBATK_{KEY}_2"))], 2)
    assert told == [world.path]


def test_it_lists_the_sessions_of_the_run_first(kept: Store) -> None:
    own, path, _ = changes(World(), kept)
    own.intend([create(table())], 1)
    text = path.read_text()
    sessions = text.index("-- sessions of the run")
    assert sessions < text.index(f"'{RUN}'", sessions) < text.index("about to be made in trial 1")
    assert ":run" not in text


def test_it_is_in_utf_8_whatever_the_locale_says(kept: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("locale.getencoding", lambda: "ascii")
    monkeypatch.setattr("locale.getpreferredencoding", lambda do_setlocale=True: "ascii")
    world = World({"GRÖSSE": Thing("7 2026-11-21 05:13:42")})
    own, path, _ = changes(world, kept)
    own.intend([change(index("GRÖSSE"), "ALTER INDEX NOPARALLEL")], 1)
    assert "GRÖSSE".encode() in path.read_bytes()


def test_without_anything_to_undo_it_is_not_missed(kept: Store) -> None:
    path = kept.undo_script(RUN)
    script = UndoScript(path, DIALECT, RUN, "dwh")
    script.write((), strictly=True)
    assert not path.exists()


def test_it_tells_what_was_made_from_what_was_only_meant(kept: Store) -> None:
    own, path, _ = changes(World(now=1795284000), kept)
    own.intend([create(table())], 1)
    text = path.read_text()
    assert "o.created >= DATE '1970-01-01' + 1795284000 / 86400" in text
    assert "o.object_id" not in text


def test_a_line_end_in_a_name_ends_no_comment(kept: Store) -> None:
    world = World({"A\nDROP TABLE b;": Thing("7 2026-11-21 05:13:42")})
    own, path, _ = changes(world, kept)
    own.intend([change(index("A\nDROP TABLE b;"), "ALTER INDEX x NOPARALLEL")], 1)
    lines = path.read_text().splitlines()
    assert [line for line in lines if line.startswith("-- index")] == [
        "-- index `APP.A DROP TABLE b;` was changed, about to be made in trial 1"
    ]
    assert "o.object_id = 7" in path.read_text()


def test_a_preference_stands_in_it_with_its_former_value_and_is_put_back_to_it(kept: Store) -> None:
    world = World()
    own, path, _ = changes(world, kept)
    ref = ObjectRef(ObjectKind.PREFERENCE, QualifiedName("PUBLISH", "APP"), table=QualifiedName("ORDERS", "APP"))
    back = "BEGIN DBMS_STATS.SET_TABLE_PREFS('APP', 'ORDERS', 'PUBLISH', 'TRUE'); END;"
    step = Step(
        "prefs", "BEGIN x; END;", StepKind.BLOCK, effect=Effect.CHANGES, object=ref, undo=(back,), before="TRUE"
    )
    own.run([step])
    assert f"-- its former value was `TRUE`\n{back}\n/\n" in path.read_text()
    assert own.undo_all().done == ("restored preference `PUBLISH` of `APP.ORDERS` to `TRUE`",)
    assert world.sent[-1] == back
    assert not path.exists()


def test_a_command_of_the_host_is_shown_and_never_run_by_the_script(kept: Store) -> None:
    own, path, _ = changes(World(), kept)
    ref = ObjectRef(ObjectKind.SETTING, QualifiedName("read_ahead"))
    proof = {"before": "256", "command": json.dumps(["blockdev", "--setra", "256", "/dev/s db"])}
    entry = own.note(Step("factor", "", effect=Effect.CHANGES, object=ref), 1, proof)
    assert "-- on the host, run: blockdev --setra 256 '/dev/s db'" in path.read_text()
    own.settled(entry)
    assert not path.exists()


def test_a_script_that_cannot_be_put_in_place_changes_nothing_and_leaves_no_half_of_it(kept: Store) -> None:
    world = World()
    own, path, _ = changes(world, kept)
    path.mkdir(parents=True)
    with pytest.raises(ToolkitError, match="cannot be written") as caught:
        own.run([create(table())], 1)
    assert caught.value.code == "TK-0405"
    assert world.sent == []
    assert list(path.parent.iterdir()) == [path]


def test_it_is_written_beside_its_place_so_that_it_appears_whole(
    kept: Store, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "on another file system"))
    own, path, _ = changes(World(), kept)
    own.intend([create(table())], 1)
    assert [each.name for each in path.parent.iterdir()] == [path.name]


def test_tables_come_before_their_indexes_whatever_was_made_first(kept: Store) -> None:
    own, path, _ = changes(World(), kept)
    own.run([create(index(f"DBATK_{KEY}_2", scratch=True)), create(table())], 1)
    headings = [line for line in path.read_text().splitlines() if line.startswith(("-- table", "-- index"))]
    assert headings == [
        f"-- table `APP.{NAME}` is a scratch object, made in trial 1",
        f"-- index `APP.DBATK_{KEY}_2` is a scratch object, made in trial 1",
    ]


def test_a_scratch_table_that_was_changed_again_is_not_said_to_be_made_twice(kept: Store) -> None:
    own, path, _ = changes(World(), kept)
    own.run([create(table()), change(table(), "ALTER TABLE x LOGGING")], 1)
    headings = [line for line in path.read_text().splitlines() if line.startswith("-- table")]
    assert sorted(" ".join(line.split()[3:5]) for line in headings) == ["is a", "was changed,"]


def test_a_backup_that_was_to_be_removed_is_named_and_removed_by_no_script(kept: Store) -> None:
    own, path, _ = changes(World(), kept)
    ref = ObjectRef(ObjectKind.BACKUP, QualifiedName("monday", "/backup"))
    own.note(Step("retention", "", effect=Effect.DROPS, object=ref), None, {})
    text = path.read_text()
    assert "-- backup `/backup/monday` was to be removed by the run; nothing is undone: if it is there, it" in text
    assert "rm -r" not in text
