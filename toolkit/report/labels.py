"""Names of metrics and samples for people; a database's own statistics keep the names that its DBAs know."""

from __future__ import annotations

import re

from toolkit.report.safe import clean

_LABELS = {
    "waiting_not": "working, not waiting",
    "waiting_io": "waiting for I/O",
    "waiting_ipc": "waiting for another process",
    "waiting_lwlock": "waiting for a light-weight lock",
    "waiting_lock": "waiting for a lock",
    "waiting_log": "waiting for the write-ahead log",
    "working_leaders": "leaders at work",
    "working_workers": "workers at work",
    "waiting_client": "waiting for dbatk",
    "host_cpu_pct": "CPU busy",
    "host_iowait_pct": "CPU waiting for I/O",
    "host_others_pct": "CPU used by others",
    "host_cpu_user_seconds": "host CPU time, user",
    "host_cpu_system_seconds": "host CPU time, system",
    "host_cpu_iowait_seconds": "host CPU time waiting for I/O",
    "host_disk_read_bytes": "disk read",
    "host_disk_write_bytes": "disk written",
    "host_disk_read_bytes_per_s": "disk read",
    "host_disk_write_bytes_per_s": "disk written",
    "host_disk_reads": "disk reads",
    "host_disk_writes": "disk writes",
    "host_memory_used_bytes": "host memory used",
    "host_network_recv_bytes_per_s": "received by the network",
    "host_network_sent_bytes_per_s": "sent by the network",
    "host_users": "users",
    "host_clock_ahead_seconds": "clock ahead of that of the run's host",
    "host_clock_uncertainty_seconds": "how far that may be wrong",
    "user_seconds": "CPU time of the programs, user",
    "system_seconds": "CPU time of the programs, system",
    "peak_memory_bytes": "memory of the largest process, peak",
    "tree_memory_bytes": "private memory of all processes, highest seen",
    "read_bytes": "read from storage by the programs",
    "write_bytes": "written to storage by the programs",
    "output_bytes": "output",
    "tps": "transactions per second",
    "transactions_per_s": "transactions ended in each second",
    "transactions": "transactions of users",
    "latency_p50": "latency, median",
    "latency_p90": "latency, 90th percentile",
    "latency_p95": "latency, 95th percentile",
    "latency_p99": "latency, 99th percentile",
    "latency_p99_9": "latency, 99.9th percentile",
    "latency_max": "latency, longest",
    "errors": "transactions that failed",
    "jobs_elapsed_seconds": "elapsed time of all jobs added up",
    "job_median_seconds": "median job",
    "job_p90_seconds": "90 % of the jobs take at most",
    "job_longest_seconds": "longest job",
    "longest_chain_seconds": "longest chain of jobs",
    "waited_for_a_turn_seconds": "jobs waited for their turn",
    "cores_busy": "cores busy with the jobs",
    "storage_bytes_per_s": "storage read and written by the jobs",
    "storage_bytes_per_s_peak": "the same at the busiest instant, each job spread evenly",
    "retries": "transactions tried again",
    "cpu_seconds_per_transaction": "CPU time of the database for each transaction",
    "transactions_per_cpu_second": "transactions for each second of CPU time",
    "driver_cpu_seconds": "CPU time of the processes of the users",
    "db_cpu_seconds": "database CPU time",
    "db_busiest_thread_pct": "CPU time of the busiest thread, of all threads",
    "db_memory_bytes": "database memory",
    "db_temp_bytes": "temporary space",
    "db_used_bytes": "space used by the database",
    "table_bytes": "size of its tables",
    "index_bytes": "size of their indexes",
    "free_bytes": "free within the file",
    "dead_rows": "dead rows",
    "transaction_age": "age of the oldest row not frozen",
    "unusable_parts": "unusable indexes",
    "parallel_workers": "parallel workers of one session",
    "parallel_workers_total": "parallel workers",
    "active_sessions": "active sessions of dbatk",
    "other_active_sessions": "active sessions of others",
    "sample_queries": "queries that dbatk sampled with",
    "sampling_seconds": "time of dbatk's sampling",
}
_ENDINGS = {"_peak": ", peak", "_mean": ", mean", "_before": ", before", "_after": ", after"}
_UNITS = re.compile(r"_(?:seconds|bytes_per_s|bytes|pct)$")
_OURS = re.compile(r"(?:host|db|dbatk)_[a-z_0-9]+")
_WORDS = {"cpu": "CPU", "db": "database", "io": "I/O", "wal": "WAL", "pct": "%"}


_SURROUNDINGS = {
    "dbatk_version": "version of dbatk",
    "server_version": "version of the server",
    "server_started_at": "server started at",
    "database_name": "name of the database",
    "database_id": "id of the database",
    "cpu_count": "CPUs of the database",
    "client_host": "host of dbatk",
    "host_cpu_count": "CPUs of the host",
    "host_cpu_model": "CPU model of the host",
    "host_memory_bytes": "memory of the host",
    "host_kernel": "kernel of the host",
    "host_load_1min": "load of the host in the last minute",
    "host_disk": "disk of the host",
    "size.database_bytes": "size of the database",
}
_SAID_AS_IT_IS = ("setting.", "sysctl.", "mount.", "extension.")
"""Of these the rest is a name that one types."""
PHASES = {
    "begin": "making sessions ready",
    "intend": "noting what will be made",
    "snapshot": "reading counters",
    "evidence": "reading what was granted",
    "journal": "noting what was made",
    "end": "putting sessions back",
    "conclude": "cleaning up",
}
"""Phases of a trial besides the timed one, for people."""


def surrounding(name: str) -> str:
    """Return the name of a value of the environment for people: `setting work_mem`, `memory: swap`."""
    if name in _SURROUNDINGS:
        return _SURROUNDINGS[name]
    kind, dot, rest = name.partition(".")
    if not dot:
        return clean(name.replace("_", " "))
    if name.startswith(_SAID_AS_IT_IS):
        return clean(f"{kind} {rest}")
    *within, last = rest.split(".")
    words = " ".join(_WORDS.get(word, word) for word in _UNITS.sub("", last).split("_"))
    return clean(f"{' '.join([_WORDS.get(kind, kind.replace('_', ' ')), *within])}: {words}")


_OF_A_HOST = re.compile(r"host\.(.+)\.([a-z_0-9]+)")


def label_of(name: str) -> str:
    """Return a name for people; one that is not known to dbatk as it is."""
    if of_a_host := _OF_A_HOST.fullmatch(name):
        host, what = of_a_host.groups()
        return f"{clean(host)}: {label_of(what if what in _LABELS else f'host_{what}')}"
    for ending, words in _ENDINGS.items():
        bare = name.removesuffix(ending)
        if bare != name:
            rate = " per second" if bare.endswith("_per_s") else ""
            return f"{label_of(bare)}{rate}{words}"
    if name in _LABELS:
        return _LABELS[name]
    if _OURS.fullmatch(name):
        return " ".join(_WORDS.get(word, word) for word in _UNITS.sub("", name).split("_"))
    return clean(name)
