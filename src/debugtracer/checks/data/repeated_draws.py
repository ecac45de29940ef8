"""Does a model draw the same random numbers in each step?"""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from debugtracer.checks.check import Check
from debugtracer.trace.facts.repeated_draw import RepeatedDraw
from debugtracer.trace.file_line import spot
from debugtracer.trace.finding import Finding
from debugtracer.trace.place import Place
from debugtracer.trace.window import Window


class RepeatedDraws(Check, frozen=True):
    """The forward of a model draws the same random numbers for other inputs, step after step.

    What it catches
        A generator that is made and seeded anew in each forward, `torch.manual_seed` inside the step: noise and time
        steps of a diffusion model, masks, samples of a latent variable.
    Why it matters
        The model learns one pattern of noise by heart. The loss falls, and further than it should.
    How it decides
        In the first three steps, in training and with a graph: what a module draws for each row of its inputs has the
        same checksum in all three while the inputs differ. Draws that have another length than the inputs (random
        features, fixed projections) are left alone.
    What to do
        Make the generator once, outside the step, or leave `generator` out.
    Example
        step 2, rank 0: Denoiser drew the same numbers in the first 3 steps (randn of 32 x 6) for other inputs each
        time; expected new ones in each step. Make the generator (train.py:22) once, outside the step.
    """

    needs: ClassVar[tuple[type[RepeatedDraw]]] = (RepeatedDraw,)
    kind: ClassVar[str] = "worker_rng_duplicate"
    symptom: ClassVar[str] = "silent"
    confidence: ClassVar[float] = 0.9
    remedies: ClassVar[tuple[str, ...]] = (
        "make the generator once, outside the step, and draw from it in each step",
        "or leave generator out: torch's own is seeded once by torch.manual_seed",
    )
    proved_by: ClassVar[str] = "data/steady_noise"

    def judge(self, window: Window) -> Iterator[Finding]:
        """The first line stands for all: one generator draws several things."""
        seen, told = window.new(RepeatedDraw), window.memory(self)
        if not seen or told:
            return
        fact = told["first"] = seen[0]
        what = f"Make the generator{spot(fact.made)} once, outside the step." if fact.made else "Seed before the loop."
        yield self.finding(
            window,
            "warning",
            f"{fact.module} drew the same numbers in the first {fact.looks} steps ({fact.draw} of "
            f"{' x '.join(map(str, fact.shape))}) for other inputs each time; expected new ones in each step. {what}",
            ref=fact.ref,
            place=Place(frame=fact.made or fact.frame, symptom_frame=fact.frame),
        )
