"""Groups of commands, also those that have a command of their own for what is most often meant."""

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

    def in_full(self, args: list[str]) -> list[str]:
        """Return the words of the long form for those that were typed."""
        meant = args[0] not in (*self.commands, "--help") if args else self.alone
        return [self.default, *args] if meant else args

    def parse_args(self, ctx: typer.Context, args: list[str]) -> list[str]:  # type: ignore[override]
        return super().parse_args(ctx, self.in_full(args))


def new_group(help: str, cls: type[TyperGroup] = TyperGroup) -> typer.Typer:
    """Return a group of commands; without a word it shows its help, or does what `cls` says."""
    bare = not (issubclass(cls, DefaultGroup) and cls.alone)
    return typer.Typer(help=help, no_args_is_help=bare, rich_markup_mode=None, add_completion=False, cls=cls)
