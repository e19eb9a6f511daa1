"""Reports: records in, one text out. No database, no terminal."""
