"""A scaler steps parameters that are half themselves."""

from __future__ import annotations

from typing import ClassVar

from debugtracer.causes.cause import Cause


class AmpHalfParameters(Cause):
    """GradScaler unscales float32 gradients only; with model.half() torch raises at unscale_."""

    kind: ClassVar[str] = "amp_half_parameters"
    proved_by: ClassVar[tuple[str, ...]] = ("full-precision", "one-line-fix")
    refuted_by: ClassVar[tuple[str, ...]] = ("without-sample", "lower-lr")
    supports: ClassVar[tuple[str, ...]] = ("optimizer/eps-dtype",)
    rewrites: ClassVar[tuple[str, ...]] = ("as-float",)
    remedies: ClassVar[tuple[str, ...]] = (
        "keep the model in float32 (model.float()) and let torch.autocast choose half where it is safe",
    )
