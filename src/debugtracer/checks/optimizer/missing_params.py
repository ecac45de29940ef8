"""Does some optimizer hold every parameter that receives a gradient?"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from debugtracer.checks.check import Check
from debugtracer.trace.facts.wiring import OptimizerWiring, ParamWiring, Wiring
from debugtracer.trace.finding import Finding
from debugtracer.trace.place import Place
from debugtracer.trace.window import Window


@dataclass(frozen=True)
class MissingParams(Check):
    """Parameters receive gradients and no optimizer holds them.

    What it catches
        An optimizer built before a layer was replaced, before `.to()` or FSDP made new parameters, or from a part of
        the model.
    Why it matters
        These parameters never change. The rest learns around them, so the loss looks plausible.
    How it decides
        By identity, over all live optimizers: a trainable parameter of a module the loop calls has a gradient when the
        step closes and is in no parameter group. It is exact when an optimizer also holds parameters of no module that
        is called. Without such strangers a part may be left out on purpose: a warning where it keeps, over two steps,
        the values torch draws for a new layer, else a note.
    What to do
        Build the optimizer after the last change to the model, or add the parameters with `optimizer.add_param_group`.
    Example
        step 0, rank 0: fc.weight and 1 more of 8 trainable parameters receive gradients and no optimizer holds them;
        SGD (train.py:42) holds 2 parameters of shape (1000, 64), ... that no module uses; expected each trainable
        parameter in one group.
    """

    needs: ClassVar[tuple[type[Wiring]]] = (Wiring,)
    kind: ClassVar[str] = "optimizer_params_mismatch"
    exact: ClassVar[bool] = True
    remedies: ClassVar[tuple[str, ...]] = (
        "build the optimizer after the last change to the model (new head, .to(), wrapping)",
        "or hand the new parameters over: optimizer.add_param_group({'params': model.fc.parameters()})",
    )
    proved_by: ClassVar[str] = "optimizer/replaced_head"

    def judge(self, window: Window) -> Iterator[Finding]:
        """Yield one finding a step, at the largest group of parameters left out."""
        for fact in window.new(Wiring):
            lost = [p for p in fact.params if p.trainable and p.has_grad and p.held == 0]
            if lost:
                yield self.describe(window, fact, lost, [o for o in fact.optimizers if o.strangers])

    def describe(
        self, window: Window, fact: Wiring, lost: list[ParamWiring], holders: list[OptimizerWiring]
    ) -> Finding:
        """Which parameters, and which optimizer holds what instead."""
        trainable = sum(p.trainable for p in fact.params)
        more = f" and {len(lost) - 1} more" if len(lost) > 1 else ""
        instead = ""
        if holders:
            shapes = ", ".join(str(s) for s in holders[0].stranger_shapes)
            instead = (
                f"; {holders[0].kind} holds {holders[0].strangers} parameters of shape {shapes} that no module uses"
            )
        frame = next((o.frame for o in [*holders, *fact.optimizers] if o.frame), None)
        drawn = ", and they still have the values a new layer is drawn with" if lost[0].drawn and not holders else ""
        return self.finding(
            window,
            "error" if holders else "warning" if drawn else "note",
            f"{lost[0].name}{more} of {trainable} trainable parameters receive gradients and no optimizer holds "
            f"them{instead}{drawn}; "
            "expected each trainable parameter in one group. Build the optimizer after the last change to the model.",
            ref=fact.ref,
            exact=bool(holders),
            confidence=0.97 if holders else 0.9,
            place=Place(param=lost[0].name, module=lost[0].name.rpartition(".")[0], frame=frame),
            lost=len(lost),
            trainable=trainable,
        )
