"""What `doctor` says of an Oracle target: the files it reads, and the checks judged from their answers."""

from toolkit.dialects.oracle.doctor.checks import FILES, OBJECT_FILES, PLACE_FILES, checks

__all__ = ["FILES", "OBJECT_FILES", "PLACE_FILES", "checks"]
