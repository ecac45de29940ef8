"""Does an optimizer hold parameters that are frozen?"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from debugtracer.checks.check import Check
from debugtracer.trace.facts.wiring import Wiring
from debugtracer.trace.finding import Finding
from debugtracer.trace.place import Place
from debugtracer.trace.window import Window


@dataclass(frozen=True)
class FrozenHeld(Check):
    """An optimizer holds parameters with requires_grad False.

    What it catches
        A part that was frozen and never unfrozen again.
    Why it matters
        If it was forgotten, that part never learns, and the loss only looks a little worse.
    How it decides
        requires_grad of every parameter in an optimizer when the step closes. Fine-tuning does it on purpose, so it is
        one note a run.
    What to do
        Set requires_grad_(True) if it was forgotten.
    Example
        step 0, rank 0: 2 of 10 parameters in the optimizers have requires_grad False (stem.weight, ...): they stay as
        they are; expected that only if they are frozen on purpose. Set requires_grad_(True) otherwise.
    """

    needs: ClassVar[tuple[type[Wiring]]] = (Wiring,)
    confidence: ClassVar[float] = 0.3
    remedies: ClassVar[tuple[str, ...]] = ("set requires_grad_(True) if it was forgotten",)
    proved_by: ClassVar[str] = "model/rebuilt_loss"

    def judge(self, window: Window) -> Iterator[Finding]:
        """Yield once, at the first snapshot with such a parameter."""
        memory = window.memory(self)
        for fact in window.new(Wiring):
            held = [p for p in fact.params if p.held]
            frozen = [p for p in held if not p.trainable]
            if frozen and "told" not in memory:
                memory["told"] = True
                yield self.finding(
                    window,
                    "note",
                    f"{len(frozen)} of {len(held)} parameters in the optimizers have requires_grad False "
                    f"({frozen[0].name}, ...): they stay as they are; "
                    "expected that only if they are frozen on purpose. Set requires_grad_(True) otherwise.",
                    ref=fact.ref,
                    place=Place(param=frozen[0].name),
                    frozen=float(len(frozen)),
                )
