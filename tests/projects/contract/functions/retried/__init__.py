import json


def main(msg: str, context) -> str:
    retry = context.retry_context
    seen = [retry.retry_count, retry.max_retry_count, bool(retry.exception)]
    return "seen " + json.dumps([*seen, retry.exception.message, str(retry.rpc_exception)])
