"""Does each pass over the data draw a new order?"""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from debugtracer.checks.check import Check
from debugtracer.trace.facts.epochs import Epoch
from debugtracer.trace.finding import Finding, Severity
from debugtracer.trace.place import Place
from debugtracer.trace.window import Window


class EpochOrder(Check, frozen=True):
    """Every pass shuffles into the same order.

    What it catches
        A DistributedSampler whose set_epoch is never called, or a generator seeded again before each pass.
    Why it matters
        The same batches come in the same order for ever: shuffling is lost, and with it part of what makes SGD
        generalise.
    How it decides
        The dataset indices of the first 16 batches of two passes of a training loader are the same, and they are not in
        ascending order. With a sampler that has set_epoch and whose epoch stood still it is a warning from the third
        equal pass on; otherwise a note, for an order may be fixed on purpose. Two batches or more are needed.
    What to do
        Call sampler.set_epoch(epoch) at the beginning of each epoch.
    Example
        step 120, rank 0: passes 0, 1 and 2 over the loader (train.py:20) draw the same order, and
        DistributedSampler.epoch stays 0; expected a new order in each. Call sampler.set_epoch(epoch) before each pass.
    """

    needs: ClassVar[tuple[type[Epoch]]] = (Epoch,)
    kind: ClassVar[str] = "data_epoch_order"
    confidence: ClassVar[float] = 0.8
    remedies: ClassVar[tuple[str, ...]] = (
        "call loader.sampler.set_epoch(epoch) before each pass",
        "make the generator once, outside the loop over epochs",
    )
    proved_by: ClassVar[str] = "data/ddp_same_order"

    least: int = 2  # batches of a pass: one batch is the same set in any order (ours)
    loud: int = 3  # equal passes from which a missing set_epoch is a warning (ours: two may be a resume)

    def judge(self, window: Window) -> Iterator[Finding]:
        """A note at the second equal pass, a warning at the third."""
        runs: dict[int, list[Epoch]] = window.memory(self)
        for fact in window.new(Epoch):
            if not fact.trains or len(fact.order) < self.least:
                continue
            past = runs.setdefault(fact.loader, [])
            if past and not equal(past[-1], fact):
                past.clear()
            past.append(fact)
            if not fact.ascending and len(past) in (2, self.loud):
                yield from self.describe(window, past)

    def describe(self, window: Window, past: list[Epoch]) -> Iterator[Finding]:
        """Which passes, and whether the sampler's epoch stood still."""
        first, last = past[0], past[-1]
        still = first.sampler_epoch is not None and last.sampler_epoch == first.sampler_epoch
        severity: Severity = "warning" if still and len(past) >= self.loud else "note"
        if len(past) == self.loud and severity == "note":
            return  # said at the second
        numbers = ", ".join(str(fact.number) for fact in past[:-1]) + f" and {last.number}"
        at = f" ({last.frame.file.rsplit('/', 1)[-1]}:{last.frame.line})" if last.frame is not None else ""
        why = f", and {last.sampler}.epoch stays {last.sampler_epoch}" if still else ""
        yield self.finding(
            window,
            severity,
            f"passes {numbers} over the loader{at} draw the same order{why}; expected a new order in each. "
            + (
                "Call sampler.set_epoch(epoch) before each pass."
                if still
                else "Seed its generator once, before the first pass."
            ),
            ref=last.ref,
            place=Place(frame=last.frame),
            passes=len(past),
        )


def equal(a: Epoch, b: Epoch) -> bool:
    """True for the same order as far as both went."""
    count = min(len(a.order), len(b.order))
    return count >= 2 and a.order[:count] == b.order[:count]
