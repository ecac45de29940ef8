"""Does the scaler get gradients that it can unscale?"""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from debugtracer.checks.check import Check
from debugtracer.trace.facts.amp import ScalerRefused
from debugtracer.trace.finding import Finding
from debugtracer.trace.place import Place
from debugtracer.trace.window import Window


class HalfGradients(Check, frozen=True):
    """A GradScaler is asked to unscale gradients in float16.

    What it catches
        `model.half()` together with a GradScaler: the parameters themselves are float16.
    Why it matters
        torch raises `ValueError: Attempting to unscale FP16 gradients`. Weights in float16 also lose most small
        updates.
    How it decides
        A gradient of the optimizer is float16 when the scaler unscales it.
    What to do
        Keep the parameters in float32 and let autocast choose the dtype of each operation.
    Example
        step 0, rank 0: the gradient of 0.weight is float16 and the scaler is asked to unscale it for SGD; expected
        float32 parameters under autocast. Remove .half() from the model.
    """

    needs: ClassVar[tuple[type[ScalerRefused]]] = (ScalerRefused,)
    at_end: ClassVar[bool] = True
    kind: ClassVar[str] = "amp_half_parameters"
    symptom: ClassVar[str] = "crash"
    exact: ClassVar[bool] = True
    remedies: ClassVar[tuple[str, ...]] = (
        "remove .half() from the model and run its forward under torch.autocast",
        "or keep float32 master weights by hand and drop the scaler",
    )
    proved_by: ClassVar[str] = "numerics/half_model"

    def judge(self, window: Window) -> Iterator[Finding]:
        """Yield an error at the call that unscales them."""
        for fact in window.new(ScalerRefused):
            if fact.what == "half gradients":
                yield self.finding(
                    window,
                    "error",
                    f"the gradient of {fact.param} is float16 and the scaler is asked to unscale it for "
                    f"{fact.optimizer}; expected float32 parameters under "
                    "autocast. Remove .half() from the model.",
                    ref=fact.ref,
                    place=Place(param=fact.param, module=(fact.param or "").rpartition(".")[0], frame=fact.frame),
                )
