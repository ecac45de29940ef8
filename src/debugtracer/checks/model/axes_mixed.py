"""Does a row of scores belong to one position?"""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from debugtracer.checks.check import Check
from debugtracer.trace.facts.mixed_axes import MixedAxes
from debugtracer.trace.file_line import spot
from debugtracer.trace.finding import Finding
from debugtracer.trace.place import Place
from debugtracer.trace.window import Window


class AxesMixed(Check, frozen=True):
    """Scores with their classes in dimension 1 are cut into rows as if the classes were last.

    What it catches
        `scores.view(-1, classes)` on a tensor of (batch, classes, positions) or (batch, classes, height, width).
    Why it matters
        `view` reads values in the order of memory, so a row holds one class at several positions and not all classes at
        one. The number of rows is right, nothing crashes, and the network learns what it can of a scrambled task.
    How it decides
        By shapes: what was viewed has the number of classes in dimension 1 and another number last, the result has one
        row for each target, and the targets had the shape (batch, positions ...) before they were flattened.
    What to do
        Move the classes last before the view, or give cross_entropy (batch, classes, positions) and targets of
        (batch, positions) as they are.
    Example
        step 0, rank 0: view (train.py:88) cuts (32, 10, 40) into rows of 10, so a row of what cross_entropy
        (train.py:89) gets does not hold 10 classes of one position; expected the classes last. Use movedim(1, -1)
        before it.
    """

    needs: ClassVar[tuple[type[MixedAxes]]] = (MixedAxes,)
    kind: ClassVar[str] = "axes_mixed"
    symptom: ClassVar[str] = "no_learning"
    confidence: ClassVar[float] = 0.95
    remedies: ClassVar[tuple[str, ...]] = (
        "move the classes last before they become rows: scores.movedim(1, -1).reshape(-1, classes)",
        "give cross_entropy the scores as (batch, classes, positions) and the targets as (batch, positions)",
    )
    proved_by: ClassVar[str] = "model/bird_calls"

    def judge(self, window: Window) -> Iterator[Finding]:
        """Yield one finding a line; the observer tells each once."""
        for fact in window.new(MixedAxes):
            yield self.finding(
                window,
                "warning",
                f"{fact.function}{spot(fact.frame)} cuts {fact.shape} into rows of {fact.classes}, so a row of what "
                f"{fact.loss}{spot(fact.loss_frame)} gets does not hold {fact.classes} classes of one position; "
                "expected the classes last. Use movedim(1, -1) before it.",
                ref=fact.ref,
                place=Place(frame=fact.frame, symptom_frame=fact.loss_frame),
                classes=fact.classes,
            )
