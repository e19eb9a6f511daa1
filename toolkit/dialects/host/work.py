"""What is done on this host without a database."""

from toolkit.dialects.implementations import Implementations
from toolkit.dialects.mixes import RunJobs
from toolkit.dialects.programs import RunPrograms

WORK = Implementations("host", {"command": RunPrograms(), "mix": RunJobs()})
