"""Do the ranks see the same kind of data, at the same pace?"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping
from statistics import mean, median, pstdev
from typing import ClassVar

from debugtracer.checks.check import Check
from debugtracer.trace.facts.batches import BatchSeen
from debugtracer.trace.finding import Finding
from debugtracer.trace.place import Place
from debugtracer.trace.window import LOSS, STEP_S, WAIT_S, Window

PACE = {WAIT_S: "waits for its batches", STEP_S: "takes for a step"}


class RankSkew(Check, frozen=True):
    """One rank has another loss, other labels, longer samples or less speed than the rest.

    What it catches
        A bad shard, a sorted data set cut in pieces, a slow disk or host.
    Why it matters
        All wait for the slowest, and gradients of unlike data pull against each other.
    How it decides
        Against the median of the other ranks: mean loss of the last 100 steps more than 6 standard errors away and by
        half; label shares that differ by more than a half in sum over at least 200 labels; sequences twice as long;
        time per step or time of waiting above 1.2 times over 50 steps (and 5 ms). Labels that hardly overlap (0.9) are
        a warning, the rest are notes.
    What to do
        Shuffle before the data is divided; look at the host of the slow rank.
    Example
        step 400, rank 1: the mean loss of rank 1 over the last 100 steps is 2.4, of the other ranks 0.61; expected like
        losses. Look at the shard of rank 1.
    """

    needs: ClassVar[tuple[type[BatchSeen]]] = (BatchSeen,)
    kind: ClassVar[str] = "ddp_rank_skew"
    confidence: ClassVar[float] = 0.75
    remedies: ClassVar[tuple[str, ...]] = (
        "shuffle before the data is divided among the ranks",
        "compare hosts: disk, cores, clock of the device",
    )
    family: ClassVar[str] = "rank"
    proved_by: ClassVar[str] = "device/ddp_sorted_halves"

    last: int = 100  # steps of the loss (ours)
    errors: float = 6.0  # standard errors (ours)
    labels: int = 200  # labels seen before they are compared (ours)
    apart: float = 0.5  # total variation distance of label shares (ours)
    disjoint: float = 0.9  # distance from which the ranks hardly share a class: a warning (ours)
    finite_share: float = 0.9  # share of these steps that must have a finite loss (ours)
    slow: float = 1.2  # times the median (ours)
    pace_steps: int = 50  # steps (ours)
    least_s: float = 0.005  # seconds (ours)

    def judge_ranks(self, windows: Mapping[int, Window]) -> Iterator[Finding]:
        """Compare each rank with the others."""
        if not all(any(f.loader is not None for f in window.seen(BatchSeen)) for window in windows.values()):
            return  # ranks that do not train on batches of their own are not compared
        for rank, window in windows.items():
            others = [other for number, other in windows.items() if number != rank]
            yield from self.labels_of(rank, window, others)
            for said in (
                *self.loss(rank, window, others),
                *self.widths(rank, window, others),
                *self.pace(rank, window, others),
            ):
                yield self.finding(window, "note", said)

    def loss(self, rank: int, window: Window, others: list[Window]) -> Iterator[str]:
        """Yield a sentence if the mean loss of the rank is far from that of the others."""
        mine = finite(list(window.series.get(LOSS, ()))[-self.last :])
        theirs = [
            mean(values)
            for other in others
            if len(values := finite(list(other.series.get(LOSS, ()))[-self.last :])) >= self.finite_share * self.last
        ]
        if len(mine) < self.finite_share * self.last or not theirs:
            return
        here, there = mean(mine), median(theirs)
        if abs(here - there) > self.errors * pstdev(mine) / len(mine) ** 0.5 and abs(here - there) > 0.5 * abs(there):
            yield (
                f"the mean loss of rank {rank} over the last {len(mine)} steps is {here:.3g}, of the other ranks "
                f"{there:.3g}; "
                f"expected like losses. Look at the shard of rank {rank}."
            )

    def labels_of(self, rank: int, window: Window, others: list[Window]) -> Iterator[Finding]:
        """Yield a finding if the shares of the labels differ, placed at the loader, for that is what divides the
        data."""
        mine, theirs = shares([window]), shares(others)
        if min(mine.total(), theirs.total()) < self.labels:
            return
        distance = sum(abs(mine[k] / mine.total() - theirs[k] / theirs.total()) for k in mine | theirs) / 2
        first = window.seen(BatchSeen)[0]
        if distance > self.apart:
            yield self.finding(
                window,
                "warning" if distance > self.disjoint else "note",
                f"the labels of rank {rank} differ from those of the other ranks (shares {100 * distance:.0f} % apart "
                f"over {mine.total()} labels); "
                "expected the same classes on all. Shuffle before the data is divided.",
                ref=first.ref,
                place=Place(frame=first.frame),
                distance=distance,
            )

    def widths(self, rank: int, window: Window, others: list[Window]) -> Iterator[str]:
        """Yield a sentence if the rank has longer sequences than the others."""
        here, there = lengths([window]), lengths(others)
        if here and there and mean(here) > 2 * mean(there):
            yield (
                f"sequences of rank {rank} are {mean(here):.0f} long, of the other ranks {mean(there):.0f}; expected "
                "like lengths. Shuffle before dividing."
            )

    def pace(self, rank: int, window: Window, others: list[Window]) -> Iterator[str]:
        """Yield a sentence for each of step time and waiting time in which the rank is slower."""
        for name, word in PACE.items():
            mine = list(window.series.get(name, ()))[-self.pace_steps :]
            theirs = [
                median(values) for other in others if (values := list(other.series.get(name, ()))[-self.pace_steps :])
            ]
            if len(mine) < self.pace_steps or not theirs:
                continue
            here, there = median(mine), median(theirs)
            if here > self.slow * there and here - there > self.least_s:
                yield (
                    f"rank {rank} {word} {here:.3g} s, the others {there:.3g} s (medians of {len(mine)} steps); "
                    "expected an equal pace. Look at its host."
                )


def shares(windows: list[Window]) -> Counter[int]:
    """Count the labels seen in these windows."""
    counts: Counter[int] = Counter()
    for window in windows:
        for fact in window.seen(BatchSeen):
            counts.update(dict(fact.labels))
    return counts


def lengths(windows: list[Window]) -> list[int]:
    """The padded lengths seen in these windows."""
    return [fact.width for window in windows for fact in window.seen(BatchSeen) if fact.width is not None]


def finite(values: list[float]) -> list[float]:
    """Leave out the losses that are NaN or infinite: other checks tell them, and they have no mean."""
    return [value for value in values if math.isfinite(value)]
