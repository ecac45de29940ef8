"""Does the loss of a step know of the weights that its inner updates have made?"""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from debugtracer.checks.check import Check
from debugtracer.trace.facts.adapted_weights import AdaptedWeights
from debugtracer.trace.file_line import spot
from debugtracer.trace.finding import Finding
from debugtracer.trace.place import Place
from debugtracer.trace.window import Window


class AdaptedUnused(Check, frozen=True):
    """Weights are adapted in an inner loop, and the loss of the outer one is computed with the weights before.

    What it catches
        Meta-learning (MAML, ANIL, hypergradients) whose query loss calls the model without the adapted weights; an
        inner loop whose result is dropped.
    Why it matters
        The outer update trains the network as it is, as if there were no inner loop. The loss falls or does not, and
        nothing is learnt about adapting.
    How it decides
        By the graph: in an inspected step `torch.autograd.grad` was asked for gradients of the optimizer's weights,
        and tensors were made as weight minus a multiple of its gradient. The loss whose backward is called leads to all
        those weights, and neither it nor anything else whose gradient is asked for (but for the inner gradients
        themselves) leads to one of the tensors, nor are they written anywhere. Seen in `looks` inspected steps.
    What to do
        Give the model the adapted weights in the outer loss: `torch.func.functional_call(model, adapted, x)`.
    Example
        step 1, rank 0: 18 weights are adapted by their gradients (meta.py:108), and the loss of the step (backward at
        meta.py:139) does not depend on one of the 144 tensors: the model is called with the weights before
        (meta.py:120); expected a loss of the adapted ones. Call the model with them.
    """

    needs: ClassVar[tuple[type[AdaptedWeights]]] = (AdaptedWeights,)
    kind: ClassVar[str] = "adapted_weights_unused"
    symptom: ClassVar[str] = "silent"
    confidence: ClassVar[float] = 0.9
    remedies: ClassVar[tuple[str, ...]] = (
        "call the model with the adapted weights in the outer loss: torch.func.functional_call(model, adapted, x)",
        "multiply the rate of the inner update by 10: a loss that stays the same bit for bit does not use it",
    )
    proved_by: ClassVar[str] = "model/harbour_pilots"

    looks: int = 2  # inspected steps (ours)

    def judge(self, window: Window) -> Iterator[Finding]:
        """Tell each line once, when it has been seen often enough."""
        memory = window.memory(self)
        for fact in window.new(AdaptedWeights):
            place = (fact.made_frame, fact.backward_frame)
            memory[place] = memory.get(place, 0) + 1
            if memory[place] != self.looks:
                continue
            backward = f" (backward at {spot(fact.backward_frame).strip(' ()')})" if fact.backward_frame else ""
            yield self.finding(
                window,
                "warning",
                f"{fact.weights} weights are adapted by their gradients{spot(fact.made_frame)}, and the loss of the "
                f"step{backward} does not depend on one of the {fact.tensors} tensors: the model is called with the "
                f"weights before{spot(fact.frame)}; expected a loss of the adapted ones. Call the model with them.",
                ref=fact.ref,
                place=Place(frame=fact.frame, symptom_frame=fact.backward_frame),
                tried=fact.tried,
            )
