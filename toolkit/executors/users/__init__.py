"""Users that work on a database: sessions in processes of their own, driven, measured and ended.

`Users` is what a run has of it; `crew` drives sessions, `process` is the process that a crew lives in, `values`
draws parameters.
"""

from toolkit.executors.users.users import Users

__all__ = ["Users"]
