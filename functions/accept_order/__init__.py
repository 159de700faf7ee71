"""An order comes in: write its receipt, and ask for its parcel to be shipped."""

import json
import logging

import azure.functions as func


def main(order: func.QueueMessage, parcel: func.Out[str]) -> str:
    """Return the receipt; the parcel goes to its own queue."""
    placed = order.get_json()
    logging.info("order %s over %s accepted", placed["id"], placed["total"])
    parcel.set(f"{placed['id']} to {placed['country']}")
    return f"receipt for order {placed['id']}: {json.dumps(placed['total'])}"
