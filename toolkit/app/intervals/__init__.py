"""Reports and snapshots as intervals: shown, compared, in a series."""
