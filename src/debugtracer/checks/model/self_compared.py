"""Does a term of the loss compare two different things?"""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from debugtracer.checks.check import Check
from debugtracer.trace.facts.self_comparison import SelfComparison
from debugtracer.trace.file_line import spot
from debugtracer.trace.finding import Finding
from debugtracer.trace.place import Place
from debugtracer.trace.window import Window


class SelfCompared(Check, frozen=True):
    """A term of the loss is given one value as prediction and as target.

    What it catches
        A distillation that compares the teacher with itself, a consistency term whose both sides come from one branch:
        a copied line in which one name was not changed.
    Why it matters
        The term is always 0 and has no graph: the loss looks as it should, and no weight learns from it.
    How it decides
        In `looks` inspected steps a loss function of torch, called while graphs are recorded, is given two arguments
        with the same values and without a graph (for `kl_div` the first one as logarithms), and what it gives is added
        to the loss whose backward is called. Values that are equal everywhere do not count, nor does what has a graph:
        a policy beside its own old one, a teacher that is the student in the first step.
    What to do
        Give the prediction of the network that is trained as the first argument.
    Example
        step 1, rank 0: kl_div (train.py:25) compares a value of shape (64, 10) with itself and has no graph, and its
        result is a term of the loss (train.py:27), in 2 inspected steps: 0 whatever the weights; expected the
        prediction of the trained network on one side. Give it as the first argument.
    """

    needs: ClassVar[tuple[type[SelfComparison]]] = (SelfComparison,)
    kind: ClassVar[str] = "detached_graph"
    symptom: ClassVar[str] = "silent"
    confidence: ClassVar[float] = 0.95
    remedies: ClassVar[tuple[str, ...]] = (
        "give the loss the prediction of the network that is trained, not the target twice",
        "print this term once beside the others: it is 0",
    )
    proved_by: ClassVar[str] = "model/copied_lighthouse"

    looks: int = 2
    """Inspected steps in which it is seen (ours)."""

    def judge(self, window: Window) -> Iterator[Finding]:
        """Tell each line once."""
        memory = window.memory(self)
        for fact in window.new(SelfComparison):
            steps = memory[fact.frame] = memory.get(fact.frame, set()) | {fact.ref.step}
            if len(steps) != self.looks or fact.ref.step != max(steps):
                continue
            yield self.finding(
                window,
                "warning",
                f"{fact.function}{spot(fact.frame)} compares a value of shape {fact.shape} with itself and has no "
                f"graph, and its result is a term of the loss{spot(fact.sum_frame)}, in {self.looks} inspected steps: "
                "0 whatever the weights; expected the prediction of the trained network on one side. Give it as the "
                "first argument.",
                ref=fact.ref,
                place=Place(frame=fact.frame, symptom_frame=fact.sum_frame),
            )
