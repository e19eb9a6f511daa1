"""What all tests share."""

import signal

# A shell's background job ignores SIGINT, and so would every process begun from it: tests that interrupt one
# could only fail there.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

pytest_plugins = ["tests.guards", "tests.servers.fixtures"]
