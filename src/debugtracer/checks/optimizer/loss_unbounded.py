"""Is there a least value that the loss can reach?"""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import pairwise
from statistics import median
from typing import Any, ClassVar

from debugtracer.checks.check import Check
from debugtracer.trace.facts.fact import Fact
from debugtracer.trace.facts.loss_terms import LossTerms, Term
from debugtracer.trace.file_line import spot
from debugtracer.trace.finding import Finding
from debugtracer.trace.place import Place
from debugtracer.trace.window import LOSS, Window


class LossUnbounded(Check, frozen=True):
    """The loss falls below zero and grows there by a factor, again and again.

    What it catches
        A term with the wrong sign: a divergence, a penalty or an entropy that is rewarded where it was to be paid for.
    Why it matters
        Whatever the other terms say is drowned; the weights run away until something overflows.
    How it decides
        The median of a block of `block` losses is negative and lies `times` times as far from zero as any loss of the
        first block (and as 1), and in each of the last `blocks` blocks it has grown at least `factor` times. Logs that
        leave steps out are not judged. A likelihood of a density, a critic or a return falls below zero too, but not by
        a factor in every few steps.
    What to do
        Look at the sign of the term named: it is the most negative one of the last sum that was looked at.
    Example
        step 63, rank 0: the loss falls without bound: -2.13e+06, 12 times that of 8 steps before and 6.9e+03 times the
        largest of the first 8; the term (main.py:82) was -20.3 when last looked at; expected a loss that has a least
        value. Look at the sign of that term.
    """

    needs: ClassVar[tuple[str | type[Fact], ...]] = (LOSS, LossTerms)
    kind: ClassVar[str] = "loss_unbounded"
    symptom: ClassVar[str] = "loss_spike"
    confidence: ClassVar[float] = 0.85
    family: ClassVar[str] = "loss"
    remedies: ClassVar[tuple[str, ...]] = (
        "turn the sign of the term: a divergence, a penalty or a distance is added to a loss, an entropy subtracted",
    )
    proved_by: ClassVar[str] = "optimizer/tide_codes"

    block: int = 8  # losses (ours)
    sparse: int = 2  # steps from one loss to the next, at most (ours: a log of every 100 steps may double each time)
    blocks: int = 4  # in a row (ours)
    factor: float = 2.0  # from block to block (ours: a sum that falls evenly grows by less)
    times: float = 100.0  # times the largest of the first losses, or 1 if that is more (ours: from near 0 much grows)

    def judge(self, window: Window) -> Iterator[Finding]:
        """Keep the medians of blocks; said once."""
        memory = window.memory(self)
        for fact in window.new(LossTerms):
            least = min(fact.terms, key=lambda term: float(term.value))
            if float(least.value) < 0 and len(fact.terms) > 1:
                memory["term"] = least
        loss = window.now(LOSS)
        if loss is None or not math.isfinite(loss) or memory.get("told"):
            return
        recent = memory.setdefault("recent", [])
        recent.append((window.ref.step, loss))
        if len(recent) < self.block:
            return
        steps, losses = zip(*recent, strict=True)
        recent.clear()
        if steps[-1] - steps[0] > self.sparse * self.block:
            memory.pop("medians", None)
            return
        memory["first"] = memory.get("first") or max(1.0, *map(abs, losses))
        memory.setdefault("medians", []).append(median(losses))
        if self.runs_away(memory):
            memory["told"] = True
            yield self.describe(window, memory)

    def runs_away(self, memory: dict[Any, Any]) -> bool:
        """Whether the last blocks are negative and each is a multiple of the one before."""
        last = memory["medians"][-self.blocks - 1 :]
        if len(last) <= self.blocks or any(value >= 0 for value in last[1:]):
            return False
        grows = all(now <= self.factor * min(before, 0.0) for before, now in pairwise(last))
        return grows and -last[-1] > self.times * memory["first"]

    def describe(self, window: Window, memory: dict[Any, Any]) -> Finding:
        """Build the finding with the term that is negative."""
        now, before = memory["medians"][-1], memory["medians"][-2]
        term: Term | None = memory.get("term")
        said = f"; the term{spot(term.frame)} was {float(term.value):.3g} when last looked at" if term else ""
        which = "that term" if term else "each of its terms"
        return self.finding(
            window,
            "warning",
            f"the loss falls without bound: {now:.3g}, {abs(now / before) if before else math.inf:.3g} times that of "
            f"{self.block} steps before and {-now / memory['first']:.3g} times the largest of the first {self.block}"
            f"{said}; expected a loss that has a least value. Look at the sign of {which}.",
            place=Place(frame=term.frame if term else None),
            loss=now,
            first=memory["first"],
        )
