import asyncio
import sys


class Unprintable(Exception):
    def __str__(self):
        raise RuntimeError("no text")


class Later(Exception):
    __qtrigger__ = "later"

    def __init__(self, delay):
        super().__init__(delay)
        self.delay = delay


class Reject(Exception):
    __qtrigger__ = "reject"

    def __init__(self, reason):
        super().__init__(reason)
        self.reason = reason


class Unfit(Reject):
    pass


def deeper():
    raise ValueError("wrong colour")


def main(msg: str):
    if msg == "error":
        deeper()
    elif msg == "exit":
        sys.exit(3)
    elif msg == "interrupt":
        raise KeyboardInterrupt
    elif msg == "generator exit":
        raise GeneratorExit
    elif msg == "cancelled":
        raise asyncio.CancelledError
    elif msg == "stop iteration":
        raise StopIteration
    elif msg == "unprintable":
        raise Unprintable
    elif msg == "later":
        raise Later(90)
    elif msg == "never":
        raise Later(float("inf"))
    elif msg == "reject":
        raise Unfit("no such order")
    elif msg == "generator":
        return (number for number in "ab")
    elif msg == "coroutine":
        return asyncio.sleep(0)
    elif msg == "value":
        return "dropped"
