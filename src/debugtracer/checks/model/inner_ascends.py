"""Do the inner updates of a meta-learner go where the loss falls?"""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from debugtracer.checks.check import Check
from debugtracer.trace.counted import counted
from debugtracer.trace.facts.inner_update import InnerUpdate
from debugtracer.trace.file_line import spot
from debugtracer.trace.finding import Finding
from debugtracer.trace.place import Place
from debugtracer.trace.window import Window


class InnerAscends(Check, frozen=True):
    """Weights are adapted in an inner loop by adding the gradient of a loss where it should be subtracted.

    What it catches
        `w + rate * g` for `w - rate * g` in MAML and its kin, with g of `torch.autograd.grad(loss, w)`.
    Why it matters
        Each task makes the weights worse before they are judged. The outer loop learns to undo it: its loss falls
        slowly, and what is adapted later with an optimizer of torch goes the other way.
    How it decides
        In an inspected step `torch.autograd.grad(..., create_graph=True)` was asked for gradients of the optimizer's
        weights, of what one of torch's losses gave; each of the tensors that were made of a weight and a multiple of
        its gradient has the sign with which that loss grows, and the loss whose backward is called leads to them, with
        other targets than the inner one. Seen in `looks` steps. An ascent that is judged by the same rows is meant: it
        looks for sharp places (SAM) or for an attack.
    What to do
        Subtract: `w - rate * g`.
    Example
        step 1, rank 0: 24 of 24 inner updates add the gradient of the loss to a weight (meta.py:31), in 2 steps looked
        at; expected it to be subtracted, for the loss is to fall. Write w - rate * g.
    """

    needs: ClassVar[tuple[type[InnerUpdate]]] = (InnerUpdate,)
    kind: ClassVar[str] = "loss_misuse"
    symptom: ClassVar[str] = "silent"
    confidence: ClassVar[float] = 0.9
    remedies: ClassVar[tuple[str, ...]] = (
        "subtract the gradient in the inner update: w - rate * g",
        "print the inner loss before and after one update: it must fall",
    )
    proved_by: ClassVar[str] = "model/salt_pans"

    looks: int = 2  # inspected steps (ours)

    def judge(self, window: Window) -> Iterator[Finding]:
        """Tell each line once, when it has been seen often enough."""
        memory = window.memory(self)
        for fact in window.new(InnerUpdate):
            seen = memory.get(fact.frame, 0)
            wrong = fact.ascending == fact.updates and not fact.same
            memory[fact.frame] = seen + 1 if wrong and seen >= 0 else -1  # the signs take turns: it is meant
            if memory[fact.frame] != self.looks:
                continue
            yield self.finding(
                window,
                "warning",
                f"{fact.ascending} of {fact.updates} inner updates add the gradient of the loss to a weight"
                f"{spot(fact.frame)}, in {counted(self.looks, 'step')} looked at; expected it to be subtracted, for "
                "the loss is to fall. Write w - rate * g.",
                ref=fact.ref,
                place=Place(frame=fact.frame, symptom_frame=fact.outer_frame),
                misplaced=1.0,
            )
