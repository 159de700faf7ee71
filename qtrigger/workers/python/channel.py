"""The child's end of the socket.

Owns both directions: a thread reads frames, whoever has something to say writes as much as the
socket takes at once, and a second thread writes the rest. The threads keep working while user
code blocks the event loop, so that the end of the host, a time-out question and other functions'
results never wait for it. Of what the frames mean it knows one thing: that runs which have
succeeded, with nothing to write, go as one frame.
"""

from __future__ import annotations

import socket
import threading
import traceback
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from .wire import Frame, Parser, WireError, encode

READ_SIZE = 256 * 1024
LOG_LIMIT = 4 * 1024 * 1024


class Channel:
    """Sends frames from any thread, and hands the received ones on, a list at a time."""

    def __init__(self, connection: socket.socket) -> None:
        self._socket = connection
        self._changed = threading.Condition()
        self._unsent: list[bytes] = []
        self._successes: list[tuple[int, int]] = []
        self._size = 0  # bytes not yet taken by the socket, those being written included
        self._writing = False
        self._open = True
        self._on_end: Callable[[str], None] | None = None

    def start(
        self, on_frames: Callable[[Sequence[Frame]], None], on_end: Callable[[str], None]
    ) -> None:
        """Begin to read and write.

        `on_end` is called once: with "" when the host is gone, else with what broke, in words.
        It is expected to end the process.
        """
        self._on_end = on_end
        read = threading.Thread(
            target=self._read, args=(on_frames,), name="qtrigger-read", daemon=True
        )
        write = threading.Thread(target=self._write, name="qtrigger-write", daemon=True)
        read.start()
        write.start()

    def put(self, header: Mapping[str, Any], blob: bytes = b"") -> None:
        """Take a frame for the next `flush`; never waits. Raises WireError when too large."""
        frame = encode(header, blob)
        with self._changed:
            if self._open:
                self._unsent.append(frame)
                self._size += len(frame)

    def put_success(self, number: int, took_us: int) -> None:
        """Take a run that has succeeded, after so many microseconds, for the next `flush`."""
        with self._changed:
            if self._open:
                self._successes.append((number, took_us))

    def send(self, header: Mapping[str, Any], blob: bytes = b"") -> None:
        """`put` and `flush`."""
        self.put(header, blob)
        self.flush()

    def send_log(self, header: Mapping[str, Any]) -> None:
        """Send a frame that may wait: the calling thread is held while too much is unsent."""
        self.send(header)
        with self._changed:
            while self._size > LOG_LIMIT and self._open:
                self._changed.wait(1.0)

    def flush(self) -> None:
        """Write what the socket takes now; the writing thread gets the rest."""
        with self._changed:
            if self._writing or not (self._unsent or self._successes):
                return
            data = self._take()
            try:
                sent = self._socket.send(data, socket.MSG_DONTWAIT)
            except BlockingIOError:
                sent = 0
            except OSError as error:
                self._fail(error)
                return
            self._size -= sent
            if sent < len(data):
                self._unsent.insert(0, data[sent:])
                self._writing = True
                self._changed.notify_all()

    def drain(self, timeout_s: float) -> bool:
        """Wait until all is written, at most `timeout_s` seconds; says whether it is."""
        self.flush()
        with self._changed:
            return self._changed.wait_for(lambda: self._is_drained() or not self._open, timeout_s)

    def abandon(self) -> None:
        """Let go of the socket in a forked process: two writers would garble the frames."""
        self._open = False
        self._changed = threading.Condition()
        self._unsent, self._successes = [], []
        self._socket.close()

    def _is_drained(self) -> bool:
        return not (self._size or self._successes)

    def _take(self) -> bytes:
        # Swapped before joining: a destructor that prints may add to the lists in between.
        taken, self._unsent = self._unsent, []
        successes, self._successes = self._successes, []
        if successes:  # behind the lines of these runs
            frame = encode({"t": "succeeded", "runs": successes})
            self._size += len(frame)
            taken.append(frame)
        return b"".join(taken)

    def _write(self) -> None:
        while True:
            with self._changed:
                self._changed.wait_for(lambda: self._writing)
                data = self._take()
                if not data:
                    self._writing = False
                    continue
            try:
                self._socket.sendall(data)
            except OSError as error:
                with self._changed:
                    self._fail(error)
                return
            with self._changed:
                self._size -= len(data)
                self._changed.notify_all()

    def _read(self, on_frames: Callable[[Sequence[Frame]], None]) -> None:
        parser = Parser()
        try:
            while data := self._socket.recv(READ_SIZE):
                frames = parser.feed(data)
                if frames:
                    on_frames(frames)
            self._end("")
        except (OSError, WireError) as error:
            self._fail(error)
        except Exception:  # noqa: BLE001 - a worker that no longer listens must not live on
            self._end(traceback.format_exc())

    def _fail(self, error: Exception) -> None:
        gone = isinstance(error, ConnectionError)
        self._end("" if gone else f"the connection to qtrigger broke: {error}")

    def _end(self, broken: str) -> None:
        if self._open and self._on_end is not None:
            self._open = False
            self._on_end(broken)
