"""Which options take several levels and why the others do not; and that no engine leaves a level unused."""

from __future__ import annotations

from collections.abc import Mapping

from tests.for_each import for_each
from tests.operations.cases import TABLES
from tests.operations.test_planning import everything, having, planner
from toolkit.model.operations import operations
from toolkit.model.options import Option, OptionKind
from toolkit.model.values import Cell, Level
from toolkit.model.words import EngineName, Mode, OperationName
from toolkit.operations.base import support_of
from toolkit.operations.registry import operation

ONE_VALUE: Mapping[str, str] = {
    "it says what is worked on, or which rows": "table schema index partition partition_by source query where "
    "columns expression include files dump_files into_schema into_table unusable_only "
    "set archive_to scope of tables only_tables server "
    "stat_table stat_id as_of builtin transactions jobs identity sample_by sample_seed order_by_index name "
    "content",
    "it describes the files, which have one form": "server_log directory external_files header delimiter quote "
    "null encoding",
    "it is several values already": "destination format parms connects storage_parameters global_range skip "
    "command with_ setup prepare conclude cleanup env metric phase log_phase fail_if_output",
    "it holds `{factor}` itself": "cwd stdin",
    "it guards, judges or checks the work and is no part of it": "lock_wait lock_tries max_rejects "
    "rejects check_rows all_rows force_locked max_difference different_rows on_live_objects rpo rto "
    "check window keep_for tag may_change_data allow_exit figures tries measure_for ramp_up ramp_down "
    "invisible publish discard keep_preferences keep_days drop kinds restore as_superuser",
    "it is set once for the whole run": "on parallel_workers lob_tablespace incremental concurrent",
    "it says which program, device or files take part": "device stanza backup_config catalog bin_dir "
    "run_as action cumulative merge_copy duration minimize logs_since logs_until not_backed_up delete_input "
    "plus_archivelog write",
}
JOBS_ONLY: Mapping[tuple[OperationName, str], str] = {
    ("restore-try", "method"): "each backup was made by one program",
    ("stats-publish", "no_invalidate"): "it is no measurement",
    ("index-rebuild", "coalesce"): "it is no measurement",
    ("datapump-import", "bare"): "a measurement is always so",
    ("datapump-import", "if_exists"): "each trial has a table of its own",
}
SAMPLES: Mapping[OptionKind, tuple[Level, Level]] = {
    OptionKind.FLAG: (False, True),
    OptionKind.NAME: ("PLACE_A", "PLACE_B"),
    OptionKind.SIZE: ("8M", "64M"),
}
NEEDS: Mapping[str, dict[str, str]] = {"partitions": {"partition_by": "hash(ID)"}}
OF_TEXT: Mapping[str, tuple[str, str]] = {
    "method": ("btree", "brin"),
    "method_opt": ("FOR ALL COLUMNS SIZE 1", "FOR ALL COLUMNS SIZE AUTO"),
}
HOW_MANY = frozenset({"degree", "concurrency", "chunk", "commit_every", "file_order"})
"""They divide work that one small table has only once."""


def levels_of(one: Option, engine: EngineName | None = None) -> tuple[Level, Level]:
    """Two levels that an option may have on an engine."""
    if one.name in OF_TEXT and not one.choices:
        return OF_TEXT[one.name]
    if one.choices:
        own = one.choices_of(engine)
        choices = own if len(own) > 1 else one.choices
        return choices[0], choices[-1]
    if one.kind in SAMPLES:
        return SAMPLES[one.kind]
    low = int(one.low or 1) + (one.name == "partitions")
    return low + 1, low + 2


def test_every_option_is_a_factor_or_says_why_it_has_one_value() -> None:
    reasons = [name for names in ONE_VALUE.values() for name in names.split()]
    single = {
        one.name
        for name, declared in operations().items()
        for one in declared.options
        if not one.factor and not declared.once and (name, one.name) not in JOBS_ONLY
    }
    assert len(reasons) == len(set(reasons))
    assert sorted(single - set(reasons)) == []
    assert sorted(set(reasons) - single) == []


FACTORS = [
    (engine, name, one)
    for name, declared in operations().items()
    if name in TABLES
    for engine in having(name)
    for one in declared.options
    if one.factor and one.is_of(engine) and one.name not in HOW_MANY
]


@for_each(("engine", "name", "one"), FACTORS, ids=[f"{engine}-{name}-{one.name}" for engine, name, one in FACTORS])
def test_two_levels_of_a_factor_are_two_plans_or_one_of_them_cannot_be_had(
    engine: EngineName, name: OperationName, one: Option
) -> None:
    own, work = planner(engine, name, Mode.MEASUREMENT, **NEEDS.get(one.name, {})), operation(name)
    plans = []
    for level in levels_of(one, engine):
        cell = Cell((("degree", 2), (one.name, level)))
        if not support_of(own, work.pieces(own, cell)).ok:
            return
        stages = work.plan(own, cell)
        plans.append(
            (
                [(step.text, tuple(step.binds.items()), step.transfer) for step in everything(stages)],
                [item.weight for item in stages.timed.items],
                stages.timed.workers,
                stages.timed.hosts,
            )
        )
    assert plans[0] != plans[1]
