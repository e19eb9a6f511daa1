"""Runs of experiments: planned, begun, resumed, cleaned up, and what each is allowed."""
