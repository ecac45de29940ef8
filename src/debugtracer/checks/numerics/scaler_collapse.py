"""Does the loss scale stay usable?"""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from debugtracer.checks.check import Check
from debugtracer.checks.numerics.skips import skips_in_a_row
from debugtracer.trace.facts.amp import ScalerSetup
from debugtracer.trace.file_line import spot
from debugtracer.trace.finding import Finding
from debugtracer.trace.place import Place
from debugtracer.trace.window import LOSS_SCALE, SCALER_SKIPPED, Window


class ScalerCollapse(Check, frozen=True):
    """The scaler skips every update and its scale shrinks for ever.

    What it catches
        Gradients that are non-finite at any scale: NaN weights, a NaN in every batch, an overflow in the forward, a
        loss far too large for float16.
    Why it matters
        Nothing is learned any more and no exception says so. After 166 halvings the scale is exactly 0 and unscaling
        divides by it.
    How it decides
        The scale is 0, or below 1 with 10 updates skipped in a row, or 40 are skipped in a row at any scale. The search
        at the beginning takes at most 16 halvings from 65536 to 1.
    What to do
        Look at one step without autocast and scaler; the first non-finite value is the fault. Restore a checkpoint if
        the weights are NaN.
    Example
        step 0, rank 0: the scaler (train.py:13) has skipped the last 27 updates since step 0 and its scale is 0.000977;
        expected a scale of 1 or more that lets updates through. Run one step without autocast to see what is not
        finite.
    """

    needs: ClassVar[tuple[str | type[ScalerSetup], ...]] = (SCALER_SKIPPED, LOSS_SCALE, ScalerSetup)
    kind: ClassVar[str] = "amp_scaler_collapse"
    symptom: ClassVar[str] = "no_learning"
    confidence: ClassVar[float] = 0.9
    remedies: ClassVar[tuple[str, ...]] = (
        "run one step without autocast and scaler and look for the first non-finite value (debug-tracer run does that)",
        "restore the last checkpoint with finite weights",
        "divide a loss that is a sum over many elements: its gradients do not fit float16 at any scale",
    )
    family: ClassVar[str] = "scale"
    proved_by: ClassVar[str] = "numerics/slow_search"

    row: int = 10  # skipped updates in a row below a scale of 1 (ours)
    # skipped updates in a row at any scale: more than from 65536 down to float16's least subnormal (ours)
    any_row: int = 40

    def judge(self, window: Window) -> Iterator[Finding]:
        """Yield once, when it is sure; the finding lies at the first update of the row of skipped ones."""
        memory = window.memory(self)
        if window.now(SCALER_SKIPPED) is None:
            return
        row = skips_in_a_row(window, memory)
        if not row:
            return
        if row <= memory.get("row", 0):  # another row has begun
            memory.pop("begun")
            memory.pop("told", None)
        memory["row"] = row
        begun = memory.setdefault("begun", window.ref)
        scales = window.series.get(LOSS_SCALE, ())
        scale = scales[-1] if scales else 1.0
        if memory.get("told") or not (scale == 0.0 or (scale < 1.0 and row >= self.row) or row >= self.any_row):
            return
        memory["told"] = True
        built = [setup.frame for setup in window.seen(ScalerSetup) if setup.enabled]
        frame = built[0] if len(built) == 1 else None  # of several nobody knows whose scale this is
        yield self.finding(
            window,
            "error",
            f"the scaler{spot(frame)} has skipped the last {row} updates since step {begun.step} and its scale is "
            f"{scale:.3g}; expected a scale of 1 or more "
            "that lets updates through. Run one step without autocast to see what is not finite.",
            ref=begun,
            place=Place(frame=frame),
            row=row,
            scale=scale,
        )
