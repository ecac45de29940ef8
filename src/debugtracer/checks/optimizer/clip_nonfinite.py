"""Does clipping get a finite norm?"""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from debugtracer.checks.check import Check
from debugtracer.trace.facts.clipping import ClippedNonfinite
from debugtracer.trace.file_line import spot
from debugtracer.trace.finding import Finding
from debugtracer.trace.place import Place
from debugtracer.trace.window import Window


class ClipNonfinite(Check, frozen=True):
    """clip_grad_norm_ measured NaN or an infinite norm and went on.

    What it catches
        One non-finite gradient element that clipping spreads: with an infinite norm all others become 0 and that
        element NaN, with NaN all become NaN.
    Why it matters
        The clip hides where the bad gradient came from, and the update that follows ruins the weights.
    How it decides
        From the value the call returned. Under a GradScaler such an update is skipped, and nothing is said.
    What to do
        Look for the birth of the bad gradient (the incident names it); pass error_if_nonfinite=True to stop there.
    Example
        step 12, rank 0: clip_grad_norm_ (train.py:33) measured a norm of nan and multiplied all gradients by it;
        expected a finite norm. Look at the first non-finite gradient.
    """

    needs: ClassVar[tuple[type[ClippedNonfinite]]] = (ClippedNonfinite,)
    at_end: ClassVar[bool] = True
    remedies: ClassVar[tuple[str, ...]] = (
        "find the first non-finite gradient: debug-tracer run names it",
        "pass error_if_nonfinite=True to clip_grad_norm_",
    )
    family: ClassVar[str] = "gradient"
    suspects: ClassVar[tuple[str, ...]] = ("backward-nan-op", "exploding-gradients")
    proved_by: ClassVar[str] = "numerics/carried_hidden_state"

    def judge(self, window: Window) -> Iterator[Finding]:
        """Yield a warning at the clip that measured a non-finite norm."""
        for fact in window.new(ClippedNonfinite):
            if not fact.scaled:
                yield self.finding(
                    window,
                    "warning",
                    f"clip_grad_norm_{spot(fact.frame)} measured a norm of {float(fact.norm)} and multiplied all "
                    "gradients by it; expected a finite norm. "
                    "Look at the first non-finite gradient.",
                    ref=fact.ref,
                    place=Place(frame=fact.frame),
                    norm=float(fact.norm),
                )
