"""From a received message to what a function is given of it.

Owns the decoding by the function's own encoding, and the words for a text that cannot be decoded.
"""

from __future__ import annotations

from qtrigger.invocation import TriggerMessage
from qtrigger.project.model import FunctionDefinition
from qtrigger.queues.client import QueueMessage
from qtrigger.queues.encoding import BodyUndecodable, decode


def trigger_message(function: FunctionDefinition, message: QueueMessage) -> TriggerMessage:
    """Return what the function sees. Raises BodyUndecodable."""
    return TriggerMessage(
        id=message.id,
        body=decode(message.text, function.options.message_encoding),
        dequeue_count=message.dequeue_count,
        inserted=message.inserted,
        expires=message.expires,
        next_visible=message.next_visible,
        pop_receipt=message.pop_receipt,
    )


def undecodable_text(function: FunctionDefinition, error: BodyUndecodable) -> str:
    """Say why a text could not be decoded, and which setting takes it where one does."""
    cure = f"; qtrigger.functions.{function.name}.messageEncoding auto takes it beside base64"
    encoding = function.options.message_encoding
    return f"messageEncoding is {encoding}, but {error}{cure if error.plain else ''}"
