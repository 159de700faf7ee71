"""Ending with the host, whatever user code does.

Owns asking the kernel for it. The thread that reads frames ends the process when the host is gone,
but a function in C code may hold the interpreter's lock for ever, and that thread then never runs.
"""

from __future__ import annotations

import fcntl
import os
import signal


def end_with(pipe: int) -> None:
    """Have the process's group killed when the last writer of the pipe is gone.

    Linux sends a signal of our choice to a group when a pipe that it watches closes; no code of
    ours has to run. Elsewhere, and when the group is not ours (that of a shell or of a test),
    nothing is done.
    """
    fcntl.fcntl(pipe, fcntl.F_SETFD, fcntl.FD_CLOEXEC)
    choose_signal = getattr(fcntl, "F_SETSIG", None)
    if choose_signal is None or os.getpgrp() != os.getpid():
        return
    fcntl.fcntl(pipe, fcntl.F_SETOWN, -os.getpgrp())
    fcntl.fcntl(pipe, choose_signal, signal.SIGKILL)
    fcntl.fcntl(pipe, fcntl.F_SETFL, fcntl.fcntl(pipe, fcntl.F_GETFL) | os.O_ASYNC)
