"""Whether the commands of a `console` block exist: their verbs, flags and values.

Owns how such a block is read, and which programs of others it may call. Nothing is run.
"""

from __future__ import annotations

import importlib.util
import re
import shlex
from collections.abc import Iterator

import click

from qtrigger.cli.main import cli
from tests.docs.blocks import REPOSITORY

# Of others: what a reader has, or is told to install. Their own flags are not looked at.
PROGRAMS = frozenset(
    {
        *(
            "cat",
            "cd",
            "chmod",
            "cp",
            "ln",
            "curl",
            "echo",
            "export",
            "install",
            "kill",
            "mkdir",
            "rm",
            "source",
        ),
        *("sleep", "touch", "true"),
        *("python", "python3", "pip", "pipx", "uv", "git", "jq"),
        *("az", "docker", "kubectl", "minikube", "podman", "promtool"),
        *("journalctl", "systemctl", "systemd-analyze", "useradd"),
    }
)
_BEFORE_A_PROGRAM = frozenset({"sudo", "exec", "until", "do", "done"})
_ASSIGNMENT = re.compile(r"[A-Za-z_][A-Za-z0-9_]*=")
_TARGETS = frozenset(re.findall(r"^([a-z]+):", (REPOSITORY / "Makefile").read_text(), re.MULTILINE))
_UNSAID = re.compile(r": Missing (?:argument|option)|: Usage: ")
_JOINTS = frozenset({"&&", "||", "|", ";", "&"})
_REDIRECTION = re.compile(r"\d*[<>]")


def problems(text: str) -> Iterator[str]:
    """What is wrong with a block's commands; nothing where all is right."""
    for line in lines(text):
        for command in _commands(line):
            if problem := _problem(command):
                yield f"{line}: {problem}"


def named(code: str) -> str:
    """Why a command that a sentence names is not there; arguments may be left out."""
    return next((problem for problem in problems(code) if not _UNSAID.search(problem)), "")


def flags() -> frozenset[str]:
    """Every flag of every verb."""
    return frozenset(name for each in _options() for name in (*each.opts, *each.secondary_opts))


def variables() -> frozenset[str]:
    """The environment variable of every flag."""
    return frozenset(str(each.envvar) for each in _options())


def _options() -> Iterator[click.Option]:
    left: list[click.Command] = [cli]
    while left:
        command = left.pop()
        yield from (each for each in command.params if isinstance(each, click.Option))
        if isinstance(command, click.Group):
            context = click.Context(command)
            inner = (command.get_command(context, name) for name in command.list_commands(context))
            left += [each for each in inner if each is not None]


def lines(text: str) -> list[str]:
    """A block's command lines: those after `$ ` where there are any, else all of them."""
    joined = text.replace("\\\n", " ").splitlines()
    prompted = [line.removeprefix("$ ") for line in joined if line.startswith("$ ")]
    return prompted or [line for line in joined if line.strip()]


def programs(line: str) -> list[str]:
    """The programs that a line calls, without their folders."""
    called = (_called(words) for words in _commands(line))
    return [words[0].rpartition("/")[2] for words in called if words]


def _commands(line: str) -> Iterator[list[str]]:
    lexer = shlex.shlex(line, posix=True, punctuation_chars="&|;")
    lexer.whitespace_split = True
    words = list[str]()
    for word in [*lexer, ";"]:
        if word in _JOINTS:
            if words:
                yield words
            words = []
        else:
            words.append(word)


def _called(words: list[str]) -> list[str]:
    """A command without what stands before its program."""
    while words and (_ASSIGNMENT.match(words[0]) or words[0] in _BEFORE_A_PROGRAM):
        words = words[1:]
    return words


def _problem(words: list[str]) -> str:
    words = _called(words)
    if not words:
        return ""
    program, arguments = words[0].rpartition("/")[2], words[1:]
    if program == "qtrigger":
        return _not_taken(arguments)
    if program == "make":
        unknown = [word for word in arguments if "=" not in word and word not in _TARGETS]
        return f"the Makefile has no {', '.join(unknown)}" if unknown else ""
    if program in ("python", "python3") and arguments[:1] == ["-m"]:
        return "" if importlib.util.find_spec(arguments[1]) else f"no module {arguments[1]}"
    return "" if program in PROGRAMS else f"{program} is not in tests/docs/commands.py"


def _not_taken(arguments: list[str]) -> str:
    """Why `qtrigger` would refuse these words; files need not be there."""
    for place, word in enumerate(arguments):
        if _REDIRECTION.match(word):
            arguments = arguments[:place]
            break
    try:
        _parse(cli, "qtrigger", arguments, None)
    except click.exceptions.Exit:
        return ""
    except click.UsageError as error:
        return "" if _absent(error.message) else error.format_message()
    return ""


def _absent(message: str) -> bool:
    """A file that the reader has."""
    return "does not exist" in message or "No such file" in message


def _parse(
    command: click.Command, name: str, arguments: list[str], parent: click.Context | None
) -> None:
    context = command.make_context(name, list(arguments), parent=parent)
    left = [*context._protected_args, *context.args]
    if isinstance(command, click.Group) and left:
        found, inner, rest = command.resolve_command(context, left)
        assert inner is not None
        assert found is not None
        _parse(inner, found, rest, context)
