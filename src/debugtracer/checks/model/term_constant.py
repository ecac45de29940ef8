"""Has each term of a loss a gradient?"""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from debugtracer.checks.check import Check
from debugtracer.trace.counted import counted
from debugtracer.trace.facts.cut_term import CutTerm
from debugtracer.trace.file_line import spot
from debugtracer.trace.finding import Finding
from debugtracer.trace.place import Place
from debugtracer.trace.window import Window

REMEDIES = {
    "no_grad": "take the no_grad out: frozen weights need requires_grad_(False) alone, and hand the gradient on",
    "detach": "leave .detach() out, or leave the term out of the loss if it is there to be printed",
    "data": "use the weights themselves, not .data",
}


class TermConstant(Check, frozen=True):
    """A term of the loss is computed from what is trained, and has no graph: it changes no weight.

    What it catches
        A perceptual loss whose features of the prediction are computed under no_grad, a penalty on `p.data`, a mean of
        `out.detach()` that is added to the loss.
    Why it matters
        The term is part of each number that is printed, and the training does not know it.
    How it decides
        In inspected steps a call takes a tensor with a graph and gives one without (no_grad, detach, .data). A mean, a
        sum or a loss function makes one number of what was computed of that, still without a graph, and this number is
        added to the loss whose backward is called, past factors and other sums. Nothing else with a graph uses what
        was cut: a target, a weight of a loss or a straight-through sum does. Seen in `looks` steps.
    What to do
        Let the term keep its graph.
    Example
        step 0, rank 0: no_grad (train.py:19) ends the graph of a term that mse_loss makes and the loss adds
        (train.py:28), in 2 steps, so it changes no weight; expected a graph from the term to what is trained. Take the
        no_grad out: frozen weights need requires_grad_(False) alone, and hand the gradient on.
    """

    needs: ClassVar[tuple[type[CutTerm]]] = (CutTerm,)
    kind: ClassVar[str] = "detached_graph"
    symptom: ClassVar[str] = "silent"
    confidence: ClassVar[float] = 0.9
    remedies: ClassVar[tuple[str, ...]] = tuple(REMEDIES.values())
    family: ClassVar[str] = "loss"
    proved_by: ClassVar[str] = "model/aerial_roofs"

    looks: int = 2
    """Inspected steps (ours)."""

    def judge(self, window: Window) -> Iterator[Finding]:
        """Tell each line once."""
        memory = window.memory(self)
        for fact in window.new(CutTerm):
            seen = memory.setdefault((fact.frame, fact.sum_frame), [])
            seen.append(fact)
            if len(seen) == self.looks:
                yield self.describe(window, seen[0])

    def describe(self, window: Window, fact: CutTerm) -> Finding:
        """Build the finding at the line that ends the graph."""
        remedy = REMEDIES.get(fact.function, REMEDIES["detach"])
        return self.finding(
            window,
            "warning",
            f"{fact.function}{spot(fact.frame)} ends the graph of a term that {fact.reduced} makes and the loss adds"
            f"{spot(fact.sum_frame)}, in {counted(self.looks, 'step')}, so it changes no weight; expected a graph from "
            f"the term to what is trained. {remedy[0].upper()}{remedy[1:]}.",
            ref=fact.ref,
            place=Place(frame=fact.frame, symptom_frame=fact.sum_frame),
            remedies=(remedy,),
        )
