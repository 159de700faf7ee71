"""A command whose named options take several values after one another: `--functions a b`.

Azure's own tool writes lists of functions that way; click alone wants the option repeated.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import click


class SeveralValues(click.Command):
    """Lets every option that may be repeated take all values up to the next option."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """See click."""
        names = {
            name
            for parameter in self.params
            if isinstance(parameter, click.Option) and parameter.multiple
            for name in parameter.opts
        }
        return super().parse_args(ctx, list(_repeated(args, names)))


def _repeated(args: Sequence[str], names: set[str]) -> Iterator[str]:
    """Yield the arguments with an option's further values given the option's name again."""
    open_option = ""
    for before, argument in zip(["", *args], args, strict=False):
        if argument.startswith("-"):
            open_option = argument if argument in names else ""
        elif open_option and before != open_option:
            yield open_option
        yield argument
