"""The page, the text and the document of two intervals compared, and of many told as a series."""
