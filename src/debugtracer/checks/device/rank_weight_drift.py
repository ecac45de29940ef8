"""Do parameters that are equal on several ranks stay equal?"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import combinations, pairwise
from typing import ClassVar

from debugtracer.checks.check import Check
from debugtracer.trace.facts.data_group import DataGroup
from debugtracer.trace.facts.fact import Fact
from debugtracer.trace.facts.rank_weights import RankWeights
from debugtracer.trace.file_line import file_line, spot
from debugtracer.trace.finding import Finding
from debugtracer.trace.place import Place
from debugtracer.trace.window import Window

Pair = tuple[RankWeights, RankWeights]


class RankWeightDrift(Check, frozen=True):
    """Parameters that the ranks had updated alike are different all at once, without a wrapper that keeps copies.

    What it catches
        A loop that reduces its gradients itself and misses one, on one rank or now and then: an exchange that delivers
        something else, a branch that one rank takes alone, a gradient that is changed after it was averaged; a model
        that each rank builds from a seed of its own; an average of gradients that is never reached.
    Why it matters
        Each rank goes on with a model of its own, and their averaged gradients fit none of them. Rank 0's is saved.
    How it decides
        Checksums of the bits of each parameter before the update, in the first three steps and every 50. What is equal
        on both ranks in the first `least` looks, while some of it moves between them, is held twice and updated alike:
        it has to stay equal. One that differs from the start is no copy (tensor and expert parallel, local updates),
        and is left alone, unless all gradients are the same numbers on both ranks: then models that began apart get one
        average. Gradients of equal weights that are one and the same factor apart in all of at least `least` parameters
        are one gradient, scaled on one rank. Where all weights were equal before the first update and no gradient
        was, none is in `least` looks after it, and between any two looks no rank called a collective or gave them fewer
        elements than it trains (a loss that is logged), each trains a model of its own. Not asked under
        DistributedDataParallel (`device/replica-drift`) and of sharded parameters.
    What to do
        Reduce each gradient on all ranks, and change it alike on all of them; broadcast the weights from rank 0.
    Example
        step 50, rank 0: fc1.weight was equal on ranks 0 and 1 in 3 looks up to step 2 and differs at step 50 (4 of 4
        parameters); expected equal weights where updates are averaged (train.py:31). Look for what reduces or changes
        gradients on one rank alone.
    """

    needs: ClassVar[tuple[type[Fact], ...]] = (RankWeights, DataGroup)
    kind: ClassVar[str] = "ddp_replica_drift"
    symptom: ClassVar[str] = "silent"
    confidence: ClassVar[float] = 0.9
    remedies: ClassVar[tuple[str, ...]] = (
        "reduce each gradient on all ranks in the same order, and change it alike on all of them afterwards",
        "or wrap the model in DistributedDataParallel, which does both",
        "broadcast the weights from rank 0 to make them equal again",
    )
    family: ClassVar[str] = "rank"
    proved_by: ClassVar[str] = "device/hand_averaged"

    least: int = 3
    """Looks in which a parameter must be equal, and parameters with one factor (ours)."""
    scaled: float = 0.01
    """How far that factor is from 1 at least, and 100 times how far it may be from itself (ours)."""

    def judge_ranks(self, windows: Mapping[int, Window]) -> Iterator[Finding]:
        """The first pair of ranks that part stands for all."""
        for a, b in combinations(sorted(windows), 2):
            for number in sorted({fact.number for fact in windows[a].seen(RankWeights)}):
                if not (pairs := both(windows[a], windows[b], number)):
                    continue  # the ranks of two launches from one program
                if (scaled := next((p for p in pairs if self.factor(*p)), None)) is not None:
                    yield self.describe_scaled(windows[a], (a, b), scaled)
                    return
                if self.alone(pairs):
                    yield self.describe_alone(windows[a], (a, b), pairs)
                    return
                if apart := self.apart(pairs):
                    yield self.describe_apart(windows[a], (a, b), pairs, apart)
                    return
                if len(pairs) > self.least and (parted := self.parted(pairs)):
                    yield self.describe(windows[a], (a, b), pairs, *parted)
                    return

    def parted(self, pairs: list[Pair]) -> tuple[int, list[str]] | None:
        """The first look after the first ones in which copies differ, and which do; None where none does."""
        mine = pairs[0][0]
        first = pairs[: self.least]
        copies = [p for p in range(len(mine.names)) if all(x.before[p] == y.before[p] for x, y in first)]
        if not any(len({x.before[place] for x, _ in first}) == self.least for place in copies):
            return None  # none that is updated alike: what is frozen is equal everywhere
        for look, (x, y) in enumerate(pairs[self.least :], self.least):
            names = [mine.names[place] for place in copies if x.before[place] != y.before[place]]
            if names:
                return look, names
        return None

    def alone(self, pairs: list[Pair]) -> bool:
        """Whether models that began equal are different everywhere since, and nothing was exchanged meanwhile."""
        (mine, theirs), later = pairs[0], pairs[1:]
        moving = [p for p, norm in enumerate(mine.grads_l2) if norm > 0]
        return (
            len(later) >= self.least
            and bool(moving)
            and mine.before == theirs.before
            and any(mine.grads_l2[p] != theirs.grads_l2[p] for p in moving)
            and all(kept_apart([pair[side] for pair in pairs]) for side in (0, 1))
            and all(x.before[p] != y.before[p] for x, y in later for p in moving)
        )

    def describe_alone(self, window: Window, ranks: tuple[int, int], pairs: list[Pair]) -> Finding:
        """Build the finding of ranks that never hear of each other."""
        mine, last = pairs[0][0], pairs[-1][0]
        line = next((x.unreached for x, _ in reversed(pairs) if x.unreached is not None), None)
        gave = last.elements - mine.elements
        what = f"exchanged {gave} elements" if last.calls > mine.calls else "called no collective"
        sought = f"The exchange that {file_line(line)} leads to is" if line else "Look for the average that is"
        return self.finding(
            window,
            "warning",
            f"ranks {ranks[0]} and {ranks[1]} began with equal weights, {what} from step {mine.ref.step} "
            f"to {last.ref.step}, and differ in all {len(mine.names)} parameters since the first update; expected "
            f"gradients that are averaged before it{spot(mine.called)}. {sought} never reached.",
            ref=mine.ref,
            place=Place(frame=line or mine.called or mine.built, symptom_frame=mine.called if line else None),
            remedies=("call all_reduce on each gradient before step(), or wrap the model in DistributedDataParallel",),
            parameters=len(mine.names),
        )

    def apart(self, pairs: list[Pair]) -> list[str]:
        """The parameters that differ in all of the first looks though every gradient is the same number on both ranks:
        what is averaged fits none of them. None where a gradient differs (parts of one tensor, local updates)."""
        first = pairs[: self.least]
        had = [(x, y) for mine, theirs in first for x, y in zip(mine.grads_l2, theirs.grads_l2, strict=True)]
        known = [(x, y) for x, y in had if x > 0 or y > 0]
        if len(first) < self.least or not known or any(x != y for x, y in known):
            return []
        places = range(len(first[0][0].names))
        names = [
            first[0][0].names[place]
            for place in places
            if all(x.before[place] != y.before[place] and x.grads_l2[place] > 0 for x, y in first)
        ]
        return names if len(names) >= min(self.least, len(places)) else []

    def describe_apart(self, window: Window, ranks: tuple[int, int], pairs: list[Pair], names: list[str]) -> Finding:
        """Build the finding of weights that were never the same."""
        mine = pairs[0][0]
        built = mine.model or mine.built
        return self.finding(
            window,
            "error",
            f"{names[0]} differs on ranks {ranks[0]} and {ranks[1]} in the first {self.least} looks though its "
            f"gradients are the same there ({len(names)} of {len(mine.names)} parameters); expected equal weights "
            f"where gradients are averaged{spot(built)}. Broadcast the weights from rank 0 before the first update.",
            ref=mine.ref,
            place=Place(param=names[0], module=names[0].rpartition(".")[0], frame=built, symptom_frame=mine.called),
            parameters=len(names),
            remedies=self.remedies[::-1],
        )

    def factor(self, mine: RankWeights, theirs: RankWeights) -> float | None:
        """The factor between the gradients of all weights that are equal; None where there is none but 1."""
        of = zip(mine.before, theirs.before, mine.grads_l2, theirs.grads_l2, strict=True)
        ratios = [x / y for before, other, x, y in of if before == other and x > 0 and y > 0]
        if len(ratios) < self.least or abs(ratios[0] - 1) < self.scaled:
            return None
        return ratios[0] if max(ratios) - min(ratios) <= self.scaled / 100 * ratios[0] else None

    def describe_scaled(self, window: Window, ranks: tuple[int, int], pair: Pair) -> Finding:
        """Build the finding of gradients that one rank alone has scaled."""
        mine, theirs = pair
        equal = [n for n, x, y in zip(mine.names, mine.before, theirs.before, strict=True) if x == y]
        return self.finding(
            window,
            "error",
            f"ranks {ranks[0]} and {ranks[1]} hold equal weights in {len(equal)} of {len(mine.names)} parameters, and "
            f"their gradients on rank {ranks[0]} are {self.factor(mine, theirs):.3g} times those on rank {ranks[1]}; "
            "expected equal gradients. Clip or scale them on all ranks alike.",
            ref=mine.ref,
            place=Place(param=equal[0], module=equal[0].rpartition(".")[0], frame=mine.called or mine.built),
            parameters=len(equal),
        )

    def describe(
        self, window: Window, ranks: tuple[int, int], pairs: list[Pair], look: int, names: list[str]
    ) -> Finding:
        """Build the finding with the look before, in which all were equal."""
        mine, before = pairs[look][0], pairs[look - 1][0]
        reduced = window.last(DataGroup)
        at = reduced.at if reduced else None
        return self.finding(
            window,
            "error",
            f"{names[0]} was equal on ranks {ranks[0]} and {ranks[1]} in {look} looks up to step {before.ref.step} and "
            f"differs at step {mine.ref.step} ({len(names)} of {len(mine.names)} parameters); expected equal weights "
            f"where updates are averaged{spot(at)}. Look for what reduces or changes gradients on one rank alone.",
            ref=mine.ref,
            place=Place(param=names[0], module=names[0].rpartition(".")[0], frame=at),
            parameters=len(names),
        )


def both(left: Window, right: Window, number: int) -> list[Pair]:
    """What both ranks wrote down of the same step and the same parameters, oldest first."""
    theirs = {fact.ref.step: fact for fact in right.seen(RankWeights) if fact.number == number}
    found = [(f, theirs[f.ref.step]) for f in left.seen(RankWeights) if f.number == number and f.ref.step in theirs]
    return [(x, y) for x, y in found if x.names == y.names]


def kept_apart(looks: list[RankWeights]) -> bool:
    """Whether one rank gave all collectives between each two looks fewer elements than it trains: neither gradients nor
    weights. False where a collective was called whose size is not known."""
    return looks[0].collectives >= 0 and all(
        now.collectives - before.collectives == now.calls - before.calls
        and now.elements - before.elements < max(1, now.held)
        for before, now in pairwise(looks)
    )
