"""Groups of commands that have a command of their own for what is most often meant."""

from __future__ import annotations

import typer
from typer.core import TyperGroup


class DefaultGroup(TyperGroup):
    """Takes what is no command of the group for arguments of its default one.

    Attributes:
        default: the command.
        alone: whether no word at all means it, too; else that shows the help.
    """

    default = ""
    alone = False

    def parse_args(self, ctx: typer.Context, args: list[str]) -> list[str]:  # type: ignore[override]
        meant = args[0] not in (*self.commands, "--help") if args else self.alone
        if meant:
            args = [self.default, *args]
        return super().parse_args(ctx, args)
