"""Is the logged loss that of all ranks?"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterator, Mapping
from statistics import mean, pstdev
from typing import ClassVar

from debugtracer.checks.check import Check
from debugtracer.trace.facts.logged import Logged
from debugtracer.trace.facts.replicas import Replica
from debugtracer.trace.file_line import spot
from debugtracer.trace.finding import Finding
from debugtracer.trace.number import as_float
from debugtracer.trace.place import Place
from debugtracer.trace.window import LOSS, Window


class Rank0Only(Check, frozen=True):
    """One rank logs its own loss as that of the run, and the other ranks have another one.

    What it catches
        `if rank == 0: log(loss.item())` without a reduction, where the ranks do not see the same kind of data.
    Why it matters
        The curve is that of one part of the data; the rest may not learn at all.
    How it decides
        After the run. Replicas of one model train together; a name that only one rank logs is that rank's own loss (to
        6 digits) in 9 of 10 values; and over the last steps that loss differs from the mean of all ranks by more than
        `errors` standard errors and `share` of that mean. Losses that differ by chance alone are silent. Always a note.
    What to do
        Reduce before the log: all_reduce and divide by the number of ranks.
    Example
        step 79, rank 0: train/loss (train.py:39) is the loss of rank 0 alone: 0.0415 on average over 80 steps, of all
        ranks 1.1; expected their mean. all_reduce it before the log.
    """

    needs: ClassVar[tuple[type[Logged] | type[Replica], ...]] = (Logged, Replica)
    remedies: ClassVar[tuple[str, ...]] = (
        "shown = loss.detach().clone(); dist.all_reduce(shown); shown /= dist.get_world_size()",
    )
    family: ClassVar[str] = "rank"
    proved_by: ClassVar[str] = "logging/quiet_station"

    logs: int = 8  # logged values of the name (ours)
    equal: float = 0.9  # share of them that is the rank's own loss (ours)
    steps: int = 20  # fewest losses compared (ours)
    last: int = 100  # losses compared (those of rank-skew)
    errors: float = 6.0  # standard errors (that of rank-skew)
    share: float = 0.1  # of the mean over the ranks (ours)

    def judge_ranks(self, windows: Mapping[int, Window]) -> Iterator[Finding]:
        """Compare each logged name of each rank with the mean loss."""
        if len(windows) < 2 or not all(window.seen(Replica) for window in windows.values()):
            return
        names = {rank: logged(window) for rank, window in windows.items()}
        for rank, mine in names.items():
            elsewhere = {name for other, theirs in names.items() if other != rank for name in theirs}
            for name, facts in mine.items():
                if name not in elsewhere and self.is_own(facts):
                    yield from self.compared(rank, windows, facts[-1])

    def is_own(self, facts: list[Logged]) -> bool:
        """True if the logged values are losses of this rank."""
        ratios = [as_float(fact.ratio) for fact in facts if fact.ratio is not None]
        return len(ratios) >= self.logs and sum(abs(ratio - 1) < 1e-6 for ratio in ratios) >= self.equal * len(ratios)

    def compared(self, rank: int, windows: Mapping[int, Window], fact: Logged) -> Iterator[Finding]:
        """Compare a rank's logged loss with the mean of all."""
        losses = {number: list(window.series.get(LOSS, ()))[-self.last :] for number, window in windows.items()}
        count = min(map(len, losses.values()))
        if count < self.steps:
            return
        number = list(losses).index(rank)
        steps = [
            step
            for step in zip(*(values[-count:] for values in losses.values()), strict=True)
            if all(map(math.isfinite, step))
        ]
        count = len(steps)
        if count < self.steps:
            return
        own, whole = [step[number] for step in steps], [mean(step) for step in steps]
        apart = [a - b for a, b in zip(own, whole, strict=True)]
        here, there, off = mean(own), mean(whole), mean(apart)
        if abs(off) > self.errors * pstdev(apart) / count**0.5 and abs(off) > self.share * abs(there):
            yield self.finding(
                windows[rank],
                "note",
                f"{fact.name}{spot(fact.frame)} is the loss of rank {rank} alone: {here:.3g} on average over {count} "
                f"steps, of all ranks {there:.3g}; "
                "expected their mean. all_reduce it before the log.",
                ref=fact.ref,
                place=Place(frame=fact.frame),
                own=here,
                mean=there,
            )


def logged(window: Window) -> dict[str, list[Logged]]:
    """Group the logged values by name."""
    named: dict[str, list[Logged]] = defaultdict(list)
    for fact in window.seen(Logged):
        named[fact.name].append(fact)
    return named
