"""Data Pump."""

from __future__ import annotations

from collections.abc import Mapping

from toolkit.dialects.implementations import Implementation
from toolkit.dialects.oracle.datapump import DatapumpExports
from toolkit.model.words import OperationName

WORK: Mapping[OperationName, Implementation] = {"datapump-export": DatapumpExports()}
