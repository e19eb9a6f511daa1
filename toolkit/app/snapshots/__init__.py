"""Snapshots around anything a DBA does, and the fallback order they are taken by."""
