"""Any order of the channels, and any damage: the same result, never a traceback, never a wrong `completed`."""

from __future__ import annotations

import io
import json
import random
from collections.abc import Sequence

import pytest

from tests.for_each import for_each
from tests.readers.rman_samples import LANGUAGES, PLAN, Job, messages_of, whole_log
from tests.tiers import thinned
from toolkit.readers.rman.decode import lines_of
from toolkit.readers.rman.log import read_log
from toolkit.readers.rman.model import Log, log_document

COMPLETE = {"completed", "completed_with_warnings"}
SEEDS = range(12)


def interleaved(language: str, chance: random.Random) -> list[list[str]]:
    """Return the messages of all channels in one order, that of each channel kept."""
    queues = [list(messages) for messages in messages_of(Job(LANGUAGES[language]), PLAN).values()]
    ordered = []
    while any(queues):
        queue = chance.choice([queue for queue in queues if queue])
        ordered.append(queue.pop(0))
    return ordered


def line_by_line(language: str, chance: random.Random) -> list[list[str]]:
    """Return the lines of all channels in one order; a line without a channel stays behind the one before it."""
    queues = []
    for channel, messages in messages_of(Job(LANGUAGES[language]), PLAN).items():
        queue: list[list[str]] = []
        for line in (line for message in messages for line in message):
            if f"{channel}:" in line or f"{channel} :" in line:
                queue.append([line])
            else:
                queue[-1].append(line)
        queues.append(queue)
    ordered = []
    while any(queues):
        ordered.append(chance.choice([queue for queue in queues if queue]).pop(0))
    return ordered


def sayings(log: Log) -> object:
    return (
        log.outcome, sorted(log.pieces), sorted(log.unfinished), sorted(log.channels), log.channel_busy_seconds,
        [(one.op, one.start, one.finish) for one in log.operations], log.autobackup_handles,
    )  # fmt: skip


@for_each("language", LANGUAGES)
@for_each("seed", SEEDS)
def test_the_order_of_the_channels_messages_does_not_matter(language: str, seed: int) -> None:
    words = LANGUAGES[language]
    mixed = whole_log(words, middle=interleaved(language, random.Random(seed)))
    assert sayings(read_log(mixed)) == sayings(read_log(whole_log(words)))


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("seed", thinned(SEEDS, 6))
def test_the_order_of_the_channels_lines_does_not_matter(language: str, seed: int) -> None:
    words = LANGUAGES[language]
    mixed = whole_log(words, middle=line_by_line(language, random.Random(seed)))
    assert sayings(read_log(mixed)) == sayings(read_log(whole_log(words)))


def last_word(lines: Sequence[str]) -> int:
    return max(n for n, line in enumerate(lines) if line.strip())


@for_each("language", LANGUAGES)
def test_a_log_cut_at_any_line_is_never_complete(language: str) -> None:
    lines = whole_log(LANGUAGES[language])
    for end in range(last_word(lines)):
        assert read_log(lines[:end]).outcome not in COMPLETE, lines[end - 1 : end + 1]


@for_each("language", LANGUAGES)
def test_a_log_cut_at_any_character_is_never_complete(language: str) -> None:
    text = "\n".join(whole_log(LANGUAGES[language])).rstrip()
    for end in range(0, len(text) - 14, 37):
        assert read_log(text[:end].splitlines()).outcome not in COMPLETE, text[end - 40 : end]


@pytest.mark.parametrize("language", thinned(LANGUAGES, 3))
def test_a_log_without_its_beginning_is_read_and_says_so(language: str) -> None:
    lines = whole_log(LANGUAGES[language])
    began = next(n for n, line in enumerate(lines) if "backup" in line and "01:00:04" in line)
    for begin in range(1, len(lines)):
        found = read_log(lines[begin:])
        json.dumps(log_document(found, "log"))
        if began < begin < began + 20:
            assert found.outcome not in COMPLETE


