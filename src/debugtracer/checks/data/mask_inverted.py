"""Does a masked model predict what is masked?"""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from debugtracer.checks.check import Check
from debugtracer.trace.facts.inverted_mask import InvertedMask
from debugtracer.trace.file_line import spot
from debugtracer.trace.finding import Finding
from debugtracer.trace.place import Place
from debugtracer.trace.window import Window


class MaskInverted(Check, frozen=True):
    """The loss of a masked model counts the tokens that its input shows, and ignores those that are masked.

    What it catches
        `labels[masked] = -100` where `labels[~masked] = -100` was meant.
    Why it matters
        The model copies its input: the loss falls far below what a masked model reaches, and it has not learnt to
        predict a single masked token.
    How it decides
        In `looks` inspected steps all targets that count are the very tokens of the input at their position, one and
        the same id stands at all positions that are ignored and nowhere else, and it stands between others, not at the
        end of the rows as padding does.
    What to do
        Turn the mask round: `labels[~masked] = -100`.
    Example
        step 1, rank 0: the targets of cross_entropy (mlm.py:70) are the tokens of the input wherever they count, and
        ignored where the input is id 4 (15 % of all); expected the opposite. Turn the mask of the labels round.
    """

    needs: ClassVar[tuple[type[InvertedMask]]] = (InvertedMask,)
    kind: ClassVar[str] = "label_mask_wrong"
    confidence: ClassVar[float] = 0.9
    remedies: ClassVar[tuple[str, ...]] = ("ignore the targets of the tokens that are shown: labels[~masked] = -100",)
    proved_by: ClassVar[str] = "data/recipe_words"

    looks: int = 2  # inspected steps (ours)

    def judge(self, window: Window) -> Iterator[Finding]:
        """Count the looks at each line; said once."""
        memory = window.memory(self)
        for fact in window.new(InvertedMask):
            memory[fact.frame] = memory.get(fact.frame, 0) + 1
            if memory[fact.frame] != self.looks:
                continue
            yield self.finding(
                window,
                "warning",
                f"the targets of {fact.loss}{spot(fact.frame)} are the tokens of the input wherever they count, and "
                f"ignored where the input is id {fact.mask} ({100 * float(fact.ignored):.0f} % of all); expected the "
                "opposite. Turn the mask of the labels round.",
                ref=fact.ref,
                place=Place(frame=fact.made or fact.frame, symptom_frame=fact.frame),
                mask=fact.mask,
                ignored=float(fact.ignored),
            )
