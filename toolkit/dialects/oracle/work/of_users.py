"""Transactions of users."""

from __future__ import annotations

from collections.abc import Mapping

from toolkit.dialects.implementations import Implementation
from toolkit.dialects.oracle.work.workload import OracleWorkloads
from toolkit.model.words import OperationName

WORK: Mapping[OperationName, Implementation] = {"workload": OracleWorkloads()}
