"""Do the copies of the model on the ranks of a data-parallel run stay equal?"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import combinations
from typing import ClassVar

from debugtracer.checks.check import Check
from debugtracer.trace.birth import Frame
from debugtracer.trace.facts.crash import UNFINISHED, Crash
from debugtracer.trace.facts.replicas import Replica
from debugtracer.trace.file_line import file_line
from debugtracer.trace.finding import Finding
from debugtracer.trace.place import Place
from debugtracer.trace.window import Window

Pair = tuple[Replica, Replica]


class ReplicaDrift(Check, frozen=True):
    """Replicas of one model stop being equal.

    What it catches
        A backward through the module inside the wrapper, gradients changed on one rank after they were averaged,
        weights or buffers set on one rank only, another learning rate on one rank, parameters that a conversion or a
        move replaced after the wrapper had hooked them.
    Why it matters
        Each rank trains a model of its own and the average of their gradients fits none of them. Rank 0's is saved, and
        it is worse than its loss says.
    How it decides
        Checksums of the bits of every trainable parameter before the update, and of its gradient, in the first three
        steps and every 50. Averaged gradients and the updates made of them are equal to the last bit, so a difference
        is exact once the norms differ by more than rounding, or the line that goes around the wrapper, or parameters
        that are new since, say why (clipped gradients all have one norm). Ranks with a communication hook, and wrappers
        that shard, are left out.
    What to do
        Call the wrapper, not `.module`; do the same to the weights and gradients on all ranks.
    Example
        step 0, rank 0: net.0.weight differs between ranks 0 and 1 in its gradient at the update (4 of 4 parameters):
        train.py:28 calls the module inside DistributedDataParallel, which averages nothing; expected equal replicas.
        Call the wrapper instead.
    """

    needs: ClassVar[tuple[type[Replica]]] = (Replica,)
    kind: ClassVar[str] = "ddp_replica_drift"
    exact: ClassVar[bool] = True
    remedies: ClassVar[tuple[str, ...]] = (
        "call the wrapper (model(x)), not model.module(x), where gradients are needed",
        "change weights and gradients alike on all ranks, or broadcast them from rank 0 afterwards",
    )
    family: ClassVar[str] = "rank"
    proved_by: ClassVar[str] = "device/ddp_inner_module"

    # relative difference of norms below which two kernels may merely have rounded differently (ours)
    rounding: float = 1e-6

    def judge_ranks(self, windows: Mapping[int, Window]) -> Iterator[Finding]:
        """The first pair of ranks that differ stands for all; what was not averaged in the iteration before a
        reduction failed is told by that."""
        seen = [fact for window in windows.values() for fact in window.seen(Crash)]
        failed = [crash.ref.step for crash in seen if UNFINISHED in crash.message]
        for a, b in combinations(sorted(windows), 2):
            pairs = both(windows[a], windows[b], a, b)
            parted = next((pair for pair in pairs if differing(*pair)), None)
            if parted is not None and not any(parted[0].ref.step >= step - 1 for step in failed):
                yield self.describe(windows[a], (a, b), parted, pairs)
                return

    def describe(self, window: Window, ranks: tuple[int, int], pair: Pair, pairs: list[Pair]) -> Finding:
        """What differed first, and why."""
        mine, theirs = pair
        weights = mine.before != theirs.before
        names = differing(mine, theirs)
        sure = any(apart(x, y, self.rounding) or is_known(x, y) for x, y in pairs)
        what = "before the update" if weights else "in its gradient at the update"
        why, frame = reason(mine, theirs, [p for p in pairs if p[0].ref.step <= mine.ref.step])
        return self.finding(
            window,
            "error" if sure else "note",
            (
                f"{names[0]} differs between ranks {ranks[0]} and {ranks[1]} {what} ({len(names)} of {len(mine.names)} "
                f"parameters){why}; expected equal replicas. "
            )
            + advice(mine, theirs),
            ref=mine.ref,
            place=Place(param=names[0], module=names[0].rpartition(".")[0], frame=frame),
            parameters=len(names),
            grad_l2=mine.grad_l2,
            other_grad_l2=theirs.grad_l2,
        )


def advice(mine: Replica, theirs: Replica) -> str:
    """What to do next, in a sentence."""
    if mine.bypassed or theirs.bypassed:
        return "Call the wrapper instead."
    if mine.replaced or theirs.replaced:
        return f"Convert and move the model before {mine.wrapper}(model), or wrap it anew."
    return "Treat weights, gradients and optimizer alike on all ranks."


def both(left: Window, right: Window, a: int, b: int) -> list[Pair]:
    """What both ranks wrote down of the same step and the same parameters, oldest first."""
    theirs = {fact.ref.step: fact for fact in right.seen(Replica)}
    pairs = [(fact, theirs[fact.ref.step]) for fact in left.seen(Replica) if fact.ref.step in theirs]
    return [(x, y) for x, y in pairs if comparable(x, y) and {a, b} <= set(x.group) & set(y.group)]


def comparable(x: Replica, y: Replica) -> bool:
    """True when both have the same names, no communication hook and finite gradients."""
    return x.names == y.names and not x.hooked and not y.hooked and not x.bad and not y.bad


def differing(x: Replica, y: Replica) -> list[str]:
    """The parameters whose values differ, else those whose gradients do."""
    weights = [name for name, mine, theirs in zip(x.names, x.before, y.before, strict=True) if mine != theirs]
    return weights or [name for name, mine, theirs in zip(x.names, x.grads, y.grads, strict=True) if mine != theirs]


def apart(x: Replica, y: Replica, rounding: float) -> bool:
    """True when the norms differ by more than two kernels' rounding would make them."""
    return any(
        abs(p - q) > rounding * max(abs(p), abs(q)) for p, q in ((x.grad_l2, y.grad_l2), (x.param_l2, y.param_l2))
    )


def is_known(x: Replica, y: Replica) -> bool:
    """True when what keeps the average away was seen: no rounding makes these differ."""
    return any((x.bypassed, y.bypassed, x.replaced, y.replaced))


def reason(x: Replica, y: Replica, pairs: list[Pair]) -> tuple[str, Frame | None]:
    """What the two say about the cause: the line that went around the wrapper, the learning rate, or when it began."""
    around = x.bypassed or y.bypassed
    if around is not None:
        return f": {file_line(around)} calls the module inside {x.wrapper}, which averages nothing", around
    if x.replaced or y.replaced:
        return f": {max(x.replaced, y.replaced)} of them are new since {x.wrapper} hooked the parameters", x.frame
    if x.lr is not None and y.lr is not None and x.lr != y.lr:
        return f": the learning rate is {x.lr:g} on one and {y.lr:g} on the other", x.built
    gradients = next((mine.ref.step for mine, theirs in pairs if mine.grads != theirs.grads), None)
    if gradients is not None and gradients < x.ref.step:
        return f", their gradients differed at step {gradients} after averaging", None
    if x.before == y.before:
        return ": something changed the gradients on one rank after they were averaged, or kept them from it", None
    alone = [at for at in (x.loaded, y.loaded) if at is not None]
    if len(alone) == 1:
        return f": {file_line(alone[0])} loads weights on one rank after {x.wrapper} had made them equal", alone[0]
    return f": the weights were set on one rank after {x.wrapper} had made them equal", x.frame
