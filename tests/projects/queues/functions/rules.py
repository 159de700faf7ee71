"""What the functions of this project do, whichever model declares them."""

import json
import logging
import threading
import typing

import azure.functions as func


def properties(msg: func.QueueMessage) -> str:
    return json.dumps(
        {
            "id": msg.id,
            "body": msg.get_body().decode("utf-8"),
            "expiration_time": msg.expiration_time.isoformat() if msg.expiration_time else None,
            "insertion_time": msg.insertion_time.isoformat() if msg.insertion_time else None,
            "time_next_visible": msg.time_next_visible.isoformat() if msg.time_next_visible else None,
            "pop_receipt": msg.pop_receipt,
            "dequeue_count": msg.dequeue_count,
        }
    )


def return_str(msg: str) -> str:
    return msg


def return_bytes(msg: func.QueueMessage) -> bytes:
    return msg.get_body()


def return_message(msg: func.QueueMessage) -> func.QueueMessage:
    return func.QueueMessage(body=msg.get_body())


def return_message_exact(msg: func.QueueMessage) -> func.QueueMessage:
    return func.QueueMessage(body=msg.get_body())


def set_str(msg: str, out: func.Out[str]) -> None:
    out.set(msg)


def set_bytes(msg: func.QueueMessage, out: func.Out[bytes]) -> None:
    out.set(msg.get_body())


def set_bytes_on_str(msg: func.QueueMessage, out: func.Out[str]) -> None:
    out.set(msg.get_body())


def set_message(msg: str, out: func.Out[func.QueueMessage]) -> None:
    out.set(func.QueueMessage(body=msg))


def set_texts(msg: str, out: func.Out[typing.List[str]]) -> None:
    out.set([f"{msg} one", f"{msg} two"])


def set_messages(msg: str, out: func.Out[typing.List[func.QueueMessage]]) -> None:
    out.set([func.QueueMessage(body=f"{msg} one"), func.QueueMessage(body=f"{msg} two")])


def set_untyped(msg, out) -> None:
    text = msg.get_body().decode()
    out.set([f"{text} one", f"{text} two"])


def set_twice(msg: str, out: func.Out[str]) -> None:
    out.set("first")
    out.set(f"last {msg}")


def json_body(msg: func.QueueMessage) -> str:
    return str(msg.get_json()["number"] + 1)


def untyped(msg) -> str:
    return type(msg).__name__


async def logs_awaited(msg: str, context: func.Context) -> str:
    logging.info("awaited %s", msg)
    return context.invocation_id


def logs_threaded(msg: str, context: func.Context) -> str:
    def in_a_thread_of_its_own() -> None:
        context.thread_local_storage.invocation_id = context.invocation_id
        logging.info("own thread %s", msg)

    logging.info("threaded %s", msg)
    thread = threading.Thread(target=in_a_thread_of_its_own)
    thread.start()
    thread.join()
    return context.invocation_id
