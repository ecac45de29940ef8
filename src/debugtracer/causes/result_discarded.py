"""What a line computed is thrown away."""

from __future__ import annotations

from typing import ClassVar

from debugtracer.causes.cause import Cause
from debugtracer.trace.finding import Layer


class ResultDiscarded(Cause):
    """A function without its underscore whose result nobody keeps, a loss that is overwritten before its backward."""

    kind: ClassVar[str] = "result_discarded"
    layer: ClassVar[Layer] = "model"
    proved_by: ClassVar[tuple[str, ...]] = ("one-line-fix",)
    refuted_by: ClassVar[tuple[str, ...]] = ("full-precision", "fresh-moments")
    supports: ClassVar[tuple[str, ...]] = ("optimizer/loss-plateau",)
    remedies: ClassVar[tuple[str, ...]] = (
        "assign the result, or call the function with an underscore, which writes in place",
    )
