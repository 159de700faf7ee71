"""The command line: arguments, output, exit codes; where real parts are put together."""
