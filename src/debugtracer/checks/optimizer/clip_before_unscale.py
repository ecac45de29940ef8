"""Are gradients clipped at their true size?"""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from debugtracer.checks.check import Check
from debugtracer.trace.facts.order import Call, StepOrder
from debugtracer.trace.file_line import spot
from debugtracer.trace.finding import Finding
from debugtracer.trace.place import Place
from debugtracer.trace.window import Window


class ClipBeforeUnscale(Check, frozen=True):
    """Gradients are clipped while they still carry the loss scale.

    What it catches
        `scaler.scale(loss).backward(); clip_grad_norm_(...); scaler.step(optimizer)` without
        `scaler.unscale_(optimizer)` before the clip.
    Why it matters
        The scaler divides the clipped gradients by the scale afterwards: with a scale of 65536 and max_norm 1 every
        update is at most 1/65536 long.
    How it decides
        The gradients that are clipped came from a scaled loss and were not unscaled since; the limit is below the
        scale, so that no limit on the true gradients was meant (max_norm * scale is left alone), and where the norm
        could be read it was above the limit: the clip did change them.
    What to do
        Call `scaler.unscale_(optimizer)` between backward and clip.
    Example
        step 0, rank 0: clip_grad_norm_ (train.py:50) clips gradients that still carry the loss scale 16384: their norm
        6120 is cut to 1, and after unscaling to 6.1e-05; expected true gradients. Call scaler.unscale_(optimizer)
        before clipping.
    """

    needs: ClassVar[tuple[type[StepOrder]]] = (StepOrder,)
    kind: ClassVar[str] = "amp_clip_scaled_grads"
    symptom: ClassVar[str] = "no_learning"
    exact: ClassVar[bool] = True
    remedies: ClassVar[tuple[str, ...]] = (
        "call scaler.unscale_(optimizer) once per update, between backward and clipping",
    )
    family: ClassVar[str] = "order"
    proved_by: ClassVar[str] = "optimizer/seismic_picks"

    def judge(self, window: Window) -> Iterator[Finding]:
        """Yield one finding per optimizer, at the clip."""
        for fact in window.new(StepOrder):
            call = next((c for c in fact.calls if c.word == "clip" and shrinks(c)), None)
            if call is not None and call.limit is not None and call.scale is not None:
                limit, scale = float(call.limit), float(call.scale)
                norm = f"their norm {float(call.norm):.4g}" if call.norm is not None else "their norm"
                yield self.finding(
                    window,
                    "error",
                    f"clip{spot(call.frame)} clips gradients that still carry the loss scale {scale:.6g}: {norm} is "
                    f"cut to {limit:.4g}, and after unscaling to "
                    f"{limit / scale:.2g}; expected true gradients. Call scaler.unscale_(optimizer) before clipping.",
                    ref=fact.ref,
                    place=Place(frame=call.frame),
                    scale=scale,
                    limit=limit,
                    norm=float("nan" if call.norm is None else call.norm),
                )


def shrinks(call: Call) -> bool:
    """True when the call makes scaled gradients smaller, by a limit that is not meant for scaled ones."""
    if not call.scaled or call.limit is None or call.scale is None or float(call.scale) <= 1:
        return False
    return float(call.limit) < float(call.scale) and (call.norm is None or not float(call.norm) <= float(call.limit))
