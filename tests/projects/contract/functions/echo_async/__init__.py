import asyncio


async def main(msg: str) -> str:
    await asyncio.sleep(0)
    return msg
