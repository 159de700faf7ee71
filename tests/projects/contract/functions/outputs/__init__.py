import typing

import azure.functions as func


def main(
    msg: str,
    first: func.Out[str],
    second: func.Out[typing.List[str]],
    third: func.Out[bytes],
) -> None:
    first.set("overwritten")
    first.set(f"{first.get()} by {msg}")
    second.set(["one", "two"])
