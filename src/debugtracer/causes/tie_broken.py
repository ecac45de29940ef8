"""Two weights that should be one are two."""

from __future__ import annotations

from typing import ClassVar

from debugtracer.causes.cause import Cause
from debugtracer.trace.finding import Layer


class TieBroken(Cause):
    """load_state_dict(assign=True), a copy or .to() of one of them ends the tie of embedding and output."""

    kind: ClassVar[str] = "tie_broken"
    layer: ClassVar[Layer] = "model"
    proved_by: ClassVar[tuple[str, ...]] = ("one-line-fix",)
    refuted_by: ClassVar[tuple[str, ...]] = ("full-precision", "lower-lr")
    supports: ClassVar[tuple[str, ...]] = ("optimizer/shared-params",)
    remedies: ClassVar[tuple[str, ...]] = (
        "tie again after loading: model.head.weight = model.embed.weight, before the optimizer is built",
    )
