"""AWR and Statspack reports as values, from a file and without a database.

`decode` makes text of the bytes, `html` and `text` make tables of the text, and what is known of reports works on
tables only: `sections` (by headings), `labels` (by the labels of rows), `rac`; `report` puts them together. So
whatever compares two reports, or reads the report a database has just made, has the same names and units to work
with, and need not know which release or format they come from.
"""
