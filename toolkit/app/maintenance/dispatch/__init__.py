"""Hands the targets of a plan to who works on them: threads of this process, or workers of a cluster."""

from toolkit.app.maintenance.dispatch.base import Dispatcher
from toolkit.app.maintenance.dispatch.local import Threads

__all__ = ["Dispatcher", "Threads"]
