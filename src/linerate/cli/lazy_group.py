"""Commands that are loaded when they are called: the others cost a start nothing."""

from collections.abc import Iterable
from dataclasses import dataclass
from importlib import import_module
from typing import Any, cast

import typer
from typer.core import TyperCommand, TyperGroup


@dataclass(frozen=True, slots=True)
class Listed:
    """A command as the list of commands has it."""

    name: str
    #: `module:attribute`, a function or a group of commands (typer.Typer).
    where: str
    #: The first sentence of its help.
    text: str
    #: End of a command's help.
    epilog: str | None = None

    def shown(self) -> TyperCommand:
        """Part of it that lists and completion need; it can't be called."""
        return TyperCommand(self.name, help=self.text)

    def loaded(self) -> TyperCommand | TyperGroup:
        """Import it, as typer makes it of the function or the group."""
        module, _, attribute = self.where.partition(":")
        found = getattr(import_module(module), attribute)
        alone = typer.Typer(add_completion=False, rich_markup_mode="rich")
        alone.callback()(_nothing)
        if isinstance(found, typer.Typer):
            alone.add_typer(found, name=self.name)
        else:
            alone.command(self.name, epilog=self.epilog)(found)
        group = cast(TyperGroup, typer.main.get_command(alone))
        return cast(TyperCommand | TyperGroup, group.commands[self.name])


def _nothing() -> None:
    """With a callback, typer makes a group of a single command too."""


def group_of(commands: Iterable[Listed]) -> type[TyperGroup]:
    """Make typer's class for a group of such commands."""
    known = {one.name: one for one in commands}

    class Group(TyperGroup):
        def __init__(self, **given: Any) -> None:  # noqa: ANN401 (typer's own)
            super().__init__(**given)
            for one in known.values():
                self.add_command(one.shown())

        def resolve_command(
            self,
            ctx: Any,  # noqa: ANN401 (typer keeps its type to itself)
            args: list[str],
        ) -> tuple[str | None, TyperCommand | TyperGroup | None, list[str]]:
            """Find what is called, or completed, among those that were listed."""
            name, _, rest = super().resolve_command(ctx, args)
            return name, known[name].loaded() if name is not None else None, rest

    return Group
