"""Do all the losses of a step count?"""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from debugtracer.checks.check import Check
from debugtracer.trace.facts.overwritten_loss import OverwrittenLoss
from debugtracer.trace.file_line import spot
from debugtracer.trace.finding import Finding
from debugtracer.trace.place import Place
from debugtracer.trace.window import Window


class LossOverwritten(Check, frozen=True):
    """A loop over samples, heads or time steps computes a loss in each round and keeps the last one alone.

    What it catches
        `loss = criterion(output[i], target[i])` in a loop where `loss += ...` was meant.
    Why it matters
        Only the last sample, head or time step is trained; its loss falls as it should.
    How it decides
        In `looks` inspected steps one line, reached by the same calls, computes several losses; autograd's graph of
        what backward is called on holds the last of them and no other, and the others are gone by then. Losses that are
        kept in a list do not count (the smallest is chosen of them), nor those of which the last was always the
        smallest or always the largest.
    What to do
        Add the losses up, or take their mean.
    Example
        step 2, rank 0: of the 6 losses that cross_entropy (train.py:96) computes in a step only the last reaches the
        backward, in 3 of 3 steps looked at; expected all of them. Add them up: loss = loss + ...
    """

    needs: ClassVar[tuple[type[OverwrittenLoss]]] = (OverwrittenLoss,)
    kind: ClassVar[str] = "result_discarded"
    confidence: ClassVar[float] = 0.85
    remedies: ClassVar[tuple[str, ...]] = ("add the losses up in the loop (loss = loss + ...), or take their mean",)
    proved_by: ClassVar[str] = "model/phrase_pairs"

    looks: int = 3  # steps (ours, as for a double softmax)

    def judge(self, window: Window) -> Iterator[Finding]:
        """Count the looks at each line; said once, when the last was not chosen for its value."""
        memory = window.memory(self)
        said = memory.setdefault("said", set())
        for fact in window.new(OverwrittenLoss):
            seen = memory.setdefault(fact.frame, [])
            seen.append(fact)
            if fact.frame in said or len(seen) < self.looks:
                continue
            if not all(f.only_last for f in seen) or all(f.is_least for f in seen) or all(f.is_most for f in seen):
                continue
            yield self.finding(
                window,
                "warning",
                f"of the {fact.calls} losses that {fact.loss}{spot(fact.frame)} computes in a step only the last "
                f"reaches the backward, in {len(seen)} of {len(seen)} steps looked at; expected all of them. Add them "
                "up: loss = loss + ...",
                ref=fact.ref,
                place=Place(frame=fact.frame),
                losses=fact.calls,
            )
            said.add(fact.frame)
