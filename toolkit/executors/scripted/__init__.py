"""Writes the steps of a run as scripts of SQL*Plus, one file for each session of each trial.

What is timed or changes something is written as the runner sends it; our own reads stand inside a query that puts
each row on a line of its own, so that no setting of the client decides how a spool reads.
"""

from toolkit.executors.scripted.bundle import Bundled, bundle_files

__all__ = ["Bundled", "bundle_files"]
