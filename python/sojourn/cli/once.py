"""Commands that refuse an option given twice; click itself takes the last value."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import click


class StrictCommand(click.Command):
    """A command that refuses an option with two values, instead of dropping the first."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse the arguments; see `click.Command.parse_args`."""
        if not ctx.resilient_parsing:
            _refuse_repeated(self, ctx, args)
        return super().parse_args(ctx, args)


class StrictGroup(click.Group):
    """A group of strict commands, with strict options."""

    command_class = StrictCommand

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse the arguments; see `click.Command.parse_args`."""
        if not ctx.resilient_parsing:
            _refuse_repeated(self, ctx, args)
        return super().parse_args(ctx, args)


def command(
    name: str | None = None, **settings: Any
) -> Callable[[Callable[..., Any]], StrictCommand]:
    """`click.command` for a `StrictCommand`."""
    return click.command(name, cls=StrictCommand, **settings)


def group(**settings: Any) -> Callable[[Callable[..., Any]], StrictGroup]:
    """`click.group` for a `StrictGroup`."""
    return click.group(cls=StrictGroup, **settings)


def _refuse_repeated(command: click.Command, ctx: click.Context, args: list[str]) -> None:
    _, _, order = command.make_parser(ctx).parse_args(args=list(args))
    seen = set()
    for option in order:
        if not isinstance(option, click.Option) or option.multiple or option.is_flag:
            continue
        if option.name in seen:
            raise click.UsageError(
                f"{option.opts[-1]}: is given more than once; give it once.", ctx
            )
        seen.add(option.name)
