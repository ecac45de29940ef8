"""The update looks at other observations or actions than those that were acted on."""

from __future__ import annotations

from typing import ClassVar

from debugtracer.causes.cause import Cause
from debugtracer.checks.model.policy_ratio import PolicyRatio
from debugtracer.trace.finding import Layer


class RolloutMismatch(Cause):
    """Advantages are given to actions that were not taken, so the policy gradient points nowhere."""

    kind: ClassVar[str] = "rollout_mismatch"
    layer: ClassVar[Layer] = "model"
    proved_by: ClassVar[tuple[str, ...]] = ("one-line-fix",)
    refuted_by: ClassVar[tuple[str, ...]] = ("full-precision", "without-sample", "fresh-moments")
    supports: ClassVar[tuple[str, ...]] = ("optimizer/loss-plateau",)
    remedies: ClassVar[tuple[str, ...]] = PolicyRatio.remedies
