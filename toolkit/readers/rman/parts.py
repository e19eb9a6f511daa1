"""Small parts of messages that an English client prints."""

from __future__ import annotations

from toolkit.readers.rman import words

_LONGEST_STAMP = 60
_MOST_SHARED = 20_000


def is_command(op: str, stamp: str) -> bool:
    """Whether RMAN speaks, and not a script around it that begins at some hour."""
    return op in words.COMMANDS and len(stamp) < _LONGEST_STAMP and words.NUMBER.search(stamp) is not None


def seconds_of(text: str) -> int | None:
    """Return the seconds of a line that ends with `hh:mm:ss`."""
    parts = text[text.rfind(" ") + 1 :].split(":")
    if (
        len(parts) != 3
        or len(parts[0]) < 2
        or not (parts[0].isdecimal() and parts[1].isdecimal() and parts[2].isdecimal())
    ):
        return None
    hours, minutes, rest = parts
    return int(hours[:6]) * 3600 + int(minutes) * 60 + int(rest)


def handle_of(text: str) -> tuple[str | None, str | None, str | None]:
    """Return handle, tag and comment of `piece handle=... tag=... comment=...`; what is not there is None."""
    _, found, rest = text.partition("handle=")
    if not found:
        return None, None, None
    rest, has_comment, comment = rest.partition(" comment=")
    handle, has_tag, tag = rest.partition(" tag=")
    return (
        handle.strip() or None,
        tag.strip() or None if has_tag else None,
        comment.strip() if has_comment else None,
    )


class Shared(dict[str, str]):
    """Texts that many pieces have alike, kept once: `shared[text]` is the one that is kept."""

    def __missing__(self, text: str) -> str:
        """Keep a text that is new, as long as there is room."""
        if len(self) < _MOST_SHARED:
            self[text] = text
        return text
