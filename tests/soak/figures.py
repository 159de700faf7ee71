"""What a soak has measured: the samples, the rule by which they are flat, the table.

The rule: a straight line is laid through all samples from the first fifth of the messages on. No
process may have grown along it by `GROWTH_MB` or more until the end, and none may have opened
more than `MORE_FILES` files or threads beyond what it had after the first fifth. Sockets come and
go with what is in flight, and may be `MOST_SOCKETS` at any time: what the pools of connections of
two generations hold at most, and room for the rest.
"""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from dataclasses import dataclass, field

from qtrigger.queues.transport import MAX_CONNECTIONS

SETTLED = 0.2
GROWTH_MB = 5.0
MORE_FILES = 4
MOST_SOCKETS = 2 * MAX_CONNECTIONS + 16
SHOWN = (0.1, 0.2, 0.5, 1.0)
_NEAR = 0.03


@dataclass(frozen=True, slots=True)
class Sample:
    """One look at one process, after so many messages."""

    messages: int
    rss_mb: float
    files: int
    sockets: int
    threads: int


@dataclass(slots=True)
class Track:
    """The samples of one process, or of the succession of processes in one role."""

    total: int
    samples: list[Sample] = field(default_factory=list)

    @property
    def per_message_mb(self) -> float:
        """The slope of the line; 0 while there are too few samples for one."""
        settled = self._settled()
        if len({sample.messages for sample in settled}) < 2:
            return 0.0
        return statistics.linear_regression(
            [sample.messages for sample in settled], [sample.rss_mb for sample in settled]
        ).slope

    @property
    def growth_mb(self) -> float:
        """By how much it grew from the first fifth of the messages to the last, by the line."""
        return self.per_message_mb * self.total * (1 - SETTLED)

    @property
    def more_files(self) -> int:
        """How many files or threads more it had at the end than after the first fifth."""
        settled = self._settled()
        tenth = max(len(settled) // 10, 1)
        early, late = settled[:tenth], settled[-tenth:]
        return max(
            min(s.files for s in late) - max(s.files for s in early),
            min(s.threads for s in late) - max(s.threads for s in early),
        )

    @property
    def flat(self) -> bool:
        """Whether it keeps the rule; without samples there is nothing to say that it does."""
        return (
            bool(self._settled())
            and self.growth_mb < GROWTH_MB
            and self.more_files <= MORE_FILES
            and max(sample.sockets for sample in self.samples) <= MOST_SOCKETS
        )

    def near(self, share: float) -> Sample:
        """What it stood at when that share of the messages was done: the median around there."""
        at = share * self.total
        around = [s for s in self.samples if abs(s.messages - at) <= _NEAR * self.total]
        around = around or [min(self.samples, key=lambda s: abs(s.messages - at))]
        return Sample(
            messages=round(at),
            rss_mb=statistics.median(s.rss_mb for s in around),
            files=round(statistics.median(s.files for s in around)),
            sockets=round(statistics.median(s.sockets for s in around)),
            threads=round(statistics.median(s.threads for s in around)),
        )

    def _settled(self) -> Sequence[Sample]:
        return [s for s in self.samples if s.messages >= SETTLED * self.total]


def table(tracks: dict[str, Track]) -> list[str]:
    """The figures as a person reads them."""
    shares = "".join(f"{f'at {share:.0%}':>11}" for share in SHOWN)
    lines = [f"{'memory (RSS)':<14}{shares}{'per 100,000':>14}{'from 20% on':>14}"]
    seen = {name: track for name, track in tracks.items() if track.samples}
    for name, track in seen.items():
        cells = "".join(f"{track.near(share).rss_mb:>8.1f} MB" for share in SHOWN)
        slope, growth = track.per_message_mb * 100_000, track.growth_mb
        lines.append(f"{name:<14}{cells}{slope:>+11.2f} MB{growth:>+11.2f} MB")
    for what in ("files", "sockets", "threads"):
        lines.append(f"open {what}" if what != "threads" else what)
        for name, track in seen.items():
            cells = "".join(f"{getattr(track.near(share), what):>11}" for share in SHOWN)
            lines.append(f"{name:<14}{cells}")
    return lines
