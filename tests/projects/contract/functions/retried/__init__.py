import json


def main(msg: str, context) -> str:
    retry = context.retry_context
    error = retry.exception
    seen = [retry.retry_count, retry.max_retry_count, error and error.message]
    return "seen " + json.dumps(seen)
