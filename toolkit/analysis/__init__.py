"""What a run tells: cells, comparisons, limits, advice and their documents. Pure: records in, values out."""

from toolkit.analysis.advice import Advice, advice
from toolkit.analysis.cells import CellSummary, cells
from toolkit.analysis.compare import Comparison, Pair, compare
from toolkit.analysis.documents import comparison_document, run_document, runs_document
from toolkit.analysis.limits import LimitResult, judge, parse_fail_if

__all__ = [
    "Advice",
    "CellSummary",
    "Comparison",
    "LimitResult",
    "Pair",
    "advice",
    "cells",
    "compare",
    "comparison_document",
    "judge",
    "parse_fail_if",
    "run_document",
    "runs_document",
]
