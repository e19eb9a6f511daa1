"""Settings as factors: how they are written, and what a level means."""

from __future__ import annotations

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.for_each import for_each
from toolkit.design.file import dump_experiment, parse_experiment
from toolkit.design.settings import read_setting
from toolkit.dialects.duckdb.settings import SETTINGS as DUCKDB
from toolkit.dialects.oracle.settings import SETTINGS as ORACLE
from toolkit.dialects.postgresql.settings import SETTINGS as POSTGRESQL
from toolkit.dialects.settings import check_level, normal
from toolkit.errors import ToolkitError
from toolkit.model.settings import Setting, SettingKind
from toolkit.store.codec import experiment_from_json, experiment_to_json

WORK_MEM = Setting("work_mem", "4096", SettingKind.INTEGER, "kB", "64", "2147483647")
BUFFERS = Setting("shared_buffers", "4096", SettingKind.INTEGER, "8kB", "16", "1073741823")
NAPTIME = Setting("autovacuum_naptime", "60", SettingKind.INTEGER, "s", "1", "2147483")
COST = Setting("random_page_cost", "4", SettingKind.REAL, "", "0", "1.79769e+308")
JIT = Setting("jit", "on", SettingKind.BOOLEAN)
WAL = Setting("wal_level", "replica", SettingKind.CHOICE, choices=("minimal", "replica", "logical"))
LIMIT = Setting("memory_limit", "18.8 GiB", SettingKind.TEXT)
PGA = Setting("pga_aggregate_target", "1073741824", SettingKind.INTEGER, "B")

FILE = """
[experiment]
target = "postgresql://localhost/x"
operation = "ctas"
source = "a"
table = "b"

[factors]
degree = [1, 2]

[factors.setting]
work_mem = ["4MB", "64MB"]
random_page_cost = [1.1, 4]
jit = [true, false]
"auto_explain.log_min_duration" = 100
"""


def test_a_file_names_settings_in_a_table_of_their_own_and_is_written_back_as_it_was() -> None:
    experiment = parse_experiment(FILE)
    found = {factor.name: factor.levels for factor in experiment.factors if factor.setting}
    assert found == {
        "work_mem": ("4MB", "64MB"), "random_page_cost": (1.1, 4), "jit": ("on", "off"),
        "auto_explain.log_min_duration": (100,),
    }  # fmt: skip
    assert [factor.name for factor in experiment.factors if factor.own] == ["degree"]
    assert parse_experiment(dump_experiment(experiment)) == experiment
    assert experiment_from_json(experiment_to_json(experiment)) == experiment


@for_each(
    "line",
    ["setting = 4", "[factors.setting]\nwork_mem = [[1]]", '[factors.setting]\nwork_mem = ["a,b"]',
     '[factors.setting]\nwork_mem = []', '[factors.setting]\n"a b" = 1', '[factors.setting]\nx = [1, 1]'],
)  # fmt: skip
def test_what_is_no_table_of_settings_names_file_and_line(line: str) -> None:
    head = FILE.partition("[factors.setting]")[0]
    with pytest.raises(ToolkitError, match=r"experiment.toml:\d+: ") as caught:
        parse_experiment(head + line)
    assert caught.value.code in {"TK-0101", "TK-0102", "TK-0103", "TK-0104"}
    assert caught.value.hint


@for_each("text", ["work_mem", "work_mem=", "work_mem=1,,2", "a b=1", "=1", "work_mem=4MB,4MB"])
def test_a_setting_without_name_or_levels_is_refused(text: str) -> None:
    with pytest.raises(ToolkitError) as caught:
        read_setting(text)
    assert caught.value.code in {"TK-0102", "TK-0103", "TK-0104"}


@for_each(
    ("setting", "text", "value"),
    [(WORK_MEM, "64MB", 2**26), (WORK_MEM, "64M", 2**26), (WORK_MEM, "64", 2**16), (WORK_MEM, "1.5 MB", 3 * 2**19),
     (BUFFERS, "16384", 2**27), (BUFFERS, "1GB", 2**30), (NAPTIME, "5min", 300), (NAPTIME, "90", 90),
     (COST, "1.1", Decimal("1.1")), (JIT, "off", False), (JIT, "TRUE", True), (WAL, "Minimal", "minimal")],
)  # fmt: skip
def test_a_level_means_what_the_engine_means_by_it(setting: Setting, text: str, value: object) -> None:
    assert check_level(setting, text, POSTGRESQL.sizes) == value


