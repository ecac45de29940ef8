"""Do the ranks of a data-parallel run train on different samples?"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import combinations
from typing import ClassVar

from debugtracer.checks.check import Check
from debugtracer.trace.facts.batches import BatchSeen
from debugtracer.trace.facts.data_group import BY_HAND, DataGroup
from debugtracer.trace.facts.fact import Fact
from debugtracer.trace.facts.replicas import Replica
from debugtracer.trace.finding import Finding
from debugtracer.trace.place import Place
from debugtracer.trace.window import Window

Pair = tuple[BatchSeen, BatchSeen]
OWN_ROWS = (
    "let each rank take rows of its own: rows = order[rank::world_size], from one generator with the same seed",
    "or draw the rows of each rank from a generator of its own: torch.Generator().manual_seed(seed + rank)",
)
OWN_SHARE = (
    "DistributedSampler(dataset) without num_replicas and rank, or with dist.get_world_size() and dist.get_rank()",
    "build the sampler in each rank, after the process group: it asks that for its rank when it is built",
)
CONFIDENCE_BY_HAND = 0.85  # ranks that share a sequence may reduce so, too: likely, no proof (ours)


class RankOverlap(Check, frozen=True):
    """Ranks of a data-parallel run train on the same batches.

    What it catches
        A DataLoader without DistributedSampler under DistributedDataParallel, fully_shard or a loop that reduces its
        gradients itself: with the same seed every rank sees the same batches.
    Why it matters
        Each update averages equal gradients: n processes do the work of one, and an epoch takes n times as long as it
        should.
    How it decides
        Exact: in each of the first steps that were recorded on both ranks (at least 3, all different from each other)
        the batches agree in every value looked at, and in their dataset indices where these are known. Only ranks are
        compared that hold a copy of the same parameters, shard one model with fully_shard or average most of their
        gradients, so tensor-parallel ranks, which must share their data, are not.
    What to do
        Give the loader a DistributedSampler and call its set_epoch in each epoch.
    Example
        step 0, rank 0: ranks 0 and 1 train on the same batches in 20 of 20 iterations compared (iteration 0: samples
        1402, 318, 77, ...); expected different samples on each rank. Give the DataLoader
        sampler=DistributedSampler(dataset).
    """

    needs: ClassVar[tuple[type[Fact], ...]] = (BatchSeen, Replica, DataGroup)
    kind: ClassVar[str] = "ddp_duplicate_data"
    exact: ClassVar[bool] = True
    remedies: ClassVar[tuple[str, ...]] = (
        (
            "sampler = DistributedSampler(dataset); DataLoader(dataset, sampler=sampler) and sampler.set_epoch(epoch) "
            "in each epoch"
        ),
        "or let Accelerate, Lightning or Trainer prepare the loader",
    )
    family: ClassVar[str] = "rank"
    proved_by: ClassVar[str] = "device/ddp_plain_loader"

    # iterations that must agree, all of them different from each other (ours: one may agree by intent, a warm-up batch)
    least: int = 3

    def judge(self, window: Window) -> Iterator[Finding]:
        """Yield nothing: one rank alone cannot show it."""
        return iter(())

    def judge_ranks(self, windows: Mapping[int, Window]) -> Iterator[Finding]:
        """The first pair of ranks that share their data stands for all."""
        for a, b in combinations(sorted(windows), 2):
            how = together(windows[a], windows[b], a, b)
            if not how:
                continue
            pairs = both(windows[a], windows[b])
            equal = [pair for pair in pairs if same(*pair)]
            distinct = {pair[0].digests for pair in equal}
            if pairs and len(equal) == len(pairs) and len(distinct) >= self.least:
                yield self.describe(windows[a], (a, b), pairs, len(windows), how)
                return

    def describe(self, window: Window, ranks: tuple[int, int], pairs: list[Pair], world: int, how: str) -> Finding:
        """Build the finding with the samples of the first iteration compared."""
        first = pairs[0][0]
        samples = (
            f" (iteration {first.ref.iteration}: samples {', '.join(map(str, first.indices[:3]))}, ...)"
            if first.indices
            else ""
        )
        return self.finding(
            window,
            "error",
            f"ranks {ranks[0]} and {ranks[1]} train on the same batches in {len(pairs)} of {len(pairs)} iterations "
            f"compared{samples}; "
            f"expected different samples on each rank. {advice(first)}",
            ref=first.ref,
            place=Place(frame=first.sampler_frame or first.frame, symptom_frame=first.frame),
            iterations=len(pairs),
            ranks=world,
            exact=how != BY_HAND,
            confidence=CONFIDENCE_BY_HAND if how == BY_HAND else None,
            remedies=OWN_ROWS if first.loader is None else OWN_SHARE if first.shards else (),
        )


def advice(batch: BatchSeen) -> str:
    """What to do about the loader, or about a loop that draws its batches itself."""
    if batch.loader is None:
        return "Let each rank take rows of its own: order[rank::world_size]."
    if batch.shards:
        return f"Leave num_replicas and rank of its {batch.sampler} out: it asks the process group."
    return "Give the DataLoader sampler=DistributedSampler(dataset)."


def together(left: Window, right: Window, a: int, b: int) -> str:
    """How both ranks say that they train one model on data of their own; nothing where they do not."""
    mine, theirs = left.last(Replica), right.last(Replica)
    if mine is not None and theirs is not None and {a, b} <= set(mine.group) & set(theirs.group):
        return mine.wrapper
    shared = {(f.how, f.group) for f in left.seen(DataGroup)} & {(f.how, f.group) for f in right.seen(DataGroup)}
    known = sorted((how for how, group in shared if {a, b} <= set(group)), key=lambda how: how == BY_HAND)
    return known[0] if known else ""


def both(left: Window, right: Window) -> list[Pair]:
    """The batches of the iterations recorded on both, oldest first."""
    theirs = {fact.ref.iteration: fact for fact in right.seen(BatchSeen)}
    return [(fact, theirs[fact.ref.iteration]) for fact in left.seen(BatchSeen) if fact.ref.iteration in theirs]


def same(mine: BatchSeen, theirs: BatchSeen) -> bool:
    """True when every leaf has equal, known values and the indices are equal."""
    return bool(mine.digests) and mine.digests == theirs.digests and mine.indices == theirs.indices
