"""Does the model get the noise that is mixed for it?"""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from debugtracer.checks.check import Check
from debugtracer.trace.counted import counted
from debugtracer.trace.facts.unread_draw import UnreadDraw
from debugtracer.trace.file_line import file_line
from debugtracer.trace.finding import Finding
from debugtracer.trace.place import Place
from debugtracer.trace.window import Window


class DrawsUnread(Check, frozen=True):
    """A line adds noise to an input, or augments it, and the model is given the input as it was.

    What it catches
        A denoiser that is called with the clean signal, `net(x)` beside `x_aug = augment(x)`, mixup whose `mixed` goes
        nowhere, a VAE whose decoder is given `mu` and not the sample.
    Why it matters
        Nothing is learnt of what the noise was for. The loss even falls faster, for the task is easier.
    How it decides
        In inspected steps a random draw of torch is followed into what is computed of it and of other tensors. The
        result is never an argument of any function or module, it has gone or one variable alone still holds it, and a
        tensor of its shape that it was made of was given to a model or to a layer later. Seen in `looks` steps, and in
        no step was the result of that line read: a choice by chance is left alone.
    What to do
        Give the model the mixture.
    Example
        step 0, rank 0: what denoise.py:12 makes of a random draw is never read, in 5 of 5 steps, and denoise.py:13
        gives the model what it was made of; expected the mixture. Hand that on.
    """

    needs: ClassVar[tuple[type[UnreadDraw]]] = (UnreadDraw,)
    kind: ClassVar[str] = "result_discarded"
    symptom: ClassVar[str] = "silent"
    confidence: ClassVar[float] = 0.9
    remedies: ClassVar[tuple[str, ...]] = (
        "give the model what was mixed with the draw",
        "or take the line out that mixes it, if the input is meant to stay as it is",
    )
    proved_by: ClassVar[str] = "data/oboe_tones"

    looks: int = 2
    """Inspected steps (ours)."""

    def judge(self, window: Window) -> Iterator[Finding]:
        """Yield one finding a line; the observer tells each once."""
        for fact in window.new(UnreadDraw):
            if fact.looks >= self.looks:
                mixes, gives = (file_line(one) if one is not None else "a line" for one in (fact.frame, fact.given))
                yield self.finding(
                    window,
                    "warning",
                    f"what {mixes} makes of a random draw is never read, in {fact.looks} of "
                    f"{counted(fact.looks, 'step')}, and {gives} gives the model what it was made of; expected the "
                    "mixture. Hand that on.",
                    ref=fact.ref,
                    place=Place(frame=fact.given or fact.frame, symptom_frame=fact.frame),
                    looks=float(fact.looks),
                )
