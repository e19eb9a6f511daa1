"""Rows copied are rows read, none at all is a failure, and what could not be looked at is said."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import duckdb
import pytest

from tests.engines.arena import Heard
from tests.for_each import for_each
from toolkit.app.approvals import Approvals
from toolkit.app.maintenance import attempt as attempting
from toolkit.app.maintenance import plan_targets_of, run_plan, verify
from toolkit.app.maintenance.loaded import Reader
from toolkit.app.runs.execute import start
from toolkit.design.plan_file import read_plan
from toolkit.documents import parse_document
from toolkit.errors import ToolkitError
from toolkit.model.plan import ExpectedRows, RowCount, StepRecord
from toolkit.model.records import Metric
from toolkit.store import Store

COPY = '[[step]]\noperation = "ctas"\nsource = "g"\ntable = "g2"\n'
ADD = '[[step]]\noperation = "insert"\nsource = "g"\ntable = "t"\n'
Runner = Callable[..., StepRecord]


@pytest.fixture
def database(tmp_path: Path) -> Path:
    path = tmp_path / "x.duckdb"
    with duckdb.connect(str(path)) as made:
        made.execute("CREATE TABLE g AS SELECT range AS id FROM range(1000)")
        made.execute("CREATE TABLE t (id BIGINT)")
        made.execute("INSERT INTO t VALUES (7)")
        made.execute("CREATE TABLE empty (id BIGINT)")
    return path


@pytest.fixture
def run(store: Store, database: Path) -> Runner:
    """Run a plan of one step and return what became of it."""

    def runs(step: str) -> StepRecord:
        text = f'[plan]\nname = "n"\ntarget = "duckdb:///{database}"\n{step}'
        plan = read_plan(parse_document(text, "n.toml"), database.parent)
        places = plan_targets_of(plan, store, Approvals())
        return run_plan(plan, places, store=store, approvals=Approvals(), events=Heard()).steps[0]

    return runs


@pytest.fixture
def meanwhile(monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Let others change the database right before a load or right after it."""

    def changes(before: str = "", after: str = "") -> None:
        def between(experiment: object, target: object, **options: object) -> str:
            session = target.connect("control", None)  # type: ignore[attr-defined]
            if before:
                session.execute(before)
            run = start(experiment, target, **options)  # type: ignore[arg-type]
            if after:
                session.execute(after)
            return run

        monkeypatch.setattr(attempting, "start", between)

    return changes


@pytest.mark.full
def test_a_copy_is_counted_against_its_source(run: Runner, store: Store) -> None:
    step = run(COPY)
    assert (step.state, step.unverified) == ("done", None)
    assert step.verified == (
        "1,000 rows loaded, as reported by the engine; the new table has 1,000; the source has 1,000, counted "
        "as of before the load"
    )
    (night,) = store.plan_runs()
    assert night.steps[0] == step, "the store keeps it"


@pytest.mark.full
def test_rows_added_are_counted_under_the_same_condition(run: Runner) -> None:
    step = run(ADD + 'where = "id < 10"\n')
    assert (step.state, step.unverified) == ("done", None)
    assert "the target had 1 and has 11" in str(step.verified)
    assert "the source under the same condition has 10" in str(step.verified)


@pytest.mark.full
def test_no_row_is_a_failure_unless_it_is_allowed(run: Runner) -> None:
    nothing = ADD + 'where = "id < 0"\n'
    step = run(nothing)
    assert (step.state, step.reason) == (
        "failed", '0 rows where rows were expected (`expect_rows = "any"` allows none)',
    )  # fmt: skip
    assert run(nothing + 'expect_rows = "any"\n').state == "done"
    assert run(ADD.replace('"g"', '"empty"')).state == "failed"
    assert run(ADD.replace('"g"', '"empty"') + 'expect_rows = "any"\n').state == "done"


def test_another_number_than_the_one_expected_is_a_failure(run: Runner) -> None:
    assert run(ADD + "expect_rows = 1000\n").state == "done"
    step = run(ADD + "expect_rows = 999\n")
    assert (step.state, step.reason) == ("failed", "1,000 rows were loaded, 999 were expected")


@pytest.mark.full
def test_a_source_that_changes_meanwhile_is_told_as_it_is(run: Runner, meanwhile: Callable[..., None]) -> None:
    more = "INSERT INTO g SELECT range FROM range(5)"
    meanwhile(after=more)
    assert "has 1,000, counted as of before the load" in str(run(ADD).verified)
    meanwhile(before=more)
    assert "has 1,010, counted after the load" in str(run(ADD).verified)
    meanwhile(before=more, after=more)
    step = run(ADD)
    assert step.state == "done"
    assert step.unverified == "the source changed while it was read: 1,010 before, 1,020 after, 1,015 loaded"


def test_rows_that_went_missing_are_a_failure(
    run: Runner, meanwhile: Callable[..., None], monkeypatch: pytest.MonkeyPatch
) -> None:
    meanwhile(after="DELETE FROM g2 WHERE id < 3")
    step = run(COPY)
    assert (step.state, step.reason) == ("failed", "1,000 rows were loaded, but the new table has 997")
    meanwhile()
    real = Reader.count

    def fewer(reader: Reader, call: object, stop: object) -> int:
        counted = real(reader, call, stop)  # type: ignore[arg-type]
        return counted + 1 if "count_source" in str(call) else counted

    monkeypatch.setattr(Reader, "count", fewer)
    step = run(ADD)
    assert step.reason == "the source has 1,001, before and after, but 1,000 rows were loaded"


