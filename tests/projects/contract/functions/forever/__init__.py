import asyncio


async def main(msg: str) -> None:
    try:
        await asyncio.Event().wait()
    except asyncio.CancelledError:
        if msg != "stubborn":
            raise
