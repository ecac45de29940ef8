"""Does a mixture of samples weigh their targets as it weighs them?"""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from debugtracer.checks.check import Check
from debugtracer.trace.facts.mixed_targets import MixedTargets
from debugtracer.trace.file_line import spot
from debugtracer.trace.finding import Finding
from debugtracer.trace.place import Place
from debugtracer.trace.window import Window


class MixSwapped(Check, frozen=True):
    """A batch is mixed with its permuted rows, and the targets are weighed the wrong way round.

    What it catches
        mixup with `lam * x + (1 - lam) * x[index]`, whose loss is `lam * L(y[index]) + (1 - lam) * L(y)`.
    Why it matters
        The sample that is hardly visible gives the target: the network learns to name what is not there.
    How it decides
        In inspected steps rows and the same rows by an index are added up, each with a number, and so are two losses of
        one prediction, or two targets, by the same index. Told where the two numbers changed places in `looks` steps
        and in none were as they should be; a step whose numbers are nearly alike says nothing.
    What to do
        Give the loss against y the factor of x, and the one against y[index] that of x[index].
    Example
        step 0, rank 0: rows are mixed as 0.9 of their own and 0.1 of permuted ones (train.py:70), and their targets as
        0.1 of their own and 0.9 of permuted ones (train.py:77), in 2 of 2 steps; expected the same factors. Exchange
        the two targets.
    """

    needs: ClassVar[tuple[type[MixedTargets]]] = (MixedTargets,)
    kind: ClassVar[str] = "targets_misaligned"
    symptom: ClassVar[str] = "silent"
    confidence: ClassVar[float] = 0.95
    remedies: ClassVar[tuple[str, ...]] = (
        "weigh the loss against y as x is weighed: lam * L(y) + (1 - lam) * L(y[index])",
    )
    proved_by: ClassVar[str] = "data/blended_teas"

    looks: int = 2
    """Inspected steps (ours)."""
    apart: float = 0.05
    """Least difference of the two factors (ours)."""
    near: float = 1e-4
    """By which a factor may miss the other (rounding)."""

    def judge(self, window: Window) -> Iterator[Finding]:
        """Count the steps of each line; said once."""
        memory = window.memory(self)
        for fact in window.new(MixedTargets):
            steps = memory.setdefault(fact.frame, set())
            if abs(fact.own - fact.other) < self.apart or None in steps:
                continue
            near = max(abs(fact.target_own - fact.other), abs(fact.target_other - fact.own)) <= self.near
            steps.add(fact.ref.step if near else None)
            if None not in steps and len(steps) == self.looks:
                steps.add(None)
                yield self.finding(
                    window,
                    "warning",
                    f"rows are mixed as {fact.own:.3g} of their own and {fact.other:.3g} of permuted ones"
                    f"{spot(fact.mixed)}, and their targets as {fact.target_own:.3g} of their own and "
                    f"{fact.target_other:.3g} of permuted ones{spot(fact.frame)}, in {self.looks} of {self.looks} "
                    "steps; expected the same factors. Exchange the two targets.",
                    ref=fact.ref,
                    place=Place(frame=fact.frame, symptom_frame=fact.mixed),
                )
