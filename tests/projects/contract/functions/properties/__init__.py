import json


def main(msg, context) -> bytes:
    return json.dumps(
        {
            "id": msg.id,
            "body": msg.get_body().decode(),
            "dequeue_count": msg.dequeue_count,
            "insertion_time": msg.insertion_time.isoformat(),
            "expiration_time": msg.expiration_time.isoformat(),
            "time_next_visible": msg.time_next_visible.isoformat(),
            "pop_receipt": msg.pop_receipt,
            "invocation_id": context.invocation_id,
            "function_name": context.function_name,
            "function_directory": context.function_directory,
            "max_dequeue_count": [context.max_dequeue_count, msg.max_dequeue_count],
            "trace": [
                context.trace_context.trace_parent,
                context.trace_context.trace_state,
                context.trace_context.attributes,
                context.trace_context.Traceparent,
                context.trace_context.Tracestate,
                context.trace_context.Attributes,
            ],
            "retry": [
                context.retry_context.retry_count,
                context.retry_context.max_retry_count,
                context.retry_context.exception,
                context.retry_context.rpc_exception,
            ],
            "thread_invocation_id": context.thread_local_storage.invocation_id,
        }
    ).encode()
