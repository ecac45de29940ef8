"""Is the first word that a model is to write ever a target?"""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from debugtracer.checks.check import Check
from debugtracer.trace.facts.untrained_start import UntrainedStart
from debugtracer.trace.file_line import spot
from debugtracer.trace.finding import Finding
from debugtracer.trace.made_at import made_at
from debugtracer.trace.place import Place
from debugtracer.trace.window import Window


class StartUntrained(Check, frozen=True):
    """The targets begin one position after the one from which the model writes on.

    What it catches
        `labels[:, :prompt] = -100` on targets that are already shifted by one: the prompt holds the first prompt - 1 of
        them, so the first word of the answer is masked, too.
    Why it matters
        All other words are learned and the loss looks right. The model guesses the first word of each answer, and what
        follows is built on it.
    How it decides
        The targets are the next words, and in every text of `steps` inspected steps or more the first one that is not
        ignored stands at the same position. An evaluation gives the same model texts that grow by a word from call to
        call, and they begin with exactly as many words as there are positions without a target: what the last of them
        says is read and was never trained. Nothing is said where texts of several lengths are written on, or where the
        targets begin at several positions.
    What to do
        Mask one target less: `labels[:, : prompt - 1] = -100`.
    Example
        step 300, rank 0: in all texts of training the first target of cross_entropy (model.py:237) is that of position
        6; the targets are written at train.py:60, and the evaluation (model.py:252) begins to write after 6 words, at
        position 5, which has none; expected a target there. Mask one target less.
    """

    needs: ClassVar[tuple[type[UntrainedStart]]] = (UntrainedStart,)
    kind: ClassVar[str] = "label_mask_wrong"
    symptom: ClassVar[str] = "silent"
    confidence: ClassVar[float] = 0.85
    remedies: ClassVar[tuple[str, ...]] = (
        "mask one target less: targets that are shifted hold prompt - 1 words of the prompt",
        "print where the first target is that counts, beside the prompt",
    )
    proved_by: ClassVar[str] = "data/knitting_rows"

    steps: int = 2  # inspected steps (ours)

    def judge(self, window: Window) -> Iterator[Finding]:
        """Yield one finding for each model."""
        memory = window.memory(self)
        for fact in window.new(UntrainedStart):
            if fact.steps < self.steps or fact.key() in memory:
                continue
            memory[fact.key()] = True
            made = made_at(fact.made[-1:]).replace(", made", "; the targets are written")
            yield self.finding(
                window,
                "warning",
                f"in all texts of training the first target of {fact.loss}{spot(fact.loss_frame)} is that of position "
                f"{fact.first}{made}, and the evaluation{spot(fact.frame)} begins to write after {fact.given} words, "
                f"at position {fact.given - 1}, which has none; expected a target there. Mask one target less.",
                ref=fact.ref,
                place=Place(frame=fact.made[-1] if fact.made else fact.loss_frame, symptom_frame=fact.frame),
            )
