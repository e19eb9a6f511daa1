"""Rows that are removed or changed in chunks."""

from __future__ import annotations

from collections.abc import Mapping

from toolkit.dialects.implementations import Implementation
from toolkit.dialects.oracle.work.purge import CHUNKS
from toolkit.model.words import OperationName

WORK: Mapping[OperationName, Implementation] = {"purge": CHUNKS}
