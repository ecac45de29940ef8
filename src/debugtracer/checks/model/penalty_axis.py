"""Is the norm of a gradient penalty that of each sample?"""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from debugtracer.checks.check import Check
from debugtracer.trace.facts.penalty_axes import PenaltyAxes
from debugtracer.trace.file_line import spot
from debugtracer.trace.finding import Finding
from debugtracer.trace.place import Place
from debugtracer.trace.window import Window


class PenaltyAxis(Check, frozen=True):
    """The norm of a gradient penalty is taken along the samples, or along a part of each.

    What it catches
        `(g.norm(2, dim=0) - 1) ** 2`, or `g.norm(2, dim=1)` of images of (samples, channels, height, width), where g is
        the gradient of a critic's scores by its inputs.
    Why it matters
        The penalty holds a critic to a slope of 1 at each sample. A norm along the samples, or of the channels of one
        pixel, is another number: its size changes with the batch or the picture, and the critic is held to nothing.
    How it decides
        From shapes, in `looks` inspected steps: `torch.autograd.grad` with a graph gives the gradient of one score for
        each sample by samples of several numbers; after views and powers it is folded by a norm, or a sum of squares,
        over other axes than all of each sample, and a number above 0 is subtracted from what comes out. Penalties that
        pull the gradient to 0 are a sum over everything whatever the axes, and are left alone; so are scores of several
        points in each sample.
    What to do
        `g.flatten(1).norm(2, dim=1)`.
    Example
        step 1, rank 0: norm (penalty.py:7) of a gradient of (64, 4), samples first, is taken over dimension 0, and a
        number is subtracted from it, in 2 looks; expected one norm for each of 64 samples. Use
        `g.flatten(1).norm(2, dim=1)`.
    """

    needs: ClassVar[tuple[type[PenaltyAxes]]] = (PenaltyAxes,)
    kind: ClassVar[str] = "axes_mixed"
    symptom: ClassVar[str] = "silent"
    confidence: ClassVar[float] = 0.9
    remedies: ClassVar[tuple[str, ...]] = ("take the norm of all of each sample: g.flatten(1).norm(2, dim=1)",)
    proved_by: ClassVar[str] = "model/shell_middens"

    looks: int = 2  # inspected steps (ours)

    def judge(self, window: Window) -> Iterator[Finding]:
        """Count the looks at each line; said once."""
        memory = window.memory(self)
        for fact in window.new(PenaltyAxes):
            memory[fact.frame] = memory.get(fact.frame, 0) + 1
            if memory[fact.frame] == self.looks:
                axes = ", ".join(map(str, fact.folded))
                yield self.finding(
                    window,
                    "warning",
                    f"{fact.function}{spot(fact.frame)} of a gradient of {fact.shape}, samples first, is taken over "
                    f"dimension{'s' if len(fact.folded) > 1 else ''} {axes}, and a number is subtracted from it, in "
                    f"{self.looks} looks; expected one norm for each of {fact.shape[0]} samples. Use "
                    "`g.flatten(1).norm(2, dim=1)`.",
                    ref=fact.ref,
                    place=Place(frame=fact.frame, symptom_frame=fact.grad_frame),
                )
