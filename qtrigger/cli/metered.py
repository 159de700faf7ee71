"""Puts together what a host measures of itself; imported cheaply, for most starts have none."""

from __future__ import annotations

from typing import TYPE_CHECKING

from qtrigger import __version__
from qtrigger.cli.starting import HostStarter
from qtrigger.clock import Clock
from qtrigger.standing import Standing

if TYPE_CHECKING:
    from qtrigger.measuring import Measuring


def measuring_of(starter: HostStarter, standing: Standing, clock: Clock) -> Measuring:
    """The metrics of a process of `qtrigger start`; its `meters` must hear all events."""
    from qtrigger.measuring import Measuring

    return Measuring(
        document=lambda: standing.document(queues=False),
        traffic=starter.traffic,
        requests=starter.requests,
        spending=starter.spending,
        version=__version__,
        clock=clock,
    )
