"""Older backups of dbatk are removed after a job that asks for it: its own only, and never the last proved."""

from __future__ import annotations

import errno
import shutil
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from tests.engines.arena import Arena, Heard
from tests.engines.conftest import ENGINES, arena_of
from tests.engines.test_backups import APPROVED, B, options
from tests.engines.test_operations import experiment
from tests.tiers import thinned
from toolkit.app.approvals import Approvals, TargetPolicy
from toolkit.app.results import undo_script_left
from toolkit.app.runs import retention
from toolkit.app.runs.execute import resume, start
from toolkit.app.runs.preview import script
from toolkit.app.runs.repair import clean
from toolkit.app.targets import check_for_engine
from toolkit.design.plan_file import read_plan
from toolkit.dialects.backups import backups_of
from toolkit.dialects.postgresql.backup import basebackup
from toolkit.dialects.registry import dialect_of
from toolkit.dialects.work import Work
from toolkit.documents import parse_document
from toolkit.errors import ToolkitError
from toolkit.executors import host
from toolkit.model.experiment import Experiment
from toolkit.model.facts import Facts, facts_from_text, facts_to_text
from toolkit.model.plan import MaintenancePlan
from toolkit.model.protocols import Answer
from toolkit.model.words import Mode, Outcome
from toolkit.runner import RunContext
from toolkit.store.store import Store

POSTGRESQL = pytest.param("postgresql", marks=[pytest.mark.postgresql, pytest.mark.full])
on_a_server = pytest.mark.parametrize(
    "arena", [pytest.param("postgresql", marks=pytest.mark.postgresql)], indirect=True
)
"""What only a server has, or a server keeps otherwise than a file."""


@pytest.fixture(params=["duckdb", POSTGRESQL])
def arena(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Arena]:
    """Every engine; base backups of a server take seconds, so that the fast tier makes few."""
    yield from arena_of(request, tmp_path)


@pytest.fixture
def place(tmp_path: Path) -> Path:
    folder = tmp_path / "backups"
    folder.mkdir()
    return folder


