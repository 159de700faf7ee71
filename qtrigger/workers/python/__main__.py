"""Entry of a worker process: `python __main__.py SOCKET PIPE`, two file descriptors.

Owns only the bootstrap: it loads the folder it lies in under a name that no project uses, and
takes that folder off the search path, so that a user's `import loader` never finds ours. Its
syntax stays readable for any Python 3, so that an old one gets a message and not a SyntaxError.
"""

import importlib.machinery
import importlib.util
import os
import sys

PACKAGE = "_qtrigger_child"


def _load_package(folder: str) -> None:
    sys.path[:] = [entry for entry in sys.path if os.path.realpath(entry) != folder]
    file = folder + "/__init__.py"
    loader = importlib.machinery.SourceFileLoader(PACKAGE, file)
    spec = importlib.util.spec_from_file_location(
        PACKAGE, file, loader=loader, submodule_search_locations=[folder]
    )
    assert spec is not None
    sys.modules[PACKAGE] = module = importlib.util.module_from_spec(spec)
    loader.exec_module(module)


def _main() -> int:
    if sys.version_info < (3, 9):  # noqa: UP036 - the project's interpreter may be any
        sys.exit("qtrigger needs Python 3.9 or newer to run functions; this is " + sys.version)
    _load_package(os.path.realpath(__file__).rpartition("/")[0])
    child = importlib.import_module(PACKAGE + ".child")
    pipe = int(sys.argv.pop())
    code: int = child.run(int(sys.argv.pop()), pipe)
    return code


if __name__ == "__main__":
    sys.exit(_main())
