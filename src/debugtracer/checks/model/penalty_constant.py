"""Does a penalty on gradients have a gradient itself?"""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from debugtracer.checks.check import Check
from debugtracer.checks.optimizer.sequence import spot
from debugtracer.trace.facts.constant_term import ConstantTerm
from debugtracer.trace.finding import Finding
from debugtracer.trace.place import Place
from debugtracer.trace.window import Window


class PenaltyConstant(Check):
    """A term of the loss is made of gradients that carry no graph.

    What it catches
        `torch.autograd.grad(..., create_graph=False)`, or without `create_graph`, for a gradient penalty or for forces
        that are compared with their targets.
    Why it matters
        The term is a constant for the backward: it changes the value of the loss and no weight.
    How it decides
        In an inspected step a number made of what `torch.autograd.grad` gave without a graph, and of nothing that
        has one, is added to the loss whose backward is called. Weights of a loss that are made of gradients are
        factors, not terms, and do not count.
    What to do
        Pass create_graph=True.
    Example
        step 0, rank 0: a term of the loss (wgan_gp.py:178) is made of gradients (wgan_gp.py:128) that have no graph, so
        it changes no weight; expected a graph through them. Pass create_graph=True to torch.autograd.grad.
    """

    needs: ClassVar[tuple[type[ConstantTerm]]] = (ConstantTerm,)
    kind: ClassVar[str] = "detached_graph"
    confidence: ClassVar[float] = 0.95
    remedies: ClassVar[tuple[str, ...]] = ("pass create_graph=True to torch.autograd.grad",)
    proved_by: ClassVar[str] = "model/smooth_critic"

    def judge(self, window: Window) -> Iterator[Finding]:
        """Tell each line once."""
        memory = window.memory(self)
        for fact in window.new(ConstantTerm):
            if memory.setdefault(fact.frame, fact) is not fact:
                continue
            yield self.finding(
                window,
                "warning",
                f"a term of the loss{spot(fact.sum_frame)} is made of gradients{spot(fact.frame)} that have no graph, "
                "so it changes no weight; expected a graph through them. Pass create_graph=True to "
                "torch.autograd.grad.",
                ref=fact.ref,
                place=Place(frame=fact.frame, symptom_frame=fact.sum_frame),
            )
