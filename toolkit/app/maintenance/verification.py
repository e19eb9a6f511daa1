"""What came of looking at what a step did."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Verification:
    """What is wrong, what is right and how that was told, and what could not be told and why; sentences."""

    fault: str | None = None
    verified: tuple[str, ...] = ()
    unverified: tuple[str, ...] = ()

    def __add__(self, other: Verification) -> Verification:
        """Put two looks together; the first fault counts."""
        return Verification(
            self.fault or other.fault, self.verified + other.verified, self.unverified + other.unverified
        )
