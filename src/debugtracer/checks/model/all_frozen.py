"""Is every parameter of the model frozen?"""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from debugtracer.checks.check import Check
from debugtracer.trace.facts.graph_reach import LossWithoutGraph as Loose
from debugtracer.trace.file_line import file_line, spot
from debugtracer.trace.finding import Finding
from debugtracer.trace.place import Place
from debugtracer.trace.window import Window

AT_THE_START = "compare the names of model.named_parameters() with those that are to be spared"
IN_THE_MIDDLE = "print what the line that freezes was given now, and end the schedule before the last part"


class AllFrozen(Check, frozen=True):
    """backward() is called where every parameter of the model has requires_grad False.

    What it catches
        A freezing loop that means to spare the head and compares names that the model does not have; `requires_grad_`
        of the whole model after the head was set; stages frozen one by one past the last.
    Why it matters
        backward() raises "element 0 of tensors does not require grad", a sentence that says nothing of freezing.
    How it decides
        The loss has no graph when backward begins, and of all models called so far not one parameter asks for a
        gradient. The line is the only one of the program that sets requires_grad to False, if there is only one. After
        updates it is the only one that may and that a loop runs again, by the call in that loop: something was trained
        until then.
    What to do
        Print the names of `model.named_parameters()` and compare them with those that the freezing loop spares.
    Example
        step 0, rank 0: all 23 parameters of Net have requires_grad False, so the loss hangs on none (train.py:36
        freezes); expected at least one that trains. Compare the names of model.named_parameters() with those that are
        to be spared.
    """

    needs: ClassVar[tuple[type[Loose]]] = (Loose,)
    at_end: ClassVar[bool] = True
    kind: ClassVar[str] = "parameters_not_updated"
    symptom: ClassVar[str] = "crash"
    confidence: ClassVar[float] = 0.95
    remedies: ClassVar[tuple[str, ...]] = (
        "compare the names of model.named_parameters() with those that the freezing loop spares",
        "set requires_grad_(True) for what is to learn, before the optimizer is built",
    )
    proved_by: ClassVar[str] = "model/frozen_by_prefix"

    def judge(self, window: Window) -> Iterator[Finding]:
        """Yield once a run."""
        memory = window.memory(self)
        for fact in window.new(Loose):
            if fact.frozen and "told" not in memory:
                memory["told"] = True
                yield self.describe(window, fact)

    def describe(self, window: Window, fact: Loose) -> Finding:
        """Build the finding, at the line that freezes where it is known."""
        by = f" ({file_line(fact.frozen_by)} freezes)" if fact.frozen_by else ""
        by = by.replace(")", f", called by {spot(fact.called_at)[2:]}") if by and fact.called_at else by
        since = f" after {fact.updates} updates in which some were trained" if fact.updates else ""
        action = IN_THE_MIDDLE if fact.updates else AT_THE_START
        return self.finding(
            window,
            "error",
            f"all {fact.frozen} parameters of {fact.model} have requires_grad False{by}{since}, so the loss hangs on "
            f"none; expected at least one that trains. {action[0].upper()}{action[1:]}.",
            ref=fact.ref,
            place=Place(frame=fact.called_at or fact.frozen_by or fact.frame, symptom_frame=fact.frame),
            remedies=(action, *self.remedies) if fact.updates else (),
        )
