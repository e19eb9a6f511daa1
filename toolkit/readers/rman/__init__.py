"""Logs of RMAN as values, from lines and without a database.

`decode` makes lines of a file; `log` reads a whole log and judges how it ended; `machine` reads line by line what
an English client writes, `foreign` everything else by its structure; both keep what they find in `state` and
`sessions`. `grammar` holds codes and words as data, `stamps` reads dates of any format, `model` is the result.
"""
