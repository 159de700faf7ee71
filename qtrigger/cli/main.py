"""The `qtrigger` command and its verbs.

Owns which verb is where, and how errors become exit codes. Each verb's module is imported only
when it is called, so that `--version` and `--help` answer at once.
"""

from __future__ import annotations

import contextlib
import importlib
import logging
import os
import sys
from collections.abc import Sequence

import click
from click.shell_completion import CompletionItem

from qtrigger import __version__
from qtrigger.cli import colours
from qtrigger.cli.collector import resting_collector
from qtrigger.cli.flags import dress
from qtrigger.errors import ExitCode, QtriggerError, exit_code

VERBS = {
    "start": "Run the project's functions until stopped.",
    "check": "Say everything that is wrong with the project.",
    "settings": "Show the configuration as it applies, and where it comes from.",
    "schema": "Print the JSON Schema of host.json or another file, for editors.",
    "list": "List the functions, their queues and what state each is in.",
    "queues": "Show what waits in the project's queues.",
    "peek": "Look at the first messages of a queue, changing nothing.",
    "send": "Put messages on a queue, encoded as the project expects them.",
    "purge": "Delete every message of a queue.",
    "poison": "List, show, requeue, purge or export poisoned messages.",
    "invoke": "Run one function once, without a queue.",
    "status": "Show how a running host stands.",
    "reload": "Have a running host load its project anew.",
    "stop": "End a running host once what runs has finished.",
    "pause": "Ask for no more messages of a function, or list what is paused.",
    "resume": "End a function's pause, and close its circuit breaker.",
    "init": "Write the files of a new project.",
    "new": "Add a function to the project.",
    "systemd": "Write a hardened systemd unit for the project.",
    "doctor": "Look at this machine, and say what stands in the way and its cure.",
    "docker": "Print a Dockerfile for the project.",
    "kubernetes": "Print what runs and scales the project in Kubernetes.",
    "emulator": "Run or show the project's local queue service, or remove its data.",
    "completion": "Print what lets a shell complete commands and names.",
    "version": "Say what is installed, for a report of a defect.",
}

# What people try first who know other tools; each stands for a verb and its flags. Not listed.
ALIASES = {
    "validate": ("check",),
    "ps": ("status",),
    "top": ("status", "--watch"),
}

# Where a verb's command is, if not in a module of its name.
_ELSEWHERE = {"list": ("functions", "list_functions")}

EPILOG = """\b
Examples:
  qtrigger init orders                write a new project into a folder
  qtrigger start                      run the project in this folder
  qtrigger check                      say what is wrong with it
  qtrigger send orders '{"id": 1}'    put a message on its queue
  qtrigger invoke charge --message x  run a function once, without a queue

Exit codes: 0 done, 1 a defect of qtrigger, 2 wrong usage, 3 the project cannot be run,
4 the queue service cannot be reached or refuses, 5 partly done, 6 the function failed.
"""


class VerbGroup(click.Group):
    """Imports a verb's module when it is called; names the nearest verb when there is none."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the verbs in the order of their table."""
        del ctx
        return list(VERBS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import and return a verb."""
        del ctx
        if cmd_name not in VERBS:
            return None
        place, name = _ELSEWHERE.get(cmd_name, (cmd_name, cmd_name))
        with resting_collector():
            module = importlib.import_module(f"qtrigger.cli.{place}")
        command = getattr(module, name)
        assert isinstance(command, click.Command)
        dress(command, (cmd_name,))
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """See click; takes other tools' words, and adds the nearest verb to the error."""
        if args and args[0] in ALIASES and ALIASES[args[0]][0] in VERBS:
            args = [*ALIASES[args[0]], *args[1:]]
        if args and args[0] not in VERBS and not args[0].startswith("-"):
            import difflib

            near = difflib.get_close_matches(args[0], VERBS, n=1)
            meant = f" Did you mean {near[0]!r}?" if near else f" There are: {', '.join(VERBS)}."
            raise click.UsageError(f"There is no command {args[0]!r}.{meant}", ctx)
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the verbs without importing them."""
        del ctx
        with formatter.section("Commands"):
            formatter.write_dl(list(VERBS.items()))

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        """See click; names the verbs without importing them."""
        if incomplete.startswith("-"):
            return super().shell_complete(ctx, incomplete)
        return [
            CompletionItem(verb, help=meaning)
            for verb, meaning in VERBS.items()
            if verb.startswith(incomplete)
        ]


@click.group(
    cls=VerbGroup,
    epilog=EPILOG,
    context_settings={
        "help_option_names": ["-h", "--help"],
        "show_default": True,
    },
)
@click.option(
    "-C",
    "directory",
    metavar="DIR",
    type=click.Path(file_okay=False),
    help="Do it as if qtrigger had been called in that folder.",
)
@click.version_option(
    version=__version__,
    prog_name="qtrigger",
    message=f"%(prog)s %(version)s (Python {sys.version.split()[0]}, {os.uname().sysname})",
)
def cli(directory: str | None) -> None:
    """Run an Azure Functions project's queue-triggered functions on this machine."""
    if directory is not None:
        try:
            os.chdir(directory)
        except OSError as error:
            raise click.UsageError(f"-C {directory}: {error.strerror}") from error


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line and end the process with its exit code."""
    # What a library logs it raises too; a verb that wants its lines adds a handler of its own.
    logging.getLogger().addHandler(logging.NullHandler())
    try:
        code = cli.main(args=arguments, prog_name="qtrigger", standalone_mode=False)
    except click.ClickException as error:
        error.show()
        sys.exit(error.exit_code)
    except click.exceptions.Abort:
        sys.exit(130)
    except OSError as error:
        # The verbs turn what they expect into errors of ours; what is left is our own output.
        with contextlib.suppress(OSError):
            click.echo(f"error: {error}", err=True)
        sys.exit(ExitCode.BUG)
    except QtriggerError as error:
        text = f"{click.style('error:', fg='red', bold=True)} {error}"
        click.echo(text, err=True, color=colours.wanted("auto", sys.stderr))
        sys.exit(exit_code(error))
    sys.exit(code if isinstance(code, int) else ExitCode.OK)
