"""What an investigation of an alarm found."""

from __future__ import annotations

from dataclasses import dataclass, field

from debugtracer.recorder.capsule.program import Program
from debugtracer.replay.guilty import GuiltyBatch
from debugtracer.replay.op_trace.op_table import OpTableRecorder
from debugtracer.trace.birth import Birth
from debugtracer.trace.incident import ReplayFacts


@dataclass
class Investigation:
    """What an investigation found."""

    replay: ReplayFacts
    birth: Birth | None = None
    guilty: GuiltyBatch | None = None
    program: Program | None = None
    ops: OpTableRecorder | None = None
    """Every op of the traced step; None where no step was traced."""
    normal: bool = False
    """No incident after all: a scale search, an infinity on purpose."""
    bad_names: list[str] = field(default_factory=list)

    @property
    def is_final(self) -> bool:
        """Whether the batch once more would show no more; what was computed again from held values names no row
        of it."""
        mechanism = self.replay.mechanism
        return mechanism == "tape" or (self.birth is not None and mechanism not in {"lines", "graph"})
