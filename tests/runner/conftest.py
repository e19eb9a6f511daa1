"""The engines of tests/engines serve here too."""

from tests.engines.conftest import arena, store

__all__ = ["arena", "store"]
