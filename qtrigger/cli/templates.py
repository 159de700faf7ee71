"""The texts of a new project's files, the same that Azure runs.

Owns the texts; where they are written and what they never replace is decided elsewhere.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Final

# Where Azure looks for settings of a connection that nobody named.
CONNECTION: Final = "AzureWebJobsStorage"
QUEUE: Final = "orders"
FUNCTION: Final = "process_order"

# On Azure the bundle brings the queue trigger; here it has no effect.
HOST_JSON: Final = """\
{
  "version": "2.0",
  "extensionBundle": {
    "id": "Microsoft.Azure.Functions.ExtensionBundle",
    "version": "[4.*, 5.0.0)"
  }
}
"""
LOCAL_SETTINGS: Final = """\
{
  "IsEncrypted": false,
  "Values": {
    "FUNCTIONS_WORKER_RUNTIME": "python",
    "AzureWebJobsStorage": "UseDevelopmentStorage=true"
  }
}
"""
REQUIREMENTS: Final = "azure-functions\n"
GITIGNORE: Final = """\
# Settings may hold secrets.
local.settings.json
.venv/
__pycache__/
.python_packages/
.azurite/
.qtrigger/
"""
FUNCIGNORE: Final = """\
.git*
.vscode/
.venv/
.azurite/
.qtrigger/
__pycache__/
local.settings.json
tests/
"""
SCRIPT_HEAD: Final = """\
import logging

import azure.functions as func

app = func.FunctionApp()
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sketch:
    """A function to be written; `output` is a queue to write to, "" for none."""

    name: str
    queue: str
    output: str = ""
    connection: str = CONNECTION
    is_async: bool = False


def function_json(sketch: Sketch) -> str:
    """The file of a function's folder."""
    bindings = [_binding(sketch, "queueTrigger", "in", "msg", sketch.queue)]
    if sketch.output:
        bindings.append(_binding(sketch, "queue", "out", "out", sketch.output))
    return json.dumps({"scriptFile": "__init__.py", "bindings": bindings}, indent=2) + "\n"


def folder_code(sketch: Sketch) -> str:
    """The script of a function's folder."""
    return f"import logging\n\nimport azure.functions as func\n\n\n{_code(sketch, 'main', 'func')}"


def decorated(sketch: Sketch, *, app: str, library: str, identifier: str) -> str:
    """The function with its decorators, on the app and the library's name of a script."""
    lines = []
    if identifier != sketch.name:
        lines.append(f"@{app}.function_name({_quoted(sketch.name)})")
    lines.append(_decorator(app, "queue_trigger", "msg", sketch.queue, sketch.connection))
    if sketch.output:
        lines.append(_decorator(app, "queue_output", "out", sketch.output, sketch.connection))
    return "\n".join([*lines, _code(sketch, identifier, library)])


def _code(sketch: Sketch, identifier: str, library: str) -> str:
    word = "async def" if sketch.is_async else "def"
    out = f", out: {library}.Out[str]" if sketch.output else ""
    lines = [
        f"{word} {identifier}(msg: {library}.QueueMessage{out}) -> None:",
        "    text = msg.get_body().decode()",
        f'    logging.info("{sketch.name} got %s", text)',
    ]
    if sketch.output:
        lines.append("    out.set(text)")
    return "\n".join(lines) + "\n"


def _decorator(app: str, word: str, argument: str, queue: str, connection: str) -> str:
    given = {"arg_name": argument, "queue_name": queue, "connection": connection}
    texts = [f"{name}={_quoted(value)}" for name, value in given.items()]
    line = f"@{app}.{word}({', '.join(texts)})"
    if len(line) <= 100:
        return line
    return f"@{app}.{word}(\n" + "".join(f"    {text},\n" for text in texts) + ")"


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)


def _binding(sketch: Sketch, kind: str, direction: str, name: str, queue: str) -> dict[str, str]:
    return {
        "name": name,
        "type": kind,
        "direction": direction,
        "queueName": queue,
        "connection": sketch.connection,
    }
