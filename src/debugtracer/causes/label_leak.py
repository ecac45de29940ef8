"""The model sees what it has to predict."""

from __future__ import annotations

from typing import ClassVar

from debugtracer.causes.cause import Cause
from debugtracer.trace.finding import Layer


class LabelLeak(Cause):
    """The target is among the inputs, or a causal model looks ahead: the loss is too good and useless outside."""

    kind: ClassVar[str] = "label_leak"
    layer: ClassVar[Layer] = "model"
    proved_by: ClassVar[tuple[str, ...]] = ("one-line-fix",)
    refuted_by: ClassVar[tuple[str, ...]] = ("full-precision", "lower-lr")
    supports: ClassVar[tuple[str, ...]] = ("optimizer/loss-too-good", "optimizer/validation-gap")
    remedies: ClassVar[tuple[str, ...]] = (
        "remove the column, or what is computed from it, from the inputs",
        'mask the future: scores.masked_fill(torch.ones(T, T).triu(1).bool(), float("-inf")), or is_causal=True',
    )
