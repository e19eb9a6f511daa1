"""Two intervals compared, and a series of many: pure numbers, ranking and sentences.

`from_report` makes an interval of a read AWR or Statspack report; everything else works on intervals alone, so
that reports, snapshots of a database and counters of other engines are compared by the same rules.
"""
