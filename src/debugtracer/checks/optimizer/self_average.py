"""Is an average of the weights made of two networks?"""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from debugtracer.checks.check import Check
from debugtracer.trace.facts.own_average import OwnAverage
from debugtracer.trace.file_line import file_line
from debugtracer.trace.finding import Finding
from debugtracer.trace.number import as_float
from debugtracer.trace.place import Place
from debugtracer.trace.window import Window


class SelfAverage(Check, frozen=True):
    """A copy of the weights is averaged with itself, so it stays at the initial weights.

    What it catches
        `average.update(average.copy)` where `average.update(model)` was meant;
        `tau * target.data + (1 - tau) * target.data` in the update of a target network.
    Why it matters
        Training looks as ever, and what is evaluated (or what the targets are made with) is the untrained network.
    How it decides
        In an inspected step both sides of an average, without a graph and with weights that add up to 1, lie at one
        address: a tensor that no optimizer holds and that has the shape of a parameter that one does.
    What to do
        Average with the parameters of the trained model.
    Example
        step 0, rank 0: train.py:16 averages a copy of weights of shape (64, 10) with itself (0.95 and 0.05 of one
        tensor), called at train.py:23; expected the trained parameter on one side. Pass the trained model.
    """

    needs: ClassVar[tuple[type[OwnAverage]]] = (OwnAverage,)
    kind: ClassVar[str] = "average_not_updated"
    symptom: ClassVar[str] = "silent"
    confidence: ClassVar[float] = 0.95
    remedies: ClassVar[tuple[str, ...]] = (
        "average with the trained model: s.lerp_(p, 1 - decay) for s, p in zip(copy.parameters(), model.parameters())",
        "or use torch.optim.swa_utils.AveragedModel(model, multi_avg_fn=get_ema_multi_avg_fn(decay))",
    )
    proved_by: ClassVar[str] = "optimizer/crane_average"

    def judge(self, window: Window) -> Iterator[Finding]:
        """Yield one finding a line."""
        memory = window.memory(self)
        for fact in window.new(OwnAverage):
            if memory.setdefault(fact.frame, fact) is not fact:
                continue
            line = file_line(fact.frame) if fact.frame is not None else "a line of the loop"
            called = f", called at {file_line(fact.caller)}" if fact.caller is not None else ""
            yield self.finding(
                window,
                "warning",
                f"{line} averages a copy of weights of shape {fact.shape} with itself ({as_float(fact.kept):.4g} and "
                f"{as_float(fact.taken):.4g} of one tensor){called}; expected the trained parameter on one side. Pass "
                "the trained model.",
                ref=fact.ref,
                place=Place(frame=fact.caller or fact.frame, symptom_frame=fact.frame),
            )
