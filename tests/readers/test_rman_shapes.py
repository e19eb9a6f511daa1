"""Shapes of lines: what is recognized behind prefixes, in every language, whatever quick look comes first."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.for_each import for_each
from tests.tiers import examples
from toolkit.readers.rman import grammar
from toolkit.readers.rman.grammar import Shape, prefix_of

PREFIXED = (
    "[a] channel c1: starting piece 1", "[a] Starting backup at 10-MAR-25", "[a] piece handle=/b/x",
    "[a] input datafile file number=1", "[a] output filename=/b/x",
    "12 RMAN-03002: failure", "12 ORA-19502: write",
    "[a] connected to target database: X", "[a] Recovery Manager: Release 19.0.0.0.0",
)  # fmt: skip
HEADS = (
    "Recovery Manager: Release 19.0.0.0.0", "Менеджер восстановления: Version 12.1.0.1.0",
    "Recovery Manager complete.",
    "恢复管理器完成。", "connected to target database: ORCL (DBID=1234567)",
    "连接到目标数据库: ORCL（DBID=1234567）",
    "Version 19.3.0.0.0",
)  # fmt: skip
CHANNELS = ("channel c1: starting piece", "通道 c1： 启动段", "canal c1: iniciando")
WORDS = st.sampled_from([
    *PREFIXED, *HEADS, *CHANNELS, "Manager", "(", "（", ":", "：", "RMAN-", "ORA-00001: ", " at ", "channel ",
    "name=", "handle=", "input ", "database", "x", " ", "12", "> ", "backup", "Starting restore at ", "_", "é",
])  # fmt: skip


@for_each("line", PREFIXED)
def test_a_message_behind_a_prefix_is_seen(line: str) -> None:
    assert Shape(line).last
    assert prefix_of(line)


@for_each("line", HEADS)
def test_a_head_is_seen_in_every_language(line: str) -> None:
    assert Shape(line).head


@pytest.mark.parametrize("line", CHANNELS)
def test_a_channel_is_seen_before_any_colon(line: str) -> None:
    assert Shape(line).word


@given(st.lists(WORDS, min_size=1, max_size=5).map("".join).filter(lambda line: len(line) < 150))
@examples(300)
def test_a_quick_look_hides_nothing_that_the_patterns_find(line: str) -> None:
    shape = Shape(line)
    assert shape.last == (grammar.CORRUPT_ROW.match(line) is not None or prefix_of(line) is not None)
    heads = (grammar.BANNER.search, grammar.PATCH_LEVEL.match, grammar.CONNECTED.search, grammar.GOODBYE.match)
    assert shape.head == any(look(line) for look in heads)
    assert bool(shape.word) == (grammar.ANY_CHANNEL.match(line) is not None)


@for_each("before", ["", " ", "3", "-", "(", "é"])
@for_each("name", sorted(grammar.COMMANDS))
def test_the_name_of_a_command_is_one_word(before: str, name: str) -> None:
    found = grammar.OPERATION.search(f"{before}{name} 2025-03-10")
    assert found
    assert found[1] == name
    for line in (f"x{name}", f"_{name}", f"{name}x"):
        part = grammar.OPERATION.search(line)
        assert part is None or part[1] != name
