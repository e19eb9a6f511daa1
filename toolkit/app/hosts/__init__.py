"""Users of a workload on other hosts, reached by a cluster of dask that is there already.

`joining` finds the hosts and checks them before a run begins, `elsewhere` is what a run has of one of them, and
`agent` is what works there. A host is held by talking to it: one that has not been heard of for a while is lost,
and one that is not talked to ends its users by itself.
"""

from toolkit.app.hosts.joining import join_hosts

__all__ = ["join_hosts"]
