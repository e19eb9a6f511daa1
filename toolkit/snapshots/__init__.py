"""Snapshots around a trial: state before and after, and what happened in between."""

from toolkit.snapshots.base import Provider
from toolkit.snapshots.counters import CounterProvider, ProgressProvider
from toolkit.snapshots.host import HostProvider, ThreadProvider

__all__ = ["CounterProvider", "HostProvider", "ProgressProvider", "Provider", "ThreadProvider"]
