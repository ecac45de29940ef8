"""Does an optimizer hold parameters that are frozen?"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import ClassVar

from debugtracer.checks.check import Check
from debugtracer.trace.facts.wiring import Wiring
from debugtracer.trace.finding import Finding
from debugtracer.trace.place import Place
from debugtracer.trace.window import Window


class FrozenHeld(Check, frozen=True):
    """An optimizer holds parameters with requires_grad False.

    What it catches
        A part that was frozen and never unfrozen again.
    Why it matters
        If it was forgotten, that part never learns, and the loss only looks a little worse.
    How it decides
        requires_grad of every parameter in an optimizer when the step closes. Fine-tuning freezes a part on purpose, so
        that is one note a run; a frozen parameter that a module of the program's own holds beside its layers is a table
        of fixed positions or waves, and silent. Where nothing that an optimizer holds can be trained or has a gradient
        when its own step closes, in `steps` of them, that step can change nothing: an error, and exact.
    What to do
        Set requires_grad_(True) if it was forgotten.
    Example
        step 0, rank 0: 2 of 10 parameters in the optimizers have requires_grad False (stem.weight, ...): they stay as
        they are; expected that only if they are frozen on purpose. Set requires_grad_(True) otherwise.
    """

    needs: ClassVar[tuple[type[Wiring]]] = (Wiring,)
    confidence: ClassVar[float] = 0.3
    remedies: ClassVar[tuple[str, ...]] = ("set requires_grad_(True) if it was forgotten",)
    symptom: ClassVar[str] = "no_learning"
    proved_by: ClassVar[str] = "model/frozen_before_optimizer"

    steps: int = 2  # of one optimizer (ours: a loop may unfreeze after its first)

    def judge(self, window: Window) -> Iterator[Finding]:
        """Yield once, at the first snapshot with such a parameter, and once at an optimizer that can change nothing."""
        memory = window.memory(self)
        for fact in window.new(Wiring):
            yield from self.idle(window, fact)
            held = [p for p in fact.params if p.held]
            frozen = [p for p in held if not p.trainable and not p.table]
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

    def idle(self, window: Window, fact: Wiring) -> Iterator[Finding]:
        """Yield for an optimizer all of whose parameters are frozen at its own steps."""
        memory = window.memory(self)
        for one in fact.optimizers:
            if not one.idle:
                continue
            key = one.kind, one.frame
            memory[key] = memory.get(key, 0) + 1
            if memory[key] == self.steps:
                where = f" ({Path(one.frame.file).name}:{one.frame.line})" if one.frame is not None else ""
                yield self.finding(
                    window,
                    "error",
                    f"none of the {one.held} parameters that {one.kind}{where} holds can be trained: all have "
                    "requires_grad False and no gradient, so step() changes nothing; "
                    "expected trainable ones. Build the optimizer from the parameters that are to learn.",
                    ref=fact.ref,
                    place=Place(frame=one.frame),
                    kind="parameters_not_updated",
                    exact=True,
                    confidence=0.97,
                    remedies=(
                        "build the optimizer from what is to learn: [p for p in model.parameters() if p.requires_grad]",
                        *self.remedies,
                    ),
                    held=float(one.held),
                )
