"""What is read of a run at one time: the values of its metrics, and what came since the time before."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from debugtracer.telemetry.metric import Sample
from debugtracer.trace.events import AnyEvent


@dataclass(frozen=True)
class SampledStep:
    """One step out of many, with its times since the epoch in seconds and some of its numbers."""

    rank: int
    step: int
    begin_s: float
    end_s: float
    numbers: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True)
class Reading:
    """One look at a run."""

    run: str = ""
    mode: str = ""
    status: str = "running"
    ranks: int = 1
    samples: tuple[Sample, ...] = ()
    events: tuple[AnyEvent, ...] = ()
    """Those that came since the look before."""
    steps: tuple[SampledStep, ...] = ()
    """One in `SAMPLED_STEPS` of those that came since."""

    @property
    def state(self) -> dict[str, object]:
        """What decides whether a word to the run would be obeyed."""
        return {"status": self.status, "mode": self.mode, "ranks": self.ranks}
