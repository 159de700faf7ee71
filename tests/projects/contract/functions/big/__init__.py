def main(msg: str):
    return ["x" * 50_000] * int(msg)
