"""Does an optimizer hold tensors that can get no gradient?"""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from debugtracer.checks.check import Check
from debugtracer.trace.counted import counted
from debugtracer.trace.facts.plain_tensors import PlainTensors as Held
from debugtracer.trace.file_line import spot
from debugtracer.trace.finding import Finding
from debugtracer.trace.place import Place
from debugtracer.trace.window import Window


class PlainTensors(Check, frozen=True):
    """An optimizer holds plain tensors with requires_grad False.

    What it catches
        A soft prompt, a latent code, an image to be optimised that was made by torch.randn or torch.zeros and handed to
        an optimizer as it is.
    Why it matters
        An optimizer takes any tensor and passes those without a gradient by: nothing says that they never move. Where
        nothing else is trained, backward() raises a sentence about grad_fn.
    How it decides
        At the end of the run: tensors that are no nn.Parameter, have requires_grad False, no gradient when step()
        closes, and were not written since the first of `looks` updates or more. Not where another plain tensor of the
        same optimizer asks for a gradient (they may take turns). Where a loss hangs on nothing and no optimizer holds
        anything else, it is exact at once. Frozen Parameters are another matter (model/frozen-held).
    What to do
        Make the tensor with requires_grad=True, or wrap it in nn.Parameter.
    Example
        step 95, rank 0: Adam (prompt.py:14) holds 1 tensor of shape (8, 32) that asks for no gradient (prompt.py:12):
        step() passed it by to the end of the run; expected requires_grad=True for what an optimizer is to move. Make it
        an nn.Parameter.
    """

    needs: ClassVar[tuple[type[Held]]] = (Held,)
    at_end: ClassVar[bool] = True
    kind: ClassVar[str] = "parameters_not_updated"
    symptom: ClassVar[str] = "no_learning"
    confidence: ClassVar[float] = 0.85
    remedies: ClassVar[tuple[str, ...]] = (
        "make the tensor with requires_grad=True, or wrap it in nn.Parameter, before the optimizer is built",
    )
    proved_by: ClassVar[str] = "optimizer/reed_beds"

    looks: int = 3  # updates of one optimizer (ours)

    def judge(self, window: Window) -> Iterator[Finding]:
        """Yield once for each optimizer."""
        memory = window.memory(self)
        for fact in window.new(Held):
            if (fact.loose is not None or fact.looks >= self.looks) and fact.number not in memory:
                memory[fact.number] = True
                yield self.describe(window, fact)

    def describe(self, window: Window, fact: Held) -> Finding:
        """Build the finding, at the line that made the first of them where it is known."""
        many = fact.count > 1
        seen = f": step() passed {'them' if many else 'it'} by to the end of the run"
        raised = f", and the loss hangs on nothing else{spot(fact.loose)}"
        return self.finding(
            window,
            "error" if fact.loose is not None else "warning",
            f"{fact.optimizer}{spot(fact.built)} holds {counted(fact.count, 'tensor')} of shape {fact.shape} that "
            f"{'ask' if many else 'asks'} for no gradient{spot(fact.made)}"
            f"{raised if fact.loose is not None else seen}; "
            f"expected requires_grad=True for what an optimizer is to move. Make {'each' if many else 'it'} an "
            "nn.Parameter.",
            ref=fact.ref,
            place=Place(frame=fact.made or fact.built, symptom_frame=fact.loose or fact.built),
            exact=fact.loose is not None,
            confidence=0.95 if fact.loose is not None else self.confidence,
            count=float(fact.count),
        )
