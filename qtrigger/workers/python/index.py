"""What a script with decorators declares, in the words of function.json.

Owns the report that the host reads functions from. A function that cannot be described has a
`fault`; the others are reported all the same. Sends nothing.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from .apps import AppError, Apps
from .failures import Describer, code_of

_RETRY = {
    "strategy": "strategy",
    "max_retry_count": "maxRetryCount",
    "delay_interval": "delayInterval",
    "minimum_interval": "minimumInterval",
    "maximum_interval": "maximumInterval",
}
_STRATEGIES = {"fixed_delay": "fixedDelay", "exponential_backoff": "exponentialBackoff"}
_CASELESS = ("direction", "dataType")


def index(apps: Apps, script: str, describer: Describer) -> dict[str, Any]:
    """The functions of the script, or the `failure` that stands for all of them."""
    try:
        functions = [_described(function, script) for function in apps.functions(script)]
    except BaseException as error:  # noqa: BLE001 - a module may raise anything, sys.exit too
        return {"functions": [], "failure": app_failure(error, script, describer)}
    return {"functions": functions, "failure": None}


def app_failure(error: BaseException, script: str, describer: Describer) -> dict[str, str]:
    """Why no function of the script can be used."""
    failure = describer.failure(error)
    if isinstance(error, AppError):
        at_function = describer.defined_at(error.function) if error.function else ""
        failure["place"] = at_function or f"{Path(script).name}:{error.line}"
    return failure


def _described(function: Any, script: str) -> dict[str, Any]:
    code = function.get_user_function()
    file, line = place_of(code, script)
    described = {
        "name": str(function.get_function_name()),
        "entry": str(getattr(code, "__name__", "")),
        "file": file,
        "line": line,
        "bindings": [],
        "retry": None,
        "fault": "",
    }
    try:
        described["bindings"] = [_binding(text) for text in function.get_raw_bindings()]
        described["retry"] = _retry(function)
    except Exception as error:  # noqa: BLE001 - values of the user's may raise anything
        described["fault"] = f"its decorators cannot be read: {type(error).__name__}: {error}"
    return described


def place_of(code: Callable[..., Any], script: str) -> tuple[str, int]:
    """File and line of a user's function, below whatever is wrapped around it.

    The line is that of its first decorator, where there is one.
    """
    found = code_of(code)
    return (found.co_filename, found.co_firstlineno) if found is not None else (script, 1)


def _binding(text: str) -> dict[str, Any]:
    binding: dict[str, Any] = json.loads(text)
    for key in _CASELESS:
        if isinstance(binding.get(key), str):
            binding[key] = binding[key].lower()
    if binding.get("dataType") == "undefined":
        del binding["dataType"]
    return binding


def _retry(function: Any) -> dict[str, Any] | None:
    """The retry policy; None where there is none, or where the library is too old for one."""
    if not hasattr(function, "get_settings_dict"):
        return None
    given = function.get_settings_dict("retry_policy")
    if not given:
        return None
    policy = {key: given[word] for word, key in _RETRY.items() if given.get(word) is not None}
    strategy = policy.get("strategy")
    if isinstance(strategy, str):
        policy["strategy"] = _STRATEGIES.get(strategy.lower(), strategy)
    # The decorator is documented with texts, as in max_retry_count="3".
    count = policy.get("maxRetryCount")
    if isinstance(count, str) and count.strip().lstrip("-").isdecimal():
        policy["maxRetryCount"] = int(count)
    json.dumps(policy)  # a value that is none of JSON's is refused here, and not on the wire
    return policy
