"""The child process that runs Python functions: standard library only, Python 3.9 and newer.

It may run under the project's own interpreter, where qtrigger is not installed. There `__main__`
loads this folder as the package `_qtrigger_child`, so modules here import each other relatively
and nothing else of qtrigger. The host imports `wire` from here, so that both ends share one codec.
"""
