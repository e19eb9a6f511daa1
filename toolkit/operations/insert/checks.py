"""What is refused of an insert before anything is read."""

from __future__ import annotations

from toolkit.design.csv_style import style_of
from toolkit.errors import ToolkitError
from toolkit.model.operations import Levels, Options, every_option
from toolkit.operations.options import FILE_TEXT, MAX_REJECTS

_OF_FILES = ("directory", *(option.key for option in FILE_TEXT), MAX_REJECTS.key)


def check(options: Options, levels: Levels) -> None:
    """Refuse what cannot be right of files that the server reads.

    Raises:
        ToolkitError: TK-0102, TK-0107.
    """
    del levels
    if "external_files" not in options:
        given = next((name for name in _OF_FILES if name in options), None)
        if given is not None:
            raise ToolkitError(
                f"`{every_option()[given].flag}` applies only to `--external-files`, which was not given",
                code="TK-0107",
                hint="give `--external-files` too, or omit it",
            )
        return
    if "directory" not in options:
        raise ToolkitError(
            "`--external-files` needs `--directory`",
            code="TK-0107",
            hint="name the directory object of the database in which the files are (ALL_DIRECTORIES lists them)",
        )
    for name in ("where", "sample"):
        if name in options:
            raise ToolkitError(
                f"`--{name}` needs `--source`, but `--external-files` was given",
                code="TK-0107",
                hint="load all rows, or keep an external table of your own and give it as --source",
            )
    style_of(options)
