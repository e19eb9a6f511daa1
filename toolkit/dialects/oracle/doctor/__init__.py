"""What `doctor` says of an Oracle target: the files it reads, and the checks judged from their answers."""

from toolkit.dialects.oracle.doctor.checks import FILES, PLACE_FILES, checks, object_files

__all__ = ["FILES", "PLACE_FILES", "checks", "object_files"]
