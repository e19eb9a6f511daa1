"""The page, the text and the JSON document of two intervals compared, and of a series of many."""
