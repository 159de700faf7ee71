def main(msg: str, context):
    refused = []
    for body in ("one", b"\x00two", 3, "x" * 49153, "\ud800"):
        try:
            context.checkpoint(body)
        except ValueError as error:
            refused.append(str(error))
    return refused
