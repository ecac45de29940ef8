"""Is an accumulated gradient a mean?"""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from debugtracer.checks.check import Check
from debugtracer.trace.facts.order import Call, StepOrder
from debugtracer.trace.file_line import spot
from debugtracer.trace.finding import Finding
from debugtracer.trace.place import Place
from debugtracer.trace.window import Window


class AccumScaling(Check, frozen=True):
    """Gradients of several microbatches are added without dividing the loss.

    What it catches
        Gradient accumulation without `loss = loss / n`, and a last window of the epoch that is shorter than the others
        but divided by the same n.
    Why it matters
        The gradient is n times that of a mean: the same as a learning rate n times as large for SGD, and a clip that
        bites n times as hard.
    How it decides
        The same line calls backward n times for one update, in 3 updates, and no loss was the result of a division or
        product. A warning where they are microbatches: a loader gave a batch before each and no loss is a sum of its
        rows, or each is a mean over the rows of an input of its own and the optimizer's update grows with the gradient
        (SGD). Else a note, for a sum may be meant (the losses of several tasks); nothing where the line holds as many
        calls of backward itself. A shorter window after longer ones is a note.
    What to do
        Divide the loss by the number of microbatches of its own window.
    Example
        step 2, rank 0: backward (train.py:24) adds up 4 microbatches per update and no loss is divided, so gradients
        are 4 times those of their mean; expected loss / 4. Divide it unless a sum is meant.
    """

    needs: ClassVar[tuple[type[StepOrder]]] = (StepOrder,)
    remedies: ClassVar[tuple[str, ...]] = ("divide each loss by the number of microbatches of its update",)
    family: ClassVar[str] = "order"
    proved_by: ClassVar[str] = "optimizer/sum_of_parts"

    updates: int = 3  # with the same number of microbatches (how many there are is learnt in the first 3 steps)

    def judge(self, window: Window) -> Iterator[Finding]:
        """Yield at most one finding per optimizer for each of the two faults."""
        memory = window.memory(self)
        for fact in window.new(StepOrder):
            calls = repeated(fact)
            seen: list[int] = memory.setdefault(fact.optimizer, [])
            if len(seen) >= self.updates and 1 <= len(calls) < max(seen) and calls[0].divided:
                yield self.describe(
                    window,
                    fact,
                    calls[0],
                    f"adds up {len(calls)} microbatches in this update and {max(seen)} in others, each divided alike, "
                    "so this update is smaller; expected each "
                    "loss divided by the microbatches of its own window. Mind the last window of an epoch.",
                )
            seen.append(len(calls))
            if len(seen) == self.updates and min(seen) == max(seen) > 1 and not any(c.divided for c in calls):
                yield self.describe(
                    window,
                    fact,
                    calls[0],
                    f"adds up {max(seen)} microbatches per update and no loss is divided, so gradients are {max(seen)} "
                    "times those of their mean; expected "
                    f"loss / {max(seen)}. Divide it unless a sum is meant.",
                    sure=all(c.microbatch for c in calls),
                )

    def describe(self, window: Window, fact: StepOrder, call: Call, said: str, sure: bool = False) -> Finding:
        """Build the finding, placed at the backward call."""
        return self.finding(
            window,
            "warning" if sure else "note",
            f"backward{spot(call.frame)} {said}",
            ref=fact.ref,
            place=Place(frame=call.frame),
            kind="accumulation_unscaled" if sure else None,
            confidence=0.8,
            backwards=len(fact.backwards()),
        )


def repeated(fact: StepOrder) -> list[Call]:
    """The backward calls of the update since the last zero_grad, if they all come from one line."""
    cleared = max((i for i, call in enumerate(fact.calls) if call.word == "zero_grad"), default=-1)
    calls = [call for call in fact.calls[cleared + 1 :] if call.word == "backward" and call.live]
    alike = len({call.frame for call in calls}) == 1 and calls[0].frame is not None
    if not alike or fact.kind == "LBFGS":  # its closures are calls of their own
        return []
    frame = calls[0].frame
    written = frame.code.count(".backward(") if frame is not None else 0
    return calls if written < len(calls) else []  # several terms, each with a call of its own on that line
