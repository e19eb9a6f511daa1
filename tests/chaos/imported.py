"""Imports what `dbatk` needs under the clock of a world: its fork server loads this module once."""

import oracledb  # noqa: F401 - it takes no other class for `datetime`, and is not used here

from tests.chaos.clock import set_up

set_up()

from tests.servers.forks import import_everything  # noqa: E402 - everything else comes after the clock

import_everything()