@pytest.fixture
def days(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many days later it is when a job asks what is past its time."""
    later = [0]
    monkeypatch.setattr(retention, "_now", lambda: datetime.now(UTC) + timedelta(days=later[0]))
    return later


def job(arena: Arena, place: Path, **more: str) -> Experiment:
    given = {**options(arena, place, **({} if arena.engine == "duckdb" else {"checkpoint": "fast"})), **more}
    return experiment(arena, B, given, mode=Mode.JOB)


def make(
    arena: Arena, store: Store, place: Path, heard: Heard | None = None, allowed: Approvals = APPROVED, **more: str
) -> str:
    """Make a backup and return its run."""
    target = arena.target()
    try:
        return start(job(arena, place, **more), target, store=store, approvals=allowed, events=heard or Heard())
    finally:
        target.close()


def test_what_only_a_store_says_is_a_backup_is_left_by_approved_work(
    arena: Arena, store: Store, place: Path, days: list[int], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "approvals.toml").write_text('key = {env = "APPROVAL_KEY"}\n')
    monkeypatch.setenv("DBATK_CONFIG", str(tmp_path))
    monkeypatch.setenv("APPROVAL_KEY", "k" * 32)
    approved = replace(APPROVED, approval="sha256:1")
    loose, sealed = make(arena, store, place), make(arena, store, place, allowed=approved)
    days[0], heard = 14, Heard()
    target = arena.target()
    try:
        ruled = TargetPolicy(approved_only=True)
        shown, _ = script(job(arena, place, keep_for="14 days"), target, store=store, policy=ruled)
        monkeypatch.delenv("APPROVAL_KEY")
        without, _ = script(job(arena, place, keep_for="14 days"), target, store=store, policy=ruled)
    finally:
        target.close()
        monkeypatch.setenv("APPROVAL_KEY", "k" * 32)
    assert f"would remove `{place / named(sealed)}`" in shown and f"remove `{place / named(loose)}`" not in shown
    assert "which older backups would be removed is unknown" in without, "the key is not here"
    last = make(arena, store, place, heard, approved, keep_for="14 days")
    assert there(place) == {named(loose), named(last)}, (sealed, heard.texts("cleanup"))
    assert any("has no seal of approved work" in text for text in heard.texts("cleanup"))


def there(place: Path) -> set[str]:
    return {each.name for each in place.iterdir()}


def named(run: str) -> str:
    return f"backup_{run[2:].replace('-', '')}"


@pytest.mark.full_on("postgresql")
@pytest.mark.parametrize("arena", ENGINES, indirect=True)
def test_what_is_older_is_removed_and_nothing_else(
    arena: Arena, store: Store, place: Path, days: list[int]
) -> None:
    old, other = make(arena, store, place), make(arena, store, place, tag="other")
    (place / "backup_by_hand").mkdir()
    (place / "other" / "more").write_text("somebody uses it")
    copied = make(arena, store, place, tag="copied")
    shutil.copytree(place / "copied", place / "copy")
    shutil.rmtree(place / "copied")
    (place / "copy").rename(place / "copied")
    days[0], heard = 14, Heard()
    last = make(arena, store, place, heard, keep_for="14 days")
    assert there(place) == {named(last), "other", "copied", "backup_by_hand"}, heard.texts("cleanup")
    told = "\n".join(heard.texts("cleanup"))
    assert f"removed backup `{place / named(old)}`" in told
    assert "its files are not those that were backed up" in told and "it is another folder by now" in told
    assert store.journal(last).open_entries() == () and undo_script_left(store, last) is None
    assert ("drops", named(old)) in {(each.effect, each.name) for each in store.journal(last).entries()}
    assert other and copied


def test_what_is_younger_stays(arena: Arena, store: Store, place: Path, days: list[int]) -> None:
    young = make(arena, store, place)
    days[0] = 13
    last = make(arena, store, place, keep_for="14d")
    assert there(place) == {named(young), named(last)}


def test_before_the_job_it_is_said_what_would_go(arena: Arena, store: Store, place: Path, days: list[int]) -> None:
    old = make(arena, store, place)
    days[0] = 15
    target = arena.target()
    try:
        shown, _ = script(job(arena, place, keep_for="14d"), target, store=store)
    finally:
        target.close()
    assert f"-- it would remove `{place / named(old)}`" in shown
    assert there(place) == {named(old)}


def test_the_newest_verified_backup_stays_however_old_it_is(
    arena: Arena, store: Store, place: Path, days: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    if arena.engine == "duckdb":
        pytest.skip("nothing reads an export again")
    older, proved = make(arena, store, place), make(arena, store, place)
    monkeypatch.setattr(basebackup, "verified", lambda *_: False)
    unproved = make(arena, store, place)
    days[0], heard = 30, Heard()
    last = make(arena, store, place, heard, keep_for="14d")
    assert there(place) == {named(proved), named(unproved), named(last)}
    told = "\n".join(heard.texts("cleanup"))
    assert f"removed backup `{place / named(older)}`" in told
    assert "it is the newest that is verified" in told and "no verified backup was made after it" in told


@pytest.mark.full
@on_a_server
@pytest.mark.parametrize(
    ("column", "before"), thinned([("host", "10.0.0.9"), ("port", 1), ("data_directory", "/var/lib/clone")], 3)
)
def test_a_backup_of_a_clone_under_the_same_name_and_address_stays(
    arena: Arena, store: Store, place: Path, days: list[int], column: str, before: str | int
) -> None:
    """A base backup has the system identifier of its original, and a host name may lead to either."""
    old = make(arena, store, place)
    facts = facts_from_text(str(store.load_facts(old)))
    (row,) = facts.rows("backup_server")
    answers = {**facts.answers, "backup_server": ({**row, column: before},)}
    store.save_facts(old, facts_to_text(replace(facts, answers=answers)))
    days[0], heard = 15, Heard()
    last = make(arena, store, place, heard, keep_for="14d")
    assert there(place) == {named(old), named(last)}
    title = column.replace("_", " ")
    assert f"whose {title} is `{before}`" in "\n".join(heard.texts("cleanup"))


@pytest.mark.full
def test_what_cannot_be_removed_is_named_and_the_job_is_not_done_in_full(
    arena: Arena, store: Store, place: Path, days: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    old = make(arena, store, place)
    days[0], heard = 15, Heard()

    def refuse(path: Path, more: object) -> None:
        raise OSError(errno.EBUSY, "Device or resource busy", str(path))

    monkeypatch.setitem(host._ACTS, host.FolderAct.TAKE_BACK, refuse)
    last = make(arena, store, place, heard, keep_for="14d")
    assert there(place) == {named(old), named(last)}
    told = "\n".join(heard.texts("warning"))
    assert "could not be removed" in told and "resource busy" in told
    assert undo_script_left(store, last) is not None, "exit status 3 comes from it"
    target = arena.target()
    try:
        report = clean(target, run=last, store=store, events=Heard())
    finally:
        target.close()
    assert [f"`{place / named(old)}` is past its time and was not removed" in each for each in report.left] == [
        True
    ]
    assert there(place) == {named(old), named(last)} and store.journal(last).open_entries() == ()


@pytest.mark.full_on("postgresql")
@pytest.mark.parametrize("arena", ENGINES, indirect=True)
def test_a_job_that_died_while_it_removed_goes_on_with_that_and_makes_no_second_backup(
    arena: Arena, store: Store, place: Path, days: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    old, older = make(arena, store, place), make(arena, store, place)
    days[0] = 15

    class DiedError(BaseException):
        pass

    def die(*_: object) -> None:
        raise DiedError

    with monkeypatch.context() as patched:
        patched.setattr("toolkit.runner.changes.drop", die)
        patched.setattr("toolkit.runner.sweep.Sweep._cleanup", lambda self: None)
        patched.setattr(Store, "end_run", lambda *_: None)
        with pytest.raises(DiedError):
            make(arena, store, place, keep_for="14d")
    head = store.list_runs()[0]
    left = there(place) - {named(each) for each in (old, older, head.run)}
    assert len(left) == 1 and next(iter(left)).startswith("dbatk_"), "moved out of its final name"
    target = arena.target()
    try:
        resume(head.run, target, store=store, approvals=APPROVED, events=Heard())
    finally:
        target.close()
    assert there(place) == {named(head.run)}
    assert store.journal(head.run).open_entries() == ()
    assert [each.outcome for each in store.load_run(head.run).trials] == [Outcome.OK]


def test_a_measurement_removes_no_backup(arena: Arena, store: Store, place: Path) -> None:
    work = experiment(arena, B, options(arena, place, keep_for="14d"))
    target = arena.target()
    try:
        with pytest.raises(ToolkitError) as caught:
            start(work, target, store=store, approvals=APPROVED, events=Heard())
    finally:
        target.close()
    assert caught.value.code == "TK-0107" and "`--keep-for` is for a job" in caught.value.message


@pytest.mark.parametrize(
    ("url", "method", "sentence"),
    [
        ("oracle://u@h/s", {}, "RMAN keeps backups by its retention policy"),
        ("postgresql://u@h/d", {"method": "pgbackrest", "stanza": "main"}, "by its own retention"),
    ],
)
def test_what_has_a_retention_of_its_own_is_left_to_it(url: str, method: dict[str, str], sentence: str) -> None:
    given = Experiment(url, B, {"keep_for": "14d", **method}, (), Mode.JOB)
    with pytest.raises(ToolkitError) as caught:
        check_for_engine(given, url.partition(":")[0])
        ways = backups_of(dialect_of("postgresql").work, B)
        made = ways.object(given.options, "x", measuring=False)
        ways.refuse(Work(B, Mode.JOB, made, given.options), Facts("postgresql", (17,)))
    assert caught.value.code == "TK-0304"
    assert sentence in f"{caught.value.message} {caught.value.hint}"


def test_a_step_of_a_plan_says_keep_for(tmp_path: Path) -> None:
    def plan(key: str) -> MaintenancePlan:
        text = (
            '[plan]\nname = "n"\ntargets = ["duckdb:///x.duckdb"]\n[[step]]\noperation = "backup"\n'
            f'destination = "/b"\n{key} = "14 days"\n'
        )
        return read_plan(parse_document(text, "n.toml"), tmp_path)

    assert plan("keep_for").steps[0].options["keep_for"] == "14 days"
    with pytest.raises(ToolkitError) as caught:
        plan("keep")
    assert caught.value.hint == 'write `keep_for = "14 days"`'


def test_a_backup_of_another_target_stays_though_it_has_the_same_identity(
    arena: Arena, store: Store, place: Path, days: list[int]
) -> None:
    clone, target = replace(job(arena, place), target="clone"), arena.target()
    try:
        other = start(clone, target, store=store, approvals=APPROVED, events=Heard())
    finally:
        target.close()
    days[0], heard = 14, Heard()
    last = make(arena, store, place, heard, keep_for="14 days")
    assert there(place) == {named(other), named(last)}
    assert "it was made of the target `clone`, which may be a clone" in "\n".join(heard.texts("cleanup"))


@pytest.mark.full
def test_a_backup_that_another_host_made_is_left_where_a_path_is_all_that_tells_databases(
    arena: Arena, store: Store, place: Path, days: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as elsewhere:
        elsewhere.setattr("toolkit.runner.ownership.this_host", lambda: "host-a")
        other = make(arena, store, place)
    days[0], heard = 14, Heard()
    last = make(arena, store, place, heard, keep_for="14 days")
    told = "\n".join(heard.texts("cleanup"))
    if arena.engine == "duckdb":
        assert there(place) == {named(other), named(last)}
        assert "is left: it was made on host `host-a`, of a file there" in told
    else:
        assert there(place) == {named(last)} and f"removed backup `{place / named(other)}`" in told


def becomes_another(folder: Path) -> None:
    """Let somebody put another folder with the same files in its place."""
    shutil.copytree(folder, folder.with_name("copy"))
    folder.rename(folder.with_name("moved"))
    folder.with_name("copy").rename(folder)


@pytest.mark.full
def test_what_changes_while_older_ones_are_removed_is_left(
    arena: Arena, store: Store, place: Path, days: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    first, second = make(arena, store, place), make(arena, store, place)
    days[0], heard, remove = 14, Heard(), retention._remove

    def slowly(context: RunContext, old: retention.OldBackup, number: int) -> None:
        remove(context, old, number)
        (place / named(second) / "more").write_text("somebody uses it")

    monkeypatch.setattr(retention, "_remove", slowly)
    last = make(arena, store, place, heard, keep_for="14 days")
    assert there(place) == {named(second), named(last)} and not (place / named(first)).exists()
    told = [each for each in heard.texts("warning") if f"`{place / named(second)}`" in each]
    assert len(told) == 1 and "is left: its files are not those that were backed up" in told[0]
    assert store.journal(last).open_entries() == ()


@pytest.mark.full
def test_older_ones_are_left_once_the_newest_is_not_what_it_was(
    arena: Arena, store: Store, place: Path, days: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    first, second = make(arena, store, place), make(arena, store, place)
    days[0], heard, remove = 14, Heard(), retention._remove

    def slowly(context: RunContext, old: retention.OldBackup, number: int) -> None:
        remove(context, old, number)
        (place / named(context.run) / "more").write_text("somebody uses it")

    monkeypatch.setattr(retention, "_remove", slowly)
    last = make(arena, store, place, heard, keep_for="14 days")
    assert there(place) == {named(second), named(last)} and not (place / named(first)).exists()
    told = [each for each in heard.texts("warning") if "can no longer be relied on" in each]
    assert len(told) == 1 and "its files are not those that were backed up" in told[0]


@pytest.mark.full
def test_a_folder_that_took_the_place_of_a_backup_is_not_moved_away(
    arena: Arena, store: Store, place: Path, days: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    old = make(arena, store, place)
    days[0], heard, take_back = 14, Heard(), host._ACTS[host.FolderAct.TAKE_BACK]

    def late(path: Path, more: Sequence[str]) -> Answer:
        becomes_another(Path(more[0]))
        return take_back(path, more)

    monkeypatch.setitem(host._ACTS, host.FolderAct.TAKE_BACK, late)
    last = make(arena, store, place, heard, keep_for="14 days")
    assert there(place) == {named(old), "moved", named(last)}
    assert "is another folder by now and is kept" in "\n".join(heard.texts("warning"))
    left = undo_script_left(store, last)
    assert left is not None and "rm -r" not in left.read_text(), "exit status 3 comes from it"
