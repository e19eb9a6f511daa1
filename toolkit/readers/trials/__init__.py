"""Trials that other programs measured: files of benchmarks, and CSV or TOML with one row a trial."""

from toolkit.readers.trials.model import ForeignTrial, TrialFiles
from toolkit.readers.trials.recognise import read_trials

__all__ = ["ForeignTrial", "TrialFiles", "read_trials"]
