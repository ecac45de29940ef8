"""Do the batch norms of all ranks see like data?"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping
from statistics import mean, median, stdev
from typing import ClassVar

from debugtracer.checks.check import Check
from debugtracer.trace.facts.batches import BatchSeen
from debugtracer.trace.facts.norm_statistics import LayerStatistics, NormStatistics
from debugtracer.trace.finding import Finding
from debugtracer.trace.place import Place
from debugtracer.trace.window import Window

Pair = tuple[NormStatistics, NormStatistics]
TINY = 1e-12  # where nothing varies at all


class BatchNormSkew(Check, frozen=True):
    """Batch norms of the ranks keep statistics of unlike data.

    What it catches
        Shards that come from different sources (sites, cameras, speakers) under DistributedDataParallel with plain
        batch norm.
    Why it matters
        In training each rank normalises with its own batch, in evaluation all use the running statistics of one rank:
        those of rank 0, which DistributedDataParallel copies to the others before each forward. They fit no other
        rank's data, and the accuracy falls once the model is in eval().
    How it decides
        The running means of two ranks after the forward of the same inspected steps. Under broadcast_buffers=True they
        differ by momentum times the difference of the two batches, which is divided out. A warning when, averaged over
        at least 3 steps, the median channel of a layer differs by more than one standard deviation of that channel and
        by more than 6 standard errors over these steps; two batches of the same data differ by about sqrt(2 / values
        per channel).
    What to do
        Shuffle before the data is divided; or make the statistics those of all ranks with SyncBatchNorm; or use
        GroupNorm, which keeps none.
    Example
        step 0, rank 1: 1 (BatchNorm1d) sees data on rank 1 whose mean is 1.6 standard deviations from that on rank 0
        (median of 32 channels, 3 steps); expected like data on all ranks, for evaluation uses the running statistics of
        rank 0 alone. Use torch.nn.SyncBatchNorm.convert_sync_batchnorm(model) or GroupNorm, or shuffle before the data
        is divided.
    """

    needs: ClassVar[tuple[type[NormStatistics]]] = (NormStatistics,)
    kind: ClassVar[str] = "ddp_rank_skew"
    confidence: ClassVar[float] = 0.75
    remedies: ClassVar[tuple[str, ...]] = (
        "shuffle before the data is divided among the ranks",
        (
            "model = torch.nn.SyncBatchNorm.convert_sync_batchnorm(model) before DistributedDataParallel, or GroupNorm "
            "in its place"
        ),
    )
    proved_by: ClassVar[str] = "device/ddp_two_sites"

    apart: float = 1.0  # standard deviations of a channel (ours)
    errors: float = 6.0  # standard errors over the steps (ours)
    steps: int = 3  # inspected steps averaged (ours: the first three of a run are)

    def judge_ranks(self, windows: Mapping[int, Window]) -> Iterator[Finding]:
        """Compare each rank with the lowest; yield at the first layer that differs."""
        first = min(windows)
        for rank in sorted(windows)[1:]:
            pairs = both(windows[first], windows[rank], first, rank)
            if len(pairs) < self.steps:
                continue
            for number, layer in enumerate(pairs[0][0].layers):
                distance, errors = apart(
                    [(a.layers[number], b.layers[number]) for a, b in pairs], pairs[0][0].broadcast
                )
                if distance > self.apart and errors > self.errors:
                    yield self.describe(windows[rank], first, pairs, layer, distance)
                    return

    def describe(
        self, window: Window, first: int, pairs: list[Pair], layer: LayerStatistics, distance: float
    ) -> Finding:
        """Build the finding, placed at the loader, for that is what divides the data."""
        loader = next(iter(window.seen(BatchSeen)), None)
        kept = (
            f"evaluation uses the running statistics of rank {first} alone"
            if pairs[0][0].broadcast
            else "each rank keeps running statistics of its own"
        )
        return self.finding(
            window,
            "warning",
            f"{layer.name or 'the model'} ({layer.kind}) sees data on rank {window.ref.rank} "
            f"whose mean is {distance:.2g} standard deviations from that "
            f"on rank {first} (median of {len(layer.mean)} channels, {len(pairs)} "
            f"steps); expected like data on all ranks, for {kept}. "
            "Use torch.nn.SyncBatchNorm.convert_sync_batchnorm(model) or GroupNorm, or "
            "shuffle before the data is divided.",
            ref=pairs[0][1].ref,
            place=Place(module=layer.name, frame=loader.frame if loader is not None else None),
            distance=distance,
        )


def both(left: Window, right: Window, a: int, b: int) -> list[Pair]:
    """What both ranks wrote down of the same step and the same layers, oldest first."""
    theirs = {fact.ref.step: fact for fact in right.seen(NormStatistics)}
    pairs = [(fact, theirs[fact.ref.step]) for fact in left.seen(NormStatistics) if fact.ref.step in theirs]
    return [
        (x, y) for x, y in pairs if {a, b} <= set(x.group) & set(y.group) and names(x) == names(y) == names(pairs[0][0])
    ]


def names(fact: NormStatistics) -> list[str]:
    """The layers with statistics."""
    return [layer.name for layer in fact.layers]


def apart(pairs: list[tuple[LayerStatistics, LayerStatistics]], broadcast: bool) -> tuple[float, float]:
    """The mean difference of the means, in standard deviations of the channel and in standard errors, medians of
    channels."""
    gaps = [
        [(x.mean[c] - y.mean[c]) / (x.momentum if broadcast else 1.0) for x, y in pairs]
        for c in range(len(pairs[0][0].mean))
    ]
    widths = [mean((x.var[c] + y.var[c]) / 2 for x, y in pairs) ** 0.5 for c in range(len(gaps))]
    if not gaps or not all(map(math.isfinite, itertools.chain(*gaps, widths))):
        return 0.0, 0.0
    distances = [abs(mean(gap)) / max(width, TINY) for gap, width in zip(gaps, widths, strict=True)]
    errors = [abs(mean(gap)) / max(stdev(gap) / len(gap) ** 0.5, TINY) for gap in gaps]
    return median(distances), median(errors)
