"""Could training go on from what is saved?"""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from debugtracer.checks.check import Check
from debugtracer.trace.facts.checkpoint import CheckpointSaved
from debugtracer.trace.file_line import spot
from debugtracer.trace.finding import Finding
from debugtracer.trace.place import Place
from debugtracer.trace.window import Window


class CkptIncomplete(Check, frozen=True):
    """A checkpoint with a step count, but without all of the state that training uses.

    What it catches
        Weights and a step, no optimizer; an optimizer, no scheduler or scaler.
    Why it matters
        A run that resumes from it begins its moments, its warmup or its loss scale anew.
    How it decides
        The file counts the steps of this run (so it is no export of weights alone) and lacks the state of an optimizer,
        scheduler or scaler that is in use. Lightning's `save_weights_only` was chosen and is silent. Always a note,
        once for what is absent: the loss is real only when somebody resumes.
    What to do
        Add their state_dict() to the file.
    Example
        step 240, rank 0: the checkpoint saved here (train.py:56) holds counter, weights and not the state of optimizer,
        scheduler; expected them too. Add their state_dict().
    """

    needs: ClassVar[tuple[type[CheckpointSaved]]] = (CheckpointSaved,)
    at_end: ClassVar[bool] = True
    remedies: ClassVar[tuple[str, ...]] = ("add the state_dict() of optimizer, scheduler and scaler to the file",)
    proved_by: ClassVar[str] = "rollback/weights_and_step"

    def judge(self, window: Window) -> Iterator[Finding]:
        """A note for the first file that lacks these states."""
        told = window.memory(self)
        for fact in window.new(CheckpointSaved):
            absent = [word for word in fact.live if word not in fact.parts]
            if fact.counter is not None and absent and not fact.weights_only and tuple(absent) not in told:
                told[tuple(absent)] = True
                yield self.finding(
                    window,
                    "note",
                    f"the checkpoint saved here{spot(fact.frame)} holds {', '.join(fact.parts)} and not the state of "
                    f"{', '.join(absent)}; expected them too. "
                    "Add their state_dict().",
                    ref=fact.ref,
                    place=Place(frame=fact.frame),
                )
