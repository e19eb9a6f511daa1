"""`dbatk` under the clock of a world (`clock`); it tells the stacks of its threads when asked (SIGUSR1).

`CHAOS_HOST` is the name of another host that this process takes itself to be on.
"""

from __future__ import annotations

import faulthandler
import os
import signal

from tests.chaos.clock import set_up


def be_on(host: str) -> None:
    """Take this for another host, where no process of this one can be seen."""
    from toolkit.store import leases

    leases.this_host, leases.this_boot = (lambda: host), (lambda: f"boot of {host}")


if __name__ == "__main__":
    faulthandler.register(signal.SIGUSR1, all_threads=True)
    set_up()
    if "CHAOS_HOST" in os.environ:
        be_on(os.environ["CHAOS_HOST"])
    from toolkit.cli.main import run

    run()
