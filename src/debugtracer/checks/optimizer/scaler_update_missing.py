"""Is the scaler updated after its step?"""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from debugtracer.checks.check import Check
from debugtracer.trace.facts.amp import ScalerRefused
from debugtracer.trace.file_line import spot
from debugtracer.trace.finding import Finding
from debugtracer.trace.place import Place
from debugtracer.trace.window import Window


class ScalerUpdateMissing(Check, frozen=True):
    """`scaler.update()` is not called after `scaler.step(optimizer)`.

    What it catches
        A loop without `scaler.update()`, or with one inside a condition.
    Why it matters
        The scaler takes the next update for the same one: torch raises a RuntimeError at the next `unscale_` or `step`,
        and the scale never adapts.
    How it decides
        The scaler's own record of this optimizer says `stepped` when `unscale_` or `step` is called.
    What to do
        Call `scaler.update()` once after the steps of all optimizers.
    Example
        step 1, rank 0: scaler.step (train.py:27) found that SGD had stepped (train.py:27) and scaler.update() was not
        called since; expected one update per step. Call scaler.update() after scaler.step.
    """

    needs: ClassVar[tuple[type[ScalerRefused]]] = (ScalerRefused,)
    at_end: ClassVar[bool] = True
    kind: ClassVar[str] = "amp_update_missing"
    symptom: ClassVar[str] = "crash"
    exact: ClassVar[bool] = True
    remedies: ClassVar[tuple[str, ...]] = (
        "call scaler.update() once per iteration, after the scaler has stepped all optimizers",
    )
    family: ClassVar[str] = "order"
    proved_by: ClassVar[str] = "optimizer/wine_style"

    def judge(self, window: Window) -> Iterator[Finding]:
        """Yield an error at the call that shows that update() is missing."""
        for fact in window.new(ScalerRefused):
            if fact.what in ("unscaled after step", "stepped twice"):
                call = "scaler.step" if fact.what == "stepped twice" else "scaler.unscale_"
                yield self.finding(
                    window,
                    "error",
                    f"{call}{spot(fact.frame)} found that {fact.optimizer} had stepped{spot(fact.before)} and "
                    "scaler.update() was not called since; "
                    "expected one update per step. Call scaler.update() after scaler.step.",
                    ref=fact.ref,
                    place=Place(frame=fact.before or fact.frame, symptom_frame=fact.frame),
                )
