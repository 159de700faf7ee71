"""What could not be shipped ends in the poison queue, and from there on a person's desk."""

import logging


def main(parcel: bytes) -> None:
    """Hand it to a person."""
    logging.warning("needs a person: parcel %s", parcel.decode())