@for_each(
    ("setting", "text"),
    [(WORK_MEM, "1kB"), (WORK_MEM, "3TB"), (WORK_MEM, "4X"), (WORK_MEM, "lots"), (WORK_MEM, "5min"),
     (WORK_MEM, ""), (BUFFERS, "100kB"), (BUFFERS, "-1"), (NAPTIME, "64MB"), (NAPTIME, "1M"), (COST, "4MB"),
     (JIT, "maybe"), (WAL, "archive"), (NAPTIME, "0"), (NAPTIME, "1500ms"), (COST, "1e400")],
)  # fmt: skip
def test_a_level_that_cannot_be_had_is_refused_with_what_can(setting: Setting, text: str) -> None:
    with pytest.raises(ToolkitError) as caught:
        check_level(setting, text, POSTGRESQL.sizes)
    assert (caught.value.code, bool(caught.value.hint)) == ("TK-0102", True)


@for_each(
    ("setting", "level", "sent"),
    [(WORK_MEM, "64M", "64MB"), (WORK_MEM, "1.5MB", "1536kB"), (BUFFERS, "16384", "128MB"), (NAPTIME, "90", "90s"),
     (NAPTIME, "2h", "2h"), (COST, "1.1", "1.1"), (JIT, "yes", "on"), (WAL, "MINIMAL", "minimal")],
)  # fmt: skip
def test_postgresql_is_sent_its_own_spelling(setting: Setting, level: str, sent: str) -> None:
    assert POSTGRESQL.in_session(setting, level).values["value"] == sent


@given(st.integers(64, 2147483647))
def test_what_postgresql_is_sent_is_the_level(kilobytes: int) -> None:
    sent = str(POSTGRESQL.in_session(WORK_MEM, f"{kilobytes}kB").values["value"])
    assert normal(WORK_MEM, sent, POSTGRESQL.sizes) == kilobytes * 1024
    assert POSTGRESQL.same(WORK_MEM, sent, str(kilobytes))
    assert not POSTGRESQL.same(WORK_MEM, sent, str(kilobytes + 1))


@for_each(
    ("level", "read", "same"),
    [("4G", "3.7 GiB", True), ("4GB", "3.7 GiB", True), ("4GiB", "4.0 GiB", True), ("1GB", "953.6 MiB", True),
     ("512MiB", "512.0 MiB", True), ("512MB", "512.0 MiB", False), ("64 MB", "61.0 MiB", True),
     ("1KB", "1000 bytes", True), ("4G", "4.0 GiB", False), ("80%", "15.0 GiB", True), ("12.5 %", "2.9 GiB", True),
     ("none", "16383.9 PiB", True), ("-1", "16383.9 PiB", True),
     ("none", "15.0 GiB", False), ("auto", "AUTO", True),
     ("134217728B", "134217728B", True)],
)  # fmt: skip
def test_duckdb_shows_a_size_with_one_digit_cut_off(level: str, read: str, same: bool) -> None:
    assert DUCKDB.same(LIMIT, level, read) is same


@given(st.integers(1, 10**13))
def test_what_duckdb_shows_of_a_size_is_that_size_and_no_much_larger_one(size: int) -> None:
    for unit in ("PiB", "TiB", "GiB", "MiB", "KiB", "bytes"):
        each = int(DUCKDB.sizes[unit.lower()])
        if size >= each:
            shown = f"{size // each}.{size % each * 10 // each} {unit}" if each > 1 else f"{size} bytes"
            break
    assert DUCKDB.same(LIMIT, f"{size}B", shown)
    assert not DUCKDB.same(LIMIT, f"{size * 2}B", shown)


def test_oracle_is_sent_bytes_words_and_quoted_texts() -> None:
    features = Setting("optimizer_features_enable", "19.1.0", SettingKind.TEXT)
    policy = Setting("workarea_size_policy", "AUTO", SettingKind.TEXT)
    assert ORACLE.in_session(PGA, "2G").values["number"] == 2**31
    assert ORACLE.in_session(features, "12.2.0.1").values["text"] == "12.2.0.1"
    assert ORACLE.in_session(policy, "manual").values["word"] == "MANUAL"
    assert ORACLE.same(policy, "manual", "MANUAL")


def test_a_parameter_without_a_value_is_not_varied_where_nothing_puts_that_back() -> None:
    with pytest.raises(ToolkitError, match="has no value now"):
        ORACLE.in_session(Setting("db_create_file_dest", None, SettingKind.TEXT), "/data")
