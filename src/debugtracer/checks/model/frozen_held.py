"""Does an optimizer hold parameters that are frozen?"""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from debugtracer.checks.check import Check
from debugtracer.trace.facts.wiring import Wiring, full_name
from debugtracer.trace.file_line import file_line
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
        Where the same are frozen at every look, and a loop freezes them in two branches on its counter while the
        program sets requires_grad to nothing else, the later branch changes nothing: a warning, at the end.
    What to do
        Set requires_grad_(True) if it was forgotten.
    Example
        step 0, rank 0: 2 of 10 parameters in the optimizers have requires_grad False (stem.weight, ...): they stay as
        they are; expected that only if they are frozen on purpose. Set requires_grad_(True) otherwise.
    """

    needs: ClassVar[tuple[type[Wiring]]] = (Wiring,)
    at_end: ClassVar[bool] = True
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
            names = {full_name(p) for p in frozen}
            memory["always"] = memory.get("always", names) & names
            memory["last"] = fact
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

        if window.ended and "last" in memory:
            yield from self.again(window, memory["last"], memory["always"])

    def again(self, window: Window, fact: Wiring, frozen: set[str]) -> Iterator[Finding]:
        """Yield where what was frozen at every look is frozen a second time and never unfrozen."""
        line = fact.frozen_again
        if line is not None and frozen:
            yield self.finding(
                window,
                "warning",
                f"{len(frozen)} parameters of the optimizers have been frozen at every look, and "
                f"{file_line(line)} freezes them again in another branch of the loop; no line of the "
                "program sets requires_grad to True; expected that this branch unfreezes. Set True there.",
                ref=fact.ref,
                place=Place(frame=line, param=min(frozen)),
                kind="parameters_not_updated",
                confidence=0.9,
                remedies=("set requires_grad to True in the later branch", *self.remedies),
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
                where = f" ({file_line(one.frame)})" if one.frame is not None else ""
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
