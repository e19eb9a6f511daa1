"""Turns templates and SQL files into steps; nothing unfiltered ever reaches a statement."""

from toolkit.rendering.environment import render_call, sql_file, step_of

__all__ = ["render_call", "sql_file", "step_of"]
