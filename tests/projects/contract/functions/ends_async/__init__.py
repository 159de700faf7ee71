import asyncio
import sys


async def main(msg: str):
    await asyncio.sleep(0)
    if msg == "error":
        raise ValueError("wrong colour")
    if msg == "exit":
        sys.exit(3)
    if msg == "interrupt":
        raise KeyboardInterrupt
    if msg == "generator exit":
        raise GeneratorExit
    if msg == "cancelled":
        raise asyncio.CancelledError
    if msg == "stop iteration":
        raise StopIteration
