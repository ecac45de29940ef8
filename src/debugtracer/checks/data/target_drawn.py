"""Has the target anything to do with the input?"""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from debugtracer.checks.check import Check
from debugtracer.trace.facts.drawn_target import DrawnTarget
from debugtracer.trace.file_line import spot
from debugtracer.trace.finding import Finding
from debugtracer.trace.place import Place
from debugtracer.trace.window import Window


class TargetDrawn(Check, frozen=True):
    """The target is drawn at random in the step, and nothing else has used the draw.

    What it catches
        A denoiser whose target is a fresh draw of noise and not the one that was added to its input; data made up in
        the loop, with targets that do not depend on the inputs.
    Why it matters
        There is nothing to learn: the best prediction is the mean, and the loss stays at the variance of the noise.
    How it decides
        In two inspected steps a tensor made by `randn`, `rand` or one of their kind (`normal` with mean 0 and
        deviation 1) is compared with the prediction (`mse_loss`, `l1_loss`, a difference that is squared), and that is
        the only use of it in the step: no input, no sum, no product was made with it. The comparison is the whole loss
        of the step: as a term among others it may draw a code towards a distribution, or be the noisy label of a judge.
    What to do
        Return the noise that was mixed into the input, and compare the prediction with that.
    Example
        step 1, rank 0: the target of sub (train.py:56) is drawn by randn_like (train.py:33) in each step and nothing
        else uses the draw; expected a target that belongs to the input. Use the noise that the input was made with.
    """

    needs: ClassVar[tuple[type[DrawnTarget]]] = (DrawnTarget,)
    kind: ClassVar[str] = "target_unrelated"
    symptom: ClassVar[str] = "no_learning"
    confidence: ClassVar[float] = 0.9
    remedies: ClassVar[tuple[str, ...]] = (
        "keep the draw that the input was made with, and use it as the target too",
        "where the data are made up on purpose: nothing to do",
    )
    proved_by: ClassVar[str] = "data/muffled_hydrophone"

    looks: int = 2  # inspected steps (ours)

    def judge(self, window: Window) -> Iterator[Finding]:
        """Count the looks at each line; said once."""
        memory = window.memory(self)
        for fact in window.new(DrawnTarget):
            memory[fact.frame] = memory.get(fact.frame, 0) + 1
            if memory[fact.frame] != self.looks:
                continue
            yield self.finding(
                window,
                "warning",
                f"the target of {fact.loss}{spot(fact.loss_frame)} is drawn by {fact.draw}{spot(fact.frame)} in each "
                "step and nothing else uses the draw; expected a target that belongs to the input. Use the noise that "
                "the input was made with.",
                ref=fact.ref,
                place=Place(frame=fact.frame, symptom_frame=fact.loss_frame),
            )
