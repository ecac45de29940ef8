"""Does the loss of a masked model count hidden words alone?"""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from debugtracer.checks.check import Check
from debugtracer.trace.facts.scored_givens import ScoredGivens
from debugtracer.trace.file_line import spot
from debugtracer.trace.finding import Finding
from debugtracer.trace.place import Place
from debugtracer.trace.window import Window


class GivensScored(Check, frozen=True):
    """Most targets of a masked model are words that it reads at the same place.

    What it catches
        `labels = input_ids.clone()` for masked language models, without `labels[~masked] = -100`.
    Why it matters
        To give back what was just read is learnt at once. The loss falls to a tenth without a word being guessed, and
        most of the gradient is about copying.
    How it decides
        In `looks` inspected steps a cross-entropy has a target for each place of ids that the model looks up. At least
        `share` of the targets are those ids, and nearly all others are read as one id, the mask, which is no target
        itself: from `fewest` to the rest of the places. Left alone: losses without a reduction (they may be weighed
        afterwards), decoders that read the targets moved on by one, and noise that hides more than that, as that of
        diffusion does.
    What to do
        Give all other places the index that the loss ignores: `labels[~masked] = -100`.
    Example
        step 2, rank 0: 1309 of 1536 targets (train.py:20) are ids that the model reads at the same place, 227 of the
        others are hidden behind 59, in 3 of 3 steps looked at; expected the hidden ones alone. Set the others to -100.
    """

    needs: ClassVar[tuple[type[ScoredGivens]]] = (ScoredGivens,)
    kind: ClassVar[str] = "label_mask_wrong"
    symptom: ClassVar[str] = "silent"
    confidence: ClassVar[float] = 0.85
    remedies: ClassVar[tuple[str, ...]] = (
        "labels[~masked] = -100, the ignore_index of cross_entropy, where masked are the places that are hidden",
        "or take the loss of these alone: cross_entropy(scores[masked], ids[masked])",
    )
    proved_by: ClassVar[str] = "data/wind_words"

    looks: int = 3  # inspected steps (ours)
    share: float = 0.7  # of the targets (ours: masked models hide 15 to 25 of 100)
    fewest: float = 0.03  # of the targets that are hidden (ours)

    def judge(self, window: Window) -> Iterator[Finding]:
        """Count the looks at each line; said once."""
        memory = window.memory(self)
        for fact in window.new(ScoredGivens):
            if fact.same < self.share * fact.places or fact.hidden < self.fewest * fact.places:
                memory[fact.frame] = -self.looks  # another noise each time
                continue
            memory[fact.frame] = memory.get(fact.frame, 0) + 1
            if memory[fact.frame] != self.looks:
                continue
            yield self.finding(
                window,
                "warning",
                f"{fact.same} of {fact.places} targets{spot(fact.frame)} are ids that the model reads at the same "
                f"place, {fact.hidden} of the others are hidden behind {fact.mask}, in {self.looks} of {self.looks} "
                "steps looked at; expected the hidden ones alone. Set the others to -100.",
                ref=fact.ref,
                place=Place(frame=fact.made or fact.frame, symptom_frame=fact.frame),
                same=fact.same / fact.places,
            )
