"""What happens between two steps: the tape of the closed one goes to the ring, perhaps with a snapshot, and a jump of
the loss that waits is looked into."""

from __future__ import annotations

from debugtracer.diagnosis.run_findings import RunFindings
from debugtracer.recorder.governor import Governor, Part
from debugtracer.recorder.listeners import SegmentListener
from debugtracer.recorder.output.output import Output
from debugtracer.recorder.run_state import RunState
from debugtracer.recorder.state.snapshot_ring import SnapshotRing
from debugtracer.recorder.tape.step_tape import Tape


class SegmentEnd(SegmentListener):
    """One per session."""

    def __init__(
        self,
        tape: Tape,
        state: RunState,
        ring: SnapshotRing,
        output: Output,
        findings: RunFindings,
        governor: Governor,
    ) -> None:
        self.tape, self.state, self.ring, self.output, self.findings = tape, state, ring, output, findings
        self.governor = governor

    def segment_closed(self) -> None:
        """Called by the gate after each step."""
        tape, state = self.tape, self.state
        if tape.previous is not None and not tape.previous.rested:
            self.ring.segment(tape.previous, state.root_states.get(tape.previous.number, ()))
        if self.governor.affords(Part.COPIES):
            why = self.ring.consider(
                tape.current.number, state.step, list(state.optimizers), state.step_s, self.findings.loss_level
            )
            if why:
                self.output.note("ring-off", why)
        self.findings.between_steps()
