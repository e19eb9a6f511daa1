"""Imports what the processes of tests need: the fork server loads this module once."""

from tests.servers.forks import import_everything

import_everything()
