"""Is the label of no object also the label of a class?"""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from debugtracer.checks.check import Check
from debugtracer.trace.facts.filled_target import FilledTarget
from debugtracer.trace.file_line import spot
from debugtracer.trace.finding import Finding
from debugtracer.trace.made_at import made_at
from debugtracer.trace.place import Place
from debugtracer.trace.window import Window


class FillCollides(Check, frozen=True):
    """The number that stands for no object is written as a class, too.

    What it catches
        Category ids from 1 on where the model counts from 0, so that the last one is the index of no object; classes
        from 0 on where 0 is the background of the anchors.
    Why it matters
        The two cannot be told apart: objects of that class are taught as nothing, and the loss falls all the same.
    How it decides
        Labels of a loss over classes were made as one number everywhere (`torch.full`, `zeros`) and written in places
        that a tensor of places names. In `looks` inspected steps places are left, and written labels of several kinds
        have that number among them. Labels that stand at the start or the end of each row (padding), a number that the
        loss ignores, and labels of one kind are left alone.
    What to do
        Give no object an index of its own: the number of classes is the largest id + 1.
    Example
        step 1, rank 0: cross_entropy (train.py:86) gets labels filled with 3 (train.py:84), and 15 of 46 written ones
        are 3, too, beside 114 that were left; expected an index of its own for what is left. Make it the largest id +
        1.
    """

    needs: ClassVar[tuple[type[FilledTarget]]] = (FilledTarget,)
    kind: ClassVar[str] = "loss_misuse"
    symptom: ClassVar[str] = "silent"
    confidence: ClassVar[float] = 0.9
    remedies: ClassVar[tuple[str, ...]] = (
        "give no object an index of its own: num_classes = largest id + 1",
        "or count the classes from 0 (from 1 where 0 is the background) where they are written",
    )
    proved_by: ClassVar[str] = "data/gull_nests"

    looks: int = 2
    """Inspected steps (ours)."""

    def judge(self, window: Window) -> Iterator[Finding]:
        """Count the steps of each line; said once."""
        memory = window.memory(self)
        for fact in window.new(FilledTarget):
            if not fact.same:
                continue
            steps = memory.setdefault(fact.frame, set())
            if fact.ref.step not in steps and len(steps) == self.looks - 1:
                yield self.finding(
                    window,
                    "warning",
                    f"{fact.loss}{spot(fact.loss_frame)} gets labels filled with {fact.fill}{spot(fact.frame)}"
                    f"{made_at(fact.made)}, and {fact.same} of {fact.written} written ones are {fact.fill}, too, "
                    f"beside {fact.filled} that were left; expected an index of its own for what is left. Make it the "
                    "largest id + 1.",
                    ref=fact.ref,
                    place=Place(frame=fact.frame, symptom_frame=fact.loss_frame),
                    written=float(fact.written),
                )
            steps.add(fact.ref.step)
