"""A long sum is accumulated in half precision."""

from __future__ import annotations

from typing import ClassVar

from debugtracer.causes.cause import Cause


class HalfAccumulation(Cause):
    """Adding small numbers to a large total in float16 or bfloat16 loses them one by one."""

    kind: ClassVar[str] = "half_accumulation"
    proved_by: ClassVar[tuple[str, ...]] = ("full-precision",)
    refuted_by: ClassVar[tuple[str, ...]] = ("without-sample", "lower-lr")
    remedies: ClassVar[tuple[str, ...]] = ("sum in float32: x.float().sum(), total kept as float32",)
