"""Does a straight-through sum pass its gradient on?"""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from debugtracer.checks.check import Check
from debugtracer.trace.facts.straight_through import StraightThrough
from debugtracer.trace.finding import Finding
from debugtracer.trace.place import Place
from debugtracer.trace.window import Window

MISSING = ("hand on x + (q - x).detach() in place of the codes q: the values of q, the gradient of x",)


class GradientNotPassed(Check, frozen=True):
    """Chosen codes go on in place of a tensor, which gets no gradient past them: the straight-through sum is wrong or
    missing.

    What it catches
        `(x + q - x).detach()`, where only the difference is to be detached; `x + q - x` with nothing detached, in which
        the gradients of x cancel: a vector quantiser or a hard gate. Also a quantiser without such a sum.
    Why it matters
        What made x learns nothing from the loss behind the sum. Other terms (a commitment) still reach it, so no
        parameter is without a gradient.
    How it decides
        A sum of three tensors of one shape, of which one is there twice with opposite signs: it has the values of the
        third, and is written for its gradient alone. In `looks` inspected steps the whole sum lost its graph and
        nothing of it hangs on the loss, or the tensor has a graph on both sides. Where exactly one side has a graph,
        the gradient passes. Or codes are looked up at the place of the smallest or largest score, they are
        compared with a tensor that the scores were made of, or that is drawn to them alone where the scores have no
        graph (a commitment), and the loss hangs on the codes beside that term, and on nothing that made the tensor.
    What to do
        Detach the difference alone: `x + (q - x).detach()`, and hand on this sum.
    Example
        step 1, rank 0: a sum that adds a tensor of 8 x 16 and takes it away again (Quantiser, train.py:31) is detached
        as a whole: no gradient of the loss passes to that tensor in 2 steps; expected a straight-through gradient.
        Detach the difference alone: x + (q - x).detach().
    """

    needs: ClassVar[tuple[type[StraightThrough]]] = (StraightThrough,)
    kind: ClassVar[str] = "detached_graph"
    symptom: ClassVar[str] = "silent"
    confidence: ClassVar[float] = 0.95
    remedies: ClassVar[tuple[str, ...]] = ("detach the difference alone: x + (q - x).detach()",)
    proved_by: ClassVar[str] = "model/coded_tones"

    looks: int = 2
    """Inspected steps (ours: a warm-up may go around the quantiser)."""

    def judge(self, window: Window) -> Iterator[Finding]:
        """Count the steps of each line; said once."""
        memory = window.memory(self)
        for fact in window.new(StraightThrough):
            steps = memory.setdefault(fact.frame, set())
            if fact.ref.step not in steps and len(steps) == self.looks - 1:
                yield self.describe(window, fact)
            steps.add(fact.ref.step)

    def describe(self, window: Window, fact: StraightThrough) -> Finding:
        """Build the finding with the shape and the line."""
        line = f"{fact.frame.file.rpartition('/')[2]}:{fact.frame.line}" if fact.frame is not None else ""
        where = ", ".join(filter(None, (fact.module, line)))
        shape = " x ".join(map(str, fact.shape))
        if fact.how == "missing":
            chosen = f"codes of {shape} that {fact.choice} chose ({where})"
            what = f"{chosen} go on in place of the tensor they are compared with"
            on = fact.handed_on
            what += f" ({on.file.rpartition('/')[2]}:{on.line})" if on is not None and on != fact.frame else ""
            todo = "Hand on x + (q - x).detach() in place of q"
            if fact.twice:
                todo = "They are looked up twice: hand on those with the straight-through gradient"
        else:
            how = (
                "is detached as a whole"
                if fact.how == "detached"
                else "has its graph on both sides, where its gradients cancel"
            )
            what = f"a sum that adds a tensor of {shape} and takes it away again ({where}) {how}"
            todo = "Detach the difference alone: x + (q - x).detach()"
        place = Place(frame=fact.frame, symptom_frame=fact.handed_on)
        if fact.twice and fact.handed_on is not None:
            place = Place(frame=fact.handed_on, symptom_frame=fact.frame)
        return self.finding(
            window,
            "warning",
            f"{what}: no gradient of the loss passes to that tensor in {self.looks} steps; expected a straight-through "
            f"gradient. {todo}.",
            ref=fact.ref,
            place=place,
            remedies=MISSING if fact.how == "missing" else self.remedies,
        )
