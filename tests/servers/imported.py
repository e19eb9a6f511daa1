"""Imports what the processes of tests need: the fork server loads this module once."""

import tests.servers.programs  # noqa: F401 - and pytest with it, which takes a third of a short program's time
from tests.servers.forks import import_everything

import_everything()
