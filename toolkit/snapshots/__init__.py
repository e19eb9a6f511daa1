"""Snapshots around a trial: state before and after, and what happened in between."""

from toolkit.snapshots.base import Provider
from toolkit.snapshots.counters import CounterProvider
from toolkit.snapshots.host import HostProvider
from toolkit.snapshots.progress import ProgressProvider
from toolkit.snapshots.threads import ThreadProvider

__all__ = ["CounterProvider", "HostProvider", "ProgressProvider", "Provider", "ThreadProvider"]
