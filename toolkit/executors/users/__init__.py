"""Users that work on a database: sessions in processes of their own, driven, measured and ended.

`users.Users` is what a run has of it; `crew` drives sessions, `process` is the process that a crew lives in,
`values` draws parameters. Importing this package loads nothing: each of these processes begins with it.
"""
