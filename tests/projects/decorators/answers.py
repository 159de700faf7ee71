"""What the functions of both scripts do; only the decorators differ."""

import json

import azure.functions as func


def seen(msg: func.QueueMessage) -> str:
    return json.dumps(
        {
            "body": msg.get_body().decode("utf-8"),
            "id": msg.id,
            "expiration_time": msg.expiration_time.isoformat(),
            "insertion_time": msg.insertion_time.isoformat(),
            "time_next_visible": msg.time_next_visible.isoformat(),
            "pop_receipt": msg.pop_receipt,
            "dequeue_count": msg.dequeue_count,
        }
    )
