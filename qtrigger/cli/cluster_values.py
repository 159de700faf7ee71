"""What `qtrigger kubernetes` takes as values: names, an image, accounts.

Owns what a cluster or a storage account can be called, and how a refused value is worded. What
becomes of a value is the verb's.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final

import click

if TYPE_CHECKING:
    from qtrigger.manifests.plan import Place

# Room for what Kubernetes and KEDA put before and behind a name of at most 63 characters.
LONGEST_NAME: Final = 45
_NAME: Final = re.compile(r"[a-z0-9](?:[a-z0-9-]*[a-z0-9])?")
_IMAGE: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._/:@-]*")


class Name(click.ParamType[str]):
    """What Kubernetes takes as a name."""

    name = "name"
    longest = LONGEST_NAME

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """See click."""
        text = str(value)
        if not _NAME.fullmatch(text) or len(text) > self.longest:
            rule = f"1 to {self.longest} small letters, digits and hyphens between them"
            self.fail(f"{text!r} is no name here: {rule}", param, ctx)
        return text


class Namespace(Name):
    """What Kubernetes takes as a namespace, which nothing is put before or behind."""

    longest = 63


class Image(click.ParamType[str]):
    """A reference of an image."""

    name = "image"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """See click."""
        if not _IMAGE.fullmatch(str(value)):
            self.fail(f"{value!r} is no image, such as registry.example/orders:1", param, ctx)
        return str(value)


class AccountPlace(click.ParamType[tuple[str, "Place"]]):
    """A storage account, for one connection or for all."""

    name = "account"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> tuple[str, Place]:
        """See click."""
        from qtrigger.manifests.planning import place_of

        connection, _, account = str(value).rpartition("=")
        place = place_of(account)
        if place is None:
            self.fail(
                f"{account!r} is no storage account: 3 to 24 small letters and digits, or the host "
                "of its queue service",
                param,
                ctx,
            )
        return connection, place
