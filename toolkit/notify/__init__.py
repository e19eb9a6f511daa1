"""Tells people and monitoring what came of a plan: messages, metrics, and lines of a log."""
