"""Snapshots around anything a DBA does, and the ladder they are taken by."""
