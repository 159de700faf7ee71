"""The child process that runs Python functions: standard library only."""
