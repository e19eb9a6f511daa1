"""What all tests share."""

pytest_plugins = ["tests.guards", "tests.servers.fixtures"]
