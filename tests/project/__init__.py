"""Tests about the project itself: scripts, layers, pins, documentation, the wheel."""
