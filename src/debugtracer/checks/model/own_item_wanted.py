"""Is a sequence model asked for the next item, or for the one that it was given?"""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from debugtracer.checks.check import Check
from debugtracer.trace.facts.own_item import OwnItem
from debugtracer.trace.file_line import spot
from debugtracer.trace.finding import Finding
from debugtracer.trace.place import Place
from debugtracer.trace.window import Window


class OwnItemWanted(Check, frozen=True):
    """The items that a sequence model is asked for are those that it reads, at the same places.

    What it catches
        A recommender whose positive items are not shifted: `pos[i] = item` where the next one was meant.
    Why it matters
        To give back what was just read is learnt at once, and the loss looks better than it should; of what comes next
        nothing is known.
    How it decides
        In `looks` inspected steps two look-ups in one table have the same ids at `share` of their places (padding left
        out), and the vectors of the second are multiplied with what was computed of those of the first; the product is
        summed to scores, and a loss of two classes (a logsigmoid, a softplus) reads them: a gate is no score. Where one
        vector was made of all places before (the last state, a mean), to give back the items is the task. Masked models
        read another id at the places that they are asked for; two views of one sequence are compared row by row.
    What to do
        Shift by one: read seq[:-1], ask for seq[1:].
    Example
        step 2, rank 0: the items that are asked for (model.py:88) are those that the model was given, at 640 of 640
        places (made at utils.py:30), in 3 of 3 steps looked at; expected the next ones. Shift the targets by one.
    """

    needs: ClassVar[tuple[type[OwnItem]]] = (OwnItem,)
    kind: ClassVar[str] = "targets_misaligned"
    symptom: ClassVar[str] = "silent"
    confidence: ClassVar[float] = 0.9
    remedies: ClassVar[tuple[str, ...]] = (
        "shift by one: read sequence[:-1], ask for sequence[1:]",
        "print one row of both: the second must begin with the second item of the first",
    )
    proved_by: ClassVar[str] = "model/library_shelves"

    looks: int = 3  # inspected steps (ours)
    share: float = 0.95  # of the places (ours)

    def judge(self, window: Window) -> Iterator[Finding]:
        """Count the looks at each line; said once."""
        memory = window.memory(self)
        for fact in window.new(OwnItem):
            if fact.same < self.share * fact.places:
                continue  # the items that were not taken, on the same line perhaps
            memory[fact.frame] = memory.get(fact.frame, 0) + 1
            if memory[fact.frame] != self.looks:
                continue
            made = f" (made{spot(fact.made).replace(' (', ' at ')}" if fact.made is not None else ""
            yield self.finding(
                window,
                "warning",
                f"the items that are asked for{spot(fact.wanted)} are those that the model was given, at {fact.same} "
                f"of {fact.places} places{made}, in {self.looks} of {self.looks} steps looked at; expected the next "
                "ones. Shift the targets by one.",
                ref=fact.ref,
                place=Place(frame=fact.made or fact.wanted, symptom_frame=fact.frame),
                same=fact.same / fact.places,
            )
