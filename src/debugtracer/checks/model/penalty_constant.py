"""Does a penalty on gradients have a gradient itself?"""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from debugtracer.checks.check import Check
from debugtracer.trace.facts.constant_term import ConstantTerm
from debugtracer.trace.file_line import spot
from debugtracer.trace.finding import Finding
from debugtracer.trace.place import Place
from debugtracer.trace.window import Window

MIXED = (
    "pass create_graph=True to torch.autograd.grad",
    "or, if the derivative is meant as a constant, say so: .detach()",
)


class PenaltyConstant(Check, frozen=True):
    """A term of the loss, or a summand inside it, is made of gradients that carry no graph.

    What it catches
        `torch.autograd.grad(..., create_graph=False)`, or without `create_graph`, for a gradient penalty, for forces
        that are compared with their targets, or for a derivative in the residual of a differential equation.
    Why it matters
        The term is a constant for the backward: it changes the value of the loss and no weight. In a residual the
        gradient passes through the other summands alone: another equation is learned.
    How it decides
        In an inspected step a number made of what `torch.autograd.grad` gave without a graph, and of nothing that
        has one, is added to the loss whose backward is called. Or such a derivative, of what parameters made after
        an input that none of them made, is added to a tensor that the same parameters made of the same input,
        and plain arithmetic leads from the sum to the loss. Weights of a loss that are made of gradients are factors,
        not terms, and do not count; nor does a gradient that becomes the input of a network or the target of a loss, or
        is detached.
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
            part = (
                f"derivatives{spot(fact.frame)} that have no graph are added to values that have one"
                f"{spot(fact.sum_frame)}, so no gradient of the loss passes through them"
                if fact.mixed
                else f"a term of the loss{spot(fact.sum_frame)} is made of gradients{spot(fact.frame)} that have no "
                "graph, so it changes no weight"
            )
            yield self.finding(
                window,
                "warning",
                f"{part}; expected a graph through them. Pass create_graph=True to torch.autograd.grad.",
                ref=fact.ref,
                place=Place(frame=fact.frame, argument="create_graph", symptom_frame=fact.sum_frame),
                confidence=0.9 if fact.mixed else None,
                remedies=MIXED if fact.mixed else (),
            )
