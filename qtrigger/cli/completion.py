"""`qtrigger completion`: what lets a shell complete commands, flags and the project's names."""

from __future__ import annotations

import click

from qtrigger.errors import ExitCode

VARIABLE = "_QTRIGGER_COMPLETE"

EPILOG = """\b
Examples:
  qtrigger completion bash >> ~/.bashrc
  qtrigger completion zsh >> ~/.zshrc
  qtrigger completion fish > ~/.config/fish/completions/qtrigger.fish

Exit codes: 0 done, 2 wrong usage.
"""


@click.command(epilog=EPILOG, short_help="Print what lets a shell complete commands and names.")
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
@click.pass_context
def completion(ctx: click.Context, shell: str) -> int:
    """Print the script that completes qtrigger's commands in SHELL.

    Names of functions and queues come from the files of the project in the current folder, or
    above it; nothing is imported for them and no service is asked.
    """
    from click.shell_completion import BashComplete, get_completion_class

    found = get_completion_class(shell)
    assert found is not None
    # Bash's own class starts a bash to ask for its version, which the script itself need not know.
    made = found(ctx.find_root().command, {}, "qtrigger", VARIABLE)
    if isinstance(made, BashComplete):
        click.echo(made.source_template % made.source_vars())
    else:
        click.echo(made.source())
    return ExitCode.OK
