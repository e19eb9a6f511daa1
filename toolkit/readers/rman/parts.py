"""Small parts of messages that an English client prints."""

from __future__ import annotations

from toolkit.readers.rman import words

_LONGEST_STAMP = 60
_MOST_SHARED = 20_000


def is_command(op: str, stamp: str) -> bool:
    """Whether RMAN speaks, and not a script around it that begins at some hour."""
    return (
        words.OPERATION.fullmatch(op) is not None
        and len(stamp) < _LONGEST_STAMP
        and words.NUMBER.search(stamp) is not None
    )


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


class Shared:
    """Texts that many pieces have alike, kept once."""

    def __init__(self) -> None:
        self._kept: dict[str, str] = {}

    def __call__(self, text: str) -> str:
        """Return the text that is kept."""
        kept = self._kept.get(text)
        if kept is None:
            kept = text
            if len(self._kept) < _MOST_SHARED:
                self._kept[text] = text
        return kept
