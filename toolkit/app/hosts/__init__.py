"""Users of a workload and jobs of a mix on other hosts, reached by a cluster of dask that is there already.

`joining` finds the hosts and checks them before a run begins, `elsewhere` (users) and `programs` (jobs) are what a
run has of one of them, `talk` is how it is spoken to, and `agent` is what works there. A host is held by talking
to it: one that has not been heard of for a while is lost, and one that is not talked to ends its work by itself.
"""

from toolkit.app.hosts.joining import join_hosts

__all__ = ["join_hosts"]
