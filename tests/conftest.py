"""What all tests share."""

import signal

# A shell's background job ignores SIGINT, what `nohup` begins SIGHUP, and so would every process begun from it:
# tests that interrupt one could only fail there.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)
if signal.getsignal(signal.SIGHUP) is signal.SIG_IGN:
    signal.signal(signal.SIGHUP, signal.SIG_DFL)

pytest_plugins = ["tests.tidy", "tests.tiers", "tests.guards", "tests.servers.fixtures"]
