"""Book a receipt. Asynchronous functions run on the worker's own event loop."""

import asyncio
import logging


async def main(receipt: str) -> None:
    """Pretend to wait for the ledger."""
    await asyncio.sleep(0.01)
    logging.info("booked: %s", receipt)
