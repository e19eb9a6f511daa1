"""What each operation plans, from facts alone, in the words of every engine."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.for_each import for_each
from tests.operations.cases import COLUMNS, MORE, TABLES
from toolkit.dialects.base import Dialect
from toolkit.dialects.registry import dialect_of
from toolkit.errors import ToolkitError
from toolkit.model.engines import engines
from toolkit.model.experiment import Naming, OptionValue, Spec
from toolkit.model.facts import Facts
from toolkit.model.operations import operations, options_of
from toolkit.model.options import Option
from toolkit.model.steps import Stages, Step
from toolkit.model.values import Cell, Row
from toolkit.model.words import Effect, EngineName, Keep, Mode, OperationName, SupportState
from toolkit.operations.base import Planner, support_of
from toolkit.operations.registry import operation

O = OperationName  # noqa: E741
_OWN_TABLES = frozenset({"duckdb/notes_create", "oracle/notes_create"})
"""Made for a job and dropped at its end: what says after a crash which chunks are committed."""
ASSUMED = {"oracle": "19-ee", "postgresql": "17", "duckdb": "2.0"}
KEY = "261121051342AB3F"
OPTIONS: dict[OperationName, dict[str, OptionValue]] = {
    operation: {option: f"s.{name}" for option, name in tables.items()}
    | ({"columns": ("id",)} if operation in COLUMNS else {})
    | dict(MORE.get(operation, {}))
    for operation, tables in TABLES.items()
}


def facts_of(dialect: Dialect) -> Facts:
    """The catalogue of a schema with two tables and two indexes."""
    case = str.upper if dialect.upper_names else str.lower

    def table(name: str) -> Row:
        return {"schema_name": case("s"), "table_name": case(name), "byte_count": 100, "row_estimate": 5}

    def index(name: str, size: int) -> Row:
        return {
            "schema_name": case("s"), "index_name": case(name), "table_schema": case("s"),
            "table_name": case("orders"), "is_unique": "no", "is_valid": "yes", "byte_count": size,
            "definition": "(id)" if dialect.engine != "postgresql" else "USING btree (id)",
            "column_list": "id",
        }  # fmt: skip

    columns: tuple[Row, ...] = ({"column_name": case("id")}, {"column_name": case("k")})
    definition: Row = {"definition": "CREATE TABLE s.filled(id INTEGER);"}
    base = dialect.assume(ASSUMED[dialect.engine])
    answers = {
        "source": (table("orders"),), "target": (table("orders"),), "columns": columns, "source_columns": columns,
        "indexes": (index("small", 1), index("big", 9)), "table_indexes": (index("small", 1),),
        "table_definition": (definition,), "key_columns": ({"column_name": case("id"), "data_type": "integer",
        "key_name": case("pk")},), "matching": ({"others": "yes"},),
        "chunks_10000": ({"row_number": 1, "key_1": "5"}, {"row_number": 7, "key_1": "99"}),
    }  # fmt: skip
    return Facts(base.engine, base.release, {**base.answers, **answers})


def planner(
    engine: EngineName, name: OperationName, mode: Mode, keep: Keep = Keep.NONE, **more: OptionValue | None
) -> Planner:
    """Plan with the usual options of an operation and others; None leaves a usual one out."""
    dialect = dialect_of(engine)
    given = {key: value for key, value in {**OPTIONS.get(name, {}), **more}.items() if value is not None}
    spec = Spec(name, mode, given, keep=keep)
    return Planner(dialect, spec, facts_of(dialect), Naming(KEY, 7, dialect.upper_names))


def plan(own: Planner, **levels: int) -> Stages:
    return operation(own.spec.operation).plan(own, Cell(tuple(levels.items())))


def everything(stages: Stages) -> list[Step]:
    timed = [step for item in stages.timed.items for step in item.steps]
    return [
        *stages.setup, *stages.prepare, *stages.worker_begin, *timed, *stages.evidence, *stages.worker_end,
        *stages.conclude, *stages.cleanup,
    ]  # fmt: skip


def having(name: OperationName) -> list[EngineName]:
    """The engines that implement an operation; what becomes of the others, the contract suite says."""
    return [engine for engine in engines() if name in dialect_of(engine).work]


EVERY = [(engine, name) for name in operations() if name in TABLES for engine in having(name)]


@for_each(("engine", "name"), EVERY)
def test_a_measurement_makes_changes_and_drops_nothing_but_objects_of_ours(
    engine: EngineName, name: OperationName
) -> None:
    stages = plan(planner(engine, name, Mode.MEASUREMENT), degree=1)
    touched = [step for step in everything(stages) if step.object is not None and step.effect is not Effect.READS]
    assert touched
    for step in touched:
        assert step.object is not None
        assert step.object.scratch, step.text
        assert KEY.lower() in step.object.name.name.lower()
        assert len(step.object.name.name.encode()) <= 30


@for_each(("engine", "name"), EVERY)
def test_a_measurement_drops_all_that_it_makes(engine: EngineName, name: OperationName) -> None:
    steps = everything(plan(planner(engine, name, Mode.MEASUREMENT), degree=1))
    made = {step.object for step in steps if step.effect is Effect.CREATES}
    dropped = {step.object for step in steps if step.effect is Effect.DROPS}
    tables = {ref.name for ref in dropped if ref}
    assert all(ref in dropped or (ref and ref.table in tables) for ref in made)


@for_each(("engine", "name"), EVERY)
def test_a_job_drops_nothing_and_works_on_the_named_object(engine: EngineName, name: OperationName) -> None:
    steps = everything(plan(planner(engine, name, Mode.JOB), degree=1))
    if name == "purge" and engine != "postgresql":  # which notes its transactions in a table of the run's own
        notes = {step.object for step in steps if step.effect is Effect.CREATES}
        assert len(notes) == 1 and notes == {step.object for step in steps if step.effect is Effect.DROPS}
        steps = [step for step in steps if step.object not in notes]
    noted = {step.object for step in steps if step.effect is Effect.CREATES and step.name in _OWN_TABLES}
    others = [step for step in steps if step.object not in noted or step.object is None]
    assert not [step.object for step in others if step.object and step.object.scratch]
    assert all(KEY.lower() not in step.text.lower() for step in others)


@pytest.mark.parametrize(("engine", "name"), EVERY)
def test_what_a_job_changes_for_its_degree_can_be_undone_from_the_journal(
    engine: EngineName, name: OperationName
) -> None:
    own = planner(engine, name, Mode.JOB)
    work = operation(name)
    cell = Cell((("degree", 4),))
    if not support_of(own, work.pieces(own, cell)).ok:
        pytest.skip("the engine has no such degree")
    stages = work.plan(own, cell)
    settles = [step.text for step in stages.conclude if step.effect is Effect.CHANGES]
    journalled = [text for item in stages.timed.items for step in item.steps for text in step.undo]
    journalled += [text for step in stages.prepare for text in step.undo]
    assert sorted(settles) == sorted(journalled)


@pytest.mark.parametrize("engine", having("index-rebuild"))
def test_live_objects_of_a_measurement_are_settled_after_every_trial(engine: EngineName) -> None:
    own = planner(engine, "index-rebuild", Mode.MEASUREMENT, on_live_objects=True)
    stages = plan(own, degree=4)
    assert stages.setup == stages.cleanup == ()
    left = [text for item in stages.timed.items for step in item.steps for text in step.undo]
    assert sorted(left) == sorted(step.text for step in stages.conclude)
    assert bool(left) == (engine == "oracle")


@pytest.mark.parametrize("engine", having("index-rebuild"))
def test_the_biggest_index_is_rebuilt_first(engine: EngineName) -> None:
    stages = plan(planner(engine, "index-rebuild", Mode.JOB), degree=1)
    assert [item.label.lower() for item in stages.timed.ordered()] == ["s.big", "s.small"]


_OF_SCHEMAS = ("index-rebuild", "stats-gather", "table-move", "vacuum")
OF_SCHEMAS = [
    (engine, name)
    for name in _OF_SCHEMAS
    for engine in having(name)
    if any(option.name == "schema" for option in options_of(name))
]
SCRATCH = "dbatk_261130063000abcd_1"


@pytest.mark.parametrize(("engine", "name"), OF_SCHEMAS)
def test_scratch_objects_of_other_runs_are_left_out_of_a_schema(engine: EngineName, name: OperationName) -> None:
    """A mix has several runs on one schema at once, and each drops its own when it is done with them."""
    mode = Mode.JOB if (engine, name) != ("oracle", "stats-gather") else Mode.MEASUREMENT
    own = planner(engine, name, mode, table=None, schema=("s",))
    case = str.upper if own.dialect.upper_names else str.lower
    (table,), (small, big) = own.facts.rows("target"), own.facts.rows("indexes")
    scratch = {**table, "table_name": case(SCRATCH)}
    keyed = {**small, "index_name": case(f"{SCRATCH}_pkey"), "table_name": case(SCRATCH)}
    listed = {"schema:s": (table,), "tables:s": (scratch, table), "indexes:s": (keyed, small, big)}
    found = {key.replace(":s", f":{case('s')}"): rows for key, rows in listed.items()}
    stages = plan(replace(own, facts=replace(own.facts, answers={**own.facts.answers, **found})), degree=1)
    assert stages.timed.items and not [item.label for item in stages.timed.items if SCRATCH in item.label.lower()]
    told = {label.lower(): why for label, why in stages.timed.left_out if SCRATCH in label.lower()}
    assert set(told.values()) == {"it is a scratch object of run 20261130-063000-abcd"}, stages.timed.left_out


@pytest.mark.parametrize("engine", having("index-rebuild"))
def test_a_scratch_object_that_is_named_is_worked_on(engine: EngineName) -> None:
    own = planner(engine, "index-rebuild", Mode.JOB)
    rows = tuple({**row, "table_name": SCRATCH} for row in own.facts.rows("indexes"))
    stages = plan(replace(own, facts=replace(own.facts, answers={**own.facts.answers, "indexes": rows})), degree=1)
    assert [item.label.lower() for item in stages.timed.ordered()] == ["s.big", "s.small"]


@pytest.mark.parametrize("engine", ["oracle", "postgresql"])
def test_no_more_workers_begin_than_there_are_objects(engine: EngineName) -> None:
    stages = plan(planner(engine, "index-rebuild", Mode.JOB), degree=1, concurrency=9)
    assert stages.timed.workers == 2


@pytest.mark.parametrize("engine", ["oracle", "postgresql"])
def test_sessions_at_once_work_on_objects_of_their_own(engine: EngineName) -> None:
    stages = plan(planner(engine, "ctas", Mode.MEASUREMENT), degree=1, concurrency=30)
    names = [item.label for item in stages.timed.items]
    assert len(set(names)) == len(names) == stages.timed.workers == 30


@pytest.mark.parametrize("engine", having("ctas"))
def test_kept_objects_are_not_dropped(engine: EngineName) -> None:
    stages = plan(planner(engine, "ctas", Mode.MEASUREMENT, Keep.ALL), degree=1)
    assert [step for step in stages.conclude if step.effect is Effect.DROPS] == []


@pytest.mark.parametrize("engine", having("index-build"))
def test_a_column_that_is_not_there_names_the_nearest(engine: EngineName) -> None:
    own = planner(engine, "index-build", Mode.JOB, columns=("idd",))
    with pytest.raises(ToolkitError) as caught:
        operation("index-build").check(own)
    assert caught.value.code == "TK-0204"
    assert "did you mean `id`?" in caught.value.hint.lower()


@for_each(("engine", "name"), EVERY)
def test_reads_name_files_of_the_engine(engine: EngineName, name: OperationName) -> None:
    from toolkit.rendering import sql_file

    own = planner(engine, name, Mode.MEASUREMENT)
    for query in operation(name).reads(own):
        text = sql_file(engine, query.file)
        assert all(f":{bind}" in text for bind in query.binds)


@for_each(("engine", "name"), EVERY)
def test_what_makes_or_fills_an_object_says_what_it_takes_and_where(
    engine: EngineName, name: OperationName
) -> None:
    own = planner(engine, name, Mode.MEASUREMENT)
    if engine == "duckdb":  # a database in memory takes no disk
        place: Row = {"place": "/data/x.duckdb"}
        own = replace(own, facts=replace(own.facts, answers={**own.facts.answers, "space": (place,)}))
    stages = plan(own)
    made = [step for step in stages.setup if step.effect is Effect.CREATES and step.object is not None]
    assert all(step.takes for step in made), made
    if name not in {"stats-gather", "stats-extend", "vacuum", "purge"}:  # of what is there
        assert all(item.takes for item in stages.timed.items)
    takes = [taken for step in made for taken in step.takes]
    takes += [taken for item in stages.timed.items for taken in item.takes]
    assert all(taken.bytes is not None or taken.unknown for taken in takes)


# -- backups --------------------------------------------------------------------------------------------------
FOLDERS = ["duckdb", "postgresql"]
METHODS = {"duckdb": [{}], "postgresql": [{}, {"method": "pgbackrest"}]}
BACKUPS = [(engine, more) for engine in FOLDERS for more in METHODS[engine]]


def backup_planner(engine: EngineName, mode: Mode, more: dict[str, str], keep: Keep = Keep.NONE) -> Planner:
    dialect = dialect_of(engine)
    spec = Spec("backup", mode, {"destination": ("/backups",), **more}, keep=keep)
    return Planner(dialect, spec, facts_of(dialect), Naming(KEY, 7, dialect.upper_names))


@pytest.mark.parametrize(("engine", "more"), BACKUPS)
def test_a_trial_of_a_backup_works_in_a_folder_of_its_own_and_drops_it(
    engine: EngineName, more: dict[str, str]
) -> None:
    steps = everything(plan(backup_planner(engine, Mode.MEASUREMENT, more), channels=2))
    touched = [step for step in steps if step.object is not None and step.effect is not Effect.READS]
    assert {step.object for step in touched} == {touched[0].object}
    assert touched[0].object is not None
    assert touched[0].object.scratch
    assert (touched[0].effect, touched[-1].effect) == (Effect.CREATES, Effect.DROPS)
    own = f"/backups/dbatk_{KEY.lower()}_7"
    assert all(own in step.text for step in touched)


@pytest.mark.parametrize(("engine", "more"), BACKUPS[:2])
def test_a_job_gives_a_backup_its_name_last_of_all(engine: EngineName, more: dict[str, str]) -> None:
    stages = plan(backup_planner(engine, Mode.JOB, {**more, "tag": "full"}), channels=1)
    published = [step for step in everything(stages) if "/backups/full" in step.text]
    assert published == [stages.evidence[-1]]
    assert not [step for step in everything(stages) if step.effect is Effect.DROPS]


def test_a_job_of_pgbackrest_touches_the_stanza_of_the_user_and_expires_nothing() -> None:
    own = backup_planner("postgresql", Mode.JOB, {"method": "pgbackrest", "stanza": "demo"})
    (step,) = plan(own, channels=3).timed.items[0].steps
    assert step.argv == (
        "pgbackrest", "--stanza=demo", "--type=full", "--process-max=3", "--log-level-console=detail",
        "--no-expire-auto", "backup",
    )  # fmt: skip


@pytest.mark.parametrize(("engine", "more"), BACKUPS)
def test_a_kept_trial_of_a_backup_is_not_dropped(engine: EngineName, more: dict[str, str]) -> None:
    stages = plan(backup_planner(engine, Mode.MEASUREMENT, more, Keep.ALL), channels=1)
    assert [step for step in stages.conclude if step.effect is Effect.DROPS] == []


OWN_CHOICES = [
    (engine, name, option)
    for name in operations()
    for option in options_of(name)
    for engine in having(name)
    if option.factor and engine in option.choices_on
]


WAYS: dict[tuple[EngineName, OperationName], tuple[dict[str, OptionValue | None], ...]] = {
    ("postgresql", "backup"): ({"method": "pg_basebackup"}, {"method": "pgbackrest"}, {"method": "pg_dump"}),
    ("oracle", "stats-gather"): ({"table": None, "schema": ("SHOP",)},),
    ("duckdb", "backup"): ({"file_format": "parquet"}, {"file_format": "csv"}),
}
"""Other options, of which one is needed for a choice to be had."""


@for_each(("engine", "name", "option"), OWN_CHOICES)
def test_an_engine_refuses_just_those_choices_that_help_does_not_show_of_it(
    engine: EngineName, name: OperationName, option: Option
) -> None:
    assert set(option.choices) == {word for own in option.choices_on.values() for word in own}

    def refused(word: str, way: dict[str, OptionValue | None]) -> bool:
        more: dict[str, OptionValue | None] = {"destination": ("/backup",), **way, option.name: word}
        own = planner(engine, name, Mode.JOB, **more)
        cell = Cell(((option.name, word),))
        return support_of(own, operation(name).pieces(own, cell)).state is SupportState.UNSUPPORTED

    ways = WAYS.get((engine, name), ({},))
    had = [word for word in option.choices if not all(refused(word, way) for way in ways)]
    assert sorted(had) == sorted(option.choices_of(engine))
