"""Readers turn what other programs wrote into records: pure functions of text, without a database or a store."""
