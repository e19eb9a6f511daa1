"""Logs of RMAN as values, from lines and without a database.

`decode` makes lines of a file, `words` is the grammar as data, `machine` follows the channels line by line and
`blocks` takes the commonest messages whole, `foreign` reads languages other than English by their structure,
`shapes` finds that structure once for all lines that differ in digits only,
`faults` keeps codes and their stacks, `sessions` knows whether a session came to its end, `stamps` reads dates of
any format, and `log` gives the verdict.
"""
