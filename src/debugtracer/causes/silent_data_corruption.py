"""The same step with the same inputs is finite when it is executed again."""

from __future__ import annotations

from typing import ClassVar

from debugtracer.causes.cause import Cause, Edit, Signs
from debugtracer.causes.reading import Reading
from debugtracer.trace.finding import Layer


class SilentDataCorruption(Cause):
    """Hardware changed a value (or an op is not deterministic): replay of the recorded step does not show the fault."""

    kind: ClassVar[str] = "silent_data_corruption"
    layer: ClassVar[Layer] = "device"
    edit: ClassVar[Edit] = "data"
    proved_by: ClassVar[tuple[str, ...]] = ("reference-device", "older-weights")
    refuted_by: ClassVar[tuple[str, ...]] = ("stable-op", "full-precision", "without-sample", "other-batch", "lower-lr", "fresh-moments")
    supports: ClassVar[tuple[str, ...]] = ("device/replica-drift", "optimizer/loss-spike")
    remedies: ClassVar[tuple[str, ...]] = (
        "run the same step on another device: `debug-tracer replay INCIDENT`",
        "look for operators without a deterministic result: torch.use_deterministic_algorithms(True)",
        "test the device (memory, ECC counters) before trusting the run",
    )

    def signs(self, seen: Reading) -> Signs | None:
        """A tape replay that ran and came out finite. Never more than a suspicion from one replay."""
        replay = seen.facts.replay
        if seen.facts.birth is not None or replay is None or replay.mechanism != "tape" or replay.reproduced or replay.parity != "not reproduced":
            return None
        return Signs(
            confidence=0.3,
            because="the recorded step is finite when it is executed again",
            remedies=self.remedies,
            against=("an op without a deterministic result, or state outside torch, looks the same",),
        )
