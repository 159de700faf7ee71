"""Imports the functions' code in a worker, as a host does, to find what does not load.

Owns turning the worker's answer into findings. The worker is ended before they are told.
"""

from __future__ import annotations

from qtrigger.assembly import function_spec
from qtrigger.cli.projects import ImportNotes, LoadedProject, problem_of, problem_of_start
from qtrigger.clock import Clock
from qtrigger.errors import WorkerStartError
from qtrigger.project.model import Problem


async def load_failures(loaded: LoadedProject, clock: Clock) -> list[Problem]:
    """What a host would say of the functions that it would run, but cannot load."""
    project = loaded.project
    functions = {each.name: each for each in project.functions if not each.disabled}
    if not functions:
        return []
    pool, interpreter = loaded.open_workers(1, clock, ImportNotes())
    try:
        started = await pool.start([function_spec(each) for each in functions.values()])
    except WorkerStartError as error:
        return [problem_of_start(error, interpreter)]
    finally:
        await pool.stop(0.0)
    return [
        problem_of(failure, project.root, functions[name].script_file, name)
        for name, failure in started.failures.items()
    ]