@pytest.mark.full
def test_a_target_that_others_change_is_no_proof(run: Runner, meanwhile: Callable[..., None]) -> None:
    meanwhile(after="DELETE FROM t WHERE id = 7")
    step = run(ADD)
    assert (step.state, step.unverified) == (
        "done", "the target had 1 and has 999: other sessions changed it meanwhile",
    )  # fmt: skip


@pytest.mark.full
def test_what_is_counted_can_be_chosen_and_what_is_not_is_said(run: Runner) -> None:
    assert "`count_rows` is `target`" in str(run(ADD + 'count_rows = "target"\n').unverified)
    assert "`count_rows` is `none`" in str(run(ADD + 'count_rows = "none"\n').unverified)
    query = ADD.replace('source = "g"', 'query = "SELECT id FROM g WHERE id % 2 = 0"')
    assert "runs its query again" in str(run(query).unverified)
    counted = run(query + 'count_rows = "source"\n')
    assert (counted.unverified, "the source has 500" in str(counted.verified)) == (None, True)
    assert "another sample has different rows" in str(run(ADD + "sample = 10\n").unverified)


def test_what_cannot_be_counted_is_said_and_is_no_failure(run: Runner, monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(*_: object) -> int:
        raise ToolkitError("ORA-01555: snapshot too old", code="TK-0203", hint="")

    monkeypatch.setattr(Reader, "count", refused)
    step = run(ADD)
    assert step.state == "done"
    assert step.unverified == (
        "the target was not counted: ORA-01555: snapshot too old; "
        "the source was not counted: ORA-01555: snapshot too old"
    )


@for_each(
    ("keys", "said"),
    [
        ('operation = "ctas"\nsource = "g"\ntable = "x"\nexpect_rows = "all"', "cannot be `all`"),
        ('operation = "ctas"\nsource = "g"\ntable = "x"\nexpect_rows = -1', "cannot be -1"),
        ('operation = "ctas"\nsource = "g"\ntable = "x"\nexpect_rows = 1.5', "must be a whole number"),
        ('operation = "ctas"\nsource = "g"\ntable = "x"\ncount_rows = "twice"', "cannot be `twice`"),
        ('operation = "stats-gather"\ntable = "g"\nexpect_rows = "some"', "is for `ctas` and `insert`"),
    ],
)
def test_wrong_wishes_about_rows_are_refused_with_their_line(keys: str, said: str) -> None:
    text = f'[plan]\nname = "n"\ntarget = "a"\n[[step]]\n{keys}\n'
    with pytest.raises(ToolkitError, match=said) as caught:
        read_plan(parse_document(text, "n.toml"), Path())
    assert f"n.toml:{text.count(chr(10))}" in caught.value.message


def test_wishes_about_rows_are_read() -> None:
    keys = '[[step]]\nname = "{}"\noperation = "ctas"\nsource = "g"\ntable = "x"\n{}\n'
    said = ('expect_rows = "any"', "expect_rows = 5", 'count_rows = "target"')
    text = '[plan]\nname = "n"\ntarget = "a"\n' + "".join(
        keys.format(f"s{n}", each) for n, each in enumerate(said)
    )
    first, second, third = read_plan(parse_document(text, "n.toml"), Path()).steps
    assert (first.expect_rows, second.expect_rows) == (ExpectedRows(0), ExpectedRows(5, 5))
    assert (third.expect_rows, third.count_rows) == (ExpectedRows(), RowCount.TARGET)


@pytest.mark.full
def test_a_backup_that_nobody_read_again_says_so(run: Runner, tmp_path: Path) -> None:
    step = run(f'[[step]]\noperation = "backup"\ndestination = "{tmp_path}"\n')
    assert (step.state, step.verified, step.unverified) == (
        "done", "its program ended without an error", "the backup was not read back",
    ), step.reason  # fmt: skip
    assert step.size_bytes, "its time is scaled by the size of the database"


@pytest.mark.parametrize(
    ("metrics", "fault", "verified", "unverified"),
    [
        ({"verified": 1}, None, "V$RMAN_STATUS confirms the backup (no restore was tried)", None),
        ({"verified": 0}, None, "its program ended", "V$RMAN_STATUS did not confirm the backup"),
        ({"corrupt_files": 2, "verified": 1}, "corrupt blocks were found in 2 data file(s)", None, None),
    ],
)
def test_a_backup_is_whole_as_far_as_its_own_evidence_tells(
    metrics: dict[str, float], fault: str | None, verified: str | None, unverified: str | None,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    told = tuple(Metric(name, value, "", "V$RMAN_STATUS") for name, value in metrics.items())
    trial = SimpleNamespace(done=True, metrics=told, trial=1)
    kept = SimpleNamespace(load_run=lambda *_, **__: SimpleNamespace(trials=[trial]), items_of=lambda *_: [])
    looked = verify._of_backup("r", kept)  # type: ignore[arg-type]
    assert looked.fault == fault
    assert verified is None or verified in "; ".join(looked.verified)
    assert looked.unverified == (() if unverified is None else (unverified,))


@pytest.mark.full
def test_what_a_step_works_on_is_kept_for_the_next_nights(run: Runner) -> None:
    assert run(COPY).size_rows == 1000
    index = '[[step]]\noperation = "index-build"\ntable = "g"\ncolumns = "id"\n'
    assert run(index).size_rows == 1000
