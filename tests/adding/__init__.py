"""What `docs/adding.md` tells, done: an operation in SQL, one on the host alone, and an engine."""
