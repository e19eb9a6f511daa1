"""What is one host to a run that works on several."""

from __future__ import annotations

from toolkit.app.clusters import WorkerCheck
from toolkit.app.hosts.joining import one_of_each_host


def check(host: str, boot: str) -> WorkerCheck:
    return WorkerCheck(host, "1", boot=boot)


def test_the_workers_of_one_machine_are_one_host() -> None:
    assert one_of_each_host({"tcp://a:1": check("db", "x"), "tcp://a:2": check("db", "x")}) == {"db": "tcp://a:1"}


def test_two_machines_of_one_name_are_two_hosts() -> None:
    found = one_of_each_host(
        {
            "tcp://a:1": check("db", "0123456789"),
            "tcp://b:1": check("db", "ffff456789"),
            "tcp://c:1": check("o", "z"),
        }
    )
    assert found == {"db (01234567)": "tcp://a:1", "db (ffff4567)": "tcp://b:1", "o": "tcp://c:1"}
