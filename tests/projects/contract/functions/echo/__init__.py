def main(msg: bytes) -> bytes:
    return msg