@for_each("seed", SEEDS)
def test_a_whole_log_mixed_with_half_of_another_is_never_complete(seed: int) -> None:
    chance = random.Random(seed)
    names = list(LANGUAGES)
    for _ in range(10):
        whole, half = whole_log(LANGUAGES[chance.choice(names)]), whole_log(LANGUAGES[chance.choice(names)])
        half = half[: chance.randrange(17, last_word(half))]
        mixed: list[str] = []
        while whole or half:
            mixed.append(chance.choice([lines for lines in (whole, half) if lines]).pop(0))
        assert read_log(mixed).outcome not in COMPLETE


def _repeated(lines: list[str], chance: random.Random) -> list[str]:
    for _ in range(chance.randrange(1, 12)):
        lines.insert(chance.randrange(len(lines)), chance.choice(lines))
    return lines


@for_each("language", LANGUAGES)
def test_a_line_of_a_channel_that_is_there_twice_changes_nothing(language: str) -> None:
    lines = whole_log(LANGUAGES[language])
    begin = next(n for n, line in enumerate(lines) if "01:00:04" in line) + 1
    end = next(n for n, line in enumerate(lines) if "01:03:30" in line)
    plain = sayings(read_log(lines))
    for n in range(begin, end):
        assert sayings(read_log([*lines[: n + 1], *lines[n:]])) == plain, lines[n]


def _shuffled(lines: list[str], chance: random.Random) -> list[str]:
    chance.shuffle(lines)
    return lines


def _littered(lines: list[str], chance: random.Random) -> list[str]:
    return [
        "".join(chr(chance.randrange(1, 0x3000)) if chance.random() < 0.06 else char for char in line)
        for line in lines
    ]


def _thinned(lines: list[str], chance: random.Random) -> list[str]:
    return [line for line in lines if chance.random() > 0.1]


def _torn(lines: list[str], chance: random.Random) -> list[str]:
    return [line[: chance.randrange(len(line) + 1)] if chance.random() < 0.2 else line for line in lines]


@pytest.mark.parametrize("damage", [_repeated, _shuffled, _littered, _thinned, _torn])
@pytest.mark.parametrize("seed", thinned(SEEDS, 3))
def test_a_damaged_log_gives_a_document_and_no_traceback(damage: object, seed: int) -> None:
    chance = random.Random(seed)
    assert callable(damage)
    for words in LANGUAGES.values():
        found = read_log(damage(whole_log(words), chance))
        json.dumps(log_document(found, "log"), allow_nan=False)


@for_each("language", LANGUAGES)
def test_without_the_end_of_an_operation_no_log_is_complete(language: str) -> None:
    lines = whole_log(LANGUAGES[language])
    operations = [one for one in read_log(lines).operations if one.finish]
    for one in operations:
        without = [line for line in lines if not (one.op in line and one.finish and one.finish in line)]
        assert len(without) == len(lines) - 1
        assert read_log(without).outcome not in COMPLETE


@for_each("seed", SEEDS)
def test_bytes_that_mean_nothing_are_no_log(seed: int) -> None:
    raw = random.Random(seed).randbytes(70_000)
    for junk in (raw, b"\xff\xfe" + raw, b"\x1f\x8b\x08\x00" + raw, raw.replace(b"\n", b""), b"\0" * 5000):
        found = read_log(lines_of(io.BytesIO(junk)))
        assert not found.recognised
        assert found.outcome == "incomplete"


def test_junk_between_the_lines_changes_nothing() -> None:
    chance = random.Random(7)
    lines = whole_log()
    junk = ["\x00\x01\x02", "x" * 5000, "=" * 200, "....", "12345", "{}", "((((", "::::", "name=", "\ufffd" * 30]
    dirty = [part for line in lines for part in ([chance.choice(junk), line] if not line else [line])]
    assert sayings(read_log(dirty)) == sayings(read_log(lines))
