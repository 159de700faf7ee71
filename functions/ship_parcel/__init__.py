"""Ship a parcel. A country that nobody delivers to fails, five times, and goes to poison."""

import logging

import azure.functions as func

DELIVERED_TO = {"DE", "FR", "NL", "US"}


def main(parcel: str, context: func.Context) -> None:
    """Raise for a country that is not on the list."""
    country = parcel.rsplit(" ", 1)[-1]
    if country not in DELIVERED_TO:
        message = f"nobody delivers to {country!r}"
        raise ValueError(message)
    logging.info("shipped %s (invocation %s)", parcel, context.invocation_id)
